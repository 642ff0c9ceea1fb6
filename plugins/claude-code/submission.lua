-- How far a prompt has come: whether there is a composer to type into, whether the prompt still stands there, whether
-- its turn has begun, and whether that was seen to end. The same of a check box: whether it is drawn as it was chosen.
--
-- A screen alone does not say. Right behind Enter all there is to see is the end of the turn before, and text in the
-- composer may be the prompt, a file for the next one, or what a cancelled turn gave back.

local seen = require("seen")
local text = require("text")

local submission = {}

-- A turn that ended looks the same after as before, if the next one went by between two looks.
-- Behind so long a quiet the screen is believed as it is.
local BELIEVED_MS = 5000

-- Claude Code loses keys for about 0.3 s from when its first composer is drawn.
local TAKES_KEYS_MS = 450

-- A paste is drawn within a tenth of a second. If nothing at all was drawn for so long, nothing is on its way.
local PASTED_MS = 600

-- How long it may take until a path that was pasted is to be seen.
local DUE_MS = 1000

-- A busy program takes a while to come to an Enter. If it does not within this, the key was lost.
local ENTERED_MS = 3000

-- If a box is not drawn otherwise for so long, its key was lost, or Claude Code does not come to it.
local CHECKED_MS = 3000

-- So many rows tell where a conversation ends; what is above may be drawn otherwise the next time.
local TAIL_ROWS = 4

-- How many rows a composer may have of which not all are to be seen: longer texts are folded into one.
local TALL_ROWS = 45

-- Why nothing goes into a composer that runs commands of the shell.
submission.SHELL_MODE = "shell_mode: the composer takes what is typed for a command of the shell, nothing was submitted; "
  .. "the key `ctrl_u`, then `backspace`, leaves that mode"

-- What stands below a composer with the keys of vi while Escape only leaves a mode.
local VIM_MODE = "^%s*%-%- %u+ %-%-"

-- What the rows of a menu under the composer begin with: files, agents, resources.
local MENU = { "+ ", "* ", "◇ " }

