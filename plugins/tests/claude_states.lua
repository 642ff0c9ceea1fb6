-- States of claude-code that hang on more than a screen: what was asked before, how long it is quiet.

return function(check, host, here)
  local folder = here .. "/../claude-code"
  local exports = host.load(folder)

  local function screen(name)
    return host.read(folder .. "/fixtures/" .. name .. ".txt")
  end

  local function state(name, shown, more, want, evidence)
    local input = host.input(shown, more)
    input.stable_ms = more.stable_ms
    local out = exports.classify(input)
    check(name, out.state == want and (not evidence or out.evidence == evidence), out.state .. ": " .. out.evidence)
    return out
  end

  local cancelling = "cancel intent recently applied; screen not yet stable"
  state("blank", "", {}, "starting", "no screen evidence yet")
  state("blank behind a prompt", "\n\n", { last_intent = "prompt_submitted" }, "thinking", "no screen evidence yet")
  state("another program", "some other words", {}, "ready", "no Claude Code-specific evidence detected")
  state("cancelling", screen("thinking"), { last_intent = "cancelling", stable_ms = 10 }, "cancelling", cancelling)
  state("cancelling without a clock", screen("streaming"), { last_intent = "cancelling" }, "cancelling", cancelling)
  state("cancelled", screen("interrupted"), { last_intent = "cancelling", stable_ms = 300 }, "waiting_for_user_input")
  state("cancelled without a clock", screen("interrupted"), { last_intent = "cancelling" }, "waiting_for_user_input")
  state("a poll sees the end of a turn", screen("completed"), { last_intent = "prompt_submitted" }, "completed_turn",
    "completion marker plus input prompt visible without active work")
  state("a turn just sent", screen("ready"), { last_intent = "prompt_submitted", stable_ms = 300 }, "thinking",
    "turn in flight; no accepted completion marker on screen")
  state("a paste that was not sent", screen("composer_pasted"), { last_intent = "prompt_submitted", stable_ms = 300 },
    "waiting_for_user_input", "submitted prompt still visible without active work")
  state("a paste on its way", screen("composer_pasted"), { last_intent = "prompt_submitted", stable_ms = 20 }, "thinking")
  state("usage that was asked for", screen("usage"), { last_intent = "prompt_submitted", stable_ms = 300 },
    "completed_turn", "stable usage screen detected")
  -- A screen that was asked for by a prompt ends its turn, and one that was not does not.
  local asked = host.load(folder)
  local function usage_behind(intent, params)
    asked.classify(host.input(screen("completed")))
    asked[intent](params)
    return asked.classify(host.input(screen("usage"), { last_intent = "prompt_submitted" })).state
  end
  check("usage as a prompt", usage_behind("send_prompt", { prompt = "/usage" }) == "completed_turn", "not completed")
  check("usage behind another prompt", usage_behind("send_prompt", { prompt = "hello" }) == "usage_screen", "completed")
  check("usage as a command", usage_behind("slash_command", { command = "usage" }) == "usage_screen", "completed")
  for name, rows in pairs({
    nano = "  GNU nano 7.2    CLAUDE.md\nsome words\n\n^G Help      ^O Write Out ^W Where Is\n^X Exit      ^R Read File ^\\ Replace",
    ["vi behind a long file"] = "one\ntwo\nthree      12,3-4        42%",
    ["vi with a command"] = "some words\n~\n~\n:q!", ["vi of another kind"] = "some words\n~\n~\n~",
    ["a new file"] = "~\n~\n\"CLAUDE.md\" [New]",
  }) do
    state(name, rows, {}, "waiting_for_external_editor")
  end
  state("an answer that quotes vi", (screen("completed"):gsub("Hello! What shall we do%?", "~\n  ~\n  -- INSERT --")), {}, "waiting_for_user_input")
  local quotes = screen("streaming"):gsub("And a second one%.", ("─"):rep(40) .. "\n  Settings\n\n  Esc to cancel")
  state("an answer that quotes a screen", quotes, { last_intent = "prompt_submitted", stable_ms = 300 }, "thinking", "active work indicator detected")
  state("a screen nobody knows", ("─"):rep(80) .. "\n  Stats\n\n  No stats yet.", {}, "local_ui_screen")
  state("a composer that is being drawn", ("─"):rep(80) .. "\n❯ ", {}, "ready")
  local silent = screen("completed"):gsub("❯ hello.-\n\n(───)", "❯ /plugin\n\n%1")
  state("a command that says nothing", silent, { last_intent = "prompt_submitted", stable_ms = 300 }, "completed_turn")

  local ended = state("a program that ended", screen("completed"), { last_intent = "prompt_submitted", process_exited = true, exit_code = 1 }, "error", "process has ended")
  check("how it ended", ended.metadata.ended.exit_code == 1 and ended.metadata.error.message == "Claude Code has ended with exit code 1", "not told")
  ended = state("one that ended at once", "No conversation found to continue", { process_exited = true, signal = 9 }, "error")
  check("why it ended", ended.metadata.error.message == "Claude Code has ended by signal 9: No conversation found to continue", ended.metadata.error.message)

  -- A file that waits in the composer is not the prompt that was sent.
  local working = host.load(folder)
  local function look(name, more)
    local input = host.input(screen(name), more)
    input.stable_ms = more.stable_ms
    return working.classify(input)
  end
  look("completed", { clock_ms = 0 })
  working.send_prompt({ prompt = "tell me more" })
  look("streaming", { clock_ms = 100, last_intent = "prompt_submitted" })
  working.attach_file({ path = "/etc/hostname" })
  local out = look("attached_in_turn", { clock_ms = 9000, last_intent = "prompt_submitted", stable_ms = 8000 })
  check("a turn works beside a file", out.state == "thinking" and out.metadata.turn.partial_text, out.evidence)
  -- Nobody waits, so nobody says how long it is quiet.
  working.classify(host.input(screen("completed")))
  working.send_prompt({ prompt = "/clear" })
  check("a command just seen", look("cleared", { clock_ms = 10000, last_intent = "prompt_submitted" }).state == "thinking", "not thinking")
  check("a command that is seen again", look("cleared", { clock_ms = 10400, last_intent = "prompt_submitted" }).state == "completed_turn", "thinking")
  local hint = screen("cleared"):gsub("%? for shortcuts[^\n]*", "")
  out = working.classify(host.input(hint, { clock_ms = 10500, stable_ms = 0, last_intent = "prompt_submitted" }))
  check("it stays over", out.state == "completed_turn", out.evidence)
  -- A turn that was cancelled before its answer has none.
  look("completed", { clock_ms = 11000 })
  working.send_prompt({ prompt = "think about it" })
  out = look("cancelled_prompt_returned", { clock_ms = 12000, last_intent = "cancelling", stable_ms = 300 })
  check("no text of the turn before", out.state == "waiting_for_user_input" and not out.metadata.turn, "has a text")
  -- Steering where nothing works begins a turn, too.
  look("completed", { clock_ms = 12500 })
  working.steer({ prompt = "more" })
  out = look("completed", { clock_ms = 12600, last_intent = "prompt_submitted", stable_ms = 300 })
  check("a turn that was steered into being", out.state == "thinking", out.evidence)
  -- A prompt taller than the screen is no answer.
  look("completed", { clock_ms = 13000 })
  working.send_prompt({ prompt = "Why does it say\n❯ 1. Yes\n  2. No\n\nEsc to cancel · Tab to amend" })
  out = look("quoted_in_prompt_80x24", { clock_ms = 14000, last_intent = "prompt_submitted", stable_ms = 300 })
  check("the rest of a prompt", out.metadata.turn.text:find("^You said") and not out.metadata.turn.cut, out.metadata.turn.text)

  state("an old prompt glyph", "✻ Cooked for 3s\n\n❯", { last_intent = "prompt_submitted", stable_ms = 300 }, "completed_turn")
  state("an old dialog", "Do you want to proceed?\n❯ 1. Yes\n  2. No", {}, "waiting_for_permission")
  state("keys in brackets", "Run it? [Enter] yes  [Esc] no", {}, "waiting_for_permission")
  state("a question without options", "Bash command\n\n ls\n\nDo you want to proceed?", {}, "waiting_for_permission",
    "suppressed permission dialog detected")
  state("an old spinner", "✻ Thinking… (3s · esc to interrupt)", {}, "thinking")
  state("only the welcome", "Welcome to Claude Code v2.1.197\n.....\n", {}, "starting", "welcome screen visible")
  state("enter plan mode", ("─"):rep(80) .. "\n Enter plan mode?\n\n ❯ 1. Yes, enter plan mode\n   2. No, start now", {},
    "waiting_for_enter_plan_mode", "enter plan mode dialog detected")

  local out = state("an id of a dialog", ("─"):rep(80) .. "\n Bash command\n\n   git status --short\n   Show it\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No", {},
    "waiting_for_permission")
  check("the id is the known one", out.metadata.dialog_id == "dcc4608b", out.metadata.dialog_id)

  out = state("marks of a turn", screen("completed"), { last_intent = "prompt_submitted", stable_ms = 300, markers = { turn_start = 5 }, cursor = 90 },
    "completed_turn")
  check("marks are given on", out.metadata.transcript.turn_start == 5 and out.metadata.transcript.turn_end == 90, "no marks")

  local paused = screen("streaming"):gsub("  esc to interrupt[^\n]*", "  paste again to expand")
  state("a hint in the place of the footer", paused, { last_intent = "prompt_submitted", stable_ms = 300 }, "thinking")
  local quiet = screen("completed"):gsub("✻[^\n]* for %d[^\n]*", "")
  state("no duration of turns", quiet, { last_intent = "prompt_submitted", stable_ms = 300 }, "completed_turn")
  local command = screen("completed"):gsub("❯ hello.-\n\n(───)", "❯ /usage\n  ⎿  Settings dialog dismissed\n\n%1")
  state("a command of its own", command, { last_intent = "prompt_submitted", stable_ms = 300 }, "completed_turn")

  -- The end of the turn before is still on the screen right behind Enter.
  exports = host.load(folder)
  local sent = { last_intent = "prompt_submitted", stable_ms = 300 }
  state("before a prompt", screen("completed"), {}, "waiting_for_user_input")
  exports.send_prompt({ prompt = "next" })
  state("the end of the turn before", screen("completed"), sent, "thinking")
  check("pending", exports.submission_state({ screen = screen("completed") }) == "pending", "not pending")
  local typed = screen("completed"):gsub("\n❯[^\n]*\n(─+)", "\n❯ next\n%1")
  check("unsent", exports.submission_state({ screen = typed }) == "unsent", exports.submission_state({ screen = typed }))
  check("sent", exports.submission_state({ screen = screen("streaming") }) == "sent", "not sent")
  exports.send_prompt({ prompt = "/login" })
  local command_typed = screen("completed"):gsub("\n❯[^\n]*\n(─+)", "\n❯ /login\n%1")
  check("no second Enter behind a command", exports.submission_state({ screen = command_typed }) == "pending", "it is unsent")
  exports.send_prompt({ prompt = "next" })
  state("the turn itself", screen("streaming"), sent, "thinking", "active work indicator detected")
  state("its end, the same to look at", screen("completed"), sent, "completed_turn")
  exports.send_prompt({ prompt = "next" })
  sent.stable_ms = 5000
  state("a turn that went by unseen", screen("completed"), sent, "completed_turn")

  -- On a small screen a turn may end with all of it off the screen.
  exports = host.load(folder)
  local lone = ("─"):rep(40) .. "\n❯\n" .. ("─"):rep(40) .. "\n  ? for shortcuts"
  state("a turn of which nothing is to be seen", lone, { last_intent = "prompt_submitted", stable_ms = 300 }, "thinking")
  state("and that is over", lone, { last_intent = "prompt_submitted", stable_ms = 1000 }, "completed_turn")
  exports = host.load(folder)
  state("first", lone, { last_intent = "prompt_submitted", clock_ms = 5000 }, "thinking")
  state("and a second later", lone, { last_intent = "prompt_submitted", clock_ms = 6000 }, "completed_turn")

  for name, want in pairs({
    ready = "empty", completed = "empty", composer_text = "text", composer_pasted = "pasted", trust = "absent",
    permission_bash = "absent", quoted_in_composer = "pasted", queued_prompt = "empty", cancelled_prompt_returned = "text",
  }) do
    local got = exports.composer_state({ screen = screen(name) })
    check("composer of " .. name, got == want, got)
  end
  -- What is said into a turn belongs to it: its text and its tools are those since its own prompt.
  local function told(adapter, name)
    local out = adapter.classify(host.input(screen(name), { last_intent = "prompt_submitted" })).metadata
    return out.turn and out.turn.text, out.tools and #out.tools or 0
  end
  local steered = host.load(folder)
  steered.send_prompt({ prompt = "work a while" })
  steered.classify(host.input(screen("steer_running"), { last_intent = "prompt_submitted" }))
  steered.steer({ prompt = "also do this" })
  local words, tools = told(steered, "steered_turn")
  check("a turn goes on behind a steer", words == "Before it.\n\nDone." and tools == 1, words)
  steered = host.load(folder)
  steered.send_prompt({ prompt = "also do this" })
  words, tools = told(steered, "steered_turn")
  check("the same words as a prompt begin a turn", words == "Done." and tools == 0, words)
  local amended = host.load(folder)
  amended.send_prompt({ prompt = "work a while" })
  amended.classify(host.input(screen("permission_amended_yes"), { last_intent = "prompt_submitted" }))
  amended.approve({})
  words, tools = told(amended, "amended_turn")
  check("a turn goes on behind an amended yes", words == "Before it.\n\nDone." and tools == 1, words)
  local idle = host.load(folder)
  idle.classify(host.input(screen("completed")))
  idle.steer({ prompt = "also do this" })
  check("a steer where nothing works begins a turn", told(idle, "steered_turn") == "Done.", told(idle, "steered_turn"))

  -- A screen of Claude Code's own that was open while a turn went on is echoed in the middle of it.
  local left = host.load(folder)
  left.send_prompt({ prompt = "say it in two parts" })
  left.classify(host.input(screen("usage_in_turn"), { last_intent = "prompt_submitted" }))
  left.classify(host.input(screen("streaming"), { last_intent = "prompt_submitted" }))
  left.slash_command({ command = "usage" })
  check("a turn goes on behind a screen", told(left, "usage_left_in_turn") == "First part.\n\nSecond part.", told(left, "usage_left_in_turn"))
  left = host.load(folder)
  left.classify(host.input(screen("completed")))
  left.slash_command({ command = "usage" })
  local at_rest = screen("usage_left_in_turn"):gsub("❯ say it in two parts\n\n❯ /usage", "❯ /usage")
  local shown = left.classify(host.input(at_rest, { last_intent = "prompt_submitted" })).metadata
  check("a command of its own begins one", shown.turn.text == "First part.\n\nSecond part." and not shown.tools, shown.turn.text)

  -- What is left of an answer is no prompt, though it ends like one.
  local repeated = host.load(folder)
  local rows = {}
  for i = 0, 89 do
    rows[#rows + 1] = "row " .. i
  end
  repeated.send_prompt({ prompt = "Print it again:\n" .. table.concat(rows, "\n") })
  local again = repeated.classify(host.input(screen("answer_like_prompt"), { last_intent = "prompt_submitted" }))
  check("an answer that ends like its prompt", again.state == "completed_turn" and again.metadata.turn.cut
    and again.metadata.turn.text:find("^row 59\n.*row 89$"), again.state)
  local still = screen("answer_like_prompt"):gsub("✻ [^\n]* for %d+s", "✽ Baking…"):gsub("  paste again to expand", "  esc to interrupt")
  repeated = host.load(folder)
  repeated.send_prompt({ prompt = "Print it again:\n" .. table.concat(rows, "\n") })
  again = repeated.classify(host.input(still, { last_intent = "prompt_submitted" }))
  check("but while it works it may be the prompt", again.state == "thinking" and not again.metadata.turn.partial_text, again.state)

  -- Calls that are folded into a row, with their bullet or while that is dark.
  for name, dark in pairs({ ["with a bullet"] = false, ["without"] = true }) do
    local folds = screen("fold_running")
    folds = dark and folds:gsub("● Listing", "  Listing") or folds
    local out = exports.classify(host.input(folds, { last_intent = "prompt_submitted" })).metadata
    check("a running fold " .. name, out.turn.partial_text == "Before." and out.tools[1].name == "Listing" and out.tools[1].running, out.turn.partial_text)
    local said = folds:gsub("✻ [^\n]*", "✻ Baked for 2s"):gsub("esc to interrupt", "? for shortcuts")
    out = exports.classify(host.input(said, { last_intent = "prompt_submitted" })).metadata
    check("an answer like one " .. name, out.turn.text:find("Listing 1 directory… (ctrl+o to expand)", 1, true) and not out.tools, out.turn.text)
  end
  local seconds = screen("fold_before_call"):gsub("Running…", "Running… (3s)")
  local timed = exports.classify(host.input(seconds, { last_intent = "prompt_submitted" })).metadata.tools[2]
  check("a call that says how long it runs", timed.running == true, timed.result)

  -- An Escape answers a dialog, which is shown until Claude Code comes to it.
  for _, intent in ipairs({ "cancel", "force_cancel" }) do
    local busy = host.load(folder)
    local function at(clock_ms, more)
      more = more or {}
      local input = host.input(screen("permission_bash"), { clock_ms = clock_ms, last_intent = more.last_intent })
      input.stable_ms = more.stable_ms
      return busy.classify(input)
    end
    local id = at(1000).metadata.dialog_id
    local plan = busy[intent]({})
    check(intent .. " presses Escape", plan.actions[1].value == "escape" and plan.last_intent == "cancelling", plan.last_intent)
    check(intent .. " is on its way", at(1010, { last_intent = "cancelling" }).state == "cancelling", "it is not")
    check(intent .. " is not settled in its dialog", at(1900, { last_intent = "cancelling", stable_ms = 800 }).state == "cancelling", "it is")
    local ok, why = pcall(busy.approve, { dialog_id = id })
    check("no approve behind " .. intent, not ok and why:find("stale_dialog"), why)
    ok, why = pcall(busy.approve, {})
    check("nor without an id", not ok and why:find("no_dialog"), why)
    local later = host.load(folder)
    local function told_at(clock_ms)
      return later.classify(host.input(screen("permission_bash"), { clock_ms = clock_ms, last_intent = "cancelling" })).state
    end
    told_at(1000)
    later.approve({})
    check("an approve some time behind a cancel is none", told_at(1010) == "thinking", told_at(1010))
    check("the dialog is told again if the key was lost", at(4100, { last_intent = "cancelling", stable_ms = 3000 }).state == "waiting_for_permission", "it is not")
  end
  local works = {}
  for _, entry in ipairs(exports.describe().states) do
    works[entry.name] = entry.working
  end
  check("no wait ends while a cancel is on its way", works.thinking and works.cancelling, "it does")

  -- A call without a result is one only while it may get one.
  local call = "❯ hello\n\n● Write(a.txt)\n\n" .. ("─"):rep(80) .. "\n❯\u{a0}\n" .. ("─"):rep(80) .. "\n  esc to interrupt"
  local running = exports.classify(host.input(call, { last_intent = "prompt_submitted" })).metadata
  check("a call that begins", running.tools and running.tools[1].name == "Write" and running.tools[1].running and not running.turn, "none")
  local over = exports.classify(host.input((call:gsub("esc to interrupt", "? for shortcuts")))).metadata
  check("and one that never was", over.turn.text == "Write(a.txt)" and not over.tools, over.turn.text)
  -- A task in progress gives the words beside the star, which may have newlines in them.
  local star = "❯ hello\n\n● Before.\n\n✽ x                  (1s · ↓ 136 tokens)\n  ❯ 1. No\n   Esc to cancel\n  ⎿ \u{a0}◼ s\n\n"
    .. ("─"):rep(80) .. "\n❯\u{a0}\n" .. ("─"):rep(80) .. "\n  esc to interrupt · ctrl+t to hide tasks"
  local starred = exports.classify(host.input(star, { last_intent = "prompt_submitted" }))
  check("a star of several lines is no answer", starred.state == "thinking" and starred.metadata.turn.partial_text == "Before.", starred.metadata.turn.partial_text)
end
