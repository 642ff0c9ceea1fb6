-- An adapter for shells: is there a prompt, does a command run, how did the last one end. Here is what a host may call.
--
--   marks     the marks of shell integration in the transcript, and what is remembered of them
--   prompts   what rows look like
--   commands  what a command line means
--
-- Where a shell marks, nothing is guessed. Where it does not, a last row that looks like a prompt stands for one; a shell in
-- the shell has no marks either, and is told from a program that prints such a row by more than its looks.
--
-- The fixtures were made with bash; README.md has the settings.

local commands = require("commands")
local prompts = require("prompts")
local marking = require("marks")
local seen = marking.seen

local action = ptywright.action
local matcher = ptywright.matcher

local exports = {}

-- The host gives the matchers of a wait its own number.
local STABLE_MS = 300

-- A program that left the cursor behind what looks like a prompt and is still for so long waits for somebody.
-- A prompt of a shell in the shell that is not known as one is told late by as much.
local WAITS_MS = 3000

-- How many lines `run` typed last, of which a shell without brackets reads one at each of its prompts.
local lines = 1

-- Whether the shell asked for brackets around what is pasted, as far as its transcript says.
local brackets = false

local function see_brackets(transcript)
  -- From the beginning: without `^` it would be tried again behind every letter.
  local asked = transcript:match("^.*\27%[%?2004([hl])")
  if asked then
    brackets = asked == "h"
  end
end

-- Whether a shell still takes pastes in brackets behind a line that was entered, which it does no more when it runs something.
local function reads_on(transcript, at)
  local typed = transcript:sub(at)
  return brackets and typed:find("\n", 1, true) ~= nil and not typed:find("\27[?2004", 1, true)
end

-- Whether a shell without marks has not yet asked for all the lines that `run` typed at once. One that a command read instead is
-- not asked for at all: who is still for long has all it wants.
local function has_lines_left(input, at, last)
  if lines == 1 or not at or (input.stable_ms or 0) >= WAITS_MS then
    return false
  end
  return not prompts.has_asked(input.transcript:sub(at), last, lines)
end

-- The prompt of a shell in the shell, as evidence, where the last mark is that of the command that led into it.
local function prompt_within(input, marks, last, at)
  if not prompts.looks_like_prompt(last) or not prompts.is_row_open(input.transcript) or has_lines_left(input, at, last) then
    return nil
  end
  if marks.command and commands.opens_shell(marks.command) then
    return 0.7, "the command is a shell and the last row looks like a prompt", marks.command
  end
  if commands.is_exit(marks.command) then
    -- A zsh goes without a word.
    seen.within = input.cursor
    return 0.6, "the shell was told to go and the last row looks like a prompt", marks.command
  end
  if seen.within and seen.turn.place and seen.turn.place >= seen.within then
    -- Somebody took what looked like one for a prompt, and there it is again.
    return 0.6, "the last row looks like a prompt again, behind a command of its own"
  end
  if (input.stable_ms or 0) >= WAITS_MS then
    seen.within, seen.muted = input.cursor, marks.is_zsh and input.cursor or seen.muted
    return 0.4, "the last row looks like a prompt and was still for long", marks.command
  end
end

-- Whether all that a zsh said behind the mark of a command is that it wants more of it; it marks each line.
local function wants_more(input, marks)
  if not marks.finish or #input.transcript - marks.finish >= 512 then
    return false
  end
  local said = marking.said_behind(input.transcript, marks.finish):gsub("%s+$", "")
  return prompts.is_further(said)
end

local function answer(input, state, confidence, evidence, metadata)
  return {
    state = state,
    confidence = confidence,
    evidence = evidence,
    sequence = input.sequence,
    candidates = {},
    metadata = metadata and next(metadata) and metadata or nil,
  }
end

local function by_marks(input, marks, last, at)
  -- A prompt whose line was typed before shows nothing of what runs now. Behind that of a further line no command has read one.
  local is_behind = marks.is_silent and lines > 1 and marks.asked < lines
  if is_behind and (marks.letter == "P" or (input.stable_ms or 0) < WAITS_MS) then
    return answer(input, "running", 0.6, "not all lines of the command have been read")
  end
  if marks.letter == "P" then
    -- How the command before ended says nothing of the one that is being written.
    return answer(input, "continuation", 0.95, "mark of a further line is the last mark")
  end
  local metadata = { exit_status = marks.status, command = marks.command }
  if marks.letter == "C" then
    if marks.is_zsh and wants_more(input, marks) then
      return answer(input, "continuation", 0.8, "all that followed the command mark is the prompt of a further line")
    end
    local confidence, evidence, command = prompt_within(input, marks, last, at)
    if confidence and confidence >= 0.6 and prompts.is_further(last) then
      return answer(input, "continuation", 0.6, "last row is the usual prompt of a further line")
    end
    if confidence then
      return answer(input, "prompt", confidence, evidence, { command = command })
    end
    return answer(input, "running", 0.95, "command mark without an end mark", metadata)
  end
  if marks.letter == "D" and prompts.looks_like_prompt(last) and prompts.is_row_open(input.transcript) then
    -- A prompt that has no mark of its own, or another shell's.
    return answer(input, "prompt", 0.6, "end mark, and the last row looks like a prompt", metadata)
  end
  if marks.letter == "D" then
    -- Between the end of a command and the next prompt a shell runs its own hooks.
    return answer(input, "running", 0.6, "end mark without a prompt mark", metadata)
  end
  return answer(input, "prompt", 0.95, "prompt mark is the last mark", metadata)
end

