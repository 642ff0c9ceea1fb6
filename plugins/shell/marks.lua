-- The marks of shell integration in a transcript (OSC 133), and what is remembered of them from call to call.
--
-- A stands before the prompt, B behind it, C before the output of a command, `D;status` behind it, `P;k=s` before the prompt
-- of a command's next line. A transcript holds only the end of what was printed, and a program may print marks, too: so it
-- is told which of them count, and which belong to the command that `run` typed last.
--
-- Not here: the state that follows from the last mark (`main.lua`), and anything that goes by the looks of a row (`prompts.lua`).

local is_exit = require("commands").is_exit

local marks = {}

-- How the marks of a bash or a zsh begin that this adapter started; what a program prints does not.
local SIGNED = "^[^\7]*;aid=greenroom%-%w"

-- Half of what the host gives of a transcript, in bytes: marks are pushed out of none that is shorter.
local MUCH = 8192

-- What is remembered. Each adapter has its own Lua, so this is never somebody else's. Places are as the host counts them.
--
--   of who marks       signs (the shell itself marks, and says so: then nobody else's marks count), began (by the name of each
--                      that signs, the place of its first prompt), names (how many these are), zsh_prompts (a zsh marks
--                      its prompts; one whose settings have no `PROMPT_EOL_MARK` marks commands alone, which then say
--                      nothing), muted (since where it seems to mark commands alone: there was what looks like a prompt,
--                      and no mark)
--   of the last mark   before (what was known when one was in the transcript for the last time)
--   of commands        submitted (what `run` typed last: of a command that printed much, the transcript does not hold it any
--                      more), known (the last command that is known from `run` alone, and the place of its mark), turn
--                      (`place`: where `run` typed last; `believed`: whether marks without our name count behind it)
--   of looks           within (where what looks like a prompt behind the mark of a command turned out to be one)
--
-- `main.lua` sets submitted, muted and within.
local seen = { signs = false, began = {}, names = 0, zsh_prompts = false, before = {}, known = {}, turn = { believed = true } }
marks.seen = seen

-- What was typed between the prompt and Enter. Edited lines are full of cursor movements, and then
-- it is better not known than wrong.
local function typed_between(transcript, from, to)
  local typed = transcript:sub(from, to):gsub("\27%[[%d;?]*[%a~]", ""):match("^.*%S")
  if typed and not typed:find("%c") then
    return typed
  end
end

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

-- Whether a mark counts. Remembers who marks, and what.
local function counts(reading, letter, start, is_signed, is_zsh)
  if is_zsh then
    seen.zsh_prompts = seen.zsh_prompts or letter ~= "C"
    if reading.muted_at and start >= reading.muted_at then
      if letter == "C" then
        return false
      end
      seen.muted, reading.muted_at = nil, nil
    end
    if not seen.zsh_prompts or letter == "C" and is_editing(reading.transcript, reading.found.finish or 1, start) then
      return false
    end
  end
  seen.signs = seen.signs or is_signed
  return is_signed or not seen.signs and reading.believes
end

-- The first mark behind the place where `run` typed.
local function begin_turn(found)
  found.is_new = true
  if found.letter ~= "C" then
    -- How the command before ended says nothing of this one.
    found.status, found.command, found.begun = nil, nil, nil
  end
end

-- How many characters stand behind a mark, which tells where it is while the transcript moves on.
local function place_of(reading, start)
  return reading.cursor - (utf8.len(reading.transcript, start) or 0)
end

-- More shells in shells nobody has; a program may print any number of names.
local MOST_NAMES = 32

-- By its name in its marks, a shell that signs is at a prompt. Remembers where it was for the first time.
local function see_prompt(reading, start, name)
  if not name or reading.names[name] then
    return
  end
  reading.names[name] = true
  if not seen.began[name] and seen.names < MOST_NAMES then
    seen.began[name], seen.names = place_of(reading, start), seen.names + 1
  end
end

-- Whether the mark of an end stands before the first prompt of its shell, and behind no command: then nothing has ended.
local function is_begin(reading, start, name)
  local last = reading.found.letter or #reading.transcript >= MUCH and seen.before.letter
  if not name or reading.names[name] or last == "C" then
    return false
  end
  local began = seen.began[name]
  return not began or reading.cursor > 0 and place_of(reading, start) < began
end

