//! The Lua console: scripts against real servers with real shells, and a person at a terminal.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use greenroom_testkit::{Home, Signal, eventually, eventually_some, process};
use serde_json::{Value, json};

use crate::ptywright_cli::{fed, link, text};
use crate::support::home;
use crate::terminal::Terminal;

/// Longer than a request takes; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that answers lines.
const ANSWERS: &str = "session('sh', {args = {'-c', 'while read l; do echo got-$l; done'}})";

/// A plugin for a shell that answers: an intent that types, a matcher, states.
const PLUGIN: &str = r#"
local M = {}
function M.classify(input)
  local busy = input.screen:find("asked") and not input.screen:find("got%-asked")
  return { state = busy and "busy" or "ready", confidence = 0.9, evidence = "the screen" }
end
function M.ask(params)
  return { actions = { ptywright.action.text(params.text .. "\n") } }
end
function M.wait_turn_matcher(params)
  return ptywright.matcher.contains_text("got-asked")
end
function M.wait_never_matcher(params)
  return ptywright.matcher.contains_text("never")
end
function M.describe()
  return {
    intents = { { name = "ask" } },
    wait_matchers = { { name = "wait_turn_matcher" }, { name = "wait_never_matcher" } },
    states = { { name = "ready" }, { name = "busy" } },
  }
end
return M
"#;

const MANIFEST: &str = r#"
name = "asker"
kind = "adapter"
version = "1.0.0"
runtime = "lua"
entrypoint = "asker.lua"
permissions = ["session.spawn", "session.kill", "screen.read", "transcript.read", "input.write", "matcher.wait"]
[default_target]
program = "sh"
args = ["-c", "while read l; do echo got-$l; done"]
"#;

/// Writes the plugin; gives the path of its manifest.
fn plugin(home: &Home) -> String {
    let manifest = home.path().join("asker.toml");
    fs::write(&manifest, MANIFEST).unwrap();
    fs::write(home.path().join("asker.lua"), PLUGIN).unwrap();
    manifest.to_str().unwrap().to_owned()
}

fn script(home: &Home, arguments: &[&str], script: &str) -> Output {
    let all: Vec<&str> = ["repl"].iter().chain(arguments).copied().collect();
    fed(home.command_of(&link(home), all), script.as_bytes())
}

/// A script ends well and prints these lines.
#[track_caller]
fn check(home: &Home, arguments: &[&str], lines: &str, expected: &[&str]) {
    let output = script(home, arguments, lines);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{output:?}");
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), expected);
}

/// A script fails at this line with this text.
#[track_caller]
fn fails(home: &Home, lines: &str, why: &str) {
    let output = script(home, &[], lines);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.starts_with("ptywright: ") && said.contains(why), "{said}");
}

#[test]
fn a_script_drives_a_shell() {
    let home = home();
    let lines = format!(
        "#!/usr/bin/env -S ptywright repl
c = {ANSWERS}
c
c:send('one\\n')
c:wait('got-one', s(20)).outcome.kind
wait(re'got-(o.e)', s(20)).outcome.capture
wait(all('got-one', screen_stable(ms(20))), s(20)).matched
-- statements over several lines
for i = 1, 2 do
  print(i, {{}} ~= nil)
end
screen()
transcript() == nil
d = session{{program = 'cat'}}
:tabs
:focus s1
send('key', 'enter')
d:resize(30, 100)
d:inspect().size
rpc('session.list').sessions
d:close()
d:kill()"
    );
    let output = script(&home, &["--framing", "lsp"], &lines);
    let expected = "s1 sh\ntrue\ncontains_text\none\ntrue\n1\ttrue\n2\ttrue\none\ngot-one\nfalse\n  s1 sh\n* s2 cat\n\
         true\ntrue\n{ cols = 100, pixel_height = 0, pixel_width = 0, rows = 30 }\n{ \"s1\", \"s2\" }\ntrue\n";
    assert_eq!(text(&output.stdout), expected, "{output:?}");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("line 22: there is no tab `s2`"), "{output:?}");
}

