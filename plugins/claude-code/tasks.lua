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
--
-- Not here: where the dialog or the composer is (`layout.lua`).

local text = require("text")

local tasks = {}

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
function tasks.holds(row)
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
    elseif row ~= "" and not tasks.holds(row) then
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
function tasks.cut(lines)
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
function tasks.above(lines, last, shown)
  local first, exact = list_at(lines, last)
  return first and (shown or exact) and first - 1 or last
end

return tasks
