//! A client of the ptywright door: one connection, a JSON text a line.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::event::PollFlags;
use serde_json::{Value, json};

use super::wait::{PATIENCE, ready_within};

/// How much is read at once: an answer with all its cells.
const READ: usize = 1 << 20;

/// A connection. What comes is left where it was read: to copy a third of a megabyte once more would be
/// measured as well.
pub(crate) struct Wright {
    stream: UnixStream,
    last: u64,
    /// How the answer begins that is waited for.
    begin: String,
    buffer: Vec<u8>,
    /// How much of it was read, and how much of that is the line that came last.
    read: usize,
    line: usize,
}

impl Wright {
    pub(crate) fn connect(socket: &Path) -> Result<Wright> {
        Wright::over(UnixStream::connect(socket).context("connecting to the ptywright door")?)
    }

    /// Over a connection that there is.
    pub(super) fn over(stream: UnixStream) -> Result<Wright> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let buffer = vec![0; READ];
        Ok(Wright { stream, last: 0, begin: String::new(), buffer, read: 0, line: 0 })
    }

    /// Asks something.
    pub(crate) fn start(&mut self, method: &str, params: &Value) -> Result<()> {
        self.last += 1;
        self.begin = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.last);
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        Ok(self.stream.write_all(format!("{request}\n").as_bytes())?)
    }

    /// Waits for the answer to what was asked last, and leaves it as it came.
    pub(crate) fn answer(&mut self) -> Result<&[u8]> {
        if !self.is_granted()? {
            let rest = &self.line()[self.begin.len()..];
            bail!("the daemon refused: {}", String::from_utf8_lossy(rest));
        }
        Ok(self.line())
    }

    /// The line that came last.
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer[..self.line]
    }

    /// Whether nothing came behind the last line.
    pub(super) fn is_quiet(&self) -> Result<bool> {
        let came = self.read > self.line;
        Ok(!came && !ready_within(&self.stream, PollFlags::IN, Duration::ZERO)?)
    }

    /// Reads the next line.
    pub(super) fn next(&mut self) -> Result<()> {
        self.buffer.copy_within(self.line..self.read, 0);
        self.read -= std::mem::take(&mut self.line);
        let mut seen = 0;
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[seen..self.read]) {
                self.line = seen + end + 1;
                return Ok(());
            }
            seen = self.read;
            if self.buffer.len() - seen < READ / 2 {
                self.buffer.resize(self.buffer.len() + READ, 0);
            }
            match self.stream.read(&mut self.buffer[seen..])? {
                0 => bail!("the daemon hung up"),
                count => self.read += count,
            }
        }
    }

    /// Waits for the answer to what was asked last; whether it is a result.
    pub(crate) fn is_granted(&mut self) -> Result<bool> {
        loop {
            self.next()?;
            if let Some(rest) = self.line().strip_prefix(self.begin.as_bytes()) {
                return Ok(rest.starts_with(br#""result""#));
            }
        }
    }

    /// Asks, and reads the answer.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.start(method, params)?;
        let answer: Value = serde_json::from_slice(self.answer()?)?;
        Ok(answer["result"].clone())
    }
}