#[test]
fn errors_have_a_code_and_a_message_and_end_a_script() {
    let home = home();
    let lines = format!(
        "c = {ANSWERS}
ok, why = pcall(wait, 'never', ms(10))
ok, why.code, why.message
ok, why = pcall(send)
why.code, why.message
ok, why = pcall(rpc, 'no.such')
tostring(why)"
    );
    let usage = "write send(\"text\\n\"), send(\"key\", \"enter\") or send{type = \"interrupt\"}";
    check(
        &home,
        &[],
        &lines,
        &[
            "false\t-32001\ttimed out waiting for matcher",
            &format!("nil\t{usage}"),
            "unknown method: no.such (-32601)",
        ],
    );
    fails(&home, "x = 1\nscreen()\nprint('not reached')", "line 2: there is no session");
    fails(&home, "session('/no/such/program')", "(-32603)");
    fails(&home, "x = = 1", "line 1: repl:1: unexpected symbol");
    fails(&home, "for i = 1, 2 do", "the script ends too early");
    fails(&home, ":nonsense", "`:nonsense` is not known");
    fails(&home, ":rpc session.list {", "not JSON");
    fails(&home, "session(print)", "a function cannot be sent");
    fails(&home, "error{code = 5}", "line 1: { code = 5 }");
    fails(&home, "x = ms('a')", "line 1: repl:1: ms(n) takes a number, not a string");
    fails(&home, "x = 1 + s()", "line 1: repl:1: s(n) takes a number, not nothing");
    fails(&home, &format!("c = {ANSWERS}\nx = c.screen()"), "write tab:screen(…), with a colon");
    fails(&home, &format!("{ANSWERS}\nwait('zzz', 'hello')"), "a wait is for one thing");
    check(&home, &[], ":quit\nnonsense()", &[]);
    let output = script(&home, &["--stdio"], "");
    assert_eq!(output.status.code(), Some(2), "a server has a command: {output:?}");
}

#[test]
fn a_script_drives_a_plugin_and_sees_what_it_offers() {
    let home = home();
    let manifest = plugin(&home);
    let server = link(&home);
    let server = [server.to_str().unwrap(), "serve", "--stdio", "--plugin", &manifest];
    let arguments: Vec<&str> = ["--stdio", "--"].iter().chain(&server).copied().collect();
    let lines = "a = session('asker')
a, a.session
state().state
send('ask', {text = 'asked'}).sequence ~= nil
wait(s(20)).matched
turn('ask', {text = 'asked again'}, re'got-asked again', s(20)).matched.kind
a:wait('wait_never_matcher', {}, 10)";
    let output = script(&home, &arguments, lines);
    let expected = "e1 asker\ts1\nready\ntrue\n{ kind = \"contains_text\", text = \"got-asked\" }\nscreen_regex\n";
    assert_eq!(text(&output.stdout), expected, "{output:?}");
    assert!(text(&output.stderr).contains("line 7: timed out"), "{output:?}");
    check(
        &home,
        &arguments,
        "plugins()[3].name
plugins('asker').states[1].name
a = session('asker')
:live
cancel_wait('nobody').cancelled
inspect().plugin
close()
:tabs",
        &[
            "asker",
            "ready",
            "e1 asker (s1)",
            "false",
            "asker",
            "true",
            "no sessions; begin one with session(\"name\")",
        ],
    );
}

#[test]
fn consoles_share_a_server_at_a_socket() {
    let home = home();
    let socket = home.path().join("shared");
    let socket = socket.to_str().unwrap();
    let mut server = serve(&home, socket);
    let arguments = ["--socket", socket];
    check(
        &home,
        &arguments,
        &format!("c = {ANSWERS}\nsend('one\\n')\nwait('got-one')~=nil"),
        &["true", "true"],
    );
    check(
        &home,
        &arguments,
        ":tabs\n:live\n:attach s1\nscreen():match('got%-%w+')\ntab('s1')",
        &[
            "no sessions; begin one with session(\"name\")",
            "s1",
            "s1 session",
            "got-one",
            "s1 session",
        ],
    );
    process::kill(server.id(), Signal::TERM);
    assert_eq!(server.wait().unwrap().code(), Some(143));
}

#[test]
fn a_console_that_is_killed_takes_its_server_and_sessions_along() {
    let home = home();
    let pid_file = home.path().join("pid");
    let mut repl = home.command_of(&link(&home), ["repl"]);
    let mut console = repl.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let script = format!(
        "session('sh', {{args = {{'-c', 'echo $$ > {0}.new; mv {0}.new {0}; read x'}}}})\nwait('never', s(600))\n",
        pid_file.display()
    );
    console.stdin.as_mut().unwrap().write_all(script.as_bytes()).unwrap();
    let read = || fs::read_to_string(&pid_file).ok()?.trim().parse::<u32>().ok();
    let pid = eventually_some("the session runs", read);
    console.kill().unwrap();
    console.wait().unwrap();
    eventually("the session is gone", || !process::lives(pid));
}

