-- Small things about text that the other files share: rows, trimming, and the id of a dialog.
--
-- Screens are UTF-8 and Lua patterns are bytes, so a class such as `[·●]` would match half a
-- character. Glyphs are therefore compared as whole strings, never inside a class.

local text = {}

-- Claude Code writes this for a blank behind some of its glyphs; here it is a blank.
local NBSP = "\u{a0}"

-- From the end: `%s+$` would be tried again at every blank of a row.
function text.trim_right(row)
  return row:match("^.*%S") or ""
end

function text.trim(row)
  return row:match("^%s*(.*%S)") or ""
end

-- What Claude Code draws before the result of a tool, and an answer before nothing.
local CORNER = "  ⎿ " .. NBSP

-- The rows of a screen, without the blanks at their ends and the blank rows at its end, and by their number those that
-- begin with a corner of Claude Code's, where its blanks are to be seen at all.
function text.rows(screen)
  local rows, corners = {}, nil
  for row in (screen .. "\n"):gmatch("([^\n]*)\n") do
    if text.has(row, NBSP) then
      corners = corners or {}
      corners[#rows + 1] = text.starts(row, CORNER) or nil
      row = row:gsub(NBSP, " ")
    end
    rows[#rows + 1] = text.trim_right(row)
  end
  while rows[#rows] == "" do
    rows[#rows] = nil
  end
  return rows, corners
end

-- No screen shows more of a text than this, in bytes: its beginning, or its end.
local HEAD, TAIL = 4096, 32768

local squeezed = {}

-- Without blanks, which the terminal breaks lines at and Claude Code trims. Of a long text only what a screen may show of
-- it: each byte costs time, of which a call has little.
function text.squeeze(words)
  if squeezed.from == words then
    return squeezed.words
  end
  local part = #words > HEAD + TAIL and words:sub(1, HEAD) .. words:sub(-TAIL) or words
  part = part:gsub("%s", "")
  if text.has(part, NBSP) then
    part = part:gsub(NBSP, "")
  end
  -- A prompt is asked for several times.
  if #words > HEAD then
    squeezed = { from = words, words = part }
  end
  return part
end

function text.starts(row, head)
  return row:sub(1, #head) == head
end

-- Whether `row` holds `needle` as it is written, not as a pattern.
function text.has(row, needle)
  return row:find(needle, 1, true) ~= nil
end

-- The glyph of `glyphs` that `row` begins with, and the rest of the row.
function text.glyph(row, glyphs)
  for _, glyph in ipairs(glyphs) do
    if text.starts(row, glyph) then
      return glyph, row:sub(#glyph + 1)
    end
  end
end

-- FNV-1a, 32 bits, in hex. Ids of dialogs are compared by clients, so this may not change:
-- `perm:Bash:git status --short` is `dcc4608b`.
function text.fnv1a(value)
  local hash = 0x811c9dc5
  for i = 1, #value do
    hash = ((hash ~ value:byte(i)) * 0x01000193) & 0xffffffff
  end
  return string.format("%08x", hash)
end

return text
