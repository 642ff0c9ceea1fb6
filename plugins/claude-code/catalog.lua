-- What this plugin offers, for `plugin.describe`: the names are a contract with clients.

local DIALOG_ID = { type = "string", description = "metadata.dialog_id of the dialog this answers" }

local function object(properties, required)
  return { type = "object", properties = properties, required = required }
end

local PROMPT = object({ prompt = { type = "string" } }, { "prompt" })
local NOTHING = { type = "object" }
local ON_DIALOG = object({ dialog_id = DIALOG_ID })

local function entry(name, description, schema)
  return { name = name, description = description, params_schema = schema }
end

local INTENTS = {
  entry("send_prompt", "Pastes the prompt and presses Enter; begins a turn", PROMPT),
  entry("approve", "Accepts the open dialog; goes on from check boxes", ON_DIALOG),
  entry("deny", "Dismisses the open dialog or screen with Escape", ON_DIALOG),
  entry("choose_option", "Picks an option of the open dialog by its number, its label or a part of it that no other has, or goes on from check boxes by the name of their button", object({
    index = { type = "integer", minimum = 1 },
    option = { type = "string", description = "a number or a label" },
    dialog_id = DIALOG_ID,
  })),
  entry("cancel", "Presses Escape; the state is cancelling until the screen settles", NOTHING),
  entry("force_cancel", "Presses Escape twice, for a tool that already runs; nothing where nothing works", NOTHING),
  entry("steer", "Sends a prompt into a running turn", PROMPT),
  entry("key", "Presses a named key, or types what is not a name", object({ key = { type = "string" } }, { "key" })),
  entry("approve_trust", "Trusts the folder", ON_DIALOG),
  entry("deny_trust", "Does not trust the folder; Claude Code ends", ON_DIALOG),
  entry("dismiss_welcome", "Presses Enter on the welcome of a first launch", NOTHING),
  entry("expand", "Presses Ctrl+O, which shows more or less of tool calls", NOTHING),
  entry("model_effort_left", "Presses Left in the model picker, and nowhere else", NOTHING),
  entry("model_effort_right", "Presses Right in the model picker, and nowhere else", NOTHING),
  entry("slash_command", "Runs a slash command without beginning a turn", object({
    command = { type = "string", description = "such as `usage`" },
    name = { type = "string", description = "the same as command" },
    dismiss_welcome = { type = "boolean" },
  })),
  entry("attach_file", "Pastes a path into the composer without Enter; it goes with the next prompt", object({ path = { type = "string" } }, { "path" })),
}

local WAITS = {
  { name = "wait_turn_matcher", description = "The turn ended, or a dialog or a screen of its own is open" },
  { name = "wait_cancel_settled_matcher", description = "A cancelled turn is over" },
  { name = "wait_ready_matcher", description = "The composer is there and nothing works" },
  { name = "wait_dialog_matcher", description = "A dialog with options is open" },
}

-- `working`: no wait for a turn's end is over in this state, whatever else is on the screen.
local STATES = {
  { name = "starting", description = "Nothing of Claude Code to be seen, or only its welcome" },
  { name = "ready", description = "No evidence either way; also a candidate beside an empty composer" },
  { name = "waiting_for_login", description = "The login dialog is open" },
  { name = "waiting_for_trust", description = "The workspace trust dialog is open" },
  { name = "waiting_for_model_select", description = "The model picker is open" },
  { name = "waiting_for_enter_plan_mode", description = "Claude asks to enter plan mode" },
  { name = "waiting_for_plan_approval", description = "A plan waits for approval" },
  { name = "waiting_for_permission", description = "A tool waits for permission" },
  { name = "waiting_for_external_editor", description = "An editor that Claude Code started has the screen" },
  { name = "usage_screen", description = "The usage screen is open" },
  { name = "local_ui_screen", description = "Settings, help or another screen of its own is open" },
  { name = "waiting_for_user_input", description = "The composer waits, or a question is open" },
  { name = "thinking", description = "Claude works", working = true },
  { name = "cancelling", description = "A cancel was sent and the screen has not settled", working = true },
  { name = "completed_turn", description = "The turn is over" },
  { name = "error", description = "The turn ended with an error of the service, or Claude Code has ended" },
}

return { intents = INTENTS, wait_matchers = WAITS, states = STATES }