#[test]
fn a_person_types_completes_and_cancels() {
    let home = home();
    let manifest = plugin(&home);
    let server = link(&home);
    let server = server.to_str().unwrap();
    let arguments = ["repl", "--stdio", "--", server, "serve", "--stdio", "--plugin", &manifest];
    let mut terminal = Terminal::start_program(&home, &link(&home), "100x40", &arguments, &[]);
    terminal.shows("a Lua console");
    terminal.press(b"c = session(\"ask\t\")\r");
    terminal.shows("c = session(\"asker\")");
    terminal.shows("e1>");
    terminal.press(b"c:send(\"a\t\", {text = \"asked\"}).state\r");
    terminal.shows("c:send(\"ask\",");
    terminal.press(b"print((wait(s(20)).matched.text))\r");
    terminal.shows("\ngot-asked\n");
    // What is not whole is gone on with.
    terminal.press(b"for i = 5, 6 do\r");
    terminal.shows("...");
    terminal.press(b"print('line-' .. i) end\r");
    terminal.shows("line-6");
    // Ctrl+c cancels a wait, and Lua that does not end; the console goes on.
    terminal.press(b"print('be' .. 'gun'); wait('wait_never_matcher', {}, s(600))\r");
    terminal.shows("begun");
    terminal.press(b"\x03");
    terminal.shows("wait cancelled (-32005)");
    terminal.press(b"print('loop' .. 'ing') while true do end\r");
    terminal.shows("looping");
    terminal.press(b"\x03");
    terminal.shows("interrupted");
    terminal.press(b":not\t on\r");
    terminal.shows("notifications are on");
    // Told while nothing is typed: the answer came before.
    terminal.press(b"send('ask', {text = 'noted'}).state\r");
    terminal.shows("[s1] ");
    terminal.shows("got-noted");
    terminal.press(b":attach e\t\r");
    terminal.shows(":attach e1");
    terminal.press(b"6 * 7\r");
    terminal.shows("\n42\n");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
    let history = home.path().join(".ptywright/repl_history");
    let mode = fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(fs::read_to_string(history).unwrap().contains("6 * 7"));
}

/// A person's console with a server of its own.
fn person(home: &Home, arguments: &[&str]) -> Terminal {
    let all: Vec<&str> = ["repl"].iter().chain(arguments).copied().collect();
    Terminal::start_program(home, &link(home), "100x40", &all, &[])
}

#[test]
fn a_second_ctrl_c_ends_what_catches_the_first() {
    let home = home();
    let mut terminal = person(&home, &[]);
    terminal.shows("a Lua console");
    terminal.press(format!("c = {ANSWERS}\r").as_bytes());
    terminal.shows("s1>");
    for (number, body) in [
        "pcall(wait, 'never', s(600))",
        "pcall(function() while true do end end)",
        "xpcall(function() while true do end end, print)",
        "coroutine.resume(coroutine.create(function() while true do end end))",
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("n = 0 while true do n = n + 1 print('{number}-' .. n) {body} end\r");
        terminal.press(line.as_bytes());
        terminal.shows(&format!("\n{number}-1"));
        terminal.press(b"\x03");
        terminal.shows(&format!("{number}-2"));
        terminal.press(b"\x03");
        terminal.shows("error: interrupted\ns1>");
        terminal.press(b"\x0c");
    }
    // One is enough for a coroutine, and is not taken for the wait behind it, too.
    terminal
        .press(b"pcall(coroutine.wrap(function() print('in' .. 'side') while true do end end)) ");
    terminal.press(b"print((select(2, pcall(wait, 'never', ms(50))).code))\r");
    terminal.shows("inside");
    terminal.press(b"\x03");
    terminal.shows("-32001");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn what_cannot_be_stopped_is_left_with_the_console() {
    let home = home();
    let mut terminal = person(&home, &[]);
    terminal.shows("a Lua console");
    // No hook reaches a pattern.
    terminal.press(b"print('be' .. 'gun'); ('x'):rep(100):find(('.-'):rep(30) .. 'y')\r");
    terminal.shows("begun");
    terminal.press(b"\x03");
    terminal.shows("this does not stop; ctrl+c once more ends the console");
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 1);
    terminal.shows("ptywright: the console was ended: what ran did not stop");
}

