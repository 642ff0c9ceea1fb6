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
  local ended = host.input("")
  ended.process_exited, ended.exit_code = true, 3
  check("exited with a code", exports.classify(ended).metadata.exit_status == 3, "no status")
  ended.exit_code, ended.signal = nil, 9
  check("exited by a signal", exports.classify(ended).metadata.signal == 9, "no signal")
end
