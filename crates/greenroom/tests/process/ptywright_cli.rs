//! The program under the name of `ptywright`: its verbs, what they print, the codes they end with.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use greenroom_testkit::{Home, Signal, eventually, process, session_list};
use serde_json::{Value, json};

use crate::support::home;
use crate::terminal::Terminal;

/// A secret, as nobody may see it in an error.
const SECRET: &str = "sk-abcdefghijklmnopqrstuvwxyz";

/// The link that makes the program ptywright.
pub(crate) fn link(home: &Home) -> PathBuf {
    let link = home.path().join("ptywright");
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

/// Runs the program with something on its standard input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that fails at once does not read.
    child.stdin.take().unwrap().write_all(input).unwrap_or_default();
    child.wait_with_output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// It fails with one line, which begins as the contract has it.
#[track_caller]
fn fails(home: &Home, arguments: &[&str], code: i32, why: &str) {
    let output = run(home, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.starts_with("ptywright: ") && said.contains(why), "{arguments:?}: {said}");
    assert!(!said.contains(SECRET), "{said}");
}

#[test]
fn help_version_and_mistakes() {
    let home = home();
    let output = run(&home, &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("Usage: ptywright"), "{output:?}");
    let version = concat!("ptywright ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(text(&run(&home, &["--version"]).stdout), version);
    fails(&home, &["--no-such-flag"], 2, "--no-such-flag");
    fails(&home, &["serve", "--no-such-flag"], 2, "--no-such-flag");
    fails(&home, &["new"], 2, "new");
    fails(&home, &["run"], 2, "COMMAND");
    fails(&home, &["run", "--rows", "0", "--", "true"], 2, "0");
    fails(&home, &["serve", "--framing", "morse"], 2, "morse");
    fails(&home, &["serve", "--stdio", "--socket", "/tmp/x"], 1, "--stdio");
    fails(&home, &["completions", "tcsh"], 1, "unknown shell 'tcsh'");
    fails(&home, &["serve", "--stdio", "--plugin", SECRET], 1, "[REDACTED]");
    fails(&home, &[SECRET], 2, "[REDACTED]");
    fails(&home, &["repl", "--socket", "/no/such/socket"], 1, "/no/such/socket");
}

#[test]
fn completions_are_for_that_name() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&home, &["completions", shell]);
        assert!(output.status.success(), "{shell}: {output:?}");
        let script = text(&output.stdout);
        assert!(script.contains("ptywright") && !script.contains("greenroom"), "{shell}");
    }
}

#[test]
fn the_examples_of_the_document_are_answered_in_both_framings() {
    let home = home();
    let ask = |arguments: &[&str], input: &[u8]| {
        let output = fed(command(&home, arguments), input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
        text(&output.stdout)
    };
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.capabilities\"}\n";
    let answer: Value = serde_json::from_str(&ask(&["serve", "--stdio"], request)).unwrap();
    assert_eq!(answer["result"]["name"], "ptywright");
    let request =
        b"Content-Length: 48\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\"}";
    let answer = ask(&["serve", "--stdio", "--framing", "lsp"], request);
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}"#;
    assert_eq!(answer, format!("Content-Length: {}\r\n\r\n{expected}", expected.len()));
    // What is not JSON is answered, and what comes next is served.
    let lines = ask(&["serve", "--stdio"], b"nonsense\n\n{\"jsonrpc\":\"2.0\",\"id\":2}\n");
    let codes: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [json!(-32700), json!(-32600)]);
}

