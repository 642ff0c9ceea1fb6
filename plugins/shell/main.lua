-- An adapter for shells: is there a prompt, does a command run, how did the last one end.
--
-- A shell with shell integration marks its transcript (OSC 133): A before the prompt, B behind it, C
-- before the output of a command, `D;status` behind it, `P;k=s` before the prompt of a command's next line.
-- Where it does, nothing is guessed. Where it does not, a last row that looks like a prompt stands for one.
--
-- The fixtures were made with bash; README.md has the settings.

local action = ptywright.action
local matcher = ptywright.matcher

local exports = {}

-- Prompts end in one of these, with at most the blank in which one types behind it.
local ENDS = { "$", "#", "%", ">", "❯", "➜", "λ" }

-- The host gives the matchers of a wait its own number.
local STABLE_MS = 300

-- What was typed between the prompt and Enter. Edited lines are full of cursor movements, and then
-- it is better not known than wrong.
local function typed_between(transcript, from, to)
  local typed = transcript:sub(from, to):gsub("\27%[[%d;?]*[%a~]", ""):gsub("%s+$", "")
  if typed ~= "" and not typed:find("%c") then
    return typed
  end
end

-- The last mark of a transcript, the exit status and the command known by then.
local function marks_of(transcript)
  local found, typing = {}, nil
  for start, letter, rest, finish in transcript:gmatch("()\27%]133;(%u)([^\7\27]*)()") do
    if letter == "D" then
      found.status = tonumber(rest:match("^;(%-?%d+)"))
    elseif letter == "B" then
      typing = finish + (transcript:sub(finish, finish) == "\27" and 2 or 1)
    elseif letter == "C" then
      found.status = nil
      found.command = rest:match(";cmdline=([^;]+)") or typing and typed_between(transcript, typing, start - 1)
    end
    if letter:find("[AP]") and rest:find(";k=[cs]") then
      found.letter = "P"
    elseif letter:find("[ABCD]") then
      found.letter = letter
    end
  end
  return found
end

-- Whether the shell asked for brackets around what is pasted, as far as its transcript says.
local brackets = false

local function see_brackets(transcript)
  local asked = transcript:match(".*\27%[%?2004([hl])")
  if asked then
    brackets = asked == "h"
  end
end

-- The last row with something in it, and the one before.
local function last_rows(screen)
  local last, before = "", ""
  for row in (screen .. "\n"):gmatch("([^\n]*)\n") do
    -- From the end: `%s+$` would be tried again at every blank of a row.
    local trimmed = row:match("^.*%S")
    if trimmed then
      last, before = trimmed, last
    end
  end
  return last, before
end

local function looks_like_prompt(row)
  for _, ending in ipairs(ENDS) do
    if row:sub(-#ending) == ending then
      -- `50%` and `a -> b >` are output; a prompt of one sign, or with something to say, is not.
      local before = row:sub(1, -#ending - 1)
      return not before:find("%d$") or ending ~= "%"
    end
  end
  return false
end

-- An interactive bash says `exit` or `logout` when it goes: behind Ctrl+D at a prompt, or behind the
-- command of that name. Another command may print the word too, but not there.
local function said_goodbye(last, before, marks)
  if last ~= "exit" and last ~= "logout" then
    return false
  end
  local typed = before:gsub("%s+%d*$", "")
  if typed:sub(-#last - 1) == " " .. last and looks_like_prompt(typed:sub(1, -#last - 2)) then
    return true
  end
  return marks.letter ~= "C" and looks_like_prompt(before)
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

local function by_marks(input, marks)
  if marks.letter == "P" then
    -- How the command before ended says nothing of the one that is being written.
    return answer(input, "continuation", 0.95, "mark of a further line is the last mark")
  end
  local metadata = { exit_status = marks.status, command = marks.command }
  if marks.letter == "C" then
    return answer(input, "running", 0.95, "command mark without an end mark", metadata)
  end
  if marks.letter == "D" then
    -- Between the end of a command and the next prompt a shell runs its own hooks.
    return answer(input, "running", 0.6, "end mark without a prompt mark", metadata)
  end
  return answer(input, "prompt", 0.95, "prompt mark is the last mark", metadata)
end

function exports.classify(input)
  local screen, transcript = input.screen or "", input.transcript or ""
  if input.process_exited then
    local ended = { exit_status = input.exit_code, signal = input.signal }
    return answer(input, "exited", 1.0, "process exited", ended)
  end
  see_brackets(transcript)
  local last, before = last_rows(screen)
  local marks = marks_of(transcript)
  if said_goodbye(last, before, marks) then
    return answer(input, "exited", 0.6, "the shell said good-bye")
  end
  if marks.letter then
    return by_marks(input, marks)
  end
  if last == "" then
    return answer(input, "starting", 0.4, "nothing on the screen yet")
  end
  if last == ">" then
    return answer(input, "continuation", 0.6, "last row is the usual prompt of a further line")
  end
  if looks_like_prompt(last) then
    return answer(input, "prompt", 0.6, "last row looks like a prompt")
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
  local actions = { action.mark_transcript("command_start") }
  if command:find("\n") and brackets then
    -- In brackets a shell takes several lines as one command; typed, it runs them one by one.
    actions[2] = action.bracketed_paste(command)
  else
    actions[2] = action.text(command)
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
local NO_MARKS = [=[\A(?:]=] .. UNMARKED .. [=[)*\z]=]

-- A prompt is there again: the marks say so, or where there are none the last row looks like it.
-- The default wait of the host has this name.
function exports.wait_turn_matcher(params)
  return matcher.any({
    matcher.all({ matcher.transcript_regex(PROMPT_MARK), stable(params) }),
    matcher.all({
      matcher.transcript_regex(NO_MARKS),
      matcher.screen_regex([[(?:[$#>❯➜λ]|[^0-9]%)\s*\z]]),
      stable(params),
    }),
    matcher.process_exited(),
  })
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
      { name = "running", description = "A command runs" },
      { name = "exited", description = "The shell ended; `exit_status` or `signal` says how" },
    },
  }
end

return exports
