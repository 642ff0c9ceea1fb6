-- The intents of the shell adapter, and screens that were not worth a recording.

return function(check, host, here)
  local exports = host.load(here .. "/../shell")
  local plan = exports.run({ command = "ls" })
  check("run types", plan.actions[2].type == "text" and plan.actions[3].value == "enter", "other keys")
  check("several lines are typed", exports.run({ command = "a\nb" }).actions[2].type == "text", "pasted")
  exports.classify(host.input("$", { transcript = "\27[?2004h$ " }))
  check("several lines are pasted where that is asked for", exports.run({ command = "a\nb" }).actions[2].type == "bracketed_paste", "typed")
  check("run wants a command", not pcall(exports.run, {}), "accepted nothing")
  check("run takes no keys", not pcall(exports.run, { command = "a\3" }), "accepted a key")
  check("interrupt", exports.interrupt().actions[1].type == "interrupt", "other keys")
  check("eof", exports.eof().actions[1].type == "eof", "other keys")
  for screen, want in pairs({
    [""] = "starting", ["bash-5.2$"] = "prompt", ["~/src ❯"] = "prompt", ["copied 50%"] = "running", ["host%"] = "prompt",
    ["user@host:~$ exit\nexit"] = "exited", ["user@host:~$ ls"] = "running",
    ["$ echo 'a\n>"] = "continuation",
  }) do
    local out = exports.classify(host.input(screen))
    check("shell `" .. screen .. "`", out.state == want, out.state)
  end
  -- A shell in the shell: the last mark is of the command that led into it.
  local function within(command, tail, stable_ms)
    local transcript = "\27]133;A\7$ \27]133;B\7" .. command .. "\r\n\27]133;C\7" .. tail
    local input = host.input("$ " .. command .. "\n" .. tail:gsub("\r", ""):gsub("\27%[[%d;?]*%a", ""), { transcript = transcript })
    input.stable_ms = stable_ms
    return exports.classify(input)
  end
  for _, command in ipairs({
    "bash", "sh", "/bin/zsh -l", "bash --norc", "bash --rcfile x", "exec fish", "cd /tmp && bash", "sudo -i", "sudo -s", "sudo su -",
    "sudo -u bob bash", "su - bob", "env A=b dash", "ssh host", "ssh -p 22 bob@host", "ssh -t host bash", "docker exec -it box sh",
    "kubectl exec -it pod -- /bin/bash", "nix-shell", "poetry shell", "FOO=1 bash", "PS1='in$ ' sh -i",
  }) do
    local out = within(command, "bash-5.2$ \27[?2004h", 300)
    check("`" .. command .. "` leads into a shell", out.state == "prompt" and out.confidence < 0.95, out.state .. ": " .. out.evidence)
    check("`" .. command .. "` has no status yet", out.metadata.exit_status == nil and out.metadata.command == command, "other metadata")
    check("`" .. command .. "` may run something", within(command, "bash-5.2$ ls\r\nabc", 300).state == "running", "not running")
    check("`" .. command .. "` may print a prompt", within(command, "bash-5.2$\r\n", 300).state == "running", "not running")
  end
  for _, command in ipairs({ "bash x.sh", "sh -c 'exit 3'", "bash -lc ls", "ssh host ls", "su -c ls", "make", "echo bash", "docker exec box ls",
    "sudo ls", "bash x.sh; make", "vi bash" }) do
    local out = within(command, "user@host:~$ ", 300)
    check("`" .. command .. "` is no shell", out.state == "running", out.evidence)
  end
  check("what waits for long", within("./enter", "user@host:~$ ", 3000).state == "prompt", "not a prompt")
  check("what works for long", within("make", "user@host:~$\r\n", 3000).state == "running", "a prompt")
  -- Much output pushes all marks out of the transcript.
  local marked = host.load(here .. "/../shell")
  local function mark(letter, rest)
    return "\27]133;" .. letter .. (rest or "") .. ";aid=greenroom-1\7"
  end
  local function seen(transcript, screen)
    return marked.classify(host.input(screen or "$", { transcript = transcript }))
  end
  local prompt = mark("A") .. "$ " .. mark("B")
  check("marks of our own", seen(prompt).confidence == 0.95, "not by marks")
  marked.run({ command = "seq 9999" })
  local flood = ("12345\r\n"):rep(2000)
  check("a flood without marks", seen(flood, "12345").evidence == "command mark without an end mark", seen(flood, "12345").evidence)
  check("a flood that ends like a prompt", seen(flood .. "100 $\r\n", "100 $").state == "running", "a prompt")
  local after = seen(flood .. mark("D", ";3") .. prompt)
  check("after a flood", after.state == "prompt" and after.metadata.exit_status == 3 and after.metadata.command == "seq 9999", after.evidence)
  local begun = os.clock()
  seen(("x"):rep(100000), "x")
  check("a long line takes no time", os.clock() - begun < 1, "slow")
  -- Marks of others do not count where the shell signs its own.
  local running = prompt .. "cat\r\n" .. mark("C")
  check("a program that prints a prompt mark", seen(running .. "\27]133;A\7fake>", "fake>").state == "running", "believed")
  check("a program that prints an end mark", seen(running .. "\27]133;D;0\7", "x").state == "running", "believed")
  -- A shell that marked and has left another to which marks are unknown.
  local other = host.load(here .. "/../shell")
  local left = prompt .. "exit 3\r\n" .. mark("C") .. "exit\r\nhost% "
  local out = other.classify(host.input("$ exit 3\nexit\nhost%", { transcript = left }))
  check("a shell that left", out.state == "prompt" and out.confidence == 0.6, out.evidence)
  out = other.classify(host.input("host% sleep 5", { transcript = prompt .. "\27[?2004l\r\r\nexit\r\nhost% sleep 5\r\n" }))
  check("what runs in another shell", out.state == "running", out.evidence)
  out = other.classify(host.input("x\nhost%", { transcript = "\27]133;D;0\7x\r\nhost% " }))
  check("an end mark before a prompt", out.state == "prompt", out.evidence)
  for _, row in ipairs({ "dquote>", "for cmdsubst>", "pipe heredoc>" }) do
    check("`" .. row .. "` is a further line", exports.classify(host.input("% x\n" .. row)).state == "continuation", "not")
  end
  exports.classify(host.input("$", { transcript = "\27[?2004h$ " }))
  check("a tab is pasted", exports.run({ command = "a\tb" }).actions[2].type == "bracketed_paste", "typed")
  local ended = host.input("")
  ended.process_exited, ended.exit_code = true, 3
  check("exited with a code", exports.classify(ended).metadata.exit_status == 3, "no status")
  ended.exit_code, ended.signal = nil, 9
  check("exited by a signal", exports.classify(ended).metadata.signal == 9, "no signal")
  -- A fish that does not take a line puts it into its editor again.
  local fish = host.load(here .. "/../shell")
  local refused = "root@vm /tmp# (true)\nfish: command substitutions not allowed here\nroot@vm /tmp# (true)"
  local function fish_says(screen)
    return fish.classify(host.input(screen, { transcript = (screen:gsub("\n", "\r\n")) })).state
  end
  check("a line that nobody typed", fish_says(refused) == "running", fish_says(refused))
  fish.run({ command = "(true)" })
  check("a line that fish refused", fish_says(refused) == "continuation", fish_says(refused))
  check("one that runs", fish_says("root@vm /tmp# (true)") == "running", "a prompt")
  check("one that runs behind an error", fish_says("root@vm /tmp# x\nfish: Unknown command: x\nroot@vm /tmp# (true)\n") == "running", "a prompt")
  local other_error = "root@vm /tmp# x\nfish: Unknown command: x\nroot@vm /tmp# (true)"
  check("one behind the error of another", fish_says(other_error) == "running", fish_says(other_error))
  local runs = refused:gsub("\n", "\r\n") .. "\r\n\27[30m\27(B\27[m\27]0;(true) /tmp\7\27[30m\27(B\27[m\r"
  check("one that runs at last", fish.classify(host.input(refused, { transcript = runs })).state == "running", "a prompt")
  check("one that was taken", fish_says(refused .. "\nroot@vm /tmp# ") == "prompt", "not a prompt")
  local ways = fish.wait_turn_matcher({}).value
  check("a wait ends there", ways[#ways].value[1].value:find("(?m)^fish: ", 1, true) and ways[#ways].value[1].value:find("\\(true\\)", 1, true), ways[#ways].value[1].value)
  require("shell_turns")(check, host, here)
end
