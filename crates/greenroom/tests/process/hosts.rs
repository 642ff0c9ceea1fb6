//! Sessions on another machine: every verb, lines that break, machines that say no.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use greenroom_testkit::{LINE, Lines, Signal, create, eventually, eventually_ok, process};
use serde_json::{Value, json};

use crate::sshd::Machines;
use crate::support::{screen, wait_for_text};
use crate::terminal::Terminal;

/// The key that detaches: ctrl+\.
const DETACH: &[u8] = b"\x1c";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_verb_works_over_a_host() {
    let machines = Machines::start();
    let check = |line: &str, code| machines.check(&format!("--host box {line}"), code);
    let shows = |line: &str, text: &str| {
        let shown = check(line, 0);
        assert!(shown.contains(text), "{line}: {shown}");
    };
    check("daemon status", 5);
    shows("new -d -n one -- sh", "`greenroom --host box attach 1`");
    shows("ls", "one");
    shows("info one", "one");
    check("rename one two", 0);
    check("resize two 100x30", 0);
    check("key two enter", 0);
    check("send two --enter no.such.program", 0);
    check("wait two --text found --timeout 10", 0);
    shows("read two", "not found");
    shows("search two found", "not found");
    shows("run -- echo from-there", "from-there");
    check("run -- sh -c exit${IFS}7", 7);
    shows("logs", "daemon");
    shows("daemon status", "greenroom.sock");
    let pid = || parsed(&check("daemon status --json", 0))["pid"].clone();
    let first = pid();
    shows("daemon restart", "is running");
    assert_ne!(first, pid(), "another daemon");
    shows("daemon stop", "has stopped");
    check("daemon status", 5);
    check("logs", 5);
    shows("daemon start", "is running");
    shows("doctor", "run folder");
    shows("ls", "two");
    check("kill two", 0);
    check("forget two", 0);
    // Without a verb and a terminal, the default session is made.
    assert_eq!(parsed(&machines.check("--host box --json", 0))["name"], "main");
    let named = machines.there.connect().call("session.info", &json!({"sessionId": "main"}));
    assert!(named.is_ok(), "it is there");
    assert!(!machines.here.socket().exists(), "and no daemon was started here");
    assert_eq!(machines.lines().len(), 1, "all went over one line");
    let folder = machines.here.path().join("run/hosts");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for socket in fs::read_dir(&folder).unwrap() {
        let mode = socket.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "for us alone");
    }
    shows_default_of_variable(&machines);
    assert!(machines.check("host close box", 0).contains("closed"));
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

fn shows_default_of_variable(machines: &Machines) {
    let ls = |host: &str, flag: &[&str]| {
        let words = flag.iter().copied().chain(["ls", "--json"]);
        let output = machines.here.command(words).env("GREENROOM_HOST", host).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        parsed(&String::from_utf8(output.stdout).unwrap()).as_array().unwrap().len()
    };
    assert_eq!(ls("box", &[]), 1);
    assert_eq!(ls("box", &["--host", "local"]), 0, "the flag wins, and starts the daemon here");
    assert_eq!(ls("", &[]), 0);
    machines.check("daemon stop", 0);
}

#[test]
fn a_session_there_has_the_surroundings_of_there() {
    let machines = Machines::start();
    let mut command =
        machines.here.command(["--host", "box", "run", "--env", "MINE=1", "--", "env"]);
    let output = command.env("SECRET_OF_HERE", "x").output().unwrap();
    let variables = String::from_utf8(output.stdout).unwrap();
    assert!(variables.contains("MINE=1\r\n") || variables.contains("MINE=1\n"), "{variables}");
    assert!(!variables.contains("SECRET_OF_HERE"), "{variables}");
    assert!(variables.contains(&machines.there.socket().display().to_string()), "{variables}");
    let there = machines.check("--host box run --cwd /usr -- pwd", 0);
    assert_eq!(there.trim(), "/usr");
    machines.check("--host box new -d --cwd here", 2);
}

#[test]
fn what_is_about_this_machine_says_so() {
    let machines = Machines::start();
    for line in ["serve --stdio", "repl", "completions bash", "man", "config check", "host ls"] {
        let said = machines.check(&format!("--host box {line}"), 2);
        assert!(said.contains("this machine only"), "{line}: {said}");
    }
    machines.check("--host box compat install /nowhere", 2);
    machines.check("--host box daemon start --foreground", 2);
    machines.check("--host box --host local read main", 2);
    // Named as this machine, or by default only, it is no mistake.
    machines.check("--host local completions bash", 0);
    let mut command = machines.here.command(["completions", "bash"]);
    assert!(command.env("GREENROOM_HOST", "box").output().unwrap().status.success());
    assert!(machines.lines().is_empty());
}