local function read_end(reading, start, rest, name)
  local found, level = reading.found, reading.level
  local begins = is_begin(reading, start, name)
  found.status = not begins and tonumber(rest:match("^;(%-?%d+)")) or nil
  found.is_silent = begins or found.letter == "B" or found.is_silent
  if found.letter ~= "C" and found.is_new and reading.awaits and not found.is_zsh then
    -- Who marks prompts alone says only there that it ran, or that it led into another shell.
    found.command, reading.awaits = seen.submitted, false
  end
  -- A zsh says so before its first prompt, too, when nothing has ended.
  local depth = tonumber(rest:match(";aid=greenroom%-zsh(%d+)"))
  if depth and (level and depth > level or not level and not (seen.before.letter and #reading.transcript >= MUCH) or (found.command or ""):find("^exec ")) then
    found.status = nil
    if found.is_new and reading.awaits then
      -- What was typed led into it, from a shell that does not mark.
      found.command, reading.awaits = seen.submitted, false
    end
  end
  reading.level = depth or level
end

local function read_prompt(reading, finish)
  local found = reading.found
  if found.letter == "B" and found.is_new and reading.awaits then
    -- It went by without a mark of its own.
    found.command, reading.awaits = seen.submitted, false
  end
  reading.typing = finish + (reading.transcript:sub(finish, finish) == "\27" and 2 or 1)
end

local function read_command(reading, start, rest, is_zsh_again)
  local found, typing = reading.found, reading.typing
  found.begun, found.status = start, nil
  found.command = rest:match(";cmdline=([^;]+)") or typing and typed_between(reading.transcript, typing, start - 1)
  if found.is_new and reading.awaits then
    -- A further line of a command is no command.
    local is_whole = found.letter ~= "P" and not (found.letter == "C" and is_zsh_again)
    found.is_submitted = not found.command and is_whole
    found.command, reading.awaits = found.command or is_whole and seen.submitted or nil, false
  else
    found.is_submitted = false
  end
  reading.typing = nil
end

-- The last mark of a transcript, the exit status and the command known by then; `at` is where `run` typed last.
local function read_marks(transcript, at, believes, muted_at, cursor)
  local found = { asked = 0 }
  -- `awaits`: no mark was that of what `run` typed; `typing`: where a command is typed; `level`: how deep in others a zsh is.
  local reading = { transcript = transcript, believes = believes, muted_at = muted_at, found = found, awaits = true, names = {}, cursor = cursor }
  for start, letter, rest, finish in transcript:gmatch("()\27%]133;(%u)([^\7\27]*)()") do
    local is_signed, is_zsh = rest:find(SIGNED) ~= nil, rest:find(";aid=greenroom-zsh", 1, true) ~= nil
    if counts(reading, letter, start, is_signed, is_zsh) then
      if at and start >= at and not found.is_new then
        begin_turn(found)
      end
      local is_zsh_again = is_zsh and found.is_zsh
      found.start, found.finish, found.is_zsh, found.is_signed = start, finish, is_zsh, is_signed
      local name = not is_zsh and rest:match(";aid=(greenroom%-[^;]+)") or nil
      if found.is_new and (letter == "B" or letter == "P") then
        found.asked = found.asked + 1
      end
      if letter == "D" then
        read_end(reading, start, rest, name)
      elseif letter == "B" then
        see_prompt(reading, start, name)
        read_prompt(reading, finish)
      elseif letter == "C" then
        read_command(reading, start, rest, is_zsh_again)
      end
      if letter == "C" then
        found.is_silent = false
      elseif letter == "B" and found.letter == "B" or found.is_silent == nil and not is_signed then
        -- Prompts and no commands between them.
        found.is_silent = true
      end
      if (letter == "A" or letter == "P") and rest:find(";k=[cs]") then
        -- If it comes to nothing, nothing ran.
        found.letter, found.status, found.command, found.begun = "P", nil, nil, nil
      elseif letter >= "A" and letter <= "D" then
        found.letter = letter
      end
    end
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
    return seen.turn.believed
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
  if place ~= seen.turn.place then
    local from = seen.turn.place and byte_of(input, seen.turn.place) or 1
    local believed = seen.turn.believed and seen.before.letter ~= nil
    if at then
      believed = is_believable(input.transcript, from, at)
    end
    seen.turn = { place = place, believed = believed }
  end
  return at or 1
end

-- What was printed right behind a mark, as it reads; of much only the beginning.
function marks.said_behind(transcript, finish)
  return (transcript:sub(finish, finish + 512):gsub("\27%[[%d;?]*[%a~]", ""):gsub("\27[=>]", ""):gsub("^[\7\27\\%s]+", ""))
end

-- Whether the shell whose mark was the last said good-bye behind it, and not the command it runs: another one has the
-- terminal now, which may not mark.
local function has_left(transcript, found)
  if found.letter == "C" and not is_exit(found.command) then
    return false
  end
  local said = marks.said_behind(transcript, found.finish)
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
    seen.known = { place = place, command = found.command }
  elseif not found.command and place == seen.known.place then
    found.command = seen.known.command
  end
end

-- What is known by marks: the last, the exit status and the command; and where in the transcript `run` typed last. Output of
-- which the transcript does not hold the beginning leaves no marks in it; then a command runs.
function marks.of(input)
  local transcript, at = input.transcript, see_turn(input)
  local found = read_marks(transcript, at, seen.turn.believed, seen.muted and (byte_of(input, seen.muted) or 1), input.cursor or 0)
  if not seen.signs and not seen.turn.believed then
    seen.before = {}
  end
  if not found.letter then
    local is_pushed_out = seen.before.letter and #transcript >= MUCH
    return is_pushed_out and { letter = "C", command = seen.before.letter == "C" and seen.before.command or seen.submitted } or found, at
  end
  recall(input, found)
  local has_ended = is_exit(found.command) and seen.within and seen.turn.place and seen.turn.place >= seen.within
  if has_left(transcript, found) or found.letter == "C" and has_ended then
    found = {}
  elseif found.letter ~= "C" and at and found.start < at then
    -- It is the mark of the prompt at which the command was typed, or an older one.
    return { waits = found.is_signed and found.letter ~= "D" and found.is_silent, command = seen.submitted }, at
  elseif found.is_silent and found.letter:find("[AB]") and is_entered(transcript, found.letter, found.finish, #transcript) then
    -- Something was typed that is no command of ours, and who marks no commands does not say what became of it.
    return {}, at
  elseif found.status and not found.begun and #transcript >= MUCH then
    found.command = seen.submitted
  end
  if seen.within and found.start and found.start >= (byte_of(input, seen.within) or 1) then
    seen.within = nil
  end
  -- Who marks an end and no prompt is no shell.
  seen.before = found.letter ~= "D" and found or {}
  return found, at
end

return marks
