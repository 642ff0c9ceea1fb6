//! A client of the ptywright door: one connection, a JSON text a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::wait::PATIENCE;

/// A connection.
pub(crate) struct Wright {
    stream: BufReader<UnixStream>,
    last: u64,
    /// How the answer begins that is waited for.
    begin: String,
    line: Vec<u8>,
}

impl Wright {
    pub(crate) fn connect(socket: &Path) -> Result<Wright> {
        let stream = UnixStream::connect(socket).context("connecting to the ptywright door")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let stream = BufReader::with_capacity(1 << 20, stream);
        Ok(Wright { stream, last: 0, begin: String::new(), line: Vec::new() })
    }

    /// Asks something.
    pub(crate) fn start(&mut self, method: &str, params: &Value) -> Result<()> {
        self.last += 1;
        self.begin = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.last);
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        Ok(self.stream.get_mut().write_all(format!("{request}\n").as_bytes())?)
    }

    /// Waits for the answer to what was asked last, and leaves it as it came.
    pub(crate) fn answer(&mut self) -> Result<&[u8]> {
        if !self.is_granted()? {
            let rest = &self.line[self.begin.len()..];
            bail!("the daemon refused: {}", String::from_utf8_lossy(rest));
        }
        Ok(&self.line)
    }

    /// Waits for the answer to what was asked last; whether it is a result.
    pub(crate) fn is_granted(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            if self.stream.read_until(b'\n', &mut self.line)? == 0 {
                bail!("the daemon hung up");
            }
            if let Some(rest) = self.line.strip_prefix(self.begin.as_bytes()) {
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
