-- The numbered list of a dialog: which options there are, which is selected, what stands under each.
--
-- It is read from its end upwards. What a model may write stands above the list, or under an option and further to the
-- right than the numbers; so a list in a command, or a description such as `3. Third?`, is none of its options.
-- On a small screen only a part of a list is drawn, and an arrow in the place of the selector says that there is more.
--
-- A caller says which option it means by a number or a label. A part of a label may be a part of several, and one of them
-- may be a yes for good: so a part counts only if it can mean no other, and where several fit nothing is chosen.
--
-- Not here: what the list is for (`dialogs.lua`), what to press for an option (`intents.lua`).

local text = require("text")

local options = {}

-- The last option of every question, under a rule of its own.
options.CHAT = "Chat about this"

local SELECTOR = "❯"
local MORE_BELOW, MORE_ABOVE = "↓", "↑"
local MARKS = { SELECTOR, MORE_BELOW, MORE_ABOVE }

-- A row of a list: `number`, `label`, `mark` and the `column` of its number. A label that does not fit in its row has
-- no blank behind the dot (`tight`).
local function row_of(row)
  local blanks = row:match("^ *")
  local column, body = #blanks, row:sub(#blanks + 1)
  local mark, rest = text.glyph(body, MARKS)
  if mark then
    blanks = rest:match("^ *")
    column, body = column + 1 + #blanks, rest:sub(#blanks + 1)
  end
  local number, gap, label = body:match("^(%d+)%.(%s*)(%S.*)$")
  -- `4.5` is a number of another kind.
  if number and #number < 3 and not (gap == "" and label:find("^%d")) then
    return { number = tonumber(number), label = label, mark = mark, column = column, tight = gap == "" }
  end
end