#[test]
fn a_server_that_does_not_answer_is_told_of_soon() {
    let home = home();
    let server = link(&home);
    let server = server.to_str().unwrap();
    let check = |arguments: &[&str], why: &str| {
        let output = script(&home, arguments, "print('not reached')");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""), "{why}");
        assert!(text(&output.stderr).contains(why), "{output:?}");
    };
    check(&["--stdio", "--", "true"], "the server ended before it answered");
    let lines = ["--framing", "lsp", "--stdio", "--", server, "serve", "--stdio"];
    check(&lines, "the server has another framing; say `--framing ndjson`");
    // It says our own words.
    check(&["--stdio", "--", "cat"], "the server has not answered in 5 s, but said `{\"jsonrpc\"");
    // Nobody accepts: ctrl+c does not wait for that.
    let socket = home.path().join("deaf");
    let _listener = UnixListener::bind(&socket).unwrap();
    let terminal = |keys: &[u8]| {
        let mut terminal = person(&home, &["--socket", socket.to_str().unwrap()]);
        eventually("ctrl+c is caught", || {
            let status = fs::read_to_string(format!("/proc/{}/status", terminal.pid())).unwrap();
            let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:\t")).unwrap();
            u64::from_str_radix(caught, 16).unwrap() & 0b10 != 0
        });
        terminal.press(keys);
        assert_eq!(terminal.end(), 1);
        terminal
    };
    terminal(b"\x03").shows("interrupted before the server answered");
    terminal(b"").shows("if its framing is another one, say `--framing lsp`");
}

/// A server of its own at a socket.
fn serve(home: &Home, socket: &str) -> Child {
    let mut serve = home.command_of(&link(home), ["serve", "--socket", socket]);
    let server = serve.stderr(Stdio::null()).spawn().unwrap();
    eventually("the server listens", || UnixStream::connect(socket).is_ok());
    server
}

#[test]
fn a_person_hears_at_once_that_the_server_is_gone() {
    let home = home();
    let socket = home.path().join("shared");
    let socket = socket.to_str().unwrap();
    let mut server = serve(&home, socket);
    let mut terminal = person(&home, &["--socket", socket]);
    terminal.shows("a Lua console");
    terminal.press(format!("c = {ANSWERS}\r").as_bytes());
    terminal.shows("s1>");
    terminal.press(b"'half");
    terminal.shows("s1> 'half");
    server.kill().unwrap();
    server.wait().unwrap();
    terminal.shows("the server is gone; the next call connects again\ns1> 'half");
    terminal.press(b" a line'\r");
    terminal.shows("\nhalf a line");
    terminal.press(b":live\r");
    terminal.shows("error: the server is gone");
    let mut server = serve(&home, socket);
    terminal.press(b":live\r");
    terminal.shows("connected to the server again");
    terminal.shows("nothing lives on the server\n>");
    terminal.press(b"c:screen()\r");
    terminal.shows("there is no tab `s1`");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
    process::kill(server.id(), Signal::TERM);
    server.wait().unwrap();
}

#[test]
fn a_person_goes_on_after_the_daemon_was_restarted() {
    let home = home();
    let mut daemon = home.start();
    let socket = home.path().join("run/ptywright.sock");
    let mut terminal = person(&home, &["--socket", socket.to_str().unwrap()]);
    terminal.shows("a Lua console");
    terminal.press(format!("c = {ANSWERS}\r").as_bytes());
    terminal.shows("s1>");
    terminal.press(b":notifications on\r");
    terminal.shows("notifications are on");
    daemon.restart(&home);
    terminal.shows("the server is gone; the next call connects again");
    eventually("the daemon listens there", || UnixStream::connect(&socket).is_ok());
    terminal.press(b"c:send('again\\n')\r");
    terminal.shows("connected to the server again");
    terminal.shows("[s1] ");
    terminal.shows("got-again");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
}

/// A server that answers what the test says, at a socket.
struct Fake {
    requests: BufReader<UnixStream>,
}

impl Fake {
    fn accept(listener: &UnixListener) -> Fake {
        let stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Fake { requests: BufReader::new(stream) }
    }

    /// Reads the next request; gives its number and its method.
    fn next(&mut self) -> (Value, String) {
        let mut line = String::new();
        self.requests.read_line(&mut line).unwrap();
        let mut request: Value = serde_json::from_str(&line).unwrap();
        (request["id"].take(), request["method"].as_str().unwrap().to_owned())
    }

