-- Which dialog stands in the place of the composer, and what it asks.
--
-- Every dialog here was seen in the real program; see `fixtures/`. A dialog is told by its title or
-- its question *and* by its place (`layout.lua`), never by words anywhere on the screen.
--
-- Not here: which state a dialog makes (`classify.lua`), what to press (`intents.lua`).

local text = require("text")
local numbered = require("options")

local rows = require("rows")
local permission = require("permission")

local dialogs = {}

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

-- A plan stands between two rows of dashes; of a tall one only the last is to be seen.
local function plan(view, lines, list)
  local first, last
  for i, row in ipairs(lines) do
    if rows.is_dashes(row) then
      first, last = first or i, i
    end
  end
  if not view.framed then
    first = 0
  end
  local body = first and last and rows.body(lines, first + 1, last - 1) or {}
  local words = table.concat(body, "\n")
  local question = list and rows.question_above(lines, list.first) or ""
  local found = plain("plan", nil, "plan:" .. (words ~= "" and words or question), list, {
    plan = words ~= "" and words or question,
  })
  -- Once it is selected, the last option takes what is to be changed.
  local own = list and list.options[#list.options]
  if own and (text.starts(own.label, "Tell Claude what ") or text.has(own.description or "", "shift+tab to approve")) then
    found.own, found.typing = own.index, own.selected
  end
  return found
end

-- The headers of questions with check boxes, by what they ask, from before a box was checked: then the header is
-- as that of a question that was answered, and of several it is not to be seen which is shown.
local headers = {}

local function header_of(row, list, asked, multiple)
  -- Of several questions the first without an answer is the one that is shown.
  local open, all = row:match("☐%s+(.-)%s%s") or row:match("☐%s+(.+)$"), {}
  for header in (row .. "  "):gmatch("☒%s+(.-)%s%s") do
    all[#all + 1] = header
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

local REVIEW = "Ready to submit your answers?"

-- A question is all that stands between the row with its header and the options: it may have paragraphs.
local function question(view, lines, list)
  local header, header_row = rows.first(lines)
  if not view.framed and not text.has(header, "☐") and not text.has(header, "☒") then
    header, header_row = "", 0
  end
  local last = list.options[#list.options]
  local chats = last and last.label == numbered.CHAT
  local asked = rows.question_above(lines, list.first)
  if not view.framed and #list.options < 2 then
    -- What stands above may as well belong to an option.
    asked = ""
  elseif chats or asked ~= REVIEW then
    asked = rows.unwrapped(rows.body(lines, header_row + 1, list.first - 1), view.width)
  end
  local multiple = list.options[1] and list.options[1].checked ~= nil
  local seed = "question:" .. asked
  if not view.framed then
    -- Little of it is to be seen, which may be the same in the next one.
    for _, option in ipairs(list.options) do
      seed = seed .. ":" .. option.label
    end
  end
  local found = plain("question", "question", seed, list, {
    question = {
      text = asked ~= "" and asked or nil,
      header = header_of(header, list, asked, multiple),
      multiple = multiple,
      button = list.button,
    },
  })
  found.button, found.on_button = list.button, list.on_button
  -- A text of one's own may be typed into the last option but one, once it is selected.
  local own = chats and list.options[#list.options - 1]
  if own and own.index == last.index - 1 then
    found.own, found.typing = own.index, own.selected
  end
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
  for i = math.max(1, from or 1), #lines do
    if text.has(lines[i], needle) then
      return i
    end
  end
end

-- Whether anything begins in the first column behind row `i`: then that row was printed some time ago, and nobody asks
-- any more.
local function is_passed(lines, i)
  for j = i + 1, #lines do
    if lines[j]:find("^%S") then
      return true
    end
  end
  return false
end

-- Whether one of the last rows holds `needle`, and is the last word.
local function ends_with(lines, needle, count)
  local at = has_row(lines, needle, #lines - count)
  return at and not is_passed(lines, at)
end

-- The last paragraph under the options, in one row: which keys there are. Also whether it is to be seen from its
-- beginning; of one that is not, the rest may say something else.
local function foot_of(lines, list)
  local first = #lines
  while first > (list and list.last or 0) + 1 and #lines - first < 4 and lines[first - 1] ~= "" do
    first = first - 1
  end
  if list and first <= list.last then
    return "", true
  end
  local words = {}
  for i = first, #lines do
    words[#words + 1] = text.trim(lines[i])
  end
  return table.concat(words, " "), first > 1
end

local function has_option(list, pattern)
  for _, option in ipairs(list and list.options or {}) do
    if option.label:find(pattern) then
      return true
    end
  end
  return false
end

-- What has a rule above it names itself under it. What has not is told by its options and its foot: a model may have
-- written all the rest.
local function is_titled(view, title, ...)
  for _, name in ipairs({ ... }) do
    if view.framed and title == name then
      return true
    end
  end
  return false
end

local function is_question(list, foot)
  return foot:find("^Enter to select · .* to navigate · ") or list and list.options[#list.options].label == numbered.CHAT
    or list and list.selected and has_option(list, "^Submit answers$")
end

local function is_trust(lines, list, above, foot)
  if not list then
    -- The least that a very small screen shows of it.
    return ends_with(lines, "trust the files in this folder", 6)
      or foot == "Enter to confirm · Esc to cancel" and ends_with(lines, " this folder", 4)
  end
  return has_option(list, "^Yes, I trust this folder") or has_option(list, "^No, exit") and text.has(above, "trust the files in this folder")
end

local function of_title(view, lines, found, title, foot)
  -- What has no selected row is a list only where the foot says so.
  local list = found and found.selected and found or nil
  local above = list and rows.question_above(lines, list.first) or ""
  if is_titled(view, title, "Login") or above == "Select login method:" or not list and ends_with(lines, "Paste code here if prompted", 4) then
    return login(lines, list)
  end
  if is_trust(lines, list, above, foot) then
    return plain("trust", nil, "trust:" .. folder_of(lines), list)
  end
  if is_titled(view, title, "Select model", "Switch model?") or text.starts(foot, "Enter to set as default") or has_option(list, "^Yes, switch to ") then
    local labels = {}
    for i, option in ipairs(found and found.options or {}) do
      labels[i] = option.label
    end
    return plain("model", "model_select", "model:" .. table.concat(labels, ","), found)
  end
  if is_titled(view, title, "Enter plan mode?") or has_option(list, "^Yes, enter plan mode") then
    return plain("enter_plan", "enter_plan_mode", "enter_plan:", list)
  end
  if is_titled(view, title, "Ready to code?", "Exit plan mode?") or view.inner_rule or above == "Claude wants to exit plan mode"
    or has_option(list, "^Yes, manually approve") or has_option(list, "^Tell Claude what ") then
    return plan(view, lines, list)
  end
end

-- A yes: then somebody asks for leave. On a small screen it may be further up, and the foot is the same.
local function asks_for_leave(list, foot)
  return has_option(list, "^Yes") or text.has(foot, "Tab to amend")
end

-- The option that Tab made a line to type into, to say more with a yes or a no.
local function amended(list, foot)
  for i, option in ipairs(list.options) do
    local says = option.label:find("^Yes, ") or option.label:find("^No, ")
    if option.selected and says and (i == 1 or i == #list.options) and foot:find("^Esc to cancel") and not text.has(foot, "Tab to amend") then
      return option.index
    end
  end
end

-- The keys of a dialog or a screen of Claude Code's own.
local function is_foot(foot)
  local lower = foot:lower()
  return lower:find("esc to %a") ~= nil and not text.has(lower, "esc to interrupt") or text.has(lower, "ctrl+o to toggle")
    or lower == "enter to close" or text.has(lower, "ctrl+g to edit")
end

-- Behind a list that is asked for stands its foot, and only that of a question begins in the first column.
local function is_over(lines, list, foot)
  return not foot:find("^Enter to select .*Esc to cancel$") and is_passed(lines, list.last)
end

local function local_screen(lines, list, title, more)
  title = title:match("^(.-)%s%s") or title
  more.kind, more.metadata = "local_ui", { screen = title ~= "" and title or nil }
  more.options = list and list.options
  return more
end

-- Without the composer, which is always drawn, and with nothing in the first column it is the end of a dialog.
local function is_indented(lines)
  for _, row in ipairs(lines) do
    if row:find("^%S") then
      return false
    end
  end
  return true
end

-- Whether it has the place of the composer.
local function is_placed(view, lines)
  return view.framed and not view.half_drawn or not view.framed and is_indented(lines)
end

local function without_options(view, lines, list, title, foot, whole)
  -- A screen that is only for reading offers one thing at its foot, to leave it; there Escape does nothing else.
  local for_reading = not list and whole and foot:lower() == "esc to cancel"
  local has_foot = is_foot(foot) and (view.framed or lines[#lines]:find("^%s") ~= nil)
  if (has_foot or view.framed) and has_row(lines, "Total cost:") then
    return { kind = "usage", metadata = {}, lines = lines, for_reading = for_reading }
  end
  if text.has(foot, "Tab to amend") then
    return plain("suppressed", "permission", "perm::" .. foot, nil, {})
  end
  if has_foot then
    -- On a very small screen it may be the trust dialog, where Escape ends the program.
    local unsure = not list and not view.framed and text.has(foot, "Enter to confirm")
    local confirms = not unsure and text.has(foot:lower(), "enter")
    return local_screen(lines, list, title, { for_reading = for_reading, unsure = unsure, confirms = confirms })
  end
  for i = #lines, math.max(1, #lines - 6), -1 do
    local asks = lines[i]:find("^%s*Do you want to .*%?$")
    if (asks or text.has(lines[i], "[Enter]") and text.has(lines[i], "[Esc]")) and not is_passed(lines, i) then
      local words = text.trim(lines[i])
      return plain(asks and "suppressed" or "permission", "permission", "perm::" .. words, list, {
        permission = { summary = words },
      })
    end
  end
  if (list or is_placed(view, lines) and title ~= "") and not has_row(lines, "esc to interrupt") then
    -- Whatever it is, it has the place of the composer.
    return local_screen(lines, list, title, { unknown = true })
  end
end

local function read(view, lines, found, foot, whole)
  local list = found and found.selected and found or nil
  local title = rows.first(lines)
  if is_question(found, foot) then
    return question(view, lines, found or { options = {}, first = 1 })
  end
  local named = of_title(view, lines, found, title, foot)
  if named then
    return named
  elseif list and asks_for_leave(list, foot) then
    local asked = permission(view, lines, list)
    asked.own = amended(list, foot)
    asked.typing = asked.own ~= nil
    return asked
  end
  return without_options(view, lines, list, title, foot, whole and not found)
end

-- The dialog of a screen, or nothing. `kind` is one of login, trust, model, enter_plan, plan,
-- permission, headless, suppressed, question, usage, local_ui.
function dialogs.read(view)
  local lines = view.dialog
  if not lines or #lines == 0 then
    return nil
  end
  if view.lost then
    -- Which rows are the dialog's is not known: a list of tasks that fills the screen may look like one.
    return is_placed(view, lines) and local_screen(lines, nil, "", { unknown = true, unsure = true }) or nil
  end
  local list = numbered.read(lines)
  local foot, whole = foot_of(lines, list)
  if list and list.selected and is_over(lines, list, foot) then
    return view.framed and local_screen(lines, nil, rows.first(lines), { unknown = true }) or nil
  end
  local found = read(view, lines, list, foot, whole)
  if found then
    -- Without its rule it is the dialog this was tried with if its foot is.
    found.framed = view.framed or list and list.cut or is_foot(foot) or has_option(list, "%(esc%)$")
    found.cut = list and list.cut or not list
    if found.id and not view.framed then
      found.metadata.head_hidden = true
    end
  end
  return found
end

return dialogs
