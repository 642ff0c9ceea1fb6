//! What tmux shows: one private server for a whole batch, driven through its control mode.
//!
//! Each case gets a session whose only program copies the bytes to its terminal. That tmux has taken
//! them all is known from its answer to a question that follows them (XTVERSION), which the program
//! reports through `tmux wait-for`: no sleep, no polling. Not here: the comparison.
//!
//! Invariant: the server is private (own socket folder, no configuration) and ends with the batch.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::case::{Case, Shown};
use crate::deadline::{self, Killed, Lines};

/// For one answer of the server. Far more than one ever takes, since two cores run many tests.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How many sessions are open at once: enough to keep two cores busy, few enough processes.
const AT_ONCE: usize = 12;

/// Runs in every session as `bash -c PROGRAM NAME FILE...`.
///
/// CAN and ST end whatever sequence the case left open (tmux takes CAN as data of a DCS). The
/// answer to XTVERSION comes after answers to questions of the case itself, hence the search.
const PROGRAM: &str = r#"
stty raw -echo
step=0
for file in "$@"; do
  if [ $step -gt 0 ]; then tmux wait-for "$0.$step.resized"; fi
  cat "$file"
  printf '\030\033\\\033[>q'
  heard=
  until [[ $heard == *'>|tmux'* ]]; do IFS= read -rN1 byte; heard+=$byte; done
  step=$((step + 1))
  tmux wait-for -S "$0.$step.taken"
done
exec cat >/dev/null
"#;

/// Runs all cases in one server and answers in their order.
pub(crate) fn show(cases: &[Case]) -> Vec<Shown> {
    let mut server = Server::start();
    let mut shown = Vec::with_capacity(cases.len());
    for cases in cases.chunks(AT_ONCE) {
        cases.iter().for_each(|case| server.open(case));
        shown.extend(cases.iter().map(|case| server.finish(case)));
    }
    shown
}

/// A tmux server and the control client that asks it.
struct Server {
    folder: PathBuf,
    pid: String,
    input: ChildStdin,
    lines: Lines,
    client: Killed,
}

impl Server {
    fn start() -> Server {
        // In the system's temporary folder, as a socket's path may not be long; numbered, as tests
        // of one binary may run as threads of one process.
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("greenroom-tmux-{}-{number}", process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a temporary folder");
        fs::write(folder.join("program"), PROGRAM).expect("a file in it");
        let mut command = Command::new("tmux");
        command.args(["-L", "reference", "-f", "/dev/null", "-u", "-C"]);
        command.args(["new-session", "-s", "control", "exec cat"]);
        command.env_remove("TMUX").env("TMUX_TMPDIR", &folder).env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = deadline::spawn(&mut command, "install Debian's `tmux`");
        let lines = Lines::of(client.stdout.take().expect("piped"), ANSWER_TIMEOUT);
        let input = client.stdin.take().expect("piped");
        let pid = String::new();
        let mut server = Server { folder, pid, input, lines, client: Killed(client) };
        server.answer("the control session");
        server.pid = server.ask("display-message -p '#{pid}'").concat();
        server.ask("set-option -g status off");
        server.ask("set-option -g default-terminal tmux-256color");
        server
    }

    /// Opens a session, named as the case, that takes the bytes of its first step.
    fn open(&mut self, case: &Case) {
        let name = &case.name;
        let mut files = String::new();
        for (index, step) in case.steps.iter().enumerate() {
            let file = self.folder.join(format!("{name}.{index}"));
            fs::write(&file, &step.bytes).expect("a file in the temporary folder");
            files += &format!(" {}", file.display());
        }
        let size = case.steps[0].size;
        let program = self.folder.join("program");
        self.ask(&format!(
            "new-session -d -s {name} -x {} -y {} \"exec bash -c '. {}' {name}{files}\"",
            size.cols(),
            size.rows(),
            program.display(),
        ));
    }

    /// Takes the case's other steps and says what is shown in the end.
    fn finish(&mut self, case: &Case) -> Shown {
        let name = &case.name;
        for (index, step) in case.steps.iter().enumerate() {
            if index > 0 {
                let (cols, rows) = (step.size.cols(), step.size.rows());
                self.ask(&format!("resize-window -t {name} -x {cols} -y {rows}"));
                self.ask(&format!("wait-for -S {name}.{index}.resized"));
            }
            self.ask(&format!("wait-for {name}.{}.taken", index + 1));
        }
        let rows = self.ask(&format!("capture-pane -p -t {name}"));
        let cursor =
            self.ask(&format!("display-message -p -t {name} '#{{cursor_y}} #{{cursor_x}}'"));
        self.ask(&format!("kill-session -t {name}"));
        let cursor = cursor.concat();
        let (row, col) = cursor.split_once(' ').expect("two numbers");
        let number = |text: &str| text.parse().expect("a number");
        Shown::new(rows.iter().map(String::as_str), (number(row), number(col)))
    }

    /// Sends a command and waits for the lines it prints.
    fn ask(&mut self, command: &str) -> Vec<String> {
        writeln!(self.input, "{command}").expect("tmux reads its commands");
        self.answer(command)
    }

    /// Waits for the next answer, which stands between `%begin` and an `%end` of the same number.
    fn answer(&mut self, awaited: &str) -> Vec<String> {
        let awaited = format!("tmux to answer `{awaited}`");
        let begin = loop {
            let line = self.lines.next(&awaited);
            if let Some(number) = line.strip_prefix("%begin ") {
                break number.to_owned();
            }
        };
        let mut answer = Vec::new();
        loop {
            let line = self.lines.next(&awaited);
            if line.strip_prefix("%end ") == Some(&begin) {
                return answer;
            }
            let failed = line.strip_prefix("%error ") == Some(&begin);
            assert!(!failed, "no answer, waiting for {awaited}: {}", answer.join("\n"));
            answer.push(line);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Every step fails only if the server is gone already. The kill by id is for a server that
        // no longer answers, which is how a test that timed out leaves it.
        self.client.0.kill().ok();
        if !self.pid.is_empty() {
            Command::new("kill").arg(&self.pid).stderr(Stdio::null()).status().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// The version of the installed tmux, as it says it.
pub(crate) fn version() -> String {
    let output = Command::new("tmux").arg("-V").output().expect("tmux starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
