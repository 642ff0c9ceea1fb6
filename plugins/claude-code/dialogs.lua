-- Which dialog stands in the place of the composer, and what it asks.
--
-- Every dialog here was seen in the real program; see `fixtures/`. A dialog is told by its title or
-- its question *and* by its place (`layout.lua`), never by words anywhere on the screen.
--
-- Not here: which state a dialog makes (`classify.lua`), what to press (`intents.lua`).

local text = require("text")

local dialogs = {}

local SELECTOR = "❯"
local DASHES = ("╌"):rep(8)

-- The titles of permission dialogs and the tool that asks. Others name themselves.
local TOOLS = {
  ["Bash command"] = "Bash",
  ["Create file"] = "Write",
  ["Overwrite file"] = "Write",
  ["Edit file"] = "Edit",
  ["Edit notebook"] = "NotebookEdit",
  ["Read file"] = "Read",
  ["Fetch"] = "WebFetch",
  ["Web Search"] = "WebSearch",
}

-- The question alone, for a dialog whose title scrolled off.
local QUESTIONS = {
  { "^Do you want to create (.+)%?$", "Write" },
  { "^Do you want to overwrite (.+)%?$", "Write" },
  { "^Do you want to make this edit to (.+)%?$", "Edit" },
  { "^Do you want to allow Claude to fetch", "WebFetch" },
}

local function is_blank_or_dashes(row)
  return row == "" or text.starts(row, DASHES)
end

