//! A person's terminal: the program runs on it, its keys are pressed, its screen is looked at.

use std::io::ErrorKind;
use std::path::Path;

use greenroom_model::Size;
use greenroom_pty::{Master, Program};
use greenroom_screen::{Options, Screen};
use greenroom_testkit::{Home, Signal, eventually_ok, eventually_some, process};
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};

/// The program on a terminal of its own; it is killed when this is dropped.
pub(crate) struct Terminal {
    master: Master,
    pid: u32,
    status: Option<i32>,
    /// What the terminal shows.
    pub(crate) screen: Screen,
    /// Everything that was written to it.
    pub(crate) written: Vec<u8>,
}

impl Terminal {
    /// Runs the command line on a terminal of this size.
    pub(crate) fn start(home: &Home, size: &str, arguments: &[&str]) -> Terminal {
        Terminal::start_with(home, size, arguments, &[])
    }

    /// As [`start`](Terminal::start), with some variables more.
    pub(crate) fn start_with(
        home: &Home,
        size: &str,
        arguments: &[&str],
        more: &[(&str, &str)],
    ) -> Terminal {
        Terminal::start_program(home, home.binary(), size, arguments, more)
    }

    /// As [`start_with`](Terminal::start_with), for the program under another name.
    pub(crate) fn start_program(
        home: &Home,
        binary: &Path,
        size: &str,
        arguments: &[&str],
        more: &[(&str, &str)],
    ) -> Terminal {
        let size: Size = size.parse().unwrap();
        let (master, slave) = greenroom_pty::open(size).unwrap();
        let args: Vec<Vec<u8>> = arguments.iter().map(|it| it.as_bytes().to_vec()).collect();
        let more = more.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
        let terminal = [("TERM".to_owned(), "xterm-256color".to_owned())];
        let env = home.environment().into_iter().chain(terminal).chain(more);
        let env: Vec<_> = env.map(|it| (it.0.into_bytes(), it.1.into_bytes())).collect();
        let binary = binary.as_os_str().as_encoded_bytes();
        let program = Program {
            program: binary,
            arg0: binary,
            args: &args,
            env: &env,
            cwd: b"/",
            open_files: None,
            umask: None,
        };
        let pid = greenroom_pty::spawn(&program, &slave).unwrap();
        let screen = Screen::new(size, Options::default());
        Terminal { master, pid, status: None, screen, written: Vec::new() }
    }

    /// The program's process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Takes what was written to the terminal by now.
    pub(crate) fn look(&mut self) {
        let mut buffer = Vec::with_capacity(64 << 10);
        loop {
            buffer.clear();
            match self.master.read(&mut buffer) {
                Ok(0) => return,
                Ok(_) => {
                    self.screen.feed(&buffer);
                    self.written.extend_from_slice(&buffer);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("reading the terminal: {error}"),
            }
        }
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        eventually_ok(&format!("the terminal shows `{text}`"), || {
            self.look();
            let shown = self.screen.text();
            if shown.contains(text) { Ok(()) } else { Err(format!("but:\n{shown}")) }
        });
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &[u8]) {
        assert_eq!(rustix::io::write(&self.master, keys).unwrap(), keys.len());
    }

    /// Presses as many of these keys as are read by now.
    pub(crate) fn press_some(&self, keys: &[u8]) -> usize {
        rustix::io::write(&self.master, keys).unwrap_or(0)
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&mut self, size: &str) {
        let size: Size = size.parse().unwrap();
        self.screen.resize(size);
        self.master.resize(size).unwrap();
    }

    /// Waits for the end of the program; gives its exit code.
    #[track_caller]
    pub(crate) fn end(&mut self) -> i32 {
        let code = eventually_some("the program on the terminal ends", || {
            self.look();
            self.reap()
        });
        self.look();
        code
    }

    fn reap(&mut self) -> Option<i32> {
        if self.status.is_none() {
            let pid = Pid::from_raw(i32::try_from(self.pid).unwrap());
            let ended = waitpid(pid, WaitOptions::NOHANG).unwrap();
            let code = |status: WaitStatus| {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                status.exit_status().or(signal)
            };
            self.status = ended.and_then(|(_, status)| code(status));
        }
        self.status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.status.is_none() {
            process::kill(self.pid, Signal::KILL);
            let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
            waitpid(pid, WaitOptions::empty()).map(drop).unwrap_or_default();
        }
    }
}
