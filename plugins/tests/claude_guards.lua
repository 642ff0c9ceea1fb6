-- What must not be typed into claude-code, whatever a caller says: what would be a command instead of a prompt or a path, an
-- option that nobody named, and anything at all into a composer that runs commands of the shell.

return function(check, host, here)
  local folder = here .. "/../claude-code"

  local function screen(name)
    return host.read(folder .. "/fixtures/" .. name .. ".txt")
  end

  local function seeing(name, more)
    local exports = host.load(folder)
    exports.classify(host.input(screen(name), more))
    return exports
  end

  local function pasted(plan)
    for _, action in ipairs(plan.actions) do
      if action.type == "bracketed_paste" then
        return action.value
      end
    end
  end

  local function refuses(name, call, want)
    local ok, why = pcall(call)
    check(name, not ok and tostring(why):find(want, 1, true), ok and "was accepted" or why)
    return not ok and tostring(why) or ""
  end

  -- The host takes control characters away behind the plugin, those from U+0080 to U+009F as well: nothing may hide behind one.
  for code = 0x80, 0x9f do
    local control = utf8.char(code)
    for _, intent in ipairs({ "send_prompt", "steer" }) do
      local name = string.format("U+%04X in %s: ", code, intent)
      local function typed(prompt)
        return pasted(seeing("completed")[intent]({ prompt = prompt }))
      end
      check(name .. "a shell command", typed(control .. "!touch x") == " !touch x", typed(control .. "!touch x"))
      check(name .. "a backslash", typed("ends\\" .. control) == "ends\\ ", typed("ends\\" .. control))
      check(name .. "a file", typed("see @" .. control) == "see @ ", typed("see @" .. control))
      check(name .. "a command", typed(control .. "/logoutx") == "/logoutx\n", typed(control .. "/logoutx"))
      for _, prompt in ipairs({ control .. "exit", "exit" .. control, "e" .. control .. "xit", control .. " quit\n" }) do
        refuses(name .. "an end", function() seeing("completed")[intent]({ prompt = prompt }) end, "Claude Code would end")
      end
    end
    local command = pasted(seeing("completed").slash_command({ command = control .. "/usage" .. control }))
    check("a command behind a control character", command == "/usage\n", command)
    refuses("a path with one", function() seeing("completed").attach_file({ path = "/tmp/" .. control .. "x" }) end, "control characters")
  end
  refuses("a prompt of nothing else", function() seeing("completed").steer({ prompt = "\u{85}\u{9b}" }) end, "`prompt` is empty")
  check("sends nothing", #seeing("completed").send_prompt({ prompt = "\u{85}" }).actions == 0, "it is sent")
  local words = "\u{a0}für «dich»\u{200b} \u{c0}\u{2028}"
  check("other characters stay", pasted(seeing("completed").send_prompt({ prompt = words })) == words, "are gone")
  local long, begun = ("für «dich» °\u{a0}\n"):rep(80000), os.clock()
  check("in a long prompt as well", pasted(seeing("completed").send_prompt({ prompt = long })) == long, "are gone")
  check("which takes no time", os.clock() - begun < 0.2, os.clock() - begun)

  check("a command in front of much", pasted(seeing("completed").send_prompt({ prompt = "\u{85}!touch x;" .. long })):sub(1, 2) == " !", "runs")
  check("a file behind much", pasted(seeing("completed").send_prompt({ prompt = long .. "@a\u{85}" })):sub(-3) == "@a ", "is taken")
  local blanks = (" "):rep(40000)
  for _, hidden in ipairs({ "exit\u{85}", "e\u{9b}xit", "\u{85}quit" }) do
    refuses("an end among blanks", function() seeing("completed").send_prompt({ prompt = blanks .. hidden .. blanks }) end, "Claude Code would end")
  end

  -- A path arrives as one, though it has the name of a command.
  for path, want in pairs({
    ["!touch pwned;"] = "./!touch pwned;", ["/init"] = "/./init", ["/clear"] = "/./clear", ["/exit"] = "/./exit", ["/"] = "/./",
    ["/init x.png"] = "/./init x.png", ["/init a/b"] = "/./init a/b", ["/my file"] = "/./my file", ["/server:do"] = "/./server:do",
    ["/x.png"] = "/./x.png", ["/tmp/a b.txt"] = "/tmp/a b.txt", ["/etc/hosts"] = "/etc/hosts", ["notes.txt"] = "notes.txt",
    ["~/x"] = "~/x", ["./!x"] = "./!x", ["../x"] = "../x", ["/srv/me/init"] = "/srv/me/init",
  }) do
    local got = pasted(seeing("completed").attach_file({ path = path }))
    check("the path `" .. path .. "`", got == want, got)
  end
  -- And it is still known when it goes with a prompt.
  local function composer(held)
    return (screen("completed"):gsub("\n❯ ?[^\n]*\n(─[^\n]*\n[^\n]*)%s*$", function(rule) return "\n❯ " .. held .. "\n" .. rule .. "\n" end))
  end
  local attaching = seeing("completed", { clock_ms = 1000 })
  attaching.attach_file({ path = "/init" })
  attaching.classify(host.input(composer("/./init"), { clock_ms = 3000 }))
  check("a path waits for its prompt", pasted(attaching.send_prompt({ prompt = "what is it?" })) == " what is it?", "it is pasted again")

  -- A label may be told by a part of it, but no part that could mean another option.
  local function choosing(name, option, change)
    local exports, shown = host.load(folder), screen(name)
    exports.classify(host.input(change and change(shown) or shown))
    return exports.choose_option({ option = option }).actions[1].value
  end
  local function notes(shown)
    return (shown:gsub("example%.com", "notes.invalid"))
  end
  for option, want in pairs({
    ["no"] = "3", ["No"] = "3", ["NO, and tell Claude"] = "3", ["yes"] = "1", ["Yes"] = "1", ["yes, "] = "1", ["yes,"] = "1", ["Yes."] = "1",
    ["don't ask again"] = "2", ["notes.invalid"] = "2", ["yes, and don't"] = "2", ["differently"] = "3", ["again for notes"] = "2",
  }) do
    local ok, got = pcall(choosing, "permission_fetch", option, notes)
    check("the option `" .. option .. "`", ok and got == want, got)
  end
  for _, option in ipairs({ "n", "y", "e", "o", "and", "ye", "d", "t", "  ," }) do
    local why = refuses("the option `" .. option .. "` may be several", function() choosing("permission_fetch", option, notes) end, "invalid_params")
    check("no key is pressed", why:find("nothing was typed", 1, true) or why:find("there are", 1, true), why)
  end
  local why = refuses("a part of two labels", function() choosing("permission_fetch", "and", notes) end, "`and` may be ")
  check("both are named", why:find("option 2 `Yes, and don't ask again for notes.invalid`, or option 3 `No, and tell Claude", 1, true), why)
  local function no_plain_yes(shown)
    return (shown:gsub("1%. Yes\n", "1. Yes, and always allow this\n"))
  end
  refuses("a yes for good is not taken for a yes", function() choosing("permission_fetch", "yes", no_plain_yes) end, "may be ")
  refuses("nor with a comma", function() choosing("permission_fetch", "yes, ", no_plain_yes) end, "may be ")
  local function no_first(shown)
    return (shown:gsub(" ❯ 1%. Yes\n   2%. ", " ↑ 2. "):gsub("\n   3%. No", "\n ❯ 3. No"))
  end
  refuses("a yes that may be another one", function() choosing("permission_fetch", "yes", no_first) end, "not to be seen")
  check("the whole label is enough", choosing("permission_fetch", "yes, and don't ask again for example.com", no_first) == "2", "it is not")
  check("and a no is none", choosing("permission_fetch", "no", no_first) == "3", "it is")
  local function reds(shown)
    return (shown:gsub("SQLite", "Red"):gsub("Postgres", "Dark Red"))
  end
  check("the whole label is more than a part", choosing("question", "red", reds) == "1", choosing("question", "red", reds))
  check("a part of one label", choosing("question", "dark", reds) == "2", choosing("question", "dark", reds))
  check("a part of a word", choosing("question", "post") == "2", choosing("question", "post"))
  local function accents(shown)
    return (shown:gsub("SQLite", "Été"):gsub("Postgres", "t is a letter"))
  end
  check("letters of all scripts make words", choosing("question", "t", accents) == "2", choosing("question", "t", accents))
  -- An option that is called as the button below is.
  local function next_box(shown)
    return (shown:gsub("%[ %] Blue", "[ ] Next"))
  end
  refuses("a box or the button", function() choosing("question_multiple", "next", next_box) end, "option 2 `Next`, or the button `Next`, which `approve` presses; say which by `index`")

  -- In the mode for shell commands nothing is a prompt.
  for _, name in ipairs({ "shell_mode", "shell_mode_text" }) do
    for _, intent in ipairs({ "send_prompt", "steer", "slash_command", "attach_file" }) do
      refuses(intent .. " in " .. name, function() seeing(name)[intent]({ prompt = "ls", command = "ls", path = "ls" }) end, "shell_mode: ")
    end
    local came = host.load(folder)
    came.classify(host.input(screen("ready"), { clock_ms = 1000 }))
    came.send_prompt({ prompt = "ls" })
    local input = host.input(screen(name), { clock_ms = 2000 })
    check("no prompt into " .. name .. " that came up", tostring(came.may_type(input)):find("shell_mode: "), came.may_type(input))
    check("nor Enter behind one", tostring(came.enter_refused(input)):find("shell_mode: "), came.enter_refused(input))
    check("the composer says so", came.composer_state(input) == "shell", came.composer_state(input))
  end

  -- Left in an empty composer leaves the session for a list of all of them.
  for _, name in ipairs({ "completed", "permission_bash", "thinking", "usage" }) do
    refuses("no effort in " .. name, function() seeing(name).model_effort_left() end, "no_dialog: no model dialog is open")
    refuses("nor more in " .. name, function() seeing(name).model_effort_right() end, "no_dialog: no model dialog is open")
  end
end
