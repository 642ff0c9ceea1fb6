//! A real program in a private tmux server, with our own screen as its terminal.
//!
//! tmux's control mode tells every byte the program writes; they are fed to a [`Screen`], so that a
//! wait is a question to the screen and needs no polling. Bytes go to the program as they are
//! (`send-keys -H`). Not here: the programs and the texts (`paste.rs`).
//!
//! Invariant: the server is private (own socket folder, own configuration) and ends with the pane.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use greenroom_model::Size;
use greenroom_screen::{Options, Screen};

use crate::deadline::{self, Killed, Lines};

/// For one line of the server. Far more than one ever takes, since two cores run many tests.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Neither a status line nor a wait for what may follow an ESC.
const CONFIGURATION: &str = "set -g status off\nset -g escape-time 0\n\
                             set -g default-terminal tmux-256color\n";

/// A program in a terminal of ours.
pub(crate) struct Pane {
    /// What the program shows.
    pub(crate) screen: Screen,
    folder: PathBuf,
    pid: String,
    input: ChildStdin,
    lines: Lines,
    client: Killed,
}

impl Pane {
    /// Starts `program`, a shell command, in a new folder with these files in it.
    pub(crate) fn start(program: &str, files: &[(&str, &str)]) -> Pane {
        // In the system's temporary folder, as a socket's path may not be long.
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("greenroom-paste-{}-{number}", process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a temporary folder");
        for (name, text) in files.iter().chain(&[("tmux.conf", CONFIGURATION)]) {
            fs::write(folder.join(name), text).expect("a file in it");
        }
        let mut command = Command::new("tmux");
        command.args(["-L", "paste", "-f", "tmux.conf", "-u", "-C", "new-session"]);
        command.args(["-x", "80", "-y", "24", program]);
        command.current_dir(&folder).env("TMUX_TMPDIR", &folder).env("HOME", &folder);
        command.env("LC_ALL", "C.UTF-8").env_remove("TMUX").env_remove("ZDOTDIR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = deadline::spawn(&mut command, "install Debian's `tmux`");
        let lines = Lines::of(client.stdout.take().expect("piped"), TIMEOUT);
        let input = client.stdin.take().expect("piped");
        let screen = Screen::new(Size::DEFAULT, Options::default());
        let pid = String::new();
        let mut pane = Pane { screen, folder, pid, input, lines, client: Killed(client) };
        pane.ask("display-message -p 'server #{pid}'");
        while pane.pid.is_empty() {
            pane.take("the server's process id");
        }
        pane
    }

    /// The folder the program runs in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until the screen is as wanted; `awaited` says what for.
    pub(crate) fn wait(&mut self, awaited: &str, wanted: impl Fn(&Screen) -> bool) {
        while !wanted(&self.screen) {
            self.take(&format!("{awaited}; the screen shows {:?}", self.screen.text()));
        }
    }

    /// Gives the program these bytes, as a terminal would.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // A command may not be longer than 16 KiB; a byte takes three.
        for bytes in bytes.chunks(1024) {
            let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
            self.ask(&format!("send-keys -H{hex}"));
        }
    }

    fn ask(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("tmux reads its commands");
    }

    /// Takes the server's next line.
    fn take(&mut self, awaited: &str) {
        let line = self.lines.next(awaited);
        if let Some((_, written)) = line.strip_prefix("%output ").and_then(|it| it.split_once(' '))
        {
            self.screen.feed(&unescape(written));
        } else if let Some(pid) = line.strip_prefix("server ") {
            pid.clone_into(&mut self.pid);
        }
        let failed = line.starts_with("%error") || line.starts_with("%exit");
        assert!(!failed, "tmux says `{line}` while waiting for {awaited}");
    }
}

/// What tmux wrote as `\033` and the like.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).and_then(|it| std::str::from_utf8(it).ok());
        let code = digits.filter(|_| *first == b'\\').and_then(|it| u8::from_str_radix(it, 8).ok());
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    out
}

impl Drop for Pane {
    fn drop(&mut self) {
        // Every step fails only if the server is gone already.
        self.client.0.kill().ok();
        if !self.pid.is_empty() {
            Command::new("kill").arg(&self.pid).stderr(Stdio::null()).status().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}
