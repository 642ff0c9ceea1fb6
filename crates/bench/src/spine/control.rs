//! A client of tmux in control mode: commands in, blocks of lines and notifications out.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use memchr::memmem;

/// As much as is read at once by our own client.
const READ: usize = 208 << 10;

/// A control mode client; it is ended when this is dropped.
pub(crate) struct Control {
    child: Child,
    commands: ChildStdin,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Control {
    pub(crate) fn start(command: &mut Command) -> Result<Control> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let commands = child.stdin.take().context("control mode has no input")?;
        let lines = child.stdout.take().context("control mode has no output")?;
        let lines = BufReader::with_capacity(READ, lines);
        let mut control = Control { child, commands, lines, line: Vec::new() };
        // The first block is that of the attaching itself.
        control.block()?;
        Ok(control)
    }

    /// Runs a command and counts the lines and bytes it printed.
    pub(crate) fn run(&mut self, command: &str) -> Result<(usize, usize)> {
        self.commands.write_all(format!("{command}\n").as_bytes()).context("writing to tmux")?;
        self.block()
    }

    fn block(&mut self) -> Result<(usize, usize)> {
        while !self.next()?.starts_with(b"%begin ") {}
        let (mut lines, mut bytes) = (0, 0);
        loop {
            let line = self.next()?;
            if line.starts_with(b"%end ") {
                return Ok((lines, bytes));
            }
            if line.starts_with(b"%error ") {
                bail!("tmux refused a command");
            }
            (lines, bytes) = (lines + 1, bytes + line.len());
        }
    }

    /// Waits until the session has printed some text.
    pub(crate) fn wait_output(&mut self, text: &str) -> Result<()> {
        loop {
            let line = self.next()?;
            if line.starts_with(b"%output ") && memmem::find(line, text.as_bytes()).is_some() {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<&[u8]> {
        self.line.clear();
        let count = self.lines.read_until(b'\n', &mut self.line).context("reading from tmux")?;
        if count == 0 {
            bail!("tmux ended its control mode");
        }
        Ok(&self.line)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // It may have ended already, which is what was wanted.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
