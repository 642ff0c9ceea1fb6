-- The state of Claude Code from its screen, in a fixed order: what is asked comes before work, work
-- before errors, errors before the end of a turn.
--
-- The evidence texts and the confidences are a contract with clients; the fixtures hold them.

local text = require("text")
local layout = require("layout")
local dialogs = require("dialogs")
local turns = require("turn")
local submission = require("submission")
local seen = require("seen")

-- A dialog that was answered is still shown until Claude Code comes to it. If it is for so long, the key was lost.
local ANSWERED_MS = 3000

-- Where nothing of a turn is to be seen, a composer is idle for so long before it is believed.
local UNSEEN_MS = 1000

-- A screen that asks nothing may be one that is being drawn, or taken away. If it is still for so long, it is not.
local DRAWN_MS = 300

local DIALOG_STATES = {
  login = { "waiting_for_login", 0.86, "login / sign-in dialog detected" },
  trust = { "waiting_for_trust", 0.86, "workspace trust dialog detected" },
  model = { "waiting_for_model_select", 0.82, "model picker dialog detected" },
  enter_plan = { "waiting_for_enter_plan_mode", 0.82, "enter plan mode dialog detected" },
  plan = { "waiting_for_plan_approval", 0.8, "plan approval text detected" },
  permission = { "waiting_for_permission", 0.84, "permission or approval prompt text detected" },
  -- A dialog whose head is not to be seen: that somebody asks is all that is sure.
  headless = { "waiting_for_permission", 0.72, "permission or approval prompt text detected" },
  suppressed = { "waiting_for_permission", 0.72, "suppressed permission dialog detected" },
  question = { "waiting_for_user_input", 0.82, "question dialog detected" },
}

-- The dialogs that come up in the middle of a turn.
local IN_TURN = { permission = true, headless = true, suppressed = true, plan = true, enter_plan = true, question = true }

local MODES = {
  { "bypass permissions on", "bypass" },
  { "auto mode on", "auto" },
  { "plan mode on", "plan" },
  { "accept edits on", "accept_edits" },
}

