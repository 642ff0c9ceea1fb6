//! A client of the native door that leaves an answer as it came, as those of tmux and of the ptywright
//! door do here: what is measured is when it is there.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use greenroom_frame::binary::{FrameDecoder, encode, kind};
use serde_json::{Value, json};

use super::wait::PATIENCE;

/// As much as is read at once by our own client.
const READ: usize = 208 << 10;

/// A connection.
pub(crate) struct Plain {
    stream: UnixStream,
    decoder: FrameDecoder,
    scratch: Box<[u8]>,
    last: u64,
    /// How the answer begins that is waited for.
    begin: String,
}

impl Plain {
    pub(crate) fn connect(socket: &Path) -> Result<Plain> {
        let stream = UnixStream::connect(socket).context("connecting to the daemon")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (decoder, scratch) = (FrameDecoder::default(), vec![0; READ].into_boxed_slice());
        Ok(Plain { stream, decoder, scratch, last: 0, begin: String::new() })
    }

    /// Asks something.
    pub(crate) fn start(&mut self, method: &str, params: &Value) -> Result<()> {
        self.last += 1;
        self.begin = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.last);
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        let frame = encode(kind::JSON_RPC, "", request.to_string().as_bytes())?;
        Ok(self.stream.write_all(&frame)?)
    }

    /// Waits for the answer to what was asked last.
    pub(crate) fn answer(&mut self) -> Result<Bytes> {
        loop {
            while let Some(frame) = self.decoder.next()? {
                let rest = frame.payload.strip_prefix(self.begin.as_bytes());
                let Some(rest) = rest else { continue };
                if !rest.starts_with(br#""result""#) {
                    bail!("the daemon refused: {}", String::from_utf8_lossy(rest));
                }
                return Ok(frame.payload);
            }
            let count = self.stream.read(&mut self.scratch)?;
            if count == 0 {
                bail!("the daemon hung up");
            }
            self.decoder.feed(&self.scratch[..count]);
        }
    }
}