#[test]
fn an_attached_terminal_survives_every_death_without_losing_or_repeating_a_byte() {
    let machines = Machines::start();
    let (pieces, piece) = (25, 100);
    let script = format!(
        "stty -echo -onlcr; echo ready; i=0; while read go; do j=0; while [ $j -lt {pieces} ]; do \
         seq -f '{LINE}' $((i+1)) $((i+{piece})); i=$((i+{piece})); j=$((j+1)); sleep 0.02; done; done"
    );
    let daemon = machines.there.start();
    create(&mut machines.there.connect(), "printer", &script);
    wait_for_text(&mut machines.there.connect(), "printer", "ready");
    let mut terminal =
        Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "printer"]);
    terminal.shows("ready");
    terminal.written.clear();
    let mut lines = Lines::default();
    // What the program prints in one go: in the midst of it something is killed.
    let mut batch = |number: u64, kill: &dyn Fn()| {
        terminal.press(b"\r");
        let (begin, end) = ((number * pieces + 3) * piece, (number + 1) * pieces * piece);
        let mut killed = false;
        eventually_ok("all lines came", || {
            terminal.look();
            lines.feed(&terminal.written);
            terminal.written.clear();
            if !killed && lines.count() > begin {
                kill();
                killed = true;
            }
            let count = lines.count();
            if count == end { Ok(()) } else { Err(format!("({count} of {end})")) }
        });
        assert!(killed, "it was killed in the midst");
    };
    let kill_line = || {
        let lines = machines.lines();
        assert!(!lines.is_empty());
        lines.into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    };
    batch(0, &kill_line);
    batch(1, &|| machines.cut());
    batch(2, &|| daemon.signal(Signal::KILL));
    batch(3, &|| {
        kill_line();
        machines.cut();
    });
    assert_eq!(lines.begun().len(), 0);
    let session = screen(&mut machines.there.connect(), "printer");
    assert_eq!(terminal.screen.text(), session, "the terminal shows what the session has");
    terminal.press(DETACH);
    assert_eq!(terminal.end(), 0);
    let text = terminal.screen.text();
    assert!(text.contains("greenroom --host box attach printer"), "{text}");
}

#[test]
fn a_program_in_a_pipe_loses_nothing_with_the_line() {
    let machines = Machines::start();
    let script = format!(
        "stty -onlcr; for i in 0 1 2 3 4 5 6 7 8 9; do \
         seq -f '{LINE}' $((i*500+1)) $((i*500+500)); sleep 0.1; done; exit 9"
    );
    let words = ["--host", "box", "run", "--", "sh", "-c", &script];
    let mut child = machines.here.command(words).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut lines, mut killed, mut buffer) = (Lines::default(), false, [0; 4096]);
    loop {
        let count = stdout.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        lines.feed(&buffer[..count]);
        if !killed && lines.count() > 700 {
            machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
            killed = true;
        }
    }
    assert_eq!((lines.count(), lines.begun().len(), killed), (5000, 0, true));
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn one_can_leave_while_the_machine_is_gone_and_type_ahead_until_it_is_back() {
    let mut machines = Machines::start();
    machines
        .check("--host box new -d -n talks -- sh -c read${IFS}a;echo${IFS}got-$a;read${IFS}b", 0);
    let attach = ["--host", "box", "attach", "talks"];
    let mut leaves = Terminal::start(&machines.here, "80x24", &attach);
    let mut stays = Terminal::start(&machines.here, "80x24", &attach);
    eventually("both are attached", || {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "talks"}));
        info.unwrap()["attachedClients"] == 2
    });
    machines.unplug();
    eventually("the line is noticed to be gone", || machines.lines().is_empty());
    leaves.press(DETACH);
    assert_eq!(leaves.end(), 0);
    eventually_ok("the person who stays is told", || {
        stays.look();
        match stays.screen.title() {
            "greenroom: waiting for box (talks)" => Ok(()),
            other => Err(other.to_owned()),
        }
    });
    stays.press(b"typed\r");
    machines.plug_in();
    stays.shows("got-typed");
    stays.press(DETACH);
    assert_eq!(stays.end(), 0);
    machines.check("host close", 0);
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

#[test]
fn one_can_leave_while_a_line_is_being_made() {
    let machines = Machines::start();
    machines.check("--host box new -d -n stays -- sleep 1000", 0);
    let mut terminal =
        Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "stays"]);
    eventually("it is attached", || {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "stays"}));
        info.unwrap()["attachedClients"] == 1
    });
    machines.freeze();
    eventually("a new line is tried", || {
        let told = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let tried = |pid| told(pid).windows(9).any(|it| it == b"'daemon' ");
        machines.here.processes().iter().any(tried)
    });
    terminal.press(DETACH);
    assert_eq!(terminal.end(), 0);
    eventually("its `ssh` is gone, too", || machines.here.processes().is_empty());
}