    fn answer(&mut self, id: &Value, result: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.requests.get_mut().write_all(format!("{answer}\n").as_bytes()).unwrap();
    }

    /// Answers with nothing until a method is called; gives its number.
    fn answer_until(&mut self, wanted: &str) -> Value {
        loop {
            let (id, method) = self.next();
            if method == wanted {
                return id;
            }
            self.answer(&id, &json!({}));
        }
    }
}

#[test]
fn what_a_person_wants_to_hear_is_told_a_new_server_also_after_an_interrupt() {
    let home = home();
    let socket = home.path().join("fake");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut terminal = person(&home, &["--socket", socket.to_str().unwrap()]);
    let mut server = Fake::accept(&listener);
    terminal.press(b":notifications on\r");
    let id = server.answer_until("server.set_notifications");
    server.answer(&id, &json!({"enabled": true}));
    terminal.shows("notifications are on");
    drop(server);
    terminal.shows("the server is gone; the next call connects again");
    terminal.press(b":live\r");
    let mut server = Fake::accept(&listener);
    server.answer_until("server.set_notifications");
    terminal.press(b"\x03");
    terminal.shows("error: interrupted");
    terminal.press(b":live\r");
    let (id, method) = server.next();
    assert_eq!(method, "server.set_notifications");
    server.answer(&id, &json!({"enabled": true}));
    let live = server.answer_until("session.list");
    server.answer(&live, &json!({}));
    terminal.shows("connected to the server again");
}

#[test]
fn tab_offers_what_fits() {
    let home = home();
    let manifest = plugin(&home);
    let server = link(&home);
    let server = server.to_str().unwrap();
    let arguments = ["--stdio", "--", server, "serve", "--stdio", "--plugin", &manifest];
    let mut terminal = person(&home, &arguments);
    terminal.shows("a Lua console");
    terminal.press(format!("a = session('asker') c = {ANSWERS}\r").as_bytes());
    terminal.shows("s2>");
    // A word of the other tab's plugin would be typed into this one.
    terminal.press(b"send(\"\tone\\n\")\r");
    terminal.shows("send(\"one\\n\")");
    terminal.press(b"send(\"key\", \"ent\t\")\r");
    terminal.shows("send(\"key\", \"enter\")");
    terminal.press(b"a:send(\"\t\", {text = 'asked'}).state\r");
    terminal.shows("a:send(\"ask\",");
    terminal.press(b"math.flo\t(7.5)\r");
    terminal.shows("\n7\n");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn results_that_cannot_be_written_end_a_script() {
    let home = home();
    for line in ["print(1)", "1", ":help", "_G"] {
        let mut repl = home.command_of(&link(&home), ["repl"]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        repl.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped());
        let mut console = repl.spawn().unwrap();
        console.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        let output = console.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("line 1: writing to standard output: No space"), "{line}: {said}");
    }
}

#[test]
fn a_history_that_cannot_be_read_is_put_aside() {
    let home = home();
    let folder = home.path().join(".ptywright");
    let history = folder.join("repl_history");
    fs::create_dir_all(&folder).unwrap();
    fs::write(&history, b"one\ntwo\n\xff\xfe\n").unwrap();
    let mut terminal = person(&home, &[]);
    terminal.shows("cannot be read; it is now");
    terminal.press(b"6 * 7\r");
    terminal.shows("\n42\n");
    terminal.press(b":quit\r");
    assert_eq!(terminal.end(), 0);
    assert!(fs::read_to_string(&history).unwrap().ends_with("\n6 * 7\n"));
    let aside = fs::read(folder.join("repl_history.unreadable")).unwrap();
    assert_eq!(aside, b"one\ntwo\n\xff\xfe\n");
    // What cannot be kept at all is said, and does not keep anybody from typing.
    fs::remove_file(&history).unwrap();
    fs::create_dir(&history).unwrap();
    let mut terminal = person(&home, &[]);
    terminal.shows("what you type is not kept in");
    terminal.press(b"6 * 7\r");
    terminal.shows("\n42\n");
}

#[test]
fn lines_that_arrive_at_once_are_all_run() {
    let home = home();
    let mut terminal = person(&home, &[]);
    terminal.shows("a Lua console");
    terminal.press(b"6 * 7\r8 * 9\r:quit\r");
    assert_eq!(terminal.end(), 0);
    terminal.shows("\n72\n");
}
