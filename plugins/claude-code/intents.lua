-- What a caller can have done: each function turns its params into a plan of actions.
--
-- How the real program takes keys was tried with Claude Code 2.1.197; README.md has the findings
-- that these plans rest on.

local seen = require("seen")
local submission = require("submission")
local text = require("text")
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

local function wanted(params, name)
  local value = params[name]
  if value ~= nil and type(value) ~= "string" then
    error("invalid_params: `" .. name .. "` must be a string", 0)
  end
  return value
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

-- How long it may take behind the dialog of a folder until the composer is there.
local TRUSTED_MS = 3000

-- A folder that was just trusted has its composer soon: the host waits for it, while the dialog is taken away.
local function is_trusted()
  local since = seen.trusted_ms and seen.clock_ms and seen.clock_ms - seen.trusted_ms
  local is_other = seen.dialog and seen.dialog.id
  return since ~= nil and since < TRUSTED_MS and not is_other
end

-- A dialog takes the Enter behind a prompt for its answer, most often a yes; another screen searches for it, or opens
-- an editor. One that is only for reading is left: the host sees to it that the composer is back before it types on.
local function to_composer(actions)
  local trusted = is_trusted()
  if seen.asks and seen.for_reading and not trusted then
    actions[#actions + 1] = action.key("escape")
  elseif seen.asks and not trusted then
    error("dialog_open: the state is `" .. seen.asks .. "`, nothing was typed; answer or leave it first", 0)
  end
  return actions
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

local function checked_prompt(params)
  local prompt = wanted(params, "prompt")
  if not prompt then
    error("invalid_params: `prompt` is required", 0)
  end
  -- A control character would end the paste or press a key; tab and newline are text.
  prompt = prompt:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", "")
  return prompt
end

-- As typed text a prompt can be more than text: `!` in front runs a shell command at once, a backslash at the end
-- makes Enter a newline, and behind an `@` Enter takes the file that a menu offers. A blank at that side keeps it a
-- prompt. A slash stays: commands may come through here.
local function safe_prompt(prompt)
  if text.starts(prompt, "!") then
    prompt = " " .. prompt
  end
  local last_line = prompt:match("[^\n]*$")
  if prompt:sub(-1) == "\\" or text.has(last_line, "@") and not last_line:find("%s$") then
    prompt = prompt .. " "
  end
  return prompt
end

-- Empties the composer, where a cancelled prompt may have come back. Each Ctrl+U takes a line or a
-- line break, and none of them does harm to an empty composer, as Escape or Ctrl+C would.
local function clear_composer(actions)
  if seen.composer ~= "text" and seen.composer ~= "pasted" then
    return
  end
  actions[#actions + 1] = action.key("ctrl_e")
  for _ = 1, 2 * math.max(1, seen.composer_rows or 1) do
    actions[#actions + 1] = action.key("ctrl_u")
  end
end

-- How long it may take until a path that was pasted is to be seen.
local ATTACHED_MS = 1000

-- Whether the composer holds what `attach_file` put there, and whether nothing else. An image is shown by its number.
local function holds_files()
  local attached = seen.attached
  if not attached then
    return false, false
  end
  local rest = text.squeeze(seen.composer_text)
  local since = attached.clock_ms and seen.clock_ms and seen.clock_ms - attached.clock_ms
  if rest == attached.before and since and since < ATTACHED_MS then
    return true, attached.alone
  end
  for _, path in ipairs(attached) do
    local first, last = rest:find(text.squeeze(path), 1, true)
    if not first then
      first, last = rest:find("%[Image#%d+%]")
    end
    if not first then
      return false, false
    end
    rest = rest:sub(1, first - 1) .. rest:sub(last + 1)
  end
  return true, rest == ""
end

-- Empties the composer but for files that wait there for this prompt, and gives those. Each has a paste of its own: an
-- image is taken for one only then.
local function keep_files(actions)
  local holds, alone = holds_files()
  local files = holds and seen.attached or {}
  seen.attached = nil
  if holds and alone then
    return files
  end
  clear_composer(actions)
  for i, path in ipairs(files) do
    if i > 1 then
      actions[#actions + 1] = action.bracketed_paste(" ")
    end
    actions[#actions + 1] = action.bracketed_paste(path)
  end
  return files
end

local function behind_files(files, prompt)
  return safe_prompt(#files > 0 and " " .. prompt or prompt)
end

function intents.send_prompt(params)
  local prompt = checked_prompt(params)
  if text.trim(prompt) == "" then
    return { actions = {}, last_intent = "" }
  end
  local actions = to_composer({})
  local files = keep_files(actions)
  submission.begins(table.concat(files) .. prompt)
  actions[#actions + 1] = action.mark_transcript("turn_start")
  actions[#actions + 1] = action.bracketed_paste(behind_files(files, prompt))
  actions[#actions + 1] = action.key("enter")
  return { actions = actions, last_intent = "prompt_submitted" }
end

function intents.steer(params)
  local prompt = checked_prompt(params)
  if text.trim(prompt) == "" then
    error("invalid_params: `prompt` is empty", 0)
  end
  local actions = to_composer({})
  local holds = holds_files()
  local files = holds and seen.attached or {}
  seen.attached, seen.typed, seen.ended = nil, false, nil
  seen.aside = text.squeeze(table.concat(files) .. prompt)
  actions[#actions + 1] = action.bracketed_paste(behind_files(files, prompt))
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

-- The number of the option that says yes, unless it is the one Enter would take anyway.
local function yes_elsewhere()
  local yes
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
-- the box that is highlighted, and the button has no number.
local function go_on()
  return { actions = { action.key("tab") } }
end

function intents.approve(params)
  check_dialog(params)
  check_place()
  if seen.dialog and seen.dialog.button then
    return answer(go_on())
  end
  local number = yes_elsewhere()
  if number then
    return answer(number_keys(number))
  end
  return answer({ actions = { action.key("enter") } })
end

function intents.deny(params)
  check_dialog(params)
  check_place()
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

-- A number, a number in words, or a label: first the same, then contained, both without case.
local function pick(wish, options)
  local number = math.tointeger(tonumber(wish))
  if number then
    local most = #options > 0 and #options or 9
    if number < 1 or number > most then
      error(string.format("invalid_params: option %d is not in 1..%d", number, most), 0)
    end
    return number
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
  check_open()
  local button = seen.dialog and seen.dialog.button
  if button and type(wish) == "string" and wish:lower() == button:lower() then
    return answer(go_on())
  end
  local options = seen.dialog and seen.dialog.options or {}
  local number = pick(wish, options)
  -- A box that is checked answers nothing yet: several may be, one right behind the other.
  local checks = options[number] and options[number].checked ~= nil
  return checks and number_keys(number) or answer(number_keys(number))
end

function intents.cancel()
  return { actions = { action.key("escape") }, last_intent = "cancelling" }
end

-- Where nothing works Escape twice opens Rewind, which takes all further keys.
local AT_REST = { completed_turn = true, waiting_for_user_input = true, ready = true, error = true }

function intents.force_cancel()
  if AT_REST[seen.state] and seen.composer ~= "absent" then
    return { actions = {}, last_intent = "cancelling" }
  end
  return { actions = { action.key("escape"), action.key("escape") }, last_intent = "cancelling" }
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
  local plain = name:lower():gsub("[%-%+]", "_")
  plain = ALIASES[plain] or plain
  -- A single sign such as `-` or `y` is typed, whatever it would be called.
  if #name > 1 and KEYS[plain] then
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

function intents.slash_command(params)
  local command = wanted(params, "command") or wanted(params, "name")
  command = command and text.trim(command)
  if not command or command == "" or command == "/" then
    error("invalid_params: `command` is required, such as `usage`", 0)
  end
  if command:find("[\r\n]") then
    error("invalid_params: `command` must be one line", 0)
  end
  if not text.starts(command, "/") then
    command = "/" .. command
  end
  local actions = to_composer({})
  if params.dismiss_welcome == true then
    actions[#actions + 1] = action.key("enter")
  end
  seen.of_its_own, seen.attached, seen.typed = false, nil, false
  clear_composer(actions)
  actions[#actions + 1] = action.bracketed_paste(command)
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

function intents.attach_file(params)
  local path = wanted(params, "path")
  if not path or text.trim(path) == "" then
    error("invalid_params: `path` is required", 0)
  end
  if path:find("%c") then
    error("invalid_params: `path` must be one line without control characters", 0)
  end
  local actions = to_composer({})
  local holds, alone = holds_files()
  local attached = holds and seen.attached or {}
  if not holds then
    -- What somebody typed with `key` stays; what a cancelled turn left does not.
    alone = seen.composer_text == "" or not seen.typed
    if alone then
      clear_composer(actions)
    end
  end
  attached[#attached + 1] = path
  attached.before, attached.alone, attached.clock_ms = text.squeeze(seen.composer_text), alone, seen.clock_ms
  seen.attached, seen.aside = attached, text.squeeze(table.concat(attached))
  if holds then
    actions[#actions + 1] = action.bracketed_paste(" ")
  end
  actions[#actions + 1] = action.bracketed_paste(path)
  return { actions = actions }
end

return intents