local function option_of(row)
  local selected, body = false, row:gsub("^%s+", "")
  if text.starts(body, SELECTOR) then
    selected, body = true, body:sub(#SELECTOR + 1):gsub("^%s+", "")
  end
  local number, label = body:match("^(%d+)%.%s+(.+)$")
  if number then
    return tonumber(number), label, selected
  end
end

-- Takes apart `[✔] Postgres`, `Default ✔  Use the default model`.
local function new_option(number, label, selected, row)
  local option = { index = number, selected = selected or nil }
  local box, rest = label:match("^%[(.-)%]%s+(.*)$")
  if box then
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

-- The last numbered list with a selected row; a list quoted in a command stands above it.
-- Also gives the row it begins at and the row it ends at.
local function options_of(lines)
  local best, list
  for i, row in ipairs(lines) do
    local number, label, selected = option_of(row)
    if number == 1 then
      list = { first = i, last = i, options = {}, selected = false }
    end
    local button, on = nil, nil
    if list and list.last == i - 1 and list.options[1] and list.options[1].checked ~= nil then
      button, on = button_of(row)
    end
    if button then
      list.button, list.last = button, i
      list.selected = list.selected or on
      best = list.selected and list or best
    elseif number and list and number == #list.options + 1 then
      list.options[number] = new_option(number, label, selected)
      list.last = i
      list.selected = list.selected or selected
      if list.selected then
        best = list
      end
    elseif list and list.last == i - 1 and row:find("^   ?%s*%S") and not number then
      -- A row under an option tells more about it.
      local option = list.options[#list.options]
      local more = text.trim(row)
      list.last = i
      option.description = option.description and (option.description .. " " .. more) or more
    end
  end
  return best
end

local function first_row(lines)
  for i, row in ipairs(lines) do
    if row ~= "" then
      return text.trim(row), i
    end
  end
  return "", 1
end

-- The question above the options, joined where the terminal broke it.
local function question_above(lines, first)
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
local function body_of(lines, first, last)
  local rows, indent = {}, nil
  for i = first, last do
    if not text.starts(lines[i], DASHES) then
      rows[#rows + 1] = lines[i]
      if lines[i] ~= "" then
        local blanks = #lines[i]:match("^%s*")
        indent = indent and math.min(indent, blanks) or blanks
      end
    end
  end
  for i, row in ipairs(rows) do
    rows[i] = row:sub((indent or 0) + 1)
  end
  while rows[1] == "" do
    table.remove(rows, 1)
  end
  while rows[#rows] == "" do
    rows[#rows] = nil
  end
  return rows
end

-- Claude Code writes the command and, in a row of its own, what it is for. A command of several
-- rows looks the same, so the last row counts as the purpose only where Claude Code always has one.
local function bash_summary(body)
  local purpose = #body > 1 and table.remove(body) or nil
  return table.concat(body, "\n"), purpose
end

local function permission(lines, list, title, title_row)
  local question, question_row = question_above(lines, list.first)
  local tool, summary, description = TOOLS[title], nil, nil
  local body = body_of(lines, title_row + 1, question_row)
  if tool == "Bash" then
    summary, description = bash_summary(body)
  elseif tool == "Write" or tool == "Edit" or tool == "NotebookEdit" or tool == "Read" then
    summary = body[1]
  elseif not tool then
    for _, known in ipairs(QUESTIONS) do
      local found = question:match(known[1])
      if found then
        tool, summary = known[2], found ~= question and found or nil
        break
      end
    end
  end
  tool = tool or title
  summary = summary or (body[1] and table.concat(body, "\n")) or question
  return {
    kind = "permission",
    id = text.fnv1a("perm:" .. tool .. ":" .. summary),
    options = list.options,
    metadata = {
      permission = {
        tool = tool,
        summary = summary,
        description = description,
        question = question,
        options = list.options,
      },
    },
  }
end

local function plain(kind, key, seed, list, extra)
  local options = list and list.options
  local metadata = extra or {}
  if key then
    metadata[key] = metadata[key] or {}
    metadata[key].options = options
  end
  return { kind = kind, id = text.fnv1a(seed), options = options, metadata = metadata }
end

local function login(lines, list)
  local url, open = nil, false
  for _, row in ipairs(lines) do
    local trimmed = text.trim(row)
    if trimmed:find("^https?://") then
      url, open = trimmed, true
    elseif open and trimmed ~= "" and not trimmed:find("%s") then
      -- An address longer than the terminal goes on in the next row.
      url = url .. trimmed
    else
      open = false
    end
  end
  return plain("login", nil, "login:" .. (url or "method"), list, { login = url and { url = url } })
end

local function plan(lines, list)
  local first, last
  for i, row in ipairs(lines) do
    if text.starts(row, DASHES) then
      first, last = first or i, i
    end
  end
  local body = first and body_of(lines, first + 1, last - 1) or {}
  local words = table.concat(body, "\n")
  local question = list and question_above(lines, list.first) or ""
  return plain("plan", nil, "plan:" .. (words ~= "" and words or question), list, {
    plan = words ~= "" and words or question,
  })
end

-- The headers of questions with check boxes, by what they ask, from before a box was checked: then the header is
-- as that of a question that was answered, and of several it is not to be seen which is shown.
local headers = {}

local function header_of(lines, list, asked, multiple)
  local open, all = nil, {}
  for i = 1, list.first - 1 do
    -- Of several questions the first without an answer is the one that is shown.
    open = open or lines[i]:match("☐%s+(.-)%s%s") or lines[i]:match("☐%s+(.+)$")
    for header in (lines[i] .. "  "):gmatch("☒%s+(.-)%s%s") do
      all[#all + 1] = header
    end
  end
  if not multiple then
    return open
  end
  for _, option in ipairs(list.options) do
    if option.checked then
      return headers.of == asked and headers.header or not open and #all == 1 and all[1] or nil
    end
  end
  headers = { of = asked, header = open }
  return open
end

local function question(lines, list)
  local asked = question_above(lines, list.first)
  local multiple = list.options[1].checked ~= nil
  local header = header_of(lines, list, asked, multiple)
  local found = plain("question", "question", "question:" .. asked, list, {
    question = { text = asked, header = header, multiple = multiple, button = list.button },
  })
  found.button = list.button
  return found
end

local function folder_of(lines)
  for _, row in ipairs(lines) do
    local trimmed = text.trim(row)
    if text.starts(trimmed, "/") or trimmed:find("^%a:\\") then
      return trimmed
    end
  end
  return ""
end

local function has_row(lines, needle, from)
  for i = from or 1, #lines do
    if text.has(lines[i], needle) then
      return i
    end
  end
end

-- What a settings or help screen says at its foot.
local function is_local_screen(lines)
  for i = math.max(1, #lines - 1), #lines do
    local row = lines[i]:lower()
    local leaves = row:find("esc to %a") and not row:find("esc to interrupt")
    if leaves or row:find("ctrl%+o to toggle") or row:find("^%s*enter to close$") then
      return true
    end
  end
  return false
end

local function of_title(view, lines, list, title)
  if title == "Login" or has_row(lines, "Select login method:") or has_row(lines, "Paste code here if prompted") then
    return login(lines, list)
  end
  if has_row(lines, "trust this folder") or has_row(lines, "trust the files in this folder") then
    return plain("trust", nil, "trust:" .. folder_of(lines), list)
  end
  if title == "Select model" or title == "Switch model?" then
    local labels = {}
    for i, option in ipairs(list and list.options or {}) do
      labels[i] = option.label
    end
    return plain("model", "model_select", "model:" .. table.concat(labels, ","), list)
  end
  if title == "Enter plan mode?" then
    return plain("enter_plan", "enter_plan_mode", "enter_plan:", list)
  end
  if title == "Ready to code?" or title == "Exit plan mode?" or view.inner_rule and has_row(lines, "has written up a plan") then
    return plan(lines, list)
  end
end

-- A screen that is only for reading offers one thing at its foot, to leave it; there Escape does nothing else.
local function is_for_reading(lines)
  return text.trim(lines[#lines]):lower() == "esc to cancel"
end

-- A yes and a no, or the keys for them in brackets: then somebody asks for leave.
local function asks_for_leave(list)
  for _, option in ipairs(list.options) do
    if option.label:find("^Yes") then
      return true
    end
  end
  return false
end

-- The dialog of a screen, or nothing. `kind` is one of login, trust, model, enter_plan, plan,
-- permission, suppressed, question, usage, local_ui.
function dialogs.read(view)
  local lines = view.dialog
  if not lines or #lines == 0 then
    return nil
  end
  local list = options_of(lines)
  local title, title_row = first_row(lines)
  local found = of_title(view, lines, list, title)
  if found then
    found.framed = view.framed
    return found
  end
  if list and (has_row(lines, "to navigate", list.last) or has_row(lines, "Ready to submit your answers?")) then
    found = question(lines, list)
  elseif list and asks_for_leave(list) then
    found = permission(lines, list, title, title_row)
  elseif has_row(lines, "Total cost:") then
    found = { kind = "usage", metadata = {}, lines = lines, for_reading = is_for_reading(lines) }
  elseif is_local_screen(lines) then
    found = { kind = "local_ui", metadata = { screen = title:match("^(.-)%s%s") or title }, options = list and list.options,
      for_reading = not list and is_for_reading(lines) }
  else
    for i = math.max(1, #lines - 6), #lines do
      local asks = lines[i]:find("^%s*Do you want to .*%?$")
      if asks or text.has(lines[i], "[Enter]") and text.has(lines[i], "[Esc]") then
        local words = text.trim(lines[i])
        found = plain(asks and "suppressed" or "permission", "permission", "perm::" .. words, list, {
          permission = { summary = words },
        })
      end
    end
  end
  if not found and (list or view.framed and not view.half_drawn and title ~= "") and not has_row(lines, "esc to interrupt") then
    -- Whatever it is, it has the place of the composer.
    found = { kind = "local_ui", metadata = { screen = title:match("^(.-)%s%s") or title }, options = list and list.options,
      unknown = true }
  end
  if found then
    found.framed = view.framed
  end
  return found
end

return dialogs
