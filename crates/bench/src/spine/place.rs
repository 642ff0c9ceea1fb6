//! Where a run takes place: a folder of its own, and the environment every contender gets.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use greenroom_model::Size;
use tempfile::TempDir;

use super::fifo::Fifo;
use super::terminal::Terminal;

/// Variables with their values, as a program gets them.
pub(crate) type Environment = Vec<(String, String)>;

/// The folder of a run; it is removed with everything in it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Result<Place> {
        // Not below the user's own TMPDIR: the path of a socket has 108 bytes.
        let folder = tempfile::Builder::new().prefix("grb").tempdir_in("/tmp");
        Ok(Place { folder: folder.context("making a folder for the run")? })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path as an argument.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, bytes).with_context(|| format!("writing `{}`", path.display()))?;
        Ok(path)
    }

    pub(crate) fn fifo(&self, name: &str) -> Result<Fifo> {
        Fifo::make(&self.path(name))
    }

    /// What every program starts with: nothing of the terminal or multiplexer this runs in.
    pub(crate) fn environment(&self) -> Environment {
        let own = self.folder.path().to_string_lossy();
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let pairs = [
            ("PATH", path),
            ("HOME", &own),
            ("SHELL", "/bin/sh"),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// A program that neither reads nor writes here.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A program on a terminal of its own.
    pub(crate) fn terminal(&self, size: Size, argv: &[String]) -> Result<Terminal> {
        Terminal::start(size, argv, &self.environment())
    }
}

/// Runs a command to its end and gives what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("starting `{name}`"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{name}` failed: {}", error.trim_end());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Arguments from texts.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
