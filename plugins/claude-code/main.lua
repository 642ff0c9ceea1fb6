-- The claude-code adapter: what a host may call. Each part has its own file.
--
--   layout    where the composer or the dialog is      dialogs   which dialog, what it asks
--   turn      what the conversation shows              classify  the state
--   intents   params to keys                           prompts   the same, into the composer
--   waits     what to wait for                         submission  how far a prompt has come
--   options   the list of a dialog                     permission  which tool asks, for what
--   rows      the other rows of a dialog               seen      what is remembered
--   params    the params of an intent                  text      rows, trimming, ids
--   catalog   what `describe` says

local classifier = require("classify")
local catalog = require("catalog")
local layout = require("layout")
local seen = require("seen")
local submission = require("submission")

local exports = { classify = classifier.classify }

local function enters(plan)
  local last = plan.actions[#plan.actions] or {}
  return last.type == "key" and last.value == "enter" or last.type == "text" and last.value:find("[\r\n]") ~= nil
end

for _, intents in ipairs({ require("intents"), require("prompts") }) do
  for name, intent in pairs(intents) do
    exports[name] = function(params)
      seen.gated = nil
      local opens = seen.dialog ~= nil and seen.since_ms == nil
      local plan = intent(params or {})
      -- Where nothing was entered nothing has begun.
      seen.opening = opens or seen.opening and not enters(plan)
      return plan
    end
  end
end

for name, wait in pairs(require("waits")) do
  exports[name] = wait
end

function exports.describe()
  return catalog
end

-- What the composer holds: "empty", "text", "pasted", or "absent" where a dialog has its place; "shell" if it runs what is
-- typed as a command of the shell.
-- A host that submits asks this between its paste and its Enter, and again behind the Enter.
function exports.composer_state(input)
  local view = layout.read(input.screen or "")
  return view.composer and (view.composer.shell and "shell" or view.composer.state) or "absent"
end

-- Behind the Enter of `send_prompt`: "sent", "unsent" (press Enter again) or "pending" (look again).
-- It knows the prompt of its own adapter only, so it is asked in the Lua that made the plan.
function exports.submission_state(input)
  return classifier.submission_state(input)
end

-- Before anything is typed: whether there is a composer. `false` while it is still to come, a text if something
-- else is open.
exports.may_type = classifier.may_type

-- Between a paste and the Enter behind it, and between an Escape and a paste: why that must not be typed, if so, or
-- `true` while the paste is not to be seen. A dialog that comes up meanwhile would take it for its answer.
function exports.enter_refused(input)
  local asks, _, view = classifier.asks(input)
  if asks then
    return "dialog_open: the state is `" .. asks .. "`, nothing was submitted; answer or leave it first"
  end
  if submission.has_menu(view) then
    return "menu_open: Enter would take what the menu under the composer offers, nothing was submitted"
  end
  if view.composer and view.composer.shell then
    return submission.SHELL_MODE
  end
  return submission.is_pasting(view, input) or nil
end

return exports
