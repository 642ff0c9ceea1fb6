-- An adapter for shells: is there a prompt, does a command run, how did the last one end.
--
-- A shell with shell integration marks its transcript (OSC 133): A before the prompt, B behind it, C
-- before the output of a command, `D;status` behind it, `P;k=s` before the prompt of a command's next line.
-- Where it does, nothing is guessed. Where it does not, a last row that looks like a prompt stands for one; a shell in
-- the shell has no marks either, and is told from a program that prints such a row by more than its looks.
--
-- The fixtures were made with bash; README.md has the settings.

local action = ptywright.action
local matcher = ptywright.matcher

local exports = {}

-- Prompts end in one of these, with at most the blank in which one types behind it.
local ENDS = { "$", "#", "%", ">", "❯", "➜", "λ" }

-- The host gives the matchers of a wait its own number.
local STABLE_MS = 300

-- How the marks of a bash or a zsh begin that this adapter started; what a program prints does not.
local SIGNED = "^[^\7]*;aid=greenroom%-%w"

-- Half of what the host gives of a transcript, in bytes: marks are pushed out of none that is shorter.
local MUCH = 8192

-- A program that left the cursor behind what looks like a prompt and is still for so long waits for somebody.
-- A prompt of a shell in the shell that is not known as one is told late by as much.
local WAITS_MS = 3000

local function set(words)
  local found = {}
  for word in words:gmatch("%S+") do
    found[word] = true
  end
  return found
end

-- What zsh says before `>` while a command is not whole: `dquote>`, `for cmdsubst>`.
local FURTHER = set("dquote quote bquote cmdsubst heredoc heredocd pipe for while until if then else elif case select repeat function cursh subsh math array cmdand cmdor foreach cond brace always")
local SHELLS = set("bash sh zsh dash fish ksh mksh ash csh tcsh rbash elvish nu pwsh xonsh")
-- What gives its user a shell if it is told nothing else.
local OPENERS = set("su login newgrp chroot nsenter unshare nix-shell script ssh mosh telnet")
-- What runs the command behind it; its options may come between.
local WRAPPERS = set("exec env command builtin nohup nice time sudo doas")
local CONTAINERS = set("docker podman nerdctl kubectl oc lxc incus distrobox toolbox machinectl vagrant poetry pipenv nix guix")
-- Options with a word of their own behind them.
local WITH_VALUE = set("-u -g -p -i -l -o -O -F -J -L -R -D -n --rcfile --init-file --user --group")

local function base(word)
  return (word:gsub("^.*/", ""))
end