local function status_of(view)
  local status = {}
  for _, row in ipairs(view.footer) do
    for _, mode in ipairs(MODES) do
      if text.has(row, mode[1]) then
        status.permission_mode = mode[2]
      end
    end
    -- A status line of one's own shows the model in brackets.
    status.model = row:match("%[([^%[%]]+)%]") or status.model
    status.effort = row:match("● (%a+) · /effort") or status.effort
  end
  if not status.model then
    for i = 1, math.min(12, #view.rows) do
      local model = view.rows[i]:match("^│%s+(%S.-) · .-│")
      if model and (text.has(model, "Opus") or text.has(model, "Sonnet") or text.has(model, "Haiku") or text.has(model, "claude")) then
        status.model = model
        break
      end
    end
  end
  return next(status) and status or nil
end

local function usage_of(lines)
  local usage, title = {}, nil
  for _, row in ipairs(lines) do
    local key, value = row:match("^%s*(Total [^:]+):%s+(.+)$")
    if key then
      key = key:gsub("^Total ", "total_"):gsub("[%(%)]", ""):gsub("%s+", "_"):lower()
      usage[key] = value
    end
    usage.cost_usd = usage.cost_usd or tonumber(row:match("Total cost:%s+%$([%d%.]+)"))
    local percent = row:match("(%d+)%% used")
    if percent then
      usage.limits = usage.limits or {}
      usage.limits[#usage.limits + 1] = { name = title, used_percent = tonumber(percent) }
    elseif row ~= "" then
      title = text.trim(row)
    end
  end
  return usage
end

-- The last row of vi: its mode, the file it opened, or where the cursor is.
local VI = { "^%-%- ?%u[%u ]+%-%-", '^"[^"]+".* %d+L, %d+[BC]', '^"[^"]+" %[New', "%s%d+,%d+%S*%s+All$",
  "%s%d+,%d+%S*%s+Top$", "%s%d+,%d+%S*%s+Bot$", "%s%d+,%d+%S*%s+%d+%%$" }

-- An editor that Claude Code started has the whole screen, and nothing of Claude Code's frame is left.
local function is_editor(view)
  local rows = view.rows
  if view.composer or #rows == 0 then
    return false
  end
  for i = math.max(1, #rows - 2), #rows do
    if rows[i]:find("claude%-prompt%-[%w%-]+%.md") or text.has(rows[i], "Save and close editor to continue") then
      return true
    end
    -- The two rows of nano that name its keys.
    if text.starts(rows[i], "^G ") and text.has(rows[i], " ^O ") then
      return true
    end
  end
  local last = rows[#rows]
  for _, pattern in ipairs(VI) do
    if last:find(pattern) then
      return true
    end
  end
  -- Rows behind the end of the file, and under them a command or nothing.
  local under = last == "~" and #rows or #rows - 1
  return under > 2 and rows[under] == "~" and rows[under - 1] == "~" and (last == "~" or text.starts(last, ":"))
end

-- Work goes on: Claude Code says how to stop it under the composer, or its star turns above.
local function is_active(view, turn)
  for _, row in ipairs(view.footer) do
    if text.has(row, "esc to interrupt") then
      return true
    end
  end
  if turn.progress then
    return true
  end
  if not view.composer and not view.framed then
    for i = math.max(1, #view.rows - 2), #view.rows do
      if text.has(view.rows[i], "esc to interrupt") then
        return true
      end
    end
  end
  return false
end

-- Under an idle composer stands how to get help, or the mode. A hint such as `paste again to expand`
-- takes the place of both and of `esc to interrupt`, and then the rows say nothing about work.
local function is_idle(view)
  for _, row in ipairs(view.footer) do
    if text.has(row, "? for shortcuts") or text.has(row, "(shift+tab to cycle)") or text.has(row, "ctrl+t to ") then
      return true
    end
  end
  return false
end

local function connection_error(view)
  if view.composer then
    return nil
  end
  for _, row in ipairs(view.rows) do
    local trimmed = text.trim(row)
    if text.starts(trimmed, "Unable to connect to Anthropic services") then
      return turns.error_of(trimmed)
    end
  end
end

local function is_welcome(view)
  for i = 1, math.min(15, #view.rows) do
    if text.has(view.rows[i], "Welcome to Claude Code") or text.has(view.rows[i], "Claude Code v") then
      return true
    end
  end
  return false
end

local Answer = {}
Answer.__index = Answer

function Answer:as(state, confidence, evidence)
  self.out.state = state
  self.out.confidence = confidence
  self.out.evidence = evidence
  return self.out
end

function Answer:maybe(state, confidence)
  self.out.candidates[#self.out.candidates + 1] = { state = state, confidence = confidence }
end

function Answer:add(metadata)
  for key, value in pairs(metadata or {}) do
    self.out.metadata[key] = value
  end
end

local function show_turn(answer, turn, input, ended)
  local shown = { cut = turn.text and turn.cut }
  if ended then
    shown.text = turn.text
    if turn.pending then
      -- A call that got no result was none.
      shown.text = (turn.text and turn.text .. "\n\n" or "") .. turn.pending
      table.remove(turn.tools)
    end
    shown.stopped = turn.stopped
    -- What has no result when a turn is over will get none.
    for _, tool in ipairs(turn.tools) do
      tool.result, tool.running = not tool.running and tool.result or nil, nil
    end
  else
    shown.partial_text = turn.text
    shown.progress = turn.progress
  end
  if next(shown) then
    answer:add({ turn = shown })
  end
  if #turn.tools > 0 then
    answer:add({ tools = turn.tools })
  end
  local begun = input.markers and input.markers.turn_start
  if begun then
    answer:add({ transcript = { turn_start = begun, turn_end = ended and input.cursor or nil } })
  end
end

local function of_dialog(answer, dialog, input, stable)
  answer:add(dialog.metadata)
  if dialog.kind == "usage" then
    answer:add({ usage = usage_of(dialog.lines) })
    if input.last_intent == "prompt_submitted" and seen.of_its_own ~= false and stable and not dialog.overlay then
      return answer:as("completed_turn", 0.86, "stable usage screen detected")
    end
    return answer:as("usage_screen", 0.74, "usage screen detected")
  end
  if dialog.kind == "local_ui" then
    return answer:as("local_ui_screen", dialog.unknown and 0.5 or 0.68, "local UI screen detected")
  end
  answer:add({ dialog_id = dialog.id, options = dialog.options })
  return answer:as(table.unpack(DIALOG_STATES[dialog.kind]))
end

-- The composer is there and nothing works: a turn ended, or none was begun.
local function of_composer(answer, view, turn, input, stable, begun)
  local submitted = input.last_intent == "prompt_submitted"
  if view.composer.shell then
    answer:add({ composer = "shell" })
  elseif view.composer.state ~= "empty" and submitted then
    answer:add({ composer = view.composer.state })
  end
  if submitted and submission.is_unsent(view) then
    if input.stable_ms ~= nil and not stable then
      -- Claude Code takes up to a tenth of a second to act on Enter.
      return answer:as("thinking", 0.6, "turn in flight; no accepted completion marker on screen")
    end
    return answer:as("waiting_for_user_input", 0.68, "submitted prompt still visible without active work")
  end
  if not submitted then
    answer:maybe("ready", 0.5)
    show_turn(answer, turn, input, true)
    return answer:as("waiting_for_user_input", 0.62, "input prompt glyph detected")
  end
  if not begun then
    return answer:as("thinking", 0.6, "turn in flight; no accepted completion marker on screen")
  end
  -- With the duration of turns switched off an answer and a quiet, idle screen are all there is; of some commands
  -- of Claude Code's own not even an answer.
  local threshold = input.completed_turn_stable_ms or 300
  local calm = stable or input.stable_ms == nil and submission.quiet_ms(input) >= threshold
  -- On a small screen the end of a turn may push all there is to tell it by off its top.
  local unseen = not turn.begun and not is_welcome(view) and is_idle(view) and submission.quiet_ms(input) >= UNSEEN_MS
  local ended = turn.done or turn.stopped or submission.has_ended(view) or unseen
    or calm and (turn.answered or turn.command) and is_idle(view)
  if not ended then
    show_turn(answer, turn, input, false)
    answer:maybe("completed_turn", 0.3)
    return answer:as("thinking", 0.6, "turn in flight; no accepted completion marker on screen")
  end
  submission.remember_end(view)
  show_turn(answer, turn, input, true)
  if stable then
    return answer:as("completed_turn", 0.78, "stable input prompt after prompt submission")
  end
  answer:maybe("thinking", 0.3)
  return answer:as("completed_turn", 0.7, "completion marker plus input prompt visible without active work")
end

-- The program is gone, whatever its last screen looks like.
local function of_end(answer, view, input)
  local how = input.exit_code and "with exit code " .. input.exit_code or input.signal and "by signal " .. input.signal
  local message = "Claude Code has ended" .. (how and " " .. how or "")
  if not view.composer and not view.framed and #view.rows > 0 then
    message = message .. ": " .. text.trim(view.rows[#view.rows])
  end
  answer:add({ error = { kind = "unknown", message = message }, ended = { exit_code = input.exit_code, signal = input.signal } })
  return answer:as("error", 0.9, "process has ended")
end

local function blank(answer, last_intent)
  local state = "starting"
  if last_intent == "cancelling" then
    state = "cancelling"
  elseif last_intent == "prompt_submitted" then
    state = "thinking"
  end
  return answer:as(state, 0.35, "no screen evidence yet")
end

-- The state in which what is typed is no prompt, if it is one: something else has the place of the composer.
local function asks_for(editor, dialog)
  if editor then
    return "waiting_for_external_editor"
  end
  -- Where a code is to be pasted there is nothing to choose, and text is what is asked for.
  if not dialog or dialog.kind == "login" and #(dialog.options or {}) == 0 then
    return nil
  end
  if dialog.kind == "usage" then
    return "usage_screen"
  end
  return dialog.kind == "local_ui" and "local_ui_screen" or DIALOG_STATES[dialog.kind][1]
end

-- Whether a dialog is the one that was answered, and Claude Code has not come to it yet.
local function is_answered(dialog, input)
  local answered = seen.answered
  if not answered then
    return false
  end
  local waited = answered.clock_ms and input.clock_ms and input.clock_ms - answered.clock_ms
  if not dialog or dialog.id ~= answered.id or input.screen ~= answered.screen or not waited or waited >= ANSWERED_MS then
    seen.answered = nil
    return false
  end
  return true
end

-- The same of any screen; what was seen before stays, but for the conversation a prompt is sent into: behind a
-- screen that was left for it, that is to be seen only now.
local function asks(input)
  local view = layout.read(input.screen or "")
  local editor = is_editor(view)
  local dialog = not editor and dialogs.read(view) or nil
  local state = asks_for(editor, dialog)
  if not state and view.composer then
    submission.meets(view)
  end
  return state, dialog, view
end

-- Whether there is something to type into: `true`, `false` while it is still to come, or why not. A dialog that was
-- answered is shown for a moment yet; another one is never typed into.
local function may_type(input)
  local state, dialog, view = asks(input)
  local answered = is_answered(dialog, input)
  if seen.gated then
    return submission.may_check(dialog, input)
  end
  if input.process_exited or not state and dialog then
    return true
  end
  if state then
    local drawn = dialog and dialog.id or (input.stable_ms or DRAWN_MS) >= DRAWN_MS
    if not drawn or answered then
      return false
    end
    submission.forget()
    return "dialog_open: the state is `" .. state .. "`, nothing was typed; answer or leave it first"
  end
  if view.composer and view.composer.shell then
    submission.forget()
    return submission.SHELL_MODE
  end
  return view.composer ~= nil and not submission.is_entering(view, input) and submission.takes_keys(view, input)
end

local function decide(answer, view, input)
  if input.process_exited then
    seen.dialog, seen.asks, seen.answered = nil, nil, nil
    return of_end(answer, view, input)
  end
  local threshold = input.completed_turn_stable_ms or 300
  local stable = input.stable_ms ~= nil and input.stable_ms >= threshold
  seen.dialog, seen.asks, seen.for_reading, seen.unsure, seen.confirms = nil, nil, false, false, false
  if #view.rows == 0 then
    seen.answered = nil
    return blank(answer, input.last_intent)
  end
  local editor = is_editor(view)
  local dialog = not editor and dialogs.read(view) or nil
  if dialog then
    dialog.overlay = view.overlay
  end
  local turn = turns.read(view, submission.is_taken_back(view, input), seen.prompt, seen.asides)
  local active = not dialog and not editor and is_active(view, turn)
  local answered = is_answered(dialog, input)
  seen.dialog = dialog and dialog.id and not answered and dialog or nil
  submission.sees_box(dialog)
  seen.asks = asks_for(editor, dialog)
  seen.for_reading = dialog and dialog.for_reading or false
  seen.unsure = dialog and dialog.unsure or false
  seen.confirms = dialog and dialog.confirms or false
  local begun = not submission.not_begun(view, active, input)
  submission.sees(view, dialog, input)

  if input.last_intent == "cancelling" then
    local cancels = answered and seen.answered.cancels
    local settled = not cancels and (stable or input.stable_ms == nil and (dialog ~= nil or view.composer ~= nil and not active))
    if not settled then
      return answer:as("cancelling", 0.72, "cancel intent recently applied; screen not yet stable")
    end
  end
  if editor then
    return answer:as("waiting_for_external_editor", 0.78, "external editor active")
  end
  if answered then
    return answer:as("thinking", 0.6, "dialog answered; the screen has not changed yet")
  end
  if dialog then
    if IN_TURN[dialog.kind] then
      show_turn(answer, turn, input, false)
    end
    return of_dialog(answer, dialog, input, stable)
  end
  if active then
    show_turn(answer, turn, input, false)
    answer:add({ error = turn.retrying })
    return answer:as("thinking", 0.76, "active work indicator detected")
  end
  local failure = view.composer and turn.error or connection_error(view)
  local unsent = view.composer and input.last_intent == "prompt_submitted" and submission.is_unsent(view)
  if failure and begun and not unsent then
    show_turn(answer, turn, input, true)
    answer:add({ error = failure })
    return answer:as("error", 0.72, "visible error banner detected")
  end
  if view.composer then
    return of_composer(answer, view, turn, input, stable, begun)
  end
  if is_welcome(view) then
    return answer:as("starting", 0.7, "welcome screen visible")
  end
  local out = blank(answer, input.last_intent)
  if out.state == "starting" then
    out.state = "ready"
  end
  return answer:as(out.state, 0.2, "no Claude Code-specific evidence detected")
end

local function classify(input)
  local view = layout.read(input.screen or "")
  -- A host that went on with a session knows of an intent that this Lua did not plan.
  seen.opening = seen.opening and input.last_intent ~= "prompt_submitted"
  submission.look(view, input)
  local answer = setmetatable({
    out = { sequence = input.sequence, candidates = {}, metadata = {} },
  }, Answer)
  local out = decide(answer, view, input)
  seen.state = out.state
  out.metadata.status = status_of(view)
  if next(out.metadata) == nil then
    out.metadata = nil
  end
  return out
end

-- How far a prompt has come: "sent" once the conversation moves, "unsent" while the composer holds
-- it, "pending" while neither is to be seen.
local function submission_state(input)
  local view = layout.read(input.screen or "")
  return submission.state(view, input, is_active(view, turns.read(view)))
end

return { classify = classify, submission_state = submission_state, asks = asks, may_type = may_type }
