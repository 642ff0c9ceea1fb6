//! Sessions on another machine: every verb, which machines there are, and those that say no. Lines
//! that break are in `lines`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use greenroom_testkit::eventually;
use serde_json::json;

use crate::sshd::{Machines, parsed};
use crate::terminal::Terminal;

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