-- The words for how long a turn took are picked anew when Claude Code draws them again.
local function conversation_of(view)
  if view.conversation then
    return view.conversation
  end
  local rows, last = {}, math.max(0, math.min(view.above, #view.rows))
  while last > 0 and view.rows[last] == "" do
    last = last - 1
  end
  for i = 1, last do
    local row = view.rows[i]
    rows[i] = text.starts(row, "✻ ") and row:gsub("^✻ .- for (%d)", "✻ for %1") or row
  end
  view.conversation = table.concat(rows, "\n")
  return view.conversation
end

-- Whether the conversation is another one than when a prompt was sent. Above a composer that fills the screen nobody
-- sees it, and that the prompt left is all there is.
local function has_moved(view)
  if not view.composer then
    return true
  elseif view.composer.cut then
    return view.composer.state == "empty"
  end
  return seen.submitted ~= conversation_of(view)
end

-- Remembers what is on the screen, before anything is made of it.
function submission.look(view, input)
  if input.screen ~= seen.screen then
    seen.changed_ms = input.clock_ms
  end
  seen.dialog = nil
  seen.screen, seen.clock_ms = input.screen, input.clock_ms
  seen.composer = view.composer and view.composer.state or "absent"
  seen.composer_text = view.composer and view.composer.text or ""
  seen.composer_rows = view.composer and view.composer.bottom - view.composer.top - 1 or 0
  if view.composer and view.composer.cut then
    seen.composer_rows = TALL_ROWS
  end
  seen.shell = view.composer ~= nil and view.composer.shell
  seen.conversation = view.composer and conversation_of(view) or nil
  submission.sees_entered(view)
  seen.inserts = false
  for _, row in ipairs(view.footer) do
    seen.inserts = seen.inserts or row:find(VIM_MODE) ~= nil
  end
end

-- How long the screen is known to be as it is: what the host says, or since when it was seen so.
function submission.quiet_ms(input)
  local seen_ms = input.screen == seen.screen and seen.changed_ms and input.clock_ms and input.clock_ms - seen.changed_ms
  return math.max(input.stable_ms or 0, seen_ms or 0)
end

-- Since when there is a composer. Behind the dialog of a folder comes one that loses keys at first.
function submission.sees(view, dialog, input)
  if dialog and dialog.kind == "trust" then
    seen.since_ms = nil
  elseif view.composer then
    seen.since_ms = seen.since_ms or input.clock_ms
  end
end

-- A path is to be pasted, and nothing on top of it before it is to be seen.
function submission.expects(path)
  seen.coming = text.squeeze(path)
end

-- Whether it may still be on its way.
function submission.is_due(now)
  return seen.due ~= nil and now ~= nil and now - seen.due.clock_ms < DUE_MS
end

local function is_drawn(view)
  local held = text.squeeze(view.composer.text)
  return text.has(held, seen.due.path) or held:find("%[Image#%d+%]$") ~= nil
end

function submission.takes_keys(view, input)
  local now = input.clock_ms
  if not now then
    return true
  end
  seen.since_ms = seen.since_ms or now
  if math.max(now - seen.since_ms, input.stable_ms or 0) < TAKES_KEYS_MS or submission.is_due(now) and not is_drawn(view) then
    return false
  end
  seen.due, seen.coming = seen.coming and { path = seen.coming, clock_ms = now }, nil
  return true
end

-- Something is about to be pasted, and Enter to be pressed behind it.
function submission.pastes(words)
  seen.entered = seen.pasted
  seen.pasted = { words = text.squeeze(words), before = text.squeeze(seen.composer_text) }
end

-- Whether what stood in the composer as Enter was pressed still does.
local function stands(pasted, view)
  return pasted ~= nil and pasted.shown ~= nil and view.composer ~= nil and text.squeeze(view.composer.shown) == pasted.shown
end

-- Once it has gone, what comes into the composer is something else, though it may be the same words.
function submission.sees_entered(view)
  if seen.pasted and not stands(seen.pasted, view) then
    seen.pasted.shown = nil
  end
end

-- Whether the Enter of the plan before has not been come to yet. A paste behind it would take the place of what it is to
-- send.
function submission.is_entering(view, input)
  local entered = seen.entered
  if not stands(entered, view) then
    seen.entered = nil
    return false
  end
  entered.since_ms = entered.since_ms or input.clock_ms
  return entered.since_ms ~= nil and input.clock_ms - entered.since_ms < ENTERED_MS
end

-- Whether what was pasted is still to be seen. A dialog that is open and not drawn yet has swallowed it. Behind a quiet
-- there is none, whatever the composer made of the paste.
function submission.is_pasting(view, input)
  if not seen.pasted or not view.composer then
    return false
  end
  local held = text.squeeze(view.composer.shown)
  local is_shown = text.has(held, seen.pasted.words) or view.composer.text ~= "" and held ~= seen.pasted.before
  seen.pasted.shown = is_shown and held or nil
  return not is_shown and (input.stable_ms or PASTED_MS) < PASTED_MS
end

-- Whether the answer that is on its way ends the turn: what is said behind it begins one.
function submission.is_ending()
  return seen.answered ~= nil and seen.answered.ends
end

-- A prompt is about to be typed. While the conversation stays like this its turn has not begun.
function submission.begins(prompt)
  seen.prompt, seen.aside, seen.typed, seen.ended = text.squeeze(prompt), nil, false, nil
  seen.of_its_own = prompt:find("^%s*/") ~= nil
  seen.asides = {}
  seen.submitted, seen.before = seen.conversation, seen.conversation
  seen.leaves = seen.composer == "absent"
end

-- How many of them are remembered.
local MOST_ASIDES = 20

-- Something is about to be said into a turn that works. Where none does, it begins one.
function submission.adds(words, begins)
  seen.asides = not begins and seen.asides or {}
  if not begins and words:find("%S") then
    table.insert(seen.asides, 1, text.squeeze(words))
    seen.asides[MOST_ASIDES + 1] = nil
  end
end

-- The composer that a prompt goes into is there: only now its conversation is to be seen.
function submission.meets(view)
  if seen.leaves then
    seen.submitted, seen.leaves = conversation_of(view), false
    seen.before = seen.submitted
  end
end

-- Nothing was typed after all.
function submission.forget()
  seen.submitted, seen.leaves = nil, false
end

local function tail_of(conversation)
  local from = #conversation
  for _ = 1, TAIL_ROWS do
    local row = conversation:sub(1, from):match("^.*()\n")
    if not row then
      return conversation
    end
    from = row - 1
  end
  return conversation:sub(from + 1)
end

-- Whether the conversation is the one that the last prompt was sent into.
local function is_as_before(view)
  if view.composer and view.composer.cut then
    return seen.before ~= nil
  end
  return seen.before ~= nil and tail_of(seen.before) == tail_of(conversation_of(view))
end

-- Whether what stands in the composer is the prompt. With no memory of it, it is.
local function holds_prompt(view)
  local composer = view.composer
  if not composer or composer.state == "empty" then
    return false
  end
  if not seen.prompt then
    return true
  end
  local held = text.squeeze(composer.text):gsub("%[Image#%d+%]", "")
  if seen.aside and (composer.state == "pasted" or text.has(seen.aside, held)) then
    return false
  end
  return composer.state == "pasted" or text.has(seen.prompt, held) or text.has(held, seen.prompt)
end

-- Whether the prompt was not taken: it stands in the composer, and not in the conversation.
function submission.is_unsent(view)
  return holds_prompt(view) and (seen.before == nil or is_as_before(view))
end

-- Whether a turn was cancelled before anything of it was answered: then its prompt is in the composer again and in no
-- conversation, and the last turn to be seen is the one before.
function submission.is_taken_back(view, input)
  return input.last_intent == "cancelling" and seen.prompt ~= nil and holds_prompt(view)
end

-- Whether the conversation still is what it was when a prompt was sent: then the end of a turn that
-- can be seen is the end of the one before.
function submission.not_begun(view, active, input)
  if not seen.submitted then
    return false
  end
  local quiet = submission.quiet_ms(input) >= BELIEVED_MS
  if active or quiet or has_moved(view) then
    seen.submitted = nil
    return false
  end
  return true
end

-- The turn of the last prompt was seen to be over, and nothing has come since.
function submission.remember_end(view)
  seen.ended = conversation_of(view)
end

function submission.has_ended(view)
  return seen.ended ~= nil and seen.ended == conversation_of(view)
end

-- The box of an option, checked or not.
local function box_of(dialog, number)
  for _, option in ipairs(dialog and dialog.options or {}) do
    if option.index == number then
      return option.checked
    end
  end
end

-- A box is about to be checked or cleared.
function submission.box(number)
  return { id = seen.dialog.id, number = number, was = box_of(seen.dialog, number), clock_ms = seen.clock_ms }
end

-- Forgets a box once it is drawn otherwise, or is gone.
function submission.sees_box(dialog)
  local pending = seen.checking
  if pending and (not dialog or dialog.id ~= pending.id or box_of(dialog, pending.number) ~= pending.was) then
    seen.checking = nil
  end
end

-- The same as `may_type`, for a plan that waits for a box.
function submission.may_check(dialog, input)
  local gated, now = seen.gated, input.clock_ms
  if not dialog or dialog.id ~= gated.id then
    return "stale_dialog: `" .. gated.id .. "` is not open any more, nothing was typed"
  end
  submission.sees_box(dialog)
  local pending = seen.checking
  if pending and now and now - pending.clock_ms < CHECKED_MS then
    return false
  end
  seen.checking = nil
  if pending then
    return "not_checked: option " .. pending.number .. " is not to be seen as it was chosen, nothing was typed; look and choose again"
  end
  if gated.checks then
    gated.checks.was, gated.checks.clock_ms = box_of(dialog, gated.checks.number), now
    seen.checking = gated.checks
  end
  if gated.answers then
    seen.answered = { id = gated.id, screen = input.screen, clock_ms = now }
  end
  return true
end

-- Whether a menu is open under the composer. Enter would take what it offers.
function submission.has_menu(view)
  return view.composer ~= nil and view.footer[1] ~= nil and text.glyph(view.footer[1], MENU) ~= nil
end

-- See `submission_state` in main.lua.
function submission.state(view, input, active)
  submission.sees_entered(view)
  if input.process_exited then
    return "sent"
  end
  if holds_prompt(view) then
    -- A second Enter behind a command would answer the dialog that it opens, as soon as Claude Code comes to both.
    return (seen.of_its_own or submission.has_menu(view)) and "pending" or "unsent"
  end
  if active or not seen.submitted or has_moved(view) then
    return "sent"
  end
  return "pending"
end

return submission
