-- What a caller can have done: each function turns its params into a plan of actions. What is typed into the composer
-- has its own file, `prompts.lua`.
--
-- How the real program takes keys was tried with Claude Code 2.1.197; README.md has the findings
-- that these plans rest on.

local seen = require("seen")
local submission = require("submission")
local text = require("text")
local wanted = require("params").wanted
local action = ptywright.action

local intents = {}

-- Enter behind a digit would answer the *next* dialog: the digit alone has already accepted.
-- Where the dialog has no frame it is not the program this was tried with, and Enter is pressed.
local function number_keys(number)
  local framed = seen.dialog and seen.dialog.framed
  local keys = { action.text(tostring(number)) }
  if not framed then
    keys[2] = action.key("enter")
  end
  return { actions = keys }
end

-- A caller may name the dialog it decided on; another one has come up since if the ids differ.
local function check_dialog(params)
  local id = wanted(params, "dialog_id")
  if not id then
    return
  end
  local shown = seen.dialog and seen.dialog.id
  if seen.answered and id == seen.answered.id then
    error("stale_dialog: `" .. id .. "` was answered already, nothing was typed", 0)
  end
  if id ~= shown then
    local now = shown and ("the screen shows `" .. shown .. "`") or "no dialog is open"
    error("stale_dialog: `" .. id .. "` is not open, " .. now, 0)
  end
end

-- Until Claude Code has come to it a dialog is not answered again, nor told as open.
local function answer(plan)
  if seen.dialog and seen.clock_ms then
    seen.trusted_ms = seen.dialog.kind == "trust" and seen.clock_ms or nil
    seen.answered = { id = seen.dialog.id, screen = seen.screen, clock_ms = seen.clock_ms }
  end
  return plan
end

-- With the composer in its place Enter would submit what stands there, and Escape end the turn.
local function check_place()
  if seen.answered then
    error("no_dialog: the dialog that is shown was answered already, nothing was typed", 0)
  end
  if seen.composer ~= "absent" or seen.asks == "waiting_for_external_editor" then
    error("no_dialog: no dialog is open, nothing was typed", 0)
  end
end

-- Without the dialog its number would be typed into the composer, and submitted as a prompt.
local function check_open(kind)
  if seen.answered then
    check_place()
  end
  if not seen.dialog or (kind and seen.dialog.kind ~= kind) then
    error("no_dialog: no " .. (kind and kind .. " " or "") .. "dialog is open, nothing was typed", 0)
  end
end

-- The number of the option that says yes, unless it is the one Enter would take anyway. In a text of one's own it would
-- become a part of it, and Enter is what sends that.
local function yes_elsewhere()
  local yes
  if seen.dialog and seen.dialog.typing then
    return nil
  end
  for _, option in ipairs(seen.dialog and seen.dialog.options or {}) do
    if option.label:find("^Yes") then
      if option.selected then
        return nil
      end
      yes = yes or option.index
    end
  end
  return yes
end

-- Goes on from check boxes to the next question, or to the last look at all answers. Enter would check or clear
-- the box that is highlighted, and the button has no number. On the button Tab does nothing; from a text of one's own it
-- leads only to the button.
local function go_on()
  local keys = { action.key(seen.dialog.on_button and "enter" or "tab") }
  return seen.dialog.typing and { actions = keys } or answer({ actions = keys })
end

-- A screen that may be another one than it looks like is answered by nobody.
local function check_sure(key)
  if seen.unsure then
    error("no_dialog: too little of what is open can be seen to answer it, " .. key
      .. "; nothing was typed; the key `ctrl_t` hides a list of tasks, and more rows show more", 0)
  end
end

-- What was typed behind a yes goes into the turn like a prompt.
local function sends_text()
  local dialog = seen.dialog
  if not dialog or not dialog.typing or dialog.kind ~= "permission" and dialog.kind ~= "headless" then
    return
  end
  for _, option in ipairs(dialog.options) do
    if option.index == dialog.own then
      submission.adds(option.label:match("^Yes, (.+)$") or "", false)
    end
  end
end

function intents.approve(params)
  check_dialog(params)
  check_place()
  check_sure("and Enter may mean anything")
  if not seen.dialog and not seen.confirms then
    error("no_dialog: what is open is not known to take Enter, nothing was typed; `key` presses it all the same", 0)
  end
  if seen.dialog and seen.dialog.button then
    return go_on()
  end
  local number = yes_elsewhere()
  if number then
    return answer(number_keys(number))
  end
  sends_text()
  return answer({ actions = { action.key("enter") } })
end

function intents.deny(params)
  check_dialog(params)
  check_place()
  check_sure("and Escape may end the program")
  return answer({ actions = { action.key("escape") } })
end

function intents.approve_trust(params)
  check_dialog(params)
  check_open("trust")
  return answer(number_keys(1))
end

function intents.deny_trust(params)
  check_dialog(params)
  check_open("trust")
  return answer(number_keys(2))
end

