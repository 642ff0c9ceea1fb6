-- What rows look like: whether one is a prompt, that of a further line, or a shell's good-bye, and how many prompts there are.
--
-- That is all there is where nothing is marked, and any program can print such a row.
--
-- Not here: what is believed of it, and when (`main.lua`); marks (`marks.lua`). Nothing is remembered.

local prompts = {}

-- Prompts end in one of these, with at most the blank in which one types behind it.
local ENDS = { "$", "#", "%", ">", "❯", "➜", "λ" }

-- What zsh says before `>` while a command is not whole: `dquote>`, `for cmdsubst>`.
local FURTHER = {}
for word in ("dquote quote bquote cmdsubst heredoc heredocd pipe for while until if then else elif case select repeat function cursh subsh math array cmdand cmdor foreach cond brace always"):gmatch("%S+") do
  FURTHER[word] = true
end

-- The last row with something in it, and the one before.
function prompts.last_rows(screen)
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

function prompts.looks_like_prompt(row)
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
function prompts.is_further(row)
  return row == ">" or FURTHER[row:match("^(%l+)[%l ]*>$") or ""] == true
end

-- An interactive bash says `exit` or `logout` when it goes: behind Ctrl+D at a prompt, or behind the
-- command of that name. Another command may print the word too, but not there. `runs` is whether one is known to run.
function prompts.said_goodbye(last, before, runs)
  if last ~= "exit" and last ~= "logout" then
    return false
  end
  local typed = before:gsub("%s+%d*$", "")
  if typed:sub(-#last - 1) == " " .. last and prompts.looks_like_prompt(typed:sub(1, -#last - 2)) then
    return true
  end
  return not runs and prompts.looks_like_prompt(before)
end

-- Whether the cursor is behind what was printed last, as it is at a prompt; output ends its rows.
function prompts.is_row_open(transcript)
  local tail = transcript:sub(-1024):gsub("\27%][^\7\27]*", ""):gsub("\27%[[%d;?>]*[%a~]", "")
  return not tail:find("\n[ \r\t]*$")
end

-- How many rows a fish takes at most to say why it does not take a line.
local REFUSAL_ROWS = 8

-- Whether nothing was entered behind what was printed last, also where titles and sets of letters follow, as in a fish.
local function is_edited(transcript)
  local tail = transcript:sub(-1024):gsub("\27%][^\7\27]*\7?", ""):gsub("\27%(%w", "")
  return prompts.is_row_open(tail)
end

-- Whether the last row is a prompt with `command` behind it, which a fish did not take: it said why, and the line is in its
-- editor again. What is typed then is added to it.
function prompts.is_refused(screen, transcript, command)
  local rows = {}
  for row in (screen .. "\n"):gmatch("([^\n]*)\n") do
    rows[#rows + 1] = row:match("^.*%S")
  end
  local last, ending = rows[#rows] or "", " " .. (command:match("^.*%S") or command)
  if last:sub(-#ending) ~= ending or not prompts.looks_like_prompt(last:sub(1, -#ending - 1)) then
    return false
  end
  for i = #rows - 1, math.max(2, #rows - REFUSAL_ROWS), -1 do
    if rows[i]:sub(1, 6) == "fish: " then
      -- Above it stands the same line, of which not all was drawn yet; anything else would be the error of a command before.
      local line = rows[i - 1]
      return #line > #last - #ending + 1 and last:sub(1, #line) == line and is_edited(transcript)
    end
  end
  return false
end

-- A longer line is broken into several rows.
local LINE = 200

-- A regular expression for the same, if there is one.
function prompts.refused_regex(command)
  if #command > LINE then
    return nil
  end
  local words = (command:match("^.*%S") or command):gsub("[%-%.%+%*%?%(%)|%[%]{}%^%$#&~\\]", "\\%0")
  return "(?m)^fish: [^\\n]*\\n(?:[^\\n]*\\n){0," .. REFUSAL_ROWS .. "}[^\\n]*[$#>%❯➜λ] " .. words .. "\\s*\\z"
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

-- Whether a shell has asked for so many lines in what it printed, of which the last row is `last`.
function prompts.has_asked(printed, last, lines)
  printed = printed:gsub("\27%[[%d;?]*[%a~]", "")
  -- Prompts whose lines were there already stand in one row: what is one of them is the row or its last word.
  for _, prompt in ipairs({ last:match("%S+$") .. " ", last .. " " }) do
    local count = 0
    for row in printed:gmatch("[^\r\n]+") do
      count = count + count_prompts(row, prompt)
    end
    if count >= lines then
      return true
    end
  end
  return false
end

return prompts
