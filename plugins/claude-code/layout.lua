-- Where things are on the screen: the composer, the rows under it, or the dialog in their place.
--
-- This is what keeps words apart from the things they name. Claude Code draws its answers with two
-- columns to their left, and only its own frame starts in the first column. At the bottom there is
-- either the composer, between two rules, or a dialog, under one rule, and never both. So a dialog
-- quoted in an answer, in a prompt or in a file stands above the composer and is not looked at. But a screen that was
-- opened while a turn goes on has the keys and leaves the composer to be seen below it; only such a screen has a
-- rule in the first column there, and at its foot how to leave it.
--
-- A session may have a name. It stands in the upper rule of the composer, and below some screens of Claude Code's own,
-- of which that rule is then the last row.
--
-- Where no rule is to be seen (a dialog taller than the screen, another program), the whole screen
-- is taken for the dialog, and a row with the prompt glyph at the very end for the composer.

local text = require("text")
local tasks = require("tasks")

local layout = {}

-- Eight of these in the first column are a rule. It may carry a name at its right; a long one leaves fewer of them.
local DASH = "─"
local RULE = DASH:rep(8)
local NAME_END = "──"
-- How many rows a name may take that is longer than one.
local NAME_ROWS = 5
local PROMPT = "❯"
local SHELL = "!"

-- What an empty composer shows in grey; in plain text it looks typed.
local PLACEHOLDERS = { '^Try "', "^Press up to edit queued messages$" }

local function is_rule(row)
  return text.starts(row, RULE)
end

local function is_dashes(row)
  -- By its bytes: a screen may be full of them.
  return text.starts(row, DASH) and row:find("^[─]+$") ~= nil
end