local function labels(options)
  local names = {}
  for i, option in ipairs(options) do
    names[i] = "`" .. option.label .. "`"
  end
  if seen.dialog and seen.dialog.button then
    names[#names + 1] = "`" .. seen.dialog.button .. "`"
  end
  return #names > 0 and table.concat(names, ", ") or "none"
end

-- The option that a number means. As a text it may be the label of another one.
local function numbered(wish, number, options)
  -- Of a list that is not all to be seen nobody knows the end.
  local most = #options > 0 and not (seen.dialog and seen.dialog.cut) and #options or 9
  local is_one = number >= 1 and number <= most
  for _, option in ipairs(options) do
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

-- A number, a number in words, or a label: first the same, then contained, both without case.
local function pick(wish, options)
  local number = math.tointeger(tonumber(wish))
  if number then
    return numbered(wish, number, options)
  end
  if type(wish) ~= "string" or wish == "" then
    error("invalid_params: `index` must be a whole number, or `option` a number or a label", 0)
  end
  local lower = wish:lower()
  for _, option in ipairs(options) do
    if option.label:lower() == lower then
      return option.index
    end
  end
  for _, option in ipairs(options) do
    if text.has(option.label:lower(), lower) then
      return option.index
    end
  end
  error("invalid_params: no option `" .. wish .. "`; there are: " .. labels(options), 0)
end

-- What stands among check boxes where a text of one's own may be typed.
local OWN_TEXT = "Type something"

-- Its number would check its box and leave it empty. Behind it come the button and the last option.
local function to_own_text(options, number)
  local at = seen.dialog.on_button and number + 1 or nil
  for _, option in ipairs(options) do
    if option.selected then
      at = option.index > number and option.index + 1 or option.index
    end
  end
  local keys, way = {}, at and at < number and "down" or "up"
  for _ = 1, math.abs(number - (at or number)) do
    keys[#keys + 1] = action.key(way)
  end
  return { actions = keys }
end

function intents.choose_option(params)
  check_dialog(params)
  local wish = params.index
  if wish == nil then
    wish = params.option
  end
  if wish == nil then
    wish = params.choice
  end
  if wish == nil then
    error("invalid_params: `index` or `option` is required", 0)
  end
  check_sure("and a number may mean anything")
  check_open()
  local button = seen.dialog and seen.dialog.button
  if button and type(wish) == "string" and wish:lower() == button:lower() then
    return go_on()
  end
  local options = seen.dialog and seen.dialog.options or {}
  local number = pick(wish, options)
  if seen.dialog.typing then
    if number == seen.dialog.own then
      return { actions = {} }
    end
    error("text_open: what is typed becomes the answer in option " .. seen.dialog.own .. ", nothing was typed; the keys `up` and `down` leave it", 0)
  end
  -- A box that is checked answers nothing yet: several may be, one right behind the other.
  local checks = options[1] and options[1].checked ~= nil and options[#options].index ~= number
  if checks and number == seen.dialog.own and options[number].label == OWN_TEXT then
    return to_own_text(options, number)
  end
  return checks and number_keys(number) or answer(number_keys(number))
end

-- In a composer with the keys of vi the first Escape only leaves the mode in which text is typed.
local function escapes(count)
  local keys = {}
  for i = 1, count + (seen.inserts and 1 or 0) do
    keys[i] = action.key("escape")
  end
  return { actions = keys, last_intent = "cancelling" }
end

function intents.cancel()
  return escapes(1)
end

-- Where nothing works Escape twice opens Rewind, which takes all further keys.
local AT_REST = { completed_turn = true, waiting_for_user_input = true, ready = true, error = true }

function intents.force_cancel()
  if AT_REST[seen.state] and seen.composer ~= "absent" then
    return { actions = {}, last_intent = "cancelling" }
  end
  return escapes(2)
end

local ALIASES = {
  ["return"] = "enter",
  esc = "escape",
  del = "delete",
  ins = "insert",
  pageup = "page_up",
  pagedown = "page_down",
  backtab = "shift_tab",
}

local KEYS = {}
for name in ("enter escape tab shift_tab backspace delete space up down right left home end page_up page_down insert"):gmatch("%S+") do
  KEYS[name] = true
end
for letter in ("abcdefgklnopqrstuvwxyz"):gmatch(".") do
  KEYS["ctrl_" .. letter] = true
end
for number = 1, 12 do
  KEYS["f" .. number] = true
end

function intents.key(params)
  local name = wanted(params, "key")
  if not name or name == "" then
    error("invalid_params: `key` is required", 0)
  end
  -- It may take away what was to be seen.
  seen.due = nil
  local plain = name:lower():gsub("[%-%+]", "_")
  plain = ALIASES[plain] or plain
  -- A single sign such as `-` or `y` is typed, whatever it would be called.
  if #name > 1 and KEYS[plain] then
    if plain == "enter" then
      sends_text()
    end
    return { actions = { action.key(plain) } }
  end
  seen.typed = true
  return { actions = { action.text(name) } }
end

function intents.dismiss_welcome()
  return { actions = { action.key("enter") } }
end

function intents.expand()
  return { actions = { action.key("ctrl_o") } }
end

function intents.model_effort_left()
  return { actions = { action.key("left") } }
end

function intents.model_effort_right()
  return { actions = { action.key("right") } }
end

return intents
