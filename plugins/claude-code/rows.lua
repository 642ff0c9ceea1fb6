-- The rows of a dialog, taken apart: its first one, its dashes, a paragraph, the question above its options; and the
-- list of tasks, which is none of it.
--
-- Not here: what any of it means (`dialogs.lua`, `permission.lua`).

local text = require("text")

local rows = {}

local DASHES = ("╌"):rep(8)

function rows.is_dashes(row)
  return text.starts(row, DASHES)
end

local function is_blank_or_dashes(row)
  return row == "" or rows.is_dashes(row)
end

function rows.first(lines)
  for i, row in ipairs(lines) do
    if row ~= "" then
      return text.trim(row), i
    end
  end
  return "", 1
end

-- The last row of dashes above row `before`; nothing that a model wrote begins in the first column.
function rows.dashes_above(lines, before)
  for i = before - 1, 1, -1 do
    if rows.is_dashes(lines[i]) then
      return i
    end
  end
end

-- The question above the options, joined where the terminal broke it, and the row before it.
function rows.question_above(lines, first)
  local i = first - 1
  while i > 0 and is_blank_or_dashes(lines[i]) do
    i = i - 1
  end
  local last = i
  while i > 0 and not is_blank_or_dashes(lines[i]) and last - i < 4 do
    i = i - 1
  end
  local words = {}
  for j = i + 1, last do
    words[#words + 1] = text.trim(lines[j])
  end
  return table.concat(words, " "), i
end

-- The rows from `first` to `last` without their common indent and the blank rows around them.
function rows.body(lines, first, last)
  local found, indent = {}, nil
  for i = first, last do
    if not rows.is_dashes(lines[i]) then
      found[#found + 1] = lines[i]
      if lines[i] ~= "" then
        local blanks = #lines[i]:match("^%s*")
        indent = indent and math.min(indent, blanks) or blanks
      end
    end
  end
  for i, row in ipairs(found) do
    found[i] = row:sub((indent or 0) + 1)
  end
  while found[1] == "" do
    table.remove(found, 1)
  end
  while found[#found] == "" do
    found[#found] = nil
  end
  return found
end

-- The rows of a paragraph as they were before the terminal broke them: where the next word would have fitted into a
-- row, the break is the text's own. Without a width all of them are the terminal's.
function rows.unwrapped(paragraph, width)
  local out = paragraph[1] or ""
  for i = 2, #paragraph do
    local word = paragraph[i]:match("^%S+") or ""
    local room = width and (utf8.len(paragraph[i - 1]) or 0) + 1 + (utf8.len(word) or 0) < width
    local broken = paragraph[i] == "" or paragraph[i - 1] == "" or room
    out = out .. (broken and "\n" or " ") .. paragraph[i]
  end
  return out
end

-- The list of tasks, which Claude Code draws below the dialogs of a turn, or above the composer:
--
--     2 tasks (0 done, 2 open)
--     ◻ a subject
--       whose next line is further to the right
--      … +1 pending
--
-- A subject is the model's, asks nobody and may have newlines in it: it can imitate the options of a dialog. But none of
-- its rows begins left of the fourth column, where a very narrow screen has them, and those of a dialog do, its selected
-- option and its foot at least. So the list is all that is indented like that at the end of the screen, under the last header in
-- the third column. Where such rows have no header, what they belong to is not known, and nobody may answer it.

-- In how many rows a narrow screen may break the header.
local HEADER_ROWS = 5

-- What stands in the third column of dialogs: a glyph there that is none of these begins a task.
local OTHERS = { "❯", "↓", "↑", "●", "⏺", "⎿", "☐", "☒", "✢", "╭", "│", "╰", "╌", "─", "·" }

-- What begins a task also where a very narrow screen has no blank behind it.
local BOXES = { "◻", "◼", "✔", "□", "■", "√" }

local function is_item(row)
  local glyph = row:match("^  ([\xc2-\xf4][\x80-\xbf]+) ")
  if glyph then
    return utf8.len(glyph) == 1 and text.glyph(glyph, OTHERS) == nil
  end
  return text.starts(row, "  ") and text.glyph(row:sub(3), BOXES) ~= nil
end

-- Whether a row may be one of a task.
function rows.is_of_tasks(row)
  return text.starts(row, "   ") or is_item(row)
end

-- How many tasks are not drawn: `… +9 pending, 1 completed`.
local function folded(row)
  local counts = row:match("^ +… %+(%d.*)$")
  local sum = counts and 0
  for count in (counts or ""):gmatch("%d+") do
    sum = sum + tonumber(count)
  end
  return sum
end

-- The first row of the header that ends in row `last`, and how many tasks it counts.
local function header_at(lines, last)
  local words = ""
  for i = last, math.max(1, last - HEADER_ROWS + 1), -1 do
    local row = lines[i]:match("^  (%S.*)$")
    if not row then
      return nil
    end
    words = words == "" and row or row .. " " .. words
    local count = words:match("^(%d+) tasks? %(%d+ [%a%d, ]+%)$")
    if count then
      return i, tonumber(count)
    end
  end
end

-- The list that ends in row `last`: its first row, and whether its header counts what is there. Without a header the
-- first row is nothing, and the last answer whether there is a list all the same.
local function list_at(lines, last)
  local i, items, total = last, 0, 0
  while i > 0 do
    local row = lines[i]
    local more = folded(row)
    if is_item(row) then
      items, total = items + 1, total + 1
    elseif more then
      total = total + more
    elseif row ~= "" and not rows.is_of_tasks(row) then
      break
    end
    i = i - 1
  end
  local first, count = nil, nil
  if i > 0 then
    first, count = header_at(lines, i)
  end
  return first, count == total, not first and (items > 0 or i == 0)
end

-- The rows of a screen without a composer above the list at its end, and whether that cannot be told.
function rows.without_tasks(lines)
  local first, _, lost = list_at(lines, #lines)
  if not first then
    return lines, lost
  end
  local rest = table.move(lines, 1, first - 1, 1, {})
  while rest[#rest] == "" do
    rest[#rest] = nil
  end
  return rest, #rest == 0
end

-- The last row of a conversation above the list that it ends with. An answer may end like one: then it is the list if
-- Claude Code says (`shown`) that there is one, or if it is so exact that nobody else would write it.
function rows.above_tasks(lines, last, shown)
  local first, exact = list_at(lines, last)
  return first and (shown or exact) and first - 1 or last
end

return rows