-- Takes apart `[✔] Postgres`, `Default ✔  Use the default model`.
local function new_option(found)
  local label = found.label
  local option = { index = found.number, selected = found.mark == SELECTOR or nil }
  local box, rest = label:match("^%[(.-)%]%s*(.*)$")
  if box and utf8.len(box) == 1 then
    option.checked = text.trim(box) ~= ""
    label = rest
  end
  local name, description = label:match("^(.-)%s%s+(.+)$")
  if name then
    label, option.description = name, description
  end
  if label:sub(-#"✔") == "✔" then
    label, option.current = text.trim(label:sub(1, -#"✔" - 1)), true
  end
  option.label = label
  return option
end

-- Under check boxes stands the button to go on, without a number. Gives its name and whether it is selected.
local function button_of(row)
  local body = text.trim(row)
  local selected = text.starts(body, SELECTOR)
  body = selected and text.trim(body:sub(#SELECTOR + 1)) or body
  if body == "Next" or body == "Submit" then
    return body, selected
  end
end

local function join(head, more)
  return head and (head .. " " .. more) or more
end

-- The rows under an option: the rest of its label, or what it is about. Gives the last of them.
local function read_under(lines, from, before, found, option)
  local last = from
  for i = from + 1, before - 1 do
    local row = lines[i]
    local indent = #row:match("^ *") - found.column
    -- The foot is further to the left than the numbers, if there is no room for a blank row above it.
    if row == "" or indent < 0 then
      break
    end
    local more = text.trim(row)
    local labels = option.checked == nil and indent == 2 or option.checked ~= nil and indent > 0
    if found.tight and not option.description and labels then
      option.label = join(option.label, more)
    else
      option.description = join(option.description, more)
    end
    last = i
  end
  return last
end

-- The rows of the list, the last one first. Only in a question may blank rows stand between them, in a description, and
-- numbers be missing, above its last option, which is always drawn.
local function rows_of(lines)
  local found, previous = {}, nil
  for i = #lines, 1, -1 do
    local asked = found[1] and found[1].label == options.CHAT
    local row = row_of(lines[i])
    local follows = row and previous and row.column == previous.column
      and (row.number == previous.number - 1 or #found == 1 and asked and row.number < previous.number)
    if row and (not previous or follows) then
      row.at = i
      found[#found + 1] = row
      previous = row
      if row.number == 1 or row.mark == MORE_ABOVE then
        break
      end
    elseif previous and lines[i] == "" and not asked then
      break
    end
  end
  return found
end

-- The list at the end of a dialog, if it has one: `options`, the rows it begins and ends at, `button` and `on_button`,
-- whether a row is `selected`, without which it is most often no list, and whether it is `cut`, so that there are options
-- that are not to be seen.
function options.read(lines)
  local rows = rows_of(lines)
  if #rows == 0 then
    return nil
  end
  local list = { options = {}, first = rows[#rows].at, last = rows[1].at, selected = false, cut = rows[#rows].number > 1 }
  local before = #lines + 1
  for i, row in ipairs(rows) do
    local option = new_option(row)
    for j = row.at + 1, before - 1 do
      local button, on = button_of(lines[j])
      if button and i > 1 then
        list.button, list.on_button = button, on
        list.selected = list.selected or on
        before = j
      end
    end
    local last = read_under(lines, row.at, before, row, option)
    if i == 1 then
      list.last = last
    end
    list.selected = list.selected or option.selected or false
    list.cut = list.cut or row.mark == MORE_BELOW or row.mark == MORE_ABOVE or i > 1 and row.number ~= rows[i - 1].number - 1
    table.insert(list.options, 1, option)
    before = row.at
  end
  if list.options[1].checked == nil then
    list.button = nil
  end
  return list
end

-- How a caller's words are written in an error.
local function labels(list, button)
  local names = {}
  for i, option in ipairs(list) do
    names[i] = "`" .. option.label .. "`"
  end
  names[#names + 1] = button and "`" .. button .. "`"
  return #names > 0 and table.concat(names, ", ") or "none"
end

local function several(wish, list, button)
  local names = {}
  for i, option in ipairs(list) do
    names[i] = "option " .. option.index .. " `" .. option.label .. "`"
  end
  names[#names + 1] = button and "the button `" .. button .. "`, which `approve` presses"
  error("invalid_params: `" .. wish .. "` may be " .. table.concat(names, ", or ") .. "; say which by `index`; nothing was typed", 0)
end

-- The option that a number means. As a text it may be the label of another one.
local function numbered(wish, number, list, cut)
  -- Of a list that is not all to be seen nobody knows the end.
  local most = #list > 0 and not cut and #list or 9
  local is_one = number >= 1 and number <= most
  for _, option in ipairs(list) do
    if option.label == wish and option.index ~= number then
      if is_one then
        error(string.format("invalid_params: option %d is `%s`, and option %d another one; say which by `index`", option.index, wish, number), 0)
      end
      return option.index
    end
  end
  if not is_one then
    error(string.format("invalid_params: option %d is not in 1..%d", number, most), 0)
  end
  return number
end

-- What words are made of; a row may break at the rest. `don't` is one word, and so is one with letters of other scripts.
local LETTER = "[%w_'\x80-\xff]"

-- Whether nothing but whole words of `label` are from `first` to `last`.
local function is_whole(label, first, last)
  local before = label:sub(first - 1, first - 1):find(LETTER) and label:sub(first, first):find(LETTER)
  local behind = label:sub(last + 1, last + 1):find(LETTER) and label:sub(last, last):find(LETTER)
  return not before and not behind
end

local function begins_with(label, wish)
  return text.starts(label, wish) and is_whole(label, 1, #wish)
end

local function has_words(label, wish)
  local first, last = label:find(wish, 1, true)
  while first do
    if is_whole(label, first, last) then
      return true
    end
    first, last = label:find(wish, first + 1, true)
  end
  return false
end

local function equals(label, wish)
  return label == wish
end

-- From what can mean one option only to what may well be by chance.
local FITS = { equals, begins_with, has_words, text.has }

-- The number of the option, or nothing if the button is meant.
function options.pick(wish, list, button, cut)
  local number = math.tointeger(tonumber(wish))
  if number then
    return numbered(wish, number, list, cut)
  end
  -- `yes, ` means no more than `yes`.
  local exact = type(wish) == "string" and wish:lower() or ""
  local lower = exact:match("^%s*(.-)[%s,;:%.]*$")
  lower = lower ~= "" and lower or exact
  if lower == "" then
    error("invalid_params: `index` must be a whole number, or `option` a number or a label", 0)
  end
  for _, fits in ipairs(FITS) do
    local found = {}
    for _, option in ipairs(list) do
      local label = option.label:lower()
      if fits(label, lower) or fits == equals and label == exact then
        found[#found + 1] = option
      end
    end
    local on_button = fits == equals and button and button:lower() == lower
    if #found > 1 or on_button and #found > 0 then
      several(wish, found, on_button and button or nil)
    elseif #found == 1 and cut and fits ~= equals and found[1].label:find("^Yes") then
      -- What is not to be seen may be a yes as well, and only for once.
      error("invalid_params: `" .. wish .. "` may be an option that is not to be seen; say which by `index`, or by a whole label; nothing was typed", 0)
    elseif #found == 1 or on_button then
      return found[1] and found[1].index
    end
  end
  error("invalid_params: no option `" .. wish .. "`; there are: " .. labels(list, button), 0)
end

-- Whether an option is a no, which ends the turn.
function options.is_no(list, number)
  for _, option in ipairs(list) do
    if option.index == number then
      return option.label:find("^No%f[%W]") ~= nil
    end
  end
  return false
end

return options