-- The first row of the name that ends in row `last`: that begins with dashes or a blank, the rest of the name, where it
-- is longer than a row, in the first column.
local function name_at(rows, last)
  local row = rows[last]
  if not row or row:sub(-#NAME_END) ~= NAME_END or is_dashes(row) and row ~= NAME_END then
    return nil
  end
  for i = last, math.max(1, last - NAME_ROWS + 1), -1 do
    if rows[i]:find("^ %S") or text.starts(rows[i], DASH) and rows[i] ~= NAME_END then
      return i
    elseif not rows[i]:find("^%S") then
      return nil
    end
  end
end

-- What is left of a rule where a composer taller than the screen was emptied.
local function is_stump(row)
  return row == "──"
end

local function is_prompt(row)
  return text.starts(row, PROMPT) or text.starts(row, SHELL)
end

local function typed(rows, first, last)
  local lines = {}
  for i = first, last do
    local row = is_stump(rows[i]) and "" or rows[i]
    if i == first and is_prompt(row) then
      row = text.starts(row, PROMPT) and row:sub(#PROMPT + 1) or row:sub(2)
      row = text.trim(row)
    else
      row = row:gsub("^  ", "")
    end
    lines[#lines + 1] = row
  end
  return text.trim_right(table.concat(lines, "\n"))
end

local function holds(value)
  if value == "" then
    return "empty"
  end
  for _, placeholder in ipairs(PLACEHOLDERS) do
    if value:find(placeholder) then
      return "empty"
    end
  end
  if value:find("%[Pasted text #%d+") then
    return "pasted"
  end
  return "text"
end

local function composer(rows, top, bottom, framed)
  local value = typed(rows, top + 1, bottom - 1)
  local state = holds(value)
  return {
    top = top,
    bottom = bottom,
    framed = framed,
    cut = framed and top == 0,
    shell = text.starts(rows[top + 1], SHELL),
    text = state == "empty" and "" or value,
    shown = value,
    state = state,
  }
end

-- The first row of a rule: one that is as long as a name may take several. More than that are no rule of a composer.
local function first_of(rows, i)
  local first = i
  while first > 1 and i - first < NAME_ROWS and is_rule(rows[first - 1]) and is_dashes(rows[first - 1]) and is_dashes(rows[i]) do
    first = first - 1
  end
  return i - first < NAME_ROWS and first or i
end

-- The last two rules, from the bottom up.
local function last_rules(rows)
  local found, i = {}, #rows
  while i > 0 and #found < 2 do
    if is_rule(rows[i]) then
      i = first_of(rows, i)
      found[#found + 1] = i
    end
    i = i - 1
  end
  return found[1], found[2]
end

local function bare_composer(rows)
  local last = rows[#rows]
  if not last then
    return nil
  end
  local rest = text.starts(last, PROMPT) and text.trim(last:sub(#PROMPT + 1))
  if rest and not rest:find("^%d+%.%s") or last:find("^%s*>$") then
    return composer(rows, #rows - 1, #rows + 1, false)
  end
end

-- A question has a rule of its own above its last option, a plan one above its question: which of them `from` is.
local function belongs_to_rule_above(rows, from)
  local first = from + 1
  while rows[first] == "" do
    first = first + 1
  end
  local row = rows[first] or ""
  if row:find("%d+%. Chat about this$") then
    return "question"
  end
  return text.has(row, "has written up a plan") and "plan" or nil
end

-- The rule above a question: what it asks is written in the first column, too, and may have a rule in it.
local function rule_of_question(rows, last)
  for i = last - 1, 1, -1 do
    if is_rule(rows[i]) and (text.has(rows[i + 1], "☐") or text.has(rows[i + 1], "☒")) then
      return i
    end
  end
end

-- A composer that is taller than the screen has nothing above its lower rule but its own text, and nothing below it but
-- its footer, in which no row is blank; below the rule of a dialog there is a blank row at least behind its title.
local function is_under_tall_composer(rows, rule)
  if rule == 1 or #rows - rule > 3 or not is_dashes(rows[rule]) then
    return false
  end
  for i, row in ipairs(rows) do
    local typed = i < rule and (row == "" or text.starts(row, "  ") or i == 1 and (is_prompt(row) or is_stump(row)))
    local footer = i > rule and text.starts(row, "  ")
    if i ~= rule and not typed and not footer then
      return false
    end
  end
  return true
end

-- The upper rule of the composer that ends in rule `last`. A name may leave little or nothing of it. Between the two
-- only the first row begins in the first column: where a program was suspended and draws all again below, as a shell's
-- job, what stands above is no composer any more.
local function upper_rule(rows, last)
  for i = last - 1, 2, -1 do
    if is_prompt(rows[i]) then
      return (is_rule(rows[i - 1]) or name_at(rows, i - 1)) and i - 1 or nil
    elseif rows[i] ~= "" and not text.starts(rows[i], "  ") then
      return nil
    end
  end
end

-- The rows above the name that a screen of Claude Code's own has below it. A composer of which nothing but its upper rule
-- is drawn yet has the conversation there.
local function without_name(rows)
  local first = name_at(rows, #rows)
  if not first then
    return rows
  end
  local rest = table.move(rows, 1, first - 1, 1, {})
  while rest[#rest] == "" do
    rest[#rest] = nil
  end
  local indented = #rest > 0
  for i = #rest, 1, -1 do
    if is_rule(rest[i]) then
      return is_dashes(rest[i]) and not is_prompt(rest[i + 1] or PROMPT) and rest or rows
    end
    indented = indented and not rest[i]:find("^%S")
  end
  return indented and rest or rows
end

-- The row above the prompts that wait on top of a composer for the turn to take them.
local function above_queue(rows, top)
  local first = top
  while first > 1 and rows[first - 1] ~= "" do
    first = first - 1
  end
  return text.starts(rows[first] or "", "  ❯ ") and first - 1 or top - 1
end

-- The rule above a screen that stands on the composer, and its last row.
local function overlay(rows, top)
  local last = above_queue(rows, top)
  top = last + 1
  while rows[last] == "" and top - last < 3 do
    last = last - 1
  end
  local foot = rows[last] or ""
  if not foot:lower():find("^ .*esc to %a") or tasks.holds(foot) then
    return nil
  end
  for i = last - 1, 1, -1 do
    if is_rule(rows[i]) then
      return i, last
    end
  end
end

-- What the row under an idle composer says while it shows a list of tasks.
local TASKS_SHOWN = "ctrl+t to hide tasks"

-- What stands at the bottom of the screen without the tasks is the dialog, if it is one: they have no keys.
local function without_tasks(rows)
  local rest, lost = tasks.cut(rows)
  return rest, lost and #rows > 0
end

-- The last row of the conversation above a composer, without the tasks.
local function above_tasks(view, last)
  local shown, says = false, false
  for _, row in ipairs(view.footer) do
    shown = shown or text.has(row, TASKS_SHOWN)
    says = says or text.has(row, "? for shortcuts") or text.has(row, "esc to interrupt")
  end
  return says and not shown and last or tasks.above(view.rows, last, shown)
end

-- Reads a screen: `rows`, and either `composer` with `footer`, or `dialog` with `framed`.
-- `above` is the last row that belongs to the conversation. `overlay` is a dialog on top of a composer. `lost` is a
-- screen of which nobody knows what of it is a dialog.
function layout.read(screen)
  local all, corners = text.rows(screen)
  local rows, lost = without_tasks(without_name(all))
  local view = { rows = rows, footer = {}, above = #rows, lost = lost, corners = corners }
  local last, previous = last_rules(rows)

  local inner = last and belongs_to_rule_above(rows, last)
  local upper = not inner and last and upper_rule(rows, last)
  if inner == "question" then
    previous = rule_of_question(rows, last)
  elseif upper then
    view.composer = composer(rows, upper, last, true)
  elseif not inner and last and not previous and is_under_tall_composer(rows, last) then
    view.composer = composer(rows, 0, last, true)
  elseif not last then
    view.composer = bare_composer(rows)
  end

  if view.composer and view.composer.framed then
    local rule, foot = overlay(rows, name_at(rows, view.composer.top) or view.composer.top)
    if rule then
      view.composer, view.overlay, view.framed, view.above = nil, true, true, rule - 1
      view.dialog = table.move(rows, rule + 1, foot, 1, {})
      return view
    end
  end
  if view.composer then
    local top = view.composer.top
    view.above = view.composer.framed and (name_at(rows, top) or top) - 1 or top
    for i = view.composer.bottom + 1, #rows do
      view.footer[#view.footer + 1] = not is_dashes(rows[i]) and rows[i] or nil
    end
    view.above = above_tasks(view, view.above)
    return view
  end

  local start = last
  if inner then
    start = previous
    view.inner_rule = inner == "plan" and last or nil
  end
  view.framed = start ~= nil
  view.width = last and utf8.len(rows[last])
  -- Between the two rules of a composer a program may pause while it draws.
  view.half_drawn = last ~= nil and (last == #rows or is_prompt(rows[last + 1]) and not rows[last + 1]:find("%d+%. "))
  view.above = start and tasks.above(rows, start - 1, false) or 0
  view.dialog = {}
  for i = (start or 0) + 1, #rows do
    view.dialog[#view.dialog + 1] = rows[i]
  end
  return view
end

return layout