#[test]
fn a_person_is_asked_at_their_terminal_and_nobody_else_is() {
    let machines = Machines::start();
    machines.forget_key();
    let said = machines.check("--host box ls", 6);
    assert!(said.contains("Host key verification failed"), "{said}");
    let mut terminal = Terminal::start(&machines.here, "100x24", &["--host", "box", "ls"]);
    terminal.shows("continue connecting");
    terminal.press(b"yes\r");
    terminal.shows("no sessions");
    assert_eq!(terminal.end(), 0);
    machines.check("--host box ls", 0);
}

#[test]
fn many_at_once_share_what_they_can_and_all_succeed() {
    let machines = Machines::start();
    let start = |name: String| {
        let words = ["--host", "box", "new", "-d", "-n", &name, "--", "sleep", "1000"];
        machines.here.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..6).map(|number| start(format!("n{number}"))).collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let list = parsed(&machines.check("--host box ls --json", 0));
    assert_eq!(list.as_array().unwrap().len(), 6);
    machines.check("host close", 0);
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

#[test]
fn who_is_killed_while_attached_leaves_nothing_but_the_line() {
    let machines = Machines::start();
    machines.check("--host box new -d -n stays -- sleep 1000", 0);
    let attached = |count: u64| {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "stays"}));
        info.unwrap()["attachedClients"] == count
    };
    let terminal = Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "stays"]);
    eventually("it is attached", || attached(1));
    drop(terminal);
    eventually("it is detached", || attached(0));
    assert_eq!(machines.here.processes(), machines.lines());
}

#[test]
fn commands_survive_lines_and_daemons_that_died() {
    let machines = Machines::start();
    machines.check("--host box new -d -n one -- sleep 1000", 0);
    let kill_daemon = || {
        let pid = machines.there.connect().hello().pid.unwrap();
        process::kill(pid, Signal::KILL);
        eventually("the daemon is gone", || !process::lives(pid));
    };
    kill_daemon();
    assert!(machines.check("--host box ls", 0).contains("one"));
    machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    assert!(machines.check("--host box ls", 0).contains("one"));
    machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    kill_daemon();
    assert!(machines.check("--host box ls", 0).contains("one"));
    // A line that takes connections and gives nothing back is closed and made anew.
    let stopped = machines.lines();
    stopped.iter().for_each(|it| assert!(process::kill(*it, Signal::STOP)));
    assert!(machines.check("--host box ls", 0).contains("one"));
    stopped.iter().for_each(|it| assert!(process::kill(*it, Signal::KILL)));
}

