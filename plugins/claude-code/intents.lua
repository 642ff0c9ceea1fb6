-- What a caller can have done: each function turns its params into a plan of actions. What is typed into the composer
-- has its own file, `prompts.lua`.
--
-- How the real program takes keys was tried with Claude Code 2.1.197; README.md has the findings
-- that these plans rest on.

local lists = require("options")
local seen = require("seen")
local submission = require("submission")
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

-- Until Claude Code has come to it a dialog is not answered again, nor told as open. `ends`: with a no, which ends the turn.
local function answer(plan, ends)
  if seen.gated then
    seen.gated.answers = true
  elseif seen.dialog and seen.clock_ms then
    seen.trusted_ms = seen.dialog.kind == "trust" and not ends and seen.clock_ms or nil
    seen.answered = { id = seen.dialog.id, screen = seen.screen, clock_ms = seen.clock_ms, ends = ends }
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

-- What a terminal sends for the keys that go on from a box.
local BYTES = { tab = "\t", enter = "\r", up = "\27[A", down = "\27[B" }

-- Of two digits that Claude Code reads at once it takes neither, and of two keys only the last. So a plan behind a box that is not
-- drawn yet waits until it is: it begins with a paste of the key's own bytes, before which the host asks `may_type`.
-- `number` is the box that the plan checks itself, if it does.
local function behind_box(plan, number)
  local first, checks = plan.actions[1], number and submission.box(number) or nil
  if not first or not seen.clock_ms or not seen.dialog.framed then
    return plan
  elseif not seen.checking then
    seen.checking = checks
    return plan
  end
  seen.gated = { id = seen.dialog.id, checks = checks }
  plan.actions[1] = action.paste(first.type == "key" and BYTES[first.value] or first.value)
  return plan
end

-- Goes on from check boxes to the next question, or to the last look at all answers. Enter would check or clear
-- the box that is highlighted, and the button has no number. On the button Tab does nothing; from a text of one's own it
-- leads only to the button.
local function go_on()
  local plan = behind_box({ actions = { action.key(seen.dialog.on_button and "enter" or "tab") } })
  return seen.dialog.typing and plan or answer(plan)
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
  return answer({ actions = { action.key("escape") } }, true)
end

function intents.approve_trust(params)
  check_dialog(params)
  check_open("trust")
  return answer(number_keys(1))
end

function intents.deny_trust(params)
  check_dialog(params)
  check_open("trust")
  return answer(number_keys(2), true)
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
  local options, button = seen.dialog.options or {}, seen.dialog.button
  local number = lists.pick(wish, options, button, seen.dialog.cut)
  if not number then
    return go_on()
  end
  if seen.dialog.typing then
    if number == seen.dialog.own then
      return { actions = {} }
    end
    error("text_open: what is typed becomes the answer in option " .. seen.dialog.own .. ", nothing was typed; the keys `up` and `down` leave it", 0)
  end
  -- A box that is checked answers nothing yet: several may be, one right behind the other.
  local checks = options[1] and options[1].checked ~= nil and options[#options].index ~= number
  if checks and number == seen.dialog.own and options[number].label == OWN_TEXT then
    return behind_box(to_own_text(options, number))
  end
  return checks and behind_box(number_keys(number), number) or answer(number_keys(number), seen.dialog.kind ~= "question" and lists.is_no(options, number))
end

-- In a composer with the keys of vi the first Escape only leaves the mode in which text is typed.
local function escapes(count)
  local keys = {}
  for i = 1, count + (seen.inserts and 1 or 0) do
    keys[i] = action.key("escape")
  end
  -- A dialog takes the first for its answer.
  local plan = answer({ actions = keys, last_intent = "cancelling" }, true)
  if seen.answered then
    seen.answered.cancels = true
  end
  return plan
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

-- Elsewhere an arrow does something else: in an empty composer Left leaves the session for a list of all of them.
local function effort(key)
  check_open("model")
  return { actions = { action.key(key) } }
end

function intents.model_effort_left()
  return effort("left")
end

function intents.model_effort_right()
  return effort("right")
end

return intents
