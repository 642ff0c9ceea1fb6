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

  -- The same with a clock, which a dialog that was answered is forgotten by.
  local function seen_at(exports, name, clock_ms, more)
    local input = host.input(host.read(folder .. "/fixtures/" .. name .. ".txt"), more)
    input.clock_ms = clock_ms
    return exports.classify(input)
  end

  do
    -- A call has 20 ms of the processor for a prompt of any length; looking at each byte with a pattern takes many times that.
    local exports, long = seeing("ready"), ("a word\n"):rep(200000)
    local begun = os.clock()
    check("a long prompt", exports.send_prompt({ prompt = long }).actions[2].value == long, "is another one")
    check("a long prompt takes no time", os.clock() - begun < 0.1, os.clock() - begun)
    local ringing = exports.send_prompt({ prompt = long .. "\7\r\nx" }).actions
    check("a long prompt with a bell", ringing[#ringing - 1].value == long .. "\nx", "rings")
    check("what is at its end", exports.send_prompt({ prompt = long .. "@a" }).actions[2].value == long .. "@a ", "takes a file")
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
  for prompt in pairs({ ["look at @ma"] = 1, ["mail me @"] = 1, ["a\nsee @a and @b"] = 1, ['read @"a b'] = 1 }) do
    sends("no menu takes Enter behind `" .. prompt .. "`", idle.send_prompt({ prompt = prompt }),
      "mark_transcript:turn_start bracketed_paste:" .. prompt .. "  key:enter", "prompt_submitted")
  end
  sends("nor is a blank added without need", idle.send_prompt({ prompt = "@a\nb" }),
    "mark_transcript:turn_start bracketed_paste:@a\nb key:enter", "prompt_submitted")
  sends("no menu takes another command", idle.send_prompt({ prompt = "/logoutx" }),
    "mark_transcript:turn_start bracketed_paste:/logoutx\n key:enter", "prompt_submitted")
  check("Enter is refused in a menu", (seeing().enter_refused({ screen = host.read(folder .. "/fixtures/file_menu.txt") }) or ""):find("menu_open"), "let")
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
  -- What is typed into a screen of Claude Code's own is no prompt.
  for name, state in pairs({
    config = "local_ui_screen", permissions = "local_ui_screen", memory = "local_ui_screen", doctor = "local_ui_screen",
    transcript_view = "local_ui_screen", editor_memory = "waiting_for_external_editor", editor_insert = "waiting_for_external_editor",
  }) do
    for _, intent in ipairs({ "send_prompt", "steer", "slash_command", "attach_file" }) do
      local typed = function() seeing(name)[intent]({ prompt = "no", command = "no", path = "no" }) end
      refuses(intent .. " types nothing into " .. name, typed, "dialog_open: the state is `" .. state .. "`, nothing was typed")
    end
    local why = seeing().enter_refused({ screen = host.read(folder .. "/fixtures/" .. name .. ".txt") })
    check("no Enter in " .. name, why and why:find(state, 1, true), why)
  end
  for _, name in ipairs({ "usage", "usage_in_turn", "help", "status" }) do
    sends("a prompt leaves " .. name, seeing(name).send_prompt({ prompt = "next" }),
      "key:escape mark_transcript:turn_start bracketed_paste:next key:enter", "prompt_submitted")
    sends("a command leaves " .. name, seeing(name).slash_command({ command = "cost" }), "key:escape bracketed_paste:/cost\n key:enter")
    check("nothing is pasted before " .. name .. " is left",
      seeing().enter_refused({ screen = host.read(folder .. "/fixtures/" .. name .. ".txt") }), "was let")
  end
  local left = seeing("usage")
  left.send_prompt({ prompt = "next" })
  local completed = host.read(folder .. "/fixtures/completed.txt")
  check("behind the screen is the composer", left.enter_refused({ screen = completed }) == nil, "refused")
  check("a prompt behind a screen is pending", left.submission_state({ screen = completed }) == "pending", "not pending")

  -- The same dialog is shown until Claude Code comes to it.
  local busy = seeing()
  id = seen_at(busy, "permission_bash", 1000).metadata.dialog_id
  busy.approve({ dialog_id = id })
  local now = seen_at(busy, "permission_bash", 1800)
  check("an answered dialog is not asked again", now.state == "thinking" and not now.metadata.dialog_id, now.state)
  refuses("an answered dialog is stale", function() busy.approve({ dialog_id = id }) end, "stale_dialog: `" .. id .. "` was answered already")
  refuses("nor is it answered without an id", function() busy.deny({}) end, "no_dialog")
  refuses("nor by a number", function() busy.choose_option({ index = 1 }) end, "no_dialog")
  -- A prompt waits until it is gone, and goes into no other dialog.
  local function at(name, clock_ms)
    local input = host.input(host.read(folder .. "/fixtures/" .. name .. ".txt"))
    input.clock_ms = clock_ms
    return input
  end
  for intent, params in pairs({ send_prompt = { prompt = "no" }, steer = { prompt = "no" }, slash_command = { command = "cost" }, attach_file = { path = "/etc/hosts" } }) do
    local plan = busy[intent](params)
    check(intent .. " behind an answer is planned", plan.actions[#plan.actions].type == (intent == "attach_file" and "bracketed_paste" or "key"), keys(plan))
    check(intent .. " waits for the dialog to go", busy.may_type(at("permission_bash", 1810)) == false, "is typed")
  end
  local stays = seeing()
  seen_at(stays, "permission_bash", 1000)
  stays.deny({})
  seen_at(stays, "permission_bash", 1100)
  stays.send_prompt({ prompt = "do it differently" })
  check("until its key was lost", tostring(stays.may_type(at("permission_bash", 4100))):find("dialog_open"), "is typed")
  local next_one = seeing()
  seen_at(next_one, "permission_bash", 1000)
  next_one.approve({})
  seen_at(next_one, "permission_bash", 1100)
  next_one.send_prompt({ prompt = "do it differently" })
  check("another dialog gets no prompt", tostring(next_one.may_type(at("permission_fetch", 1200))):find("dialog_open"), "is typed")
  local gone = seeing()
  seen_at(gone, "ready", 100)
  seen_at(gone, "permission_bash", 1000)
  gone.deny({})
  seen_at(gone, "permission_bash", 1100)
  gone.steer({ prompt = "do it differently" })
  check("a prompt behind it is typed", gone.may_type(at("completed", 1200)) == true, "is not")
  -- A no ends the turn, and what is said behind it begins one.
  local function asides_behind(intent, params)
    local exports = seeing()
    seen_at(exports, "permission_bash", 1000)
    exports[intent](params)
    seen_at(exports, "permission_bash", 1100)
    exports.steer({ prompt = "echo this" })
    local screen = "❯ first\n\n● old\n\n❯ echo this\n\n● new\n\n✻ Baked for 1s\n\n" .. ("─"):rep(40) .. "\n❯ \n" .. ("─"):rep(40) .. "\n  ? for shortcuts\n"
    return exports.classify(host.input(screen, { last_intent = "prompt_submitted", clock_ms = 9000 })).metadata.turn.text
  end
  for _, no in ipairs({ "deny", "cancel", "force_cancel" }) do
    check("a turn begins behind " .. no, asides_behind(no, {}) == "new", asides_behind(no, {}))
  end
  check("a turn begins behind a no", asides_behind("choose_option", { option = "no" }) == "new", asides_behind("choose_option", { option = "no" }))
  check("a yes goes on with the turn", asides_behind("approve", {}) == "old\n\nnew", asides_behind("approve", {}))
  check("another dialog may come", seen_at(busy, "permission_bash", 1850).state == "thinking", "told")
  check("another dialog is told", seen_at(busy, "permission_fetch", 1900).state == "waiting_for_permission", "not told")
  check("and the same one, once it was gone", seen_at(busy, "permission_bash", 2000).state == "waiting_for_permission", "not told")
  busy.approve({ dialog_id = id })
  check("a key that was lost is seen", seen_at(busy, "permission_bash", 5000).state == "waiting_for_permission", "not told")
  sends("and pressed again", busy.approve({ dialog_id = id }), "key:enter")

  local boxes = seeing()
  local asks = seen_at(boxes, "question_multiple", 1000)
  sends("a box", boxes.choose_option({ option = "Red" }), "text:1")
  -- Of two keys that are read at once both may be lost, so the host asks before the next: that is what a paste is for.
  sends("and another right behind it", boxes.choose_option({ option = "Blue" }), "paste:2")
  local function boxes_at(clock_ms, checked)
    local screen = host.read(folder .. "/fixtures/question_multiple.txt")
    for _, label in ipairs(checked or {}) do
      screen = screen:gsub("%[ %] " .. label, "[✔] " .. label, 1)
    end
    local input = host.input(screen)
    input.clock_ms = clock_ms
    return input
  end
  check("it waits for the first", boxes.may_type(boxes_at(1050)) == false, "is typed")
  check("until that is to be seen", boxes.may_type(boxes_at(1100, { "Red" })) == true, "waits")
  boxes.classify(boxes_at(1110, { "Red" }))
  sends("on to the next question waits as well", boxes.choose_option({ option = "next" }), "paste:\t")
  check("for the second", boxes.may_type(boxes_at(1120, { "Red" })) == false, "is typed")
  check("as long", boxes.may_type(boxes_at(1130, { "Red", "Blue" })) == true, "waits")
  check("and the question is answered then", boxes.classify(boxes_at(1140, { "Red", "Blue" })).state == "thinking", "it is not")
  local twice = seeing()
  twice.classify(boxes_at(1000))
  twice.choose_option({ index = 1 })
  twice.classify(boxes_at(1010))
  twice.choose_option({ index = 1 })
  check("a box is checked before it is cleared", twice.may_type(boxes_at(1020)) == false and twice.may_type(boxes_at(1030, { "Red" })) == true, "it is not")
  twice.classify(boxes_at(1040, { "Red" }))
  sends("and cleared before the next", twice.choose_option({ index = 2 }), "paste:2")
  local lost = seeing()
  lost.classify(boxes_at(1000))
  lost.choose_option({ index = 1 })
  lost.classify(boxes_at(1010))
  lost.choose_option({ index = 2 })
  check("a box that stays as it was is told", tostring(lost.may_type(boxes_at(4100))):find("not_checked: option 1 "), "is not")
  lost.classify(boxes_at(4200))
  sends("and can be chosen again", lost.choose_option({ index = 1 }), "text:1")
  lost.classify(boxes_at(4210))
  sends("a text of one's own waits", lost.choose_option({ option = "Type something" }), "paste:\27[B key:down")
  lost.classify(boxes_at(4220))
  lost.choose_option({ index = 2 })
  check("no box of another dialog", tostring(lost.may_type(at("permission_bash", 4230))):find("stale_dialog"), "is typed")
  local calm = seeing()
  calm.classify(boxes_at(1000))
  calm.choose_option({ index = 1 })
  calm.classify(boxes_at(1100, { "Red" }))
  sends("a box that is drawn is not waited for", calm.choose_option({ index = 2 }), "text:2")
  calm.classify(boxes_at(1200, { "Red", "Blue" }))
  sends("nor on the way on", calm.choose_option({ option = "next" }), "key:tab")
  sends("a checked box is no answer yet", seeing("question_checked").approve({}), "key:tab")
  sends("check boxes are submitted", seeing("question_checked").choose_option({ option = "Submit" }), "key:tab")
  sends("also from the button", seeing("question_button").choose_option({ option = "Submit" }), "key:enter")
  sends("and then all answers", seeing("question_submit").choose_option({ option = "Submit" }), "text:1")
  sends("or approved", seeing("question_submit").approve({}), "key:enter")
  refuses("the button is named", function() seeing("question_checked").choose_option({ option = "Other" }) end, "`Submit`")

  for _, intent in ipairs({ "approve", "deny" }) do
    for _, name in ipairs({ "completed", "composer_text", "thinking", "editor_memory" }) do
      refuses(intent .. " presses nothing in " .. name, function() seeing(name)[intent]({}) end, "no_dialog")
    end
  end
  sends("deny leaves a screen", seeing("config").deny({}), "key:escape")
  sends("approve does not take a highlighted no", seeing("bypass_warning").approve({}), "text:2")
  sends("trust", seeing("trust").approve_trust({}), "text:1")
  sends("no trust", seeing("trust").deny_trust({}), "text:2")
  refuses("trust of no dialog", function() idle.approve_trust({}) end, "no_dialog: no trust dialog")
  refuses("no trust of another dialog", function() asked.deny_trust({}) end, "no_dialog: no trust dialog")

  -- Options whose labels are numbers.
  local counts = host.load(folder)
  counts.classify(host.input((host.read(folder .. "/fixtures/question.txt"):gsub("SQLite", "10", 1):gsub("Postgres", "1", 1))))
  sends("a label that is a number", counts.choose_option({ option = "10" }), "text:1")
  refuses("a number that is the label of another", function() counts.choose_option({ option = "1" }) end, "option 2 is `1`, and option 1 another one")
  sends("a number", counts.choose_option({ index = 1 }), "text:1")

  -- Behind a dialog of the start there is no turn to wait for.
  local function ways(exports)
    return #exports.wait_turn_matcher({}).value[1].value[1].value
  end
  local begins = host.load(folder)
  check("at the start", ways(begins) == ways(seeing("ready")), "waits for a turn")
  local sent = seeing("ready")
  sent.send_prompt({ prompt = "go" })
  local usual = ways(sent)
  check("before anything was sent the composer will do", ways(begins) == usual + 2, "waits for a turn")
  local blank = seeing("ready")
  blank.send_prompt({ prompt = " " })
  check("a blank prompt sends nothing", ways(blank) == usual + 2, "waits for a turn")
  local resumed = host.load(folder)
  seen_at(resumed, "thinking", 1, { last_intent = "prompt_submitted" })
  check("another host has sent something", ways(resumed) == usual, "does not wait")
  seen_at(begins, "trust", 1000)
  begins.approve_trust({})
  check("behind a dialog of the start", ways(begins) == usual + 2, "waits for a turn")
  seen_at(begins, "bypass_warning", 2000)
  begins.approve({})
  check("behind the next one", ways(begins) == usual + 2, "waits for a turn")
  seen_at(begins, "ready", 3000)
  begins.slash_command({ command = "usage" })
  check("behind a command", ways(begins) == usual, "does not wait")
  seen_at(begins, "permission_bash", 9000)
  begins.approve({})
  check("behind a dialog of a turn", ways(begins) == usual, "does not wait")

  sends("cancel", idle.cancel({}), "key:escape", "cancelling")
  sends("force_cancel", seeing("running_tool").force_cancel({}), "key:escape key:escape", "cancelling")
  sends("force_cancel of nothing opens nothing", idle.force_cancel({}), "", "cancelling")
  sends("a key by another name", idle.key({ key = "Shift-Tab" }), "key:shift_tab")
  sends("a key with a plus", idle.key({ key = "ctrl+c" }), "key:ctrl_c")
  sends("no name of a key", idle.key({ key = "yes" }), "text:yes")
  sends("one sign", idle.key({ key = "-" }), "text:-")
  sends("a slash command", idle.slash_command({ command = "usage" }), "bracketed_paste:/usage\n key:enter")
  sends("a slash command by name", idle.slash_command({ name = "/usage" }), "bracketed_paste:/usage\n key:enter")
  sends("a slash command behind the welcome", idle.slash_command({ command = "usage", dismiss_welcome = true }),
    "key:enter bracketed_paste:/usage\n key:enter")
  refuses("no slash command", function() idle.slash_command({}) end, "`command` is required")
  sends("a file", idle.attach_file({ path = "/tmp/a b.txt" }), "bracketed_paste:/tmp/a b.txt")
  local function seen_with(words, clock_ms, name)
    local input = host.input((host.read(folder .. "/fixtures/" .. (name or "completed") .. ".txt"):gsub("\n❯ ?[^\n]*\n(─[^\n]*\n[^\n]*)%s*$", "\n❯ " .. words .. "\n%1\n")))
    input.clock_ms = clock_ms
    return input
  end
  local kept = seeing()
  kept.classify(seen_with("", 1000))
  kept.attach_file({ path = "/etc/hosts" })
  kept.classify(seen_with("/etc/hosts", 3000))
  sends("a second file", kept.attach_file({ path = "/tmp/x.png" }), "bracketed_paste:/tmp/x.png")
  kept.classify(seen_with("/etc/hosts[Image #1]", 4000))
  sends("a third", kept.attach_file({ path = "/etc/passwd" }), "bracketed_paste: /etc/passwd")
  kept.classify(seen_with("/etc/hosts[Image #1] /etc/passwd", 5000))
  sends("files go with the next prompt", kept.send_prompt({ prompt = "look" }),
    "mark_transcript:turn_start bracketed_paste: look key:enter", "prompt_submitted")
  kept.classify(seen_with("", 7000))
  sends("and not with the one behind it", kept.send_prompt({ prompt = "look" }),
    "mark_transcript:turn_start bracketed_paste:look key:enter", "prompt_submitted")
  kept.attach_file({ path = "/etc/hosts" })
  check("a file is pasted", kept.may_type(seen_with("", 7100)) == true, "not pasted")
  sends("nor is one lost that is not drawn yet", kept.steer({ prompt = "look" }), "bracketed_paste: look key:enter")
  check("a prompt waits for it", kept.may_type(seen_with("", 7200)) == false, "did not wait")
  check("until it is drawn", kept.may_type(seen_with("/etc/hosts", 7300)) == true, "waited")
  kept.classify(seen_with("", 9000))
  kept.attach_file({ path = "/etc/hosts" })
  kept.classify(seen_with("", 20000))
  sends("one that was taken away is not sent", kept.send_prompt({ prompt = "look" }),
    "mark_transcript:turn_start bracketed_paste:look key:enter", "prompt_submitted")
  kept.classify(seen_with("a prompt that came back", 21000))
  sends("what came back does not go with a file", kept.attach_file({ path = "/etc/hosts" }),
    "key:ctrl_e key:ctrl_u key:ctrl_u bracketed_paste:/etc/hosts")
  kept.classify(seen_with("", 22000))
  kept.key({ key = "some words" })
  kept.classify(seen_with("some words", 23000))
  sends("what was typed does", kept.attach_file({ path = "/etc/hosts" }), "bracketed_paste:/etc/hosts")
  kept.classify(seen_with("some words/etc/hosts", 25000))
  sends("but not with a prompt", kept.send_prompt({ prompt = "look" }),
    "key:ctrl_e key:ctrl_u key:ctrl_u bracketed_paste:/etc/hosts mark_transcript:turn_start bracketed_paste: look key:enter", "prompt_submitted")

  -- Whether there is something to type into.
  local starting = seeing()
  local function may_type(screen, clock_ms, more)
    local input = host.input(screen, more)
    input.clock_ms, input.stable_ms = clock_ms, more and more.stable_ms
    return starting.may_type(input)
  end
  local ready = host.read(folder .. "/fixtures/ready.txt")
  local trust = host.read(folder .. "/fixtures/trust.txt")
  check("nothing yet", may_type("", 0) == false, "typed")
  check("keys are lost at first", may_type(ready, 100) == false, "typed")
  check("a composer takes keys", may_type(ready, 600) == true, "not typed")
  check("a dialog comes first", tostring(may_type(trust, 700)):find("dialog_open: the state is `waiting_for_trust`"), "typed")
  check("a quiet composer takes keys", seeing().may_type({ screen = ready, clock_ms = 5, stable_ms = 500 }) == true, "not typed")
  check("another program has ended", may_type("bye", 800, { process_exited = true }) == true, "waited for")
  seen_at(starting, "trust", 1000)
  starting.approve_trust({})
  seen_at(starting, "trust", 1050)
  sends("a prompt behind the trusted folder is planned", starting.send_prompt({ prompt = "go" }),
    "mark_transcript:turn_start bracketed_paste:go key:enter", "prompt_submitted")
  check("and waits for its composer", may_type(trust, 1100) == false and may_type(ready, 1200) == false, "typed")
  check("and is typed", may_type(ready, 1700) == true, "not typed")
  check("and is pending then", starting.submission_state({ screen = ready }) == "pending", "not pending")

  refuses("no file", function() idle.attach_file({ path = " " }) end, "`path` is required")
  refuses("two files", function() idle.attach_file({ path = "a\nb" }) end, "one line")
  sends("expand", idle.expand(), "key:ctrl_o")
  sends("less effort", seeing("model").model_effort_left(), "key:left")
  sends("more effort", seeing("model").model_effort_right(), "key:right")
  sends("welcome", idle.dismiss_welcome(), "key:enter")

  -- Enter waits for the paste: a dialog that is open and not drawn yet has swallowed it.
  local function streaming(words)
    return (host.read(here .. "/../claude-code/fixtures/streaming.txt"):gsub("\n❯[^\n]*\n(─+)", function(rule)
      return "\n❯ " .. words .. "\n" .. rule
    end))
  end
  local pasting = host.load(here .. "/../claude-code")
  pasting.classify(host.input(streaming("")))
  pasting.steer({ prompt = "and then?" })
  check("no Enter before the paste", pasting.enter_refused({ screen = streaming(""), stable_ms = 80 }) == true, "it is pressed")
  check("an Enter behind it", pasting.enter_refused({ screen = streaming("and then?"), stable_ms = 80 }) == nil, "it is not pressed")
  check("a paste that is folded", pasting.enter_refused({ screen = streaming("[Pasted text #1 +3 lines]"), stable_ms = 80 }) == nil, "it is not pressed")
  check("a paste that nothing shows of", pasting.enter_refused({ screen = streaming(""), stable_ms = 700 }) == nil, "it is not pressed")

  -- A paste waits for the Enter before it: what stands in the composer would be lost.
  local function entered(words, what)
    local entering = host.load(folder)
    entering.classify(host.input(streaming(""), { clock_ms = 1000 }))
    entering[what or "steer"]({ prompt = words, command = words })
    check("a paste is shown", entering.enter_refused({ screen = streaming(words), stable_ms = 80 }) == nil, "it is not")
    return entering
  end
  local function may_type(exports, words, clock_ms)
    return exports.may_type({ screen = streaming(words), clock_ms = clock_ms, stable_ms = 500 })
  end
  for _, what in ipairs({ "steer", "slash_command" }) do
    local entering = entered("/usage", what)
    entering.classify(host.input(streaming("/usage"), { clock_ms = 2000 }))
    entering.steer({ prompt = "more" })
    check("a paste waits behind " .. what, may_type(entering, "/usage", 2100) == false, "it is typed")
    check("until Enter was come to", may_type(entering, "Press up to edit queued messages", 2200) == true, "it waits")
    entering = entered("/usage", what)
    entering.steer({ prompt = "more" })
    check("or for some seconds", may_type(entering, "/usage", 2100) == false and may_type(entering, "/usage", 5200) == true, "it waits")
    -- What came back into the composer was sent before.
    entering = entered("/usage", what)
    entering.classify(host.input(streaming(""), { clock_ms = 2000 }))
    entering.classify(host.input(streaming("/usage"), { clock_ms = 3000 }))
    entering.steer({ prompt = "more" })
    check("but not for what came back behind " .. what, may_type(entering, "/usage", 3100) == true, "it waits")
  end
  -- Words that end Claude Code are no prompt, whatever blanks are around them.
  for _, prompt in ipairs({ "exit", "quit", ":q", ":q!", ":wq", ":wq!", " exit", "exit\n", "\u{a0}quit\u{3000}" }) do
    refuses("no prompt `" .. prompt .. "`", function() seeing("completed").send_prompt({ prompt = prompt }) end, "Claude Code would end")
    refuses("nor in a turn", function() seeing("thinking").steer({ prompt = prompt }) end, "Claude Code would end")
  end
  sends("a word more is one", seeing("completed").send_prompt({ prompt = "exit now" }),
    "mark_transcript:turn_start bracketed_paste:exit now key:enter", "prompt_submitted")
  sends("and a command is one", seeing("completed").slash_command({ command = "exit" }), "bracketed_paste:/exit\n key:enter")

  -- With the keys of vi one Escape only leaves the mode in which text is typed.
  sends("cancel with the keys of vi", seeing("streaming_vim").cancel({}), "key:escape key:escape", "cancelling")
  local modal = seeing("ready_vim")
  modal.send_prompt({ prompt = "tell me more" })
  seen_at(modal, "streaming_vim", 1, { last_intent = "prompt_submitted" })
  sends("and by force", modal.force_cancel({}), "key:escape key:escape key:escape", "cancelling")
end
