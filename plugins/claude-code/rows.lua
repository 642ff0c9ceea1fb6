-- The rows of a dialog, taken apart: its first one, its dashes, a paragraph, the question above its options.
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

return rows