-- The words from `first` on that are neither options nor what belongs to them, and the options.
local function operands(words, first)
  local found, options, i = {}, {}, first
  while words[i] do
    if words[i]:find("^%-.") then
      options[#options + 1] = words[i]
      i = i + (WITH_VALUE[words[i]] and 1 or 0)
    else
      found[#found + 1] = words[i]
    end
    i = i + 1
  end
  return found, options
end

local function has_flag(options, letter)
  for _, option in ipairs(options) do
    if option:find("^%-%a*" .. letter) then
      return true
    end
  end
  return false
end

-- Whether a command, as it was typed, leads into another shell: `bash`, `sudo -i`, `ssh host`, but neither
-- `bash script` nor `ssh host command`.
local function opens_shell(command)
  local words = {}
  -- What is in quotes is one word, whatever it says.
  command = command:gsub("'[^']*'", "Q"):gsub('"[^"]*"', "Q")
  for word in command:match("[^;&|]*$"):gmatch("%S+") do
    words[#words + 1] = word
  end
  local i = 1
  while words[i] do
    local name = base(words[i])
    if (name == "sudo" or name == "doas") and words[i + 1] and words[i + 1]:find("^%-%-?%a*[is]") and not words[i + 2] then
      return true
    elseif not WRAPPERS[name] and not name:find("^[%w_]+=") and not (i > 1 and name:find("^%-")) then
      break
    end
    i = i + (i > 1 and WITH_VALUE[name] and 2 or 1)
  end
  local name = base(words[i] or "")
  local rest, options = operands(words, i + 1)
  if SHELLS[name] then
    return #rest == 0 and not has_flag(options, "c")
  end
  if name == "ssh" or name == "mosh" or name == "telnet" then
    return #rest == 1 or has_flag(options, "t") and SHELLS[base(rest[#rest] or "")] or false
  end
  if CONTAINERS[name] then
    return rest[1] == "shell" or rest[1] == "develop" or rest[1] == "enter" or rest[1] == "ssh"
      or #rest > 1 and SHELLS[base(rest[#rest])] == true and not has_flag(options, "c")
  end
  return OPENERS[name] == true and not has_flag(options, "c")
end

-- What was typed between the prompt and Enter. Edited lines are full of cursor movements, and then
-- it is better not known than wrong.
local function typed_between(transcript, from, to)
  local typed = transcript:sub(from, to):gsub("\27%[[%d;?]*[%a~]", ""):match("^.*%S")
  if typed and not typed:find("%c") then
    return typed
  end
end

-- Whether the shell itself marks, and says so: then nobody else's marks count.
local signs = false

-- Whether a zsh marks its prompts. One whose settings have no `PROMPT_EOL_MARK` marks commands alone, which then say nothing.
local zsh_prompts = false

-- Since when it seems to mark commands alone, as the host counts: there was what looks like a prompt, and no mark.
local muted = nil

-- What was known when a mark was in the transcript for the last time.
local before = {}

-- The command that `run` typed last: of one that printed much, the transcript does not hold it any more.
local submitted = nil

-- How many lines `run` typed last, of which a shell without brackets reads one at each of its prompts.
local lines = 1

-- The last command that is known from `run` alone, and where its mark is, as the host counts.
local known = {}

-- `place`: where `run` typed last, as the host counts; `believed`: whether marks without our name count behind it.
local turn = { believed = true }

-- Where what looks like a prompt behind the mark of a command turned out to be one.
local within = nil

-- Whether a command was entered behind a prompt mark. Behind A there is the prompt itself, of a few rows.
local function is_entered(transcript, letter, from, to)
  local _, rows = transcript:sub(from, to):gsub("\n", "")
  return rows > (letter == "A" and 3 or 0)
end

-- Where in the transcript a place is that the host counts in characters from the first; nothing if it is not in it.
local function byte_of(input, place)
  local behind = (input.cursor or 0) - place
  if behind <= 0 then
    return #input.transcript + 1
  end
  return utf8.offset(input.transcript, -behind)
end

-- Whether a zsh reads a line still: a job that ends makes it leave the row, mark and all, and draw its prompt again.
local function is_editing(transcript, from, to)
  return transcript:sub(math.max(from, to - 4096), to):match("^.*\27%[%?2004([hl])") == "h"
end

-- The last mark of a transcript, the exit status and the command known by then; `at` is where `run` typed last.
local function read_marks(transcript, at, believes, muted_at)
  local found, typing, level, awaits = {}, nil, nil, true
  for start, letter, rest, finish in transcript:gmatch("()\27%]133;(%u)([^\7\27]*)()") do
    local is_signed, is_zsh = rest:find(SIGNED) ~= nil, rest:find(";aid=greenroom-zsh", 1, true) ~= nil
    zsh_prompts = zsh_prompts or is_zsh and letter ~= "C"
    if is_zsh and muted_at and start >= muted_at then
      if letter == "C" then
        goto continue
      end
      muted, muted_at = nil, nil
    end
    if is_zsh and (not zsh_prompts or letter == "C" and is_editing(transcript, found.finish or 1, start)) then
      goto continue
    end
    signs = signs or is_signed
    if not is_signed and (signs or not believes) then
      goto continue
    end
    if at and start >= at and not found.is_new then
      found.is_new = true
      if found.letter ~= "C" then
        -- How the command before ended says nothing of this one.
        found.status, found.command, found.begun = nil, nil, nil
      end
    end
    local is_zsh_again = is_zsh and found.is_zsh
    found.start, found.finish, found.is_zsh = start, finish, is_zsh
    if letter == "D" then
      found.status = tonumber(rest:match("^;(%-?%d+)"))
      -- A zsh says so before its first prompt, too, when nothing has ended.
      local depth = tonumber(rest:match(";aid=greenroom%-zsh(%d+)"))
      if depth and (level and depth > level or not level and not (before.letter and #transcript >= MUCH) or (found.command or ""):find("^exec ")) then
        found.status = nil
        if found.is_new and awaits then
          -- What was typed led into it, from a shell that does not mark.
          found.command, awaits = submitted, false
        end
      end
      level = depth or level
    elseif letter == "B" then
      if found.letter == "B" and found.is_new and awaits then
        -- It went by without a mark of its own.
        found.command, awaits = submitted, false
      end
      typing = finish + (transcript:sub(finish, finish) == "\27" and 2 or 1)
    elseif letter == "C" then
      found.begun, found.status = start, nil
      found.command = rest:match(";cmdline=([^;]+)") or typing and typed_between(transcript, typing, start - 1)
      if found.is_new and awaits then
        -- A further line of a command is no command.
        local is_whole = found.letter ~= "P" and not (found.letter == "C" and is_zsh_again)
        found.is_submitted = not found.command and is_whole
        found.command, awaits = found.command or is_whole and submitted or nil, false
      else
        found.is_submitted = false
      end
      typing = nil
    end
    if letter == "C" then
      found.is_silent = false
    elseif letter == "B" and found.letter == "B" or found.is_silent == nil and not is_signed then
      -- Prompts and no commands between them.
      found.is_silent = true
    end
    if letter:find("[AP]") and rest:find(";k=[cs]") then
      -- If it comes to nothing, nothing ran.
      found.letter, found.status, found.command, found.begun = "P", nil, nil, nil
    elseif letter:find("[ABCD]") then
      found.letter = letter
    end
    ::continue::
  end
  return found
end

-- Whether marks without our name count behind the place where `run` typed. A program may print them, and what it prints stays
-- in the transcript: they count where they have been there at the prompt at which the command was typed.
local function is_believable(transcript, from, at)
  local last, finish
  for start, letter, behind in transcript:gmatch("()\27%]133;(%u)[^\7\27]*()") do
    if start >= from and start < at then
      last, finish = letter, behind
    end
  end
  if last == "C" then
    return turn.believed
  end
  return last ~= nil and last ~= "D" and not is_entered(transcript, last, finish, at - 1)
end

-- Sees whether `run` typed since, and gives where that is in the transcript.
local function see_turn(input)
  local place = (input.markers or {}).command_start
  if not place then
    return nil
  end
  local at = byte_of(input, place)
  if place ~= turn.place then
    local from = turn.place and byte_of(input, turn.place) or 1
    local believed = turn.believed and before.letter ~= nil
    if at then
      believed = is_believable(input.transcript, from, at)
    end
    turn = { place = place, believed = believed }
  end
  return at or 1
end

-- Whether a command ends the shell.
local function is_exit(command)
  local word = (command or ""):match("^%l+")
  return word == "exit" or word == "logout"
end

-- Whether the shell whose mark was the last said good-bye behind it, and not the command it runs: another one has the
-- terminal now, which may not mark.
local function has_left(transcript, marks)
  if marks.letter == "C" and not is_exit(marks.command) then
    return false
  end
  local finish = marks.finish
  local said = transcript:sub(finish, finish + 512):gsub("\27%[[%d;?]*[%a~]", ""):gsub("^[\7\27\\%s]+", "")
  return said:find("^exit\r*\n") ~= nil or said:find("^logout\r*\n") ~= nil
end

-- A command that `run` typed keeps its name when more is typed while it runs.
local function recall(input, found)
  local behind = found.begun and utf8.len(input.transcript, found.begun)
  if not behind then
    return
  end
  local place = (input.cursor or 0) - behind
  if found.is_submitted then
    known = { place = place, command = found.command }
  elseif not found.command and place == known.place then
    found.command = known.command
  end
end

-- What is known by marks: the last, the exit status and the command. Output of which the transcript does not hold the
-- beginning leaves none in it; then a command runs.
local function marks_of(input)
  local transcript, at = input.transcript, see_turn(input)
  local found = read_marks(transcript, at, turn.believed, muted and (byte_of(input, muted) or 1))
  if not signs and not turn.believed then
    before = {}
  end
  if not found.letter then
    local is_pushed_out = before.letter and #transcript >= MUCH
    return is_pushed_out and { letter = "C", command = before.letter == "C" and before.command or submitted } or found, at
  end
  recall(input, found)
  local has_ended = is_exit(found.command) and within and turn.place and turn.place >= within
  if has_left(transcript, found) or found.letter == "C" and has_ended then
    found = {}
  elseif found.letter ~= "C" and at and found.start < at then
    -- It is the mark of the prompt at which the command was typed, or an older one.
    return {}, at
  elseif found.is_silent and found.letter:find("[AB]") and is_entered(transcript, found.letter, found.finish, #transcript) then
    -- Something was typed that is no command of ours, and who marks no commands does not say what became of it.
    return {}, at
  elseif found.status and not found.begun and #transcript >= MUCH then
    found.command = submitted
  end
  if within and found.start and found.start >= (byte_of(input, within) or 1) then
    within = nil
  end
  -- Who marks an end and no prompt is no shell.
  before = found.letter ~= "D" and found or {}
  return found, at
end

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

-- Whether a row is the usual prompt of a further line.
local function is_further(row)
  return row == ">" or FURTHER[row:match("^(%l+)[%l ]*>$") or ""] == true
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

-- Whether the cursor is behind what was printed last, as it is at a prompt; output ends its rows.
local function is_row_open(transcript)
  local tail = transcript:sub(-1024):gsub("\27%][^\7\27]*", ""):gsub("\27%[[%d;?>]*[%a~]", "")
  return not tail:find("\n[ \r\t]*$")
end

-- How many prompts a row begins and ends with; that of a further line counts.
local function count_prompts(row, prompt)
  local count, from, to = 0, 1, #row
  for _, sign in ipairs({ prompt, "> ", prompt }) do
    while row:sub(from, from + #sign - 1) == sign do
      count, from = count + 1, from + #sign
    end
  end
  for _, sign in ipairs({ prompt, "> ", prompt }) do
    -- Output may end without a row of its own.
    while to - #sign >= from and row:sub(to - #sign + 1, to) == sign do
      count, to = count + 1, to - #sign
    end
  end
  return count
end

-- Whether a shell without marks has not yet asked for all the lines that `run` typed at once. One that a command read instead is
-- not asked for at all: who is still for long has all it wants.
local function has_lines_left(input, at, last)
  if lines == 1 or not at or (input.stable_ms or 0) >= WAITS_MS then
    return false
  end
  local printed = input.transcript:sub(at):gsub("\27%[[%d;?]*[%a~]", "")
  -- Prompts whose lines were there already stand in one row: what is one of them is the row or its last word.
  for _, prompt in ipairs({ last:match("%S+$") .. " ", last .. " " }) do
    local count = 0
    for row in printed:gmatch("[^\r\n]+") do
      count = count + count_prompts(row, prompt)
    end
    if count >= lines then
      return false
    end
  end
  return true
end

-- The prompt of a shell in the shell, as evidence, where the last mark is that of the command that led into it.
local function prompt_within(input, marks, last, at)
  if not looks_like_prompt(last) or not is_row_open(input.transcript) or has_lines_left(input, at, last) then
    return nil
  end
  if marks.command and opens_shell(marks.command) then
    return 0.7, "the command is a shell and the last row looks like a prompt", marks.command
  end
  if is_exit(marks.command) then
    -- A zsh goes without a word.
    within = input.cursor
    return 0.6, "the shell was told to go and the last row looks like a prompt", marks.command
  end
  if within and turn.place and turn.place >= within then
    -- Somebody took what looked like one for a prompt, and there it is again.
    return 0.6, "the last row looks like a prompt again, behind a command of its own"
  end
  if (input.stable_ms or 0) >= WAITS_MS then
    within, muted = input.cursor, marks.is_zsh and input.cursor or muted
    return 0.4, "the last row looks like a prompt and was still for long", marks.command
  end
end

-- Whether all that a zsh said behind the mark of a command is that it wants more of it; it marks each line.
local function wants_more(input, marks)
  local said = input.transcript:sub(marks.finish or 1)
  if not marks.finish or #said > 512 then
    return false
  end
  said = said:gsub("\27%[[%d;?]*[%a~]", ""):gsub("^[\7\27\\%s]+", ""):gsub("%s+$", "")
  return is_further(said)
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
    if confidence and confidence >= 0.6 and is_further(last) then
      return answer(input, "continuation", 0.6, "last row is the usual prompt of a further line")
    end
    if confidence then
      return answer(input, "prompt", confidence, evidence, { command = command })
    end
    return answer(input, "running", 0.95, "command mark without an end mark", metadata)
  end
  if marks.letter == "D" and looks_like_prompt(last) and is_row_open(input.transcript) then
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
  local last, before = last_rows(screen)
  local marks, at = marks_of(input)
  if said_goodbye(last, before, marks) then
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
  if looks_like_prompt(last) and has_lines_left(input, at, last) then
    return answer(input, "running", 0.6, "not all lines of the command have been read")
  end
  if is_further(last) then
    return answer(input, "continuation", 0.6, "last row is the usual prompt of a further line")
  end
  if looks_like_prompt(last) then
    return answer(input, "prompt", 0.6, "last row looks like a prompt")
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
  submitted = not command:find("\n") and command or nil
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
  return matcher.any({
    matcher.all({ matcher.transcript_regex(PROMPT_MARK), stable(params) }),
    matcher.all({ matcher.transcript_regex(READS), stable(params) }),
    matcher.all({ matcher.screen_regex([[(?:[$#>❯➜λ]|[^0-9]%)\s*\z]]), stable(params) }),
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
      { name = "running", description = "A command runs", working = true },
      { name = "exited", description = "The shell ended; `exit_status` or `signal` says how" },
    },
  }
end

return exports
