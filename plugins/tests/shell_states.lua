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
  local ended = host.input("")
  ended.process_exited, ended.exit_code = true, 3
  check("exited with a code", exports.classify(ended).metadata.exit_status == 3, "no status")
  ended.exit_code, ended.signal = nil, 9
  check("exited by a signal", exports.classify(ended).metadata.signal == 9, "no signal")
end