#[test]
fn whatever_is_wrong_is_said_plainly() {
    let mut machines = Machines::start();
    let program = |name: &str, text: &str| {
        let path = machines.there.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let ours = machines.here.binary().display().to_string();
    let in_vain =
        format!("GREENROOM_HOME={}/full exec {ours} \"$@\"", machines.there.path().display());
    fs::create_dir(machines.there.path().join("full")).unwrap();
    fs::write(machines.there.path().join("full/run"), "").unwrap();
    machines.save("stranger", "other", &ours);
    machines.save("bare", "user", "/no/such/greenroom");
    machines.save(
        "older",
        "user",
        &program(
            "older",
            r#"
        echo '{"error":{"kind":"usage","message":"unexpected argument"}}' >&2; exit 2"#,
        ),
    );
    machines.save(
        "newer",
        "user",
        &program(
            "newer",
            r#"
        echo '{"socket":"/x","protocol":99,"version":"9.0","running":true}'"#,
        ),
    );
    machines.save("full", "user", &program("starts-not", &in_vain));
    let says = |line: &str, code, text: &str| {
        let said = machines.check(line, code);
        assert!(said.contains(text) && said.contains("hint: "), "{line}: {said}");
    };
    says("--host stranger ls", 6, "Permission denied");
    says("--host bare ls", 5, "cannot be run there");
    says("--host older ls", 1, "does not know this");
    says("--host newer ls", 1, "speaks protocol 99");
    says("--host full ls", 6, "not a folder");
    says("--host nobody.invalid ls", 5, "no such host");
    let unknown = format!("--host ssh://127.0.0.1:{} ls", machines.port());
    says(&unknown, 6, "its key is not the one");
    machines.configure("AllowStreamLocalForwarding no");
    let said = machines.check("--host box ls", 5);
    assert!(said.contains("AllowStreamLocalForwarding"), "{said}");
    machines.check("host close", 0);
    machines.unplug();
    let said = machines.check("--host box ls --json", 5);
    assert_eq!(parsed(&said)["error"]["kind"], "unreachable", "{said}");
    assert!(said.contains("Connection refused"), "{said}");
    let mut command = machines.here.command(["--host", "box", "ls"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OpenSSH client"), "{output:?}");
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

#[test]
fn sessions_of_all_machines_are_one_list() {
    let mut machines = Machines::start();
    machines.save("gone", "user", &machines.here.binary().display().to_string());
    let file = machines.here.path().join("state/hosts.json");
    point_elsewhere(&file, "gone");
    machines.check("new -d -n mine -- sleep 1000", 0);
    machines.check("--host box new -d -n yours -- sleep 1000", 0);
    let rows = machines.check("ls --all-hosts", 0);
    let row = |host: &str| {
        let row = rows.lines().find(|it| it.starts_with(host));
        row.unwrap_or_else(|| panic!("no row of {host}: {rows}"))
    };
    assert!(row("local").contains("mine") && row("box").contains("yours"), "{rows}");
    assert!(row("gone").contains("no answer"), "{rows}");
    let list = parsed(&machines.check("ls --all-hosts --json", 0));
    let list = list.as_array().unwrap();
    let of = |host: &str| list.iter().find(|it| it["host"] == host).unwrap();
    assert_eq!((&of("local")["name"], &of("box")["name"]), (&"mine".into(), &"yours".into()));
    assert_eq!(of("gone")["error"]["kind"], "unreachable");
    // Only those that are named.
    let rows = machines.check("--host box --host gone ls", 0);
    assert!(rows.contains("yours") && rows.contains("gone") && !rows.contains("mine"), "{rows}");
    machines.unplug();
    let nobody = machines.run("ls --host box --host gone");
    assert_eq!(nobody.status.code(), Some(5), "{nobody:?}");
}

/// Has a saved host lead to a port where nobody listens.
fn point_elsewhere(file: &Path, name: &str) {
    let mut saved = parsed(&fs::read_to_string(file).unwrap());
    saved["hosts"][name]["port"] = 1.into();
    fs::write(file, saved.to_string()).unwrap();
}

#[test]
fn hosts_are_saved_listed_and_forgotten() {
    let machines = Machines::start();
    let file = machines.here.path().join("state/hosts.json");
    machines.check("host add other me@127.0.0.1 --port 1 --program ~/bin/greenroom", 0);
    machines.check("host add other 127.0.0.1", 2);
    let list = parsed(&machines.check("host ls --json", 0));
    let of = |name: &str| list.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    assert_eq!((&of("box")["reachable"], &of("box")["running"]), (&true.into(), &false.into()));
    assert_eq!(of("other")["reachable"], false);
    assert_eq!(
        (&of("other")["port"], &of("other")["program"]),
        (&1.into(), &"~/bin/greenroom".into())
    );
    let rows = machines.check("host ls", 0);
    assert!(rows.contains("reachable") && rows.contains("no answer"), "{rows}");
    assert_eq!(machines.lines().len(), 1);
    machines.check("host rm box", 0);
    eventually("its line is closed", || machines.lines().is_empty());
    machines.check("host rm box", 3);
    // A file that cannot be understood is left alone.
    fs::write(&file, "not this").unwrap();
    for line in ["host ls", "host add third 127.0.0.1", "host rm other", "--host other ls"] {
        let said = machines.check(line, 1);
        assert!(said.contains("hosts.json"), "{line}: {said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "not this");
}

#[test]
fn names_that_could_be_something_else_never_reach_ssh() {
    let machines = Machines::start();
    let proof = machines.here.path().join("proof");
    let touch = proof.display().to_string();
    let names = [
        format!("-oProxyCommand=touch${{IFS}}{touch}"),
        format!("me@-oProxyCommand=touch {touch}"),
        format!("$(touch {touch})"),
        format!("a;touch {touch}"),
        "a\nb".to_owned(),
        "\u{1b}]0;title\u{7}".to_owned(),
        "a b".to_owned(),
        "x".repeat(5000),
    ];
    for name in &names {
        for words in [
            vec![format!("--host={name}"), "ls".to_owned()],
            vec![
                "host".to_owned(),
                "add".to_owned(),
                "bad".to_owned(),
                "--".to_owned(),
                name.clone(),
            ],
        ] {
            let output = machines.here.command(&words).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
            assert!(!output.stderr.contains(&0x1b), "{words:?}: {output:?}");
        }
    }
    // What the far shell is told are words, whatever is in them.
    let path = machines.there.path().join("it's $(touch proof); a program");
    fs::copy(machines.here.binary(), &path).unwrap();
    machines.here.command(["host", "rm", "box"]).output().unwrap();
    machines.save("box", "user", &path.display().to_string());
    let said = machines.check("--host box daemon status", 5);
    assert!(said.contains("no daemon runs there"), "{said}");
    assert!(!proof.exists() && !machines.there.path().join("proof").exists());
}
