-- The intents of claude-code: which keys come of which params, with which dialog on the screen.

return function(check, host, here)
  local folder = here .. "/../claude-code"

  -- A plugin that has seen a screen, as an adapter has when an intent comes.
  local function seeing(name)
    local exports = host.load(folder)
    if name then
      exports.classify(host.input(host.read(folder .. "/fixtures/" .. name .. ".txt")))
    end
    return exports
  end

  local function keys(plan)
    local out = {}
    for i, action in ipairs(plan.actions) do
      local value = type(action.value) == "table" and action.value.label or action.value
      out[i] = action.type .. (value and (":" .. tostring(value)) or "")
    end
    return table.concat(out, " ")
  end

  local function sends(name, plan, want, last_intent)
    check(name, keys(plan) == want, keys(plan))
    check(name .. " last_intent", plan.last_intent == last_intent, plan.last_intent)
  end

  local function refuses(name, call, want)
    local ok, why = pcall(call)
    check(name, not ok and tostring(why):find(want, 1, true), ok and "was accepted" or why)
  end

  local idle = seeing("completed")
  sends("a prompt is pasted", idle.send_prompt({ prompt = "a\nb" }),
    "mark_transcript:turn_start bracketed_paste:a\nb key:enter", "prompt_submitted")
  sends("an empty prompt does nothing", idle.send_prompt({ prompt = " \n" }), "", "")
  sends("a prompt cannot become a shell command", idle.send_prompt({ prompt = "!ls" }),
    "mark_transcript:turn_start bracketed_paste: !ls key:enter", "prompt_submitted")
  sends("a backslash does not swallow Enter", idle.send_prompt({ prompt = "a\\" }),
    "mark_transcript:turn_start bracketed_paste:a\\  key:enter", "prompt_submitted")
  sends("a prompt cannot end its paste", idle.send_prompt({ prompt = "a\27[201~\rb" }),
    "mark_transcript:turn_start bracketed_paste:a[201~\nb key:enter", "prompt_submitted")
  refuses("a prompt is required", function() idle.send_prompt({}) end, "`prompt` is required")
  refuses("a prompt is text", function() idle.send_prompt({ prompt = 5 }) end, "must be a string")
  sends("a returned prompt is cleared first", seeing("cancelled_prompt_returned").send_prompt({ prompt = "new" }),
    "key:ctrl_e key:ctrl_u key:ctrl_u mark_transcript:turn_start bracketed_paste:new key:enter", "prompt_submitted")
  sends("steering begins no turn", seeing("thinking").steer({ prompt = "also this" }), "bracketed_paste:also this key:enter")

  local asked = seeing("permission_bash")
  local shown = asked.classify(host.input(host.read(folder .. "/fixtures/permission_bash.txt")))
  local id = shown.metadata.dialog_id
  sends("approve presses Enter", asked.approve({ dialog_id = id }), "key:enter")
  sends("deny presses Escape", asked.deny({ dialog_id = id }), "key:escape")
  refuses("another dialog is not approved", function() asked.approve({ dialog_id = "00000000" }) end, "stale_dialog")
  refuses("a closed dialog is not approved", function() idle.approve({ dialog_id = id }) end, "stale_dialog")
  sends("an option by number", asked.choose_option({ index = 2 }), "text:2")
  sends("an option by its number in words", asked.choose_option({ option = "3" }), "text:3")
  sends("an option by its label", asked.choose_option({ option = "no" }), "text:3")
  sends("an option by a part of its label", asked.choose_option({ option = "always allow" }), "text:2")
  refuses("an option that is not there", function() asked.choose_option({ index = 4 }) end, "not in 1..3")
  refuses("a label that is not there", function() asked.choose_option({ option = "maybe" }) end, "`Yes`")
  refuses("no option at all", function() asked.choose_option({}) end, "`index` or `option` is required")
  refuses("an option of no dialog", function() idle.choose_option({ index = 1 }) end, "no_dialog")
  for _, name in ipairs({ "permission_bash", "plan_approval", "trust", "question", "model" }) do
    for _, intent in ipairs({ "send_prompt", "steer", "slash_command" }) do
      local typed = function() seeing(name)[intent]({ prompt = "no", command = "no" }) end
      refuses(intent .. " does not answer " .. name, typed, "dialog_open: the state is `waiting_for_")
    end
  end
  sends("approve does not take a highlighted no", seeing("bypass_warning").approve({}), "text:2")
  sends("trust", seeing("trust").approve_trust({}), "text:1")
  sends("no trust", seeing("trust").deny_trust({}), "text:2")
  refuses("trust of no dialog", function() idle.approve_trust({}) end, "no_dialog: no trust dialog")
  refuses("no trust of another dialog", function() asked.deny_trust({}) end, "no_dialog: no trust dialog")

  sends("cancel", idle.cancel({}), "key:escape", "cancelling")
  sends("force_cancel", idle.force_cancel({}), "key:escape key:escape", "cancelling")
  sends("a key by another name", idle.key({ key = "Shift-Tab" }), "key:shift_tab")
  sends("a key with a plus", idle.key({ key = "ctrl+c" }), "key:ctrl_c")
  sends("no name of a key", idle.key({ key = "yes" }), "text:yes")
  sends("one sign", idle.key({ key = "-" }), "text:-")
  sends("a slash command", idle.slash_command({ command = "usage" }), "bracketed_paste:/usage key:enter")
  sends("a slash command by name", idle.slash_command({ name = "/usage" }), "bracketed_paste:/usage key:enter")
  sends("a slash command behind the welcome", idle.slash_command({ command = "usage", dismiss_welcome = true }),
    "key:enter bracketed_paste:/usage key:enter")
  refuses("no slash command", function() idle.slash_command({}) end, "`command` is required")
  sends("a file", idle.attach_file({ path = "/tmp/a b.txt" }), "bracketed_paste:/tmp/a b.txt")
  refuses("no file", function() idle.attach_file({ path = " " }) end, "`path` is required")
  refuses("two files", function() idle.attach_file({ path = "a\nb" }) end, "one line")
  sends("expand", idle.expand(), "key:ctrl_o")
  sends("less effort", idle.model_effort_left(), "key:left")
  sends("more effort", idle.model_effort_right(), "key:right")
  sends("welcome", idle.dismiss_welcome(), "key:enter")
end
