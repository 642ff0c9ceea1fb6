//! The program under the name of `carryon`: its verbs, what they print, the codes they end with.

mod attach;
mod daemon;
mod editor;
mod tmux;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use greenroom_testkit::{Home, Wire, create, session_list};
use serde_json::{Value, json};

use crate::support::{call, home, wait_for_text};
use crate::terminal::Terminal;

/// The link that makes the program carryon.
fn link(home: &Home) -> PathBuf {
    let link = home.path().join("carryon");
    if !link.exists() {
        symlink(home.binary(), &link).unwrap();
    }
    link
}

fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command_of(&link(home), arguments);
    command.stdin(Stdio::null());
    command
}

fn run(home: &Home, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What it says on standard output when all goes well.
#[track_caller]
fn says(home: &Home, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    text(&output.stdout)
}

/// It fails with that text, says how it is used, and its code is 1.
#[track_caller]
fn fails(home: &Home, arguments: &[&str], why: &str) {
    let output = run(home, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(
        said.lines().any(|it| it.starts_with(&format!("Error: {why}"))),
        "{arguments:?}: {said}"
    );
    assert!(said.contains("Usage: carryon"), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
}

/// The program on a person's terminal.
fn terminal(home: &Home, arguments: &[&str]) -> Terminal {
    Terminal::start_program(home, &link(home), "100x24", arguments, &[])
}

/// The folder of carryOn.
fn base(home: &Home) -> PathBuf {
    home.path().join(".carryon")
}

/// Whether the daemon answers in carryOn's folder.
fn is_served(home: &Home) -> bool {
    let wire = Wire::connect(&base(home).join("daemon.sock"));
    wire.is_ok_and(|mut it| matches!(it.call("daemon.status", &json!({})), Some(Ok(_))))
}

#[test]
fn help_version_and_mistakes() {
    let home = home();
    assert_eq!(says(&home, &["--version"]), concat!("carryon ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = says(&home, &["--help"]);
    for verb in ["create", "list", "attach", "kill", "rename", "start", "project", "remote"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
    }
    assert!(help.contains("Usage: carryon"), "{help}");
    assert!(says(&home, &["attach", "--help"]).contains("Usage: carryon attach [session]"));
    fails(&home, &["--no-such-flag"], "unexpected argument");
    fails(&home, &["nonsense"], "unrecognized subcommand");
    fails(&home, &["logs", "--last", "some"], "invalid value");
    fails(&home, &["config", "get"], "the following required arguments");
    assert!(home.processes().is_empty(), "nothing was started for that");
}

#[test]
fn what_needs_no_daemon_starts_none() {
    let home = home();
    let file = base(&home).join("config.json");
    assert_eq!(says(&home, &["config", "path"]), format!("{}\n", file.display()));
    let mut elsewhere = command(&home, &["config", "path"]);
    let output = elsewhere.env("CARRYON_BASE_DIR", "/elsewhere").output().unwrap();
    assert_eq!(text(&output.stdout), "/elsewhere/config.json\n");
    assert!(says(&home, &["update"]).contains(env!("CARGO_PKG_VERSION")));
    assert!(says(&home, &["update", "--check"]).contains(env!("CARGO_PKG_VERSION")));
    assert_eq!(says(&home, &["remote", "logout"]), "Not logged in\n");
    fails(&home, &["remote", "login"], "there is no account");
    assert_eq!(says(&home, &["status"]), "Daemon is not running\n");
    assert_eq!(says(&home, &["stop"]), "Daemon is not running\n");
    fails(&home, &["logs"], "no daemon is running");
    assert!(home.processes().is_empty(), "{:?}", home.processes());
}

#[test]
fn a_session_is_made_listed_renamed_and_ended() {
    let home = home();
    let folder = home.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    // The daemon is started by whoever needs it first.
    let made = says(
        &home,
        &[
            "create",
            "-n",
            "work",
            "-d",
            "-c",
            "pwd; echo $0; read x",
            "--cwd",
            folder.to_str().unwrap(),
        ],
    );
    let id = made.strip_prefix("Created session work (").and_then(|it| it.strip_suffix(")\n"));
    let id = id.unwrap_or_else(|| panic!("{made}")).to_owned();
    assert!(id.starts_with("native-"), "{id}");
    wait_for_text(&mut home.connect(), "work", folder.to_str().unwrap());
    let list = says(&home, &["ls"]);
    let [name, clients, time, last] = columns(&list);
    assert_eq!((name, clients, last), ("work", "0 clients", &*id));
    assert!(time == "just now" || time.ends_with("s ago"), "{list}");
    assert_eq!(says(&home, &["list"]).lines().count(), 1);

    assert_eq!(
        says(&home, &["rename", "work", "play time"]),
        "Renamed session work to play time\n"
    );
    let list = says(&home, &["list"]);
    assert!(list.starts_with("play time        0 clients    "), "{list}");
    assert_eq!(says(&home, &["kill", &id[..10]]), format!("Killed session play time ({id})\n"));
    let output = run(&home, &["ls"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    assert!(text(&output.stderr).ends_with("no sessions are running\n"), "{output:?}");
}

/// The columns of the only line.
fn columns(list: &str) -> [&str; 4] {
    let line = list.strip_suffix('\n').unwrap();
    let (name, rest) = line.split_at(17);
    let (clients, rest) = rest.split_at(13);
    let (time, id) = rest.split_at(13);
    [name.trim_end(), clients.trim_end(), time.trim_end(), id]
}

#[test]
fn without_a_terminal_a_session_is_made_and_not_attached_to() {
    let home = home();
    let _daemon = home.start();
    assert!(says(&home, &["-n", "one"]).starts_with("Created session one (native-"));
    assert!(says(&home, &["--name", "two", "--backend", "native"]).contains("two"));
    assert!(says(&home, &["create"]).starts_with("Created session "));
    fails(&home, &["-b", "screen"], "backend not available: screen");
    fails(&home, &["--device", "laptop"], "remote not connected");
    assert_eq!(session_list(&mut home.connect(), false).len(), 3);
}

#[test]
fn a_session_inherits_the_folder_and_variables_but_not_who_shows_it() {
    let home = home();
    let _daemon = home.start();
    let mut create = command(
        &home,
        &["create", "-d", "-n", "env", "-c", "env | sort; pwd; echo its-$((1+1))-end; read x"],
    );
    create.current_dir("/usr").envs([
        ("MINE", "kept"),
        ("CARRYON_DAEMON", "1"),
        ("CARRYON_CLIENT_TYPE", "vscode"),
        ("CARRYON_CLIENT_NAME", "Editor"),
        ("CARRYON_BASE_DIR", base(&home).to_str().unwrap()),
    ]);
    assert!(create.output().unwrap().status.success());
    let mut connection = home.connect();
    wait_for_text(&mut connection, "env", "its-2-end");
    let all = call(&mut connection, "session.read", json!({"sessionId": "env", "what": "all"}));
    let all = all["text"].as_str().unwrap();
    assert!(
        all.contains("MINE=kept") && all.contains("\n/usr\n") && all.contains("CARRYON_BASE_DIR="),
        "{all}"
    );
    assert!(!all.contains("CARRYON_DAEMON") && !all.contains("CARRYON_CLIENT"), "{all}");
}

#[test]
fn names_win_over_ids_and_several_are_an_error() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let first = id(&create(&mut connection, "twin", "read x"));
    let second = id(&create(&mut connection, "twin", "read x"));
    let third = id(&create(&mut connection, &first, "read x"));
    for verb in ["attach", "kill", "rename"] {
        fails(&home, &[verb], "session argument required");
        fails(&home, &[verb, "nobody"], "no session matching \"nobody\"");
        let several = "multiple sessions named \"twin\" (use ID to disambiguate)";
        fails(&home, &[verb, "twin"], several);
        fails(&home, &[verb, "native-"], "multiple sessions named \"native-\"");
    }
    fails(&home, &["rename", &second], "name argument required");
    fails(&home, &["attach", &second], "attaching needs a terminal");
    // The third is called as the first is numbered, and a name is looked at first.
    assert_eq!(says(&home, &["kill", &first]), format!("Killed session {first} ({third})\n"));
    assert_eq!(says(&home, &["kill", &first]), format!("Killed session twin ({first})\n"));
    assert_eq!(says(&home, &["kill", "twin"]), format!("Killed session twin ({second})\n"));
}

#[test]
fn a_person_picks_from_a_list_and_is_asked_before_a_session_ends() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    for name in ["alpha", "beta"] {
        create(&mut connection, name, "echo I am $PPID; read x");
    }
    let names = |home: &Home| {
        let list = session_list(&mut home.connect(), false);
        list.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    for (answers, code, left) in [
        (&["2", "n"][..], 1, &["alpha", "beta"][..]),
        (&["7"], 1, &["alpha", "beta"]),
        (&[""], 1, &["alpha", "beta"]),
        (&["2", "y"], 0, &["alpha"]),
    ] {
        let mut terminal = terminal(&home, &["kill"]);
        terminal.shows("session [1-2]:");
        assert!(terminal.screen.text().contains("  2  beta  "), "{}", terminal.screen.text());
        for (answer, question) in answers.iter().zip(["session [1-2]:", "Kill session beta"]) {
            terminal.shows(question);
            terminal.press(format!("{answer}\r").as_bytes());
        }
        assert_eq!(terminal.end(), code, "{answers:?}: {}", terminal.screen.text());
        assert_eq!(names(&home), left, "{answers:?}");
    }
    let mut terminal = terminal(&home, &["rename"]);
    terminal.shows("session [1-1]:");
    terminal.press(b"1\r");
    terminal.shows("new name:");
    terminal.press(b"gamma\r");
    assert_eq!((terminal.end(), names(&home)), (0, vec!["gamma".to_owned()]));
    // Several of a name are told apart by the person.
    create(&mut connection, "gamma", "read x");
    let mut terminal = self::terminal(&home, &["attach", "gamma"]);
    terminal.shows("session [1-2]:");
    terminal.press(b"\x04");
    assert_eq!(terminal.end(), 1);
}

#[test]
fn colours_are_left_out_when_nobody_wants_them() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "one", "read line");
    let mut shown = terminal(&home, &["ls"]);
    assert_eq!(shown.end(), 0);
    assert!(shown.written.contains(&0x1b), "on a terminal there are colours");
    let none = [("NO_COLOR", "1")];
    let mut plain = Terminal::start_program(&home, &link(&home), "100x24", &["ls"], &none);
    assert_eq!(plain.end(), 0);
    assert!(!plain.written.contains(&0x1b), "{:?}", text(&plain.written));
}

#[test]
fn links_are_made() {
    let home = home();
    let folder = home.path().join("links");
    let install = home.command(["compat", "install", folder.to_str().unwrap()]).output().unwrap();
    assert!(install.status.success(), "{install:?}");
    let version = |link: &Path| Command::new(link).arg("--version").output().unwrap().stdout;
    assert!(text(&version(&folder.join("carryon"))).starts_with("carryon "));
    assert!(text(&version(&folder.join("ptywright"))).starts_with("ptywright "));
}
