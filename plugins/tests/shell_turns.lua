-- Commands that `run` types, one after another: what of the marks in a transcript belongs to which.

-- A terminal with a shell in it, of which a test says what it prints.
local function terminal(host, here)
  local it = { adapter = host.load(here .. "/../shell"), transcript = "", place = 0 }

  function it.prints(text)
    it.transcript = it.transcript .. text
  end

  -- Types a command, which the terminal echoes; `echo` is what it makes of it.
  function it.runs(command, echo)
    it.adapter.run({ command = command })
    it.place = utf8.len(it.transcript)
    it.prints(echo or command .. "\r\n")
  end

  function it.sees(stable_ms)
    local screen = it.transcript:gsub("\27%][^\7]*\7", ""):gsub("\27%[[%d;?]*%a", ""):gsub("\r", "")
    -- As the host does: the end of it, and places in characters.
    local from = utf8.offset(it.transcript, -math.min(utf8.len(it.transcript), 16384))
    return it.adapter.classify(host.input(screen:sub(-2000), {
      transcript = it.transcript:sub(from), cursor = utf8.len(it.transcript), stable_ms = stable_ms,
      markers = it.place and { command_start = it.place },
    }))
  end
  return it
end

local function mark(letter, rest)
  return "\27]133;" .. letter .. (rest or "") .. "\7"
end