/// As agents, services and test runners start programs.
#[test]
fn a_server_needs_no_home_and_no_short_folder_for_what_is_temporary() {
    let home = home();
    let far = home.path().join("far".repeat(40));
    fs::create_dir(&far).unwrap();
    let mut server = command(&home, &["serve", "--stdio"]);
    server.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    server.env("PTYWRIGHT_HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    server.env("TMPDIR", &far);
    let input = br#"{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"/bin/sh","args":["-c","printf up"]}}
{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"up"},"cells":false}}
"#;
    let output = fed(server, input);
    let said = text(&output.stdout);
    assert!(said.contains(r#""matched":true"#), "{said}{}", text(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn an_answer_comes_while_the_client_waits_for_it() {
    let home = home();
    let mut serve = command(&home, &["serve", "--stdio", "--framing", "lsp"]);
    let mut child = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#;
    input.write_all(format!("Content-Length: {}\r\n\r\n", request.len()).as_bytes()).unwrap();
    input.write_all(request).unwrap();
    let mut answer = vec![0; "Content-Length: 49\r\n\r\n".len() + 49];
    child.stdout.take().unwrap().read_exact(&mut answer).unwrap();
    assert!(text(&answer).ends_with(r#"{"sessions":[]}}"#), "{answer:?}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A server at its default socket, which it has told.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn start(home: &Home) -> Server {
        let mut child = command(home, &["serve"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
        let socket = home.path().join(".ptywright/socket");
        assert!(told.contains(socket.to_str().unwrap()), "{told}");
        Server { child, socket }
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        process::kill(self.child.id(), signal);
        self.child.wait().unwrap().code()
    }
}

/// Asks a server which sessions it has.
fn sessions(socket: &Path) -> Value {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\"}\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str::<Value>(&line).unwrap()["result"]["sessions"].clone()
}

#[test]
fn without_a_transport_the_default_socket_is_served_until_a_signal() {
    let home = home();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let server = Server::start(&home);
        let socket = server.socket.clone();
        assert_eq!(sessions(&socket), json!([]));
        // A second one leaves the first alone.
        fails(&home, &["serve"], 1, "socket");
        assert_eq!(sessions(&socket), json!([]));
        assert_eq!(server.end(signal), Some(code));
        assert!(!socket.exists());
    }
}

#[test]
fn a_socket_may_be_a_name_where_the_server_is_started() {
    let home = home();
    let mut serve = command(&home, &["serve", "--socket", "name"]);
    let child = serve.current_dir(home.path()).spawn().unwrap();
    let server = Server { child, socket: home.path().join("name") };
    eventually("it listens", || UnixStream::connect(&server.socket).is_ok());
    assert_eq!(sessions(&server.socket), json!([]));
    assert_eq!(server.end(Signal::TERM), Some(143));
}

#[test]
fn a_file_in_the_place_of_the_socket_is_left_alone() {
    let home = home();
    let file = home.path().join("precious");
    fs::write(&file, "text").unwrap();
    fails(&home, &["serve", "--socket", file.to_str().unwrap()], 1, "precious");
    assert_eq!(fs::read_to_string(file).unwrap(), "text");
}

#[test]
fn a_server_leaves_the_socket_of_another_in_the_place_of_its_own() {
    let home = home();
    let socket = home.path().join("shared");
    let serve = || {
        let child = command(&home, &["serve", "--socket", socket.to_str().unwrap()]).spawn();
        eventually("it listens", || UnixStream::connect(&socket).is_ok());
        Server { child: child.unwrap(), socket: socket.clone() }
    };
    let first = serve();
    fs::remove_file(&socket).unwrap();
    let second = serve();
    assert_eq!(first.end(Signal::TERM), Some(143));
    assert_eq!(sessions(&socket), json!([]));
    assert_eq!(second.end(Signal::TERM), Some(143));
    assert!(!socket.exists());
}

#[test]
fn a_program_runs_on_a_terminal_and_its_code_is_ours() {
    let home = home();
    let _daemon = home.start();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)] {
        let output = run(&home, &["run", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
    }
    let size = |arguments: &[&str]| {
        let all: Vec<&str> =
            ["run"].iter().chain(arguments).chain(&["--", "stty", "size"]).copied().collect();
        text(&run(&home, &all).stdout)
    };
    assert_eq!(size(&[]), "24 80\r\n");
    assert_eq!(size(&["--rows", "40", "--cols", "132"]), "40 132\r\n");
    assert_eq!(size(&["--cols", "100"]), "24 100\r\n");
    fails(&home, &["run", "--", "/no/such/program"], 1, "/no/such/program");
    let left = session_list(&mut home.connect(), true);
    assert!(left.is_empty(), "nothing is listed afterwards: {left:?}");
}

#[test]
fn what_a_terminal_says_of_its_own_accord_is_not_typed() {
    let home = home();
    let _daemon = home.start();
    let script = "stty raw -echo; echo ready; dd bs=1 count=5 2>/dev/null | od -An -c";
    let arguments = ["run", "--", "sh", "-c", script];
    let mut terminal = Terminal::start_program(&home, &link(&home), "80x24", &arguments, &[]);
    terminal.shows("ready");
    // Which terminal it is, that it has the focus, its version in eight bits; and keys between them.
    terminal.press(b"\x1b[?62;4c\x1b[Ia\x90>|term\x9c\x1b[O\x9b>0;1cb\x1b[A");
    terminal.shows("a   b 033   [   A");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_terminal_is_left_alone_when_the_output_goes_elsewhere() {
    let home = home();
    let _daemon = home.start();
    let program = link(&home);
    let script = format!(
        "{} run -- sh -c 'echo up; read x; echo got-$x' | (read up; stty -a </dev/tty; cat)",
        program.display()
    );
    let shell = Path::new("/bin/sh");
    let mut terminal = Terminal::start_program(&home, shell, "80x24", &["-c", &script], &[]);
    terminal.shows(" icanon");
    terminal.press(b"line\r");
    terminal.shows("got-line");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn what_a_server_notes_can_be_read() {
    let home = home();
    fails(&home, &["logs"], 1, "no ptywright log files");
    for filter in ["error", ""] {
        let mut quiet = command(&home, &["serve", "--stdio"]);
        quiet.env("PTYWRIGHT_LOG", filter);
        assert!(fed(quiet, b"").status.success());
        let wrote = home.path().join(".ptywright/logs").exists();
        assert_eq!(wrote, filter.is_empty(), "`{filter}`");
    }
    let shown = |arguments: &[&str]| text(&run(&home, arguments).stdout);
    let all = shown(&["logs"]);
    let folder = home.path().join(".ptywright/logs/ptywright.");
    let header = format!("==> tailing {}", folder.display());
    assert!(all.starts_with(&header) && all.contains(".log <==\n"), "{all}");
    assert!(all.contains("INFO serve: a private server began"), "{all}");
    assert_eq!(shown(&["logs", "--lines", "1"]).lines().count(), 2);
    assert_eq!(shown(&["logs", "--filter", "began"]).lines().count(), 2);
    assert_eq!(shown(&["logs", "--filter", "no such text"]).lines().count(), 1);
}

#[test]
fn links_are_made_and_nothing_else_is_replaced() {
    let home = home();
    let folder = home.path().join("links");
    let install =
        || home.command(["compat", "install", folder.to_str().unwrap()]).output().unwrap();
    for _again in 0..2 {
        assert!(install().status.success());
        let output = Command::new(folder.join("ptywright")).arg("--version").output().unwrap();
        assert!(text(&output.stdout).starts_with("ptywright "), "{output:?}");
    }
    fs::remove_file(folder.join("ptywright")).unwrap();
    fs::write(folder.join("ptywright"), "somebody's").unwrap();
    assert_eq!(install().status.code(), Some(1));
    assert_eq!(fs::read_to_string(folder.join("ptywright")).unwrap(), "somebody's");
}