function exports.classify(input)
  local screen, transcript = input.screen or "", input.transcript or ""
  input.transcript = transcript
  if input.process_exited then
    local ended = { exit_status = input.exit_code, signal = input.signal }
    return answer(input, "exited", 1.0, "process exited", ended)
  end
  see_brackets(transcript)
  local last, before = prompts.last_rows(screen)
  local marks, at = marking.of(input)
  if prompts.said_goodbye(last, before, marks.letter == "C") then
    return answer(input, "exited", 0.6, "the shell said good-bye")
  end
  if marks.letter then
    return by_marks(input, marks, last, at)
  end
  if at and at > #transcript then
    return answer(input, "running", 0.6, "what was typed has not come back yet")
  end
  if last == "" then
    return answer(input, "starting", 0.4, "nothing on the screen yet")
  end
  if marks.waits then
    if not prompt_within(input, marks, last, at) then
      -- Who signs its prompts has not printed the next one.
      return answer(input, "running", 0.8, "no prompt mark since the command was typed", { command = marks.command })
    end
    -- The next command has another name.
    seen.within = seen.within or input.cursor
  end
  if prompts.looks_like_prompt(last) and has_lines_left(input, at, last) then
    return answer(input, "running", 0.6, "not all lines of the command have been read")
  end
  if prompts.is_further(last) then
    return answer(input, "continuation", 0.6, "last row is the usual prompt of a further line")
  end
  if prompts.looks_like_prompt(last) then
    return answer(input, "prompt", 0.6, "last row looks like a prompt")
  end
  if seen.submitted and prompts.is_refused(screen, transcript, seen.submitted) then
    return answer(input, "continuation", 0.6, "the shell did not take the line, which stands at its prompt again")
  end
  if at and reads_on(transcript, at) then
    return answer(input, "continuation", 0.5, "a line was entered, and the shell reads on")
  end
  return answer(input, "running", 0.5, "last row does not look like a prompt")
end

function exports.run(params)
  local command = params and params.command
  if type(command) ~= "string" or not command:find("%S") then
    error("invalid_params: `command` is required", 0)
  end
  if command:find("[%z\1-\8\11-\31\127]") then
    error("invalid_params: `command` must not hold control characters", 0)
  end
  seen.submitted = not command:find("\n") and command or nil
  local actions = { action.mark_transcript("command_start") }
  if command:find("[\n\t]") and brackets then
    -- In brackets a shell takes several lines as one command, and a tab as it is; typed, it runs them one by one, and completes.
    actions[2], lines = action.bracketed_paste(command), 1
  else
    actions[2], lines = action.text(command), select(2, command:gsub("\n", "")) + 1
  end
  actions[3] = action.key("enter")
  return { actions = actions, last_intent = "command_submitted" }
end

function exports.interrupt()
  return { actions = { action.interrupt() }, last_intent = "" }
end

function exports.eof()
  return { actions = { action.eof() }, last_intent = "" }
end

local function stable(params)
  local ms = params and params.completed_turn_stable_ms
  return matcher.screen_stable(type(ms) == "number" and ms or STABLE_MS)
end

-- Text without marks, as far as it goes. (The regexes cannot say "not".)
local UNMARKED = [=[[^\x1b]|\x1b[^\]]|\x1b\](?:[^1]|1[^3]|13[^3]|133[^;])]=]
-- The last prompt mark has no mark of a command behind it. B alone is what is left of a prompt when a command
-- replaced what prints A.
local PROMPT_MARK = [=[\x1b\]133;[AB](?:]=] .. UNMARKED .. [=[|\x1b\]133;[^C])*\z]=]

-- The shell takes pastes in brackets: it reads. One that has no prompt of further lines shows nothing else of them.
local READS = [=[\x1b\[\?2004h(?:[^\x1b]|\x1b[^\[]|\x1b\[(?:[^?]|\?(?:[^2]|2[^0]|20[^0]|200[^4])))*\z]=]

-- A prompt is there again: the marks say so, or the last row looks like it. The wait goes on while `classify` says
-- that something runs, and that knows better what such a row is.
-- The default wait of the host has this name.
function exports.wait_turn_matcher(params)
  local ways = {
    matcher.all({ matcher.transcript_regex(PROMPT_MARK), stable(params) }),
    matcher.all({ matcher.transcript_regex(READS), stable(params) }),
    matcher.all({ matcher.screen_regex([[(?:[$#>❯➜λ]|[^0-9]%)\s*\z]]), stable(params) }),
    matcher.process_exited(),
  }
  local refused = seen.submitted and prompts.refused_regex(seen.submitted)
  if refused then
    ways[#ways + 1] = matcher.all({ matcher.screen_regex(refused), stable(params) })
  end
  return matcher.any(ways)
end

function exports.describe()
  local nothing = { type = "object" }
  return {
    intents = {
      {
        name = "run",
        description = "Types a command and presses Enter",
        params_schema = {
          type = "object",
          properties = { command = { type = "string" } },
          required = { "command" },
        },
      },
      { name = "interrupt", description = "Presses Ctrl+C", params_schema = nothing },
      { name = "eof", description = "Presses Ctrl+D", params_schema = nothing },
    },
    wait_matchers = {
      { name = "wait_turn_matcher", description = "The prompt is there again, or that of a further line, or the shell ended" },
    },
    states = {
      { name = "starting", description = "Nothing on the screen yet" },
      { name = "prompt", description = "The shell waits for a command" },
      { name = "continuation", description = "The shell waits for the next line of a command" },
      { name = "running", description = "A command runs", working = true },
      { name = "exited", description = "The shell ended; `exit_status` or `signal` says how" },
    },
  }
end

return exports