return function(check, host, here)
  local it
  local function expect(name, state, confidence, status, command, stable_ms)
    local out = it.sees(stable_ms)
    local metadata = out.metadata or {}
    local told = ("%s %s %s %s: %s"):format(out.state, out.confidence, metadata.exit_status, metadata.command, out.evidence)
    check(name, out.state == state and out.confidence == confidence and metadata.exit_status == status and metadata.command == command, told)
  end

  -- A shell without marks, in which programs print some.
  for name, printed in pairs({
    ["a prompt mark"] = mark("A"), ["an end mark"] = "x\r\n" .. mark("D", ";0") .. "done\r\n", ["both"] = mark("D", ";0") .. mark("A"),
    ["a command mark"] = mark("A") .. "$ " .. mark("B") .. "ls\r\n" .. mark("C") .. "out\r\n",
  }) do
    it = terminal(host, here)
    it.place = nil
    it.prints("$ ")
    expect("at first, " .. name, "prompt", 0.6)
    it.runs("cat log")
    it.prints(printed .. "$ ")
    expect(name .. " that a program printed", "prompt", 0.6)
    for _ = 1, 2 do
      it.runs("sleep 30")
      expect("what runs behind " .. name, "running", 0.5)
      it.prints("$ ")
      expect("what ran behind " .. name, "prompt", 0.6)
    end
    it.runs("seq 9999")
    it.prints(("12345\r\n"):rep(4000) .. "$ ")
    expect("much behind " .. name, "prompt", 0.6)
  end

  -- A shell that reads what was typed line by line.
  for name, before in pairs({ ["a shell without marks"] = "$ ", ["a shell without marks in another"] = mark("A", ";aid=greenroom-1") .. "# dash\r\n" .. mark("C", ";aid=greenroom-1;cmdline=dash") .. "$ " }) do
    local is_within = #before > 2
    local confidence, command = is_within and 0.7 or 0.6, is_within and "dash" or nil
    it = terminal(host, here)
    it.prints(before)
    it.runs("sleep 1\ncat <<E\n$ x\nE", "sleep 1\r\ncat <<E\r\n$ x\r\nE\r\n")
    it.prints("$ ")
    check(name .. " that has more to read", it.sees().state == "running", it.sees().evidence)
    it.prints("> > $ x\r\n$ ")
    expect(name .. " that has read all", "prompt", confidence, nil, command)
    it.runs("read x\nb", "read x\r\nb\r\n$ ")
    check(name .. " that has less to read", it.sees().state == "running", it.sees().evidence)
    expect(name .. " that has less to read and is still", "prompt", confidence, nil, command, 3000)
    it.runs("true\n:\nfalse", "true\r\n:\r\nfalse\r\n$ $ ")
    check(name .. " that has read two of three", it.sees().state == "running", it.sees().evidence)
    it.prints("$ ")
    expect(name .. " that has read three", "prompt", confidence, nil, command)
    it.runs("for i in 1; do\necho\ndone\nprintf abc\n:", "for i in 1; do\r\necho\r\ndone\r\n:> > \r\n1\r\n$ abc$ $ ")
    expect(name .. " that is faster than what is typed", "prompt", confidence, nil, command)
    it.runs("ls")
    it.prints("$ ")
    expect(name .. " and one line", "prompt", confidence, nil, command)
  end

  -- Marks that a shell has, without our name, from the beginning or since a command.
  it = terminal(host, here)
  it.place = nil
  it.prints("$ ")
  it.runs("exec fish")
  it.prints(mark("A") .. "λ ")
  expect("a shell that marks", "prompt", 0.6)
  for _ = 1, 2 do
    it.runs("false")
    it.prints(mark("C"))
    expect("what it runs", "running", 0.95, nil, "false")
    it.prints(mark("D", ";1") .. mark("A") .. "λ ")
    expect("what it ran", "prompt", 0.95, 1, "false")
  end
  it.runs("read x")
  it.prints(mark("C"))
  expect("what it reads", "running", 0.95, nil, "read x")
  it.runs("hello")
  expect("what it read", "running", 0.95, nil, "read x")
  it.prints(mark("D", ";0") .. mark("A") .. "λ ")
  expect("what has read", "prompt", 0.95, 0, "read x")

  it.runs("seq 9999")
  it.prints(mark("C") .. ("12345\r\n"):rep(4000) .. mark("D", ";3") .. mark("A") .. "λ ")
  expect("what it printed much in", "prompt", 0.95, 3, "seq 9999")

  -- A shell that has no prompt of further lines, as fish.
  it = terminal(host, here)
  it.place = nil
  it.prints("\27[?2004hhost λ ")
  it.runs('echo "a', 'echo "a\r\n\27[K\27[A\r\n\27[18C')
  expect("a shell that reads on", "continuation", 0.5)
  it.runs('b"', 'b"\r\n\27[?2004l')
  expect("a shell that has read all", "running", 0.5)
  it.prints("\ra\r\nb\r\n\27[?2004hhost λ ")
  expect("a shell that reads anew", "prompt", 0.6)

  -- Nothing of what was typed is there yet.
  local function ours(letter, rest)
    return mark(letter, (rest or "") .. ";aid=greenroom-1")
  end
  local prompt = ours("A") .. "é$ " .. ours("B")
  it = terminal(host, here)
  it.place = nil
  it.prints(prompt)
  expect("before a command", "prompt", 0.95)
  it.runs("ls", "")
  expect("what was typed just now", "running", 0.6)
  it.prints("ls\r\n")
  expect("what was entered just now", "running", 0.5)
  it.prints(ours("C") .. "x\r\n" .. ours("D", ";0") .. prompt)
  expect("what ended", "prompt", 0.95, 0, "ls")

  -- A bash that lost all but the B in its prompt.
  it.runs("unset PROMPT_COMMAND PS0")
  it.prints(ours("C") .. "é$ " .. ours("B"))
  expect("a bash without marks of commands", "prompt", 0.95, nil, "unset PROMPT_COMMAND PS0")
  it.runs("sleep 3; touch slept")
  expect("what runs in it", "running", 0.5)
  it.prints("é$ " .. ours("B"))
  expect("what ran in it", "prompt", 0.95, nil, "sleep 3; touch slept")
  it.place = nil
  it.prints("sleep 3\r\n")
  expect("what somebody else typed", "running", 0.5)

  -- A shell that signs, in one that does not mark, and that is killed.
  it = terminal(host, here)
  it.place = nil
  it.prints("host% ")
  it.runs("enter")
  it.prints(prompt)
  it.runs("kill -9 $$")
  it.prints(ours("C") .. "killed\r\nhost% ")
  expect("a shell that was killed just now", "running", 0.95, nil, "kill -9 $$")
  expect("a shell that was killed", "prompt", 0.4, nil, "kill -9 $$", 3000)
  for _ = 1, 2 do
    it.runs("sleep 3; false")
    expect("what runs behind it", "running", 0.95, nil, "kill -9 $$")
    it.prints("host% ")
    expect("what ran behind it", "prompt", 0.6)
  end
  it.runs("seq 9999")
  it.prints(("12345\r\n"):rep(4000) .. "host% ")
  expect("much behind it", "prompt", 0.6)
  it.runs("echo 'a")
  it.prints("> ")
  expect("a further line behind it", "continuation", 0.6)
  it.runs("enter", "enter\r\n" .. prompt)
  expect("another one", "prompt", 0.95)

  -- A zsh: C when a line was entered, D and A before each prompt.
  local typed = "\27[?2004l\r\r\n" .. mark("C", ";aid=greenroom-zsh")
  local function ended(status, level)
    local aid = ";aid=greenroom-zsh" .. (level or 1)
    return mark("D", ";" .. status .. aid) .. mark("A", aid) .. "\27[7m%\27[27m   \r \rhost% \27[K\27[?2004h"
  end
  it = terminal(host, here)
  it.place = nil
  it.prints(ended(0))
  expect("a zsh, at first", "prompt", 0.95)
  it.runs("false", "f\8false" .. typed)
  expect("what a zsh runs", "running", 0.95, nil, "false")
  it.prints(ended(1))
  expect("what a zsh ran", "prompt", 0.95, 1, "false")
  it.runs("printf", "p\8printf" .. typed .. mark("D", ";0") .. mark("A") .. "$ ")
  expect("what prints marks in it", "running", 0.95, nil, "printf")
  it.prints(ended(4))
  expect("what printed marks in it", "prompt", 0.95, 4, "printf")
  it.prints("\r\r\n" .. mark("C", ";aid=greenroom-zsh") .. "[1]  + done  sleep 1\r\nhost% ")
  expect("a job that ends at its prompt", "prompt", 0.95, 4, "printf")
  it.runs('echo "a', 'e\8echo "a' .. typed .. "\r\27[Jdquote> \27[K\27[?1h\27=\27[?2004h")
  expect("a further line in it", "continuation", 0.8)
  it.runs('b"', 'b"' .. typed .. "a\r\nb\r\n" .. ended(0))
  expect("a command of two lines in it", "prompt", 0.95, 0)
  it.runs("cat", "c\8cat" .. typed)
  expect("what reads in it", "running", 0.95, nil, "cat")
  it.runs("words")
  expect("what has read in it", "running", 0.95, nil, "cat")
  it.prints(ended(0))
  expect("what read in it", "prompt", 0.95, 0, "cat")
  it.runs("zsh", "z\8zsh" .. typed .. ended(0, 2))
  expect("a zsh in it", "prompt", 0.95, nil, "zsh")
  it.runs("exit 7", "e\8exit 7" .. typed .. ended(7))
  expect("a zsh in it that ended", "prompt", 0.95, 7, "exit 7")
  it.runs("bash", "b\8bash" .. typed .. prompt)
  it.runs("kill -9 $$", "kill -9 $$\r\n" .. ours("C") .. "zsh: killed  bash\r\n" .. ended(137))
  expect("a bash in it that was killed", "prompt", 0.95, 137, "kill -9 $$")
  it = terminal(host, here)
  it.place = nil
  it.prints(ended(0))
  it.runs("false", "f\8false" .. typed .. ended(1))
  expect("a zsh that was not looked at before", "prompt", 0.95, 1, "false")
  -- One that marks its prompts no more.
  it.runs("unsetopt prompt_sp", "u\8unsetopt prompt_sp" .. typed .. "host% \27[?2004h")
  expect("a zsh that marks no prompt", "running", 0.95, nil, "unsetopt prompt_sp")
  expect("a zsh that marks no prompt and is still", "prompt", 0.4, nil, "unsetopt prompt_sp", 3000)
  for _ = 1, 2 do
    it.runs("sleep 1", "s\8sleep 1" .. typed)
    check("what runs in it", it.sees().state == "running", it.sees().evidence)
    it.prints("host% \27[?2004h")
    expect("what ran in a zsh that marks no prompt", "prompt", 0.6)
  end
  it.runs("setopt prompt_sp", "s\8setopt prompt_sp" .. typed .. ended(0))
  it.runs("false", "f\8false" .. typed .. ended(1))
  expect("a zsh that marks prompts again", "prompt", 0.95, 1, "false")
  -- One in a shell without marks.
  it = terminal(host, here)
  it.place = nil
  it.prints("$ ")
  it.runs("bash", "bash\r\n" .. prompt)
  it.runs("exit 3", "exit 3\r\n" .. ours("C") .. "exit\r\n$ ")
  expect("a bash in another shell that ended", "prompt", 0.6)
  it.runs("zsh", "zsh\r\n" .. ended(0))
  expect("a zsh in another shell", "prompt", 0.95, nil, "zsh")
  it.runs("exit 3", "e\8exit 3" .. typed .. "$ ")
  expect("a zsh in another shell that ended", "prompt", 0.6, nil, "exit 3")
  it.runs("sleep 1")
  expect("what runs when it has ended", "running", 0.5)
  it.prints("$ ")
  expect("what ran when it has ended", "prompt", 0.6)
  -- One whose settings have another PROMPT_EOL_MARK.
  it = terminal(host, here)
  it.place = nil
  it.prints("host% \27[?2004h")
  it.runs("false", "f\8false" .. typed .. "host% \27[?2004h")
  expect("a zsh that marks commands alone", "prompt", 0.6)

  -- A shell whose PS1 and PS2 are all that marks, as a dash that was started with them.
  local function asks(name, status)
    local aid = ";aid=greenroom-" .. name
    return mark("D", ";" .. status .. aid) .. mark("A", aid) .. "$ " .. mark("B", aid)
  end
  local more = mark("P", ";k=s;aid=greenroom-1") .. "> "
  it = terminal(host, here)
  it.place = nil
  it.prints(asks(1, 0))
  expect("a dash in which nothing ran", "prompt", 0.95)
  it.runs("false")
  it.prints("\r\n$ ")
  expect("what prints a prompt in it", "running", 0.8, nil, "false")
  it.prints("\r\n" .. asks(1, 1))
  expect("what ran in it", "prompt", 0.95, 1, "false")
  it.runs('echo "a')
  it.prints(more)
  expect("a further line in it", "continuation", 0.95)
  it.runs('b"')
  it.prints("a\r\nb\r\n" .. asks(1, 0))
  expect("a command of two lines in it", "prompt", 0.95, 0, 'b"')
  it.runs("for i in 1; do\nsleep 9\ndone", "for i in 1; do\r\nsleep 9\r\ndone\r\n" .. more .. more)
  expect("what it was typed at once", "running", 0.6, nil, nil, 4000)
  it.prints(asks(1, 0))
  expect("what it has read at once", "prompt", 0.95, 0)
  it.runs("sleep 1\nsleep 2", "sleep 1\r\nsleep 2\r\n" .. asks(1, 0))
  expect("the second of what it was typed at once", "running", 0.6, nil, nil, 1000)
  it.prints(asks(1, 0))
  expect("both of what it was typed at once", "prompt", 0.95, 0)
  it.runs("seq 9999")
  it.prints(("12345\r\n"):rep(4000) .. asks(1, 3))
  expect("what printed much in it", "prompt", 0.95, 3, "seq 9999")
  it.runs("sh")
  it.prints(asks(2, 0))
  for _ = 1, 2 do
    expect("a dash in it", "prompt", 0.95, nil, "sh")
  end
  it.runs("false")
  it.prints(asks(2, 1))
  expect("what ran in the inner one", "prompt", 0.95, 1, "false")
  it.runs("exit 5")
  it.prints(asks(1, 5))
  expect("the inner one has ended", "prompt", 0.95, 5, "exit 5")
  it.runs("csh")
  it.prints("host% ")
  expect("a shell without marks in it", "prompt", 0.6)
  it.runs("sleep 1")
  check("what runs in a shell without marks in it", it.sees().state == "running", it.sees().evidence)
  it.prints("host% ")
  expect("what ran in a shell without marks in it", "prompt", 0.6)
  it.runs("exit")
  it.prints(asks(1, 0))
  expect("it has ended", "prompt", 0.95, 0, "exit")

  -- A bash that has no mark at its first prompt, in another.
  local function inner(letter, rest)
    return mark(letter, (rest or "") .. ";aid=greenroom-9")
  end
  for _, printed in ipairs({ "x\r\n", ("12345\r\n"):rep(4000) }) do
    it = terminal(host, here)
    it.place = nil
    it.prints(prompt)
    it.runs("bash --norc")
    it.prints(ours("C") .. "bash-5.2$ ")
    expect("a bash without marks at its first prompt", "prompt", 0.7, nil, "bash --norc")
    it.runs("false")
    it.prints(inner("C") .. printed:sub(1, 100))
    it.sees()
    it.prints(printed .. inner("D", ";1") .. inner("A") .. "bash-5.2$ " .. inner("B"))
    expect("what ran in it first", "prompt", 0.95, 1, "false")
  end
end
