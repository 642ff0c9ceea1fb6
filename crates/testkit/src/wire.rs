//! A client that sends whatever bytes it is told to: good frames, bad frames, parts of frames.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use greenroom_frame::binary::{Frame, FrameDecoder, encode, kind};
use greenroom_frame::rpc::{self, Message};
use serde_json::{Value, json};

use crate::wait::BOUND;

/// A connection without manners.
#[derive(Debug)]
pub struct Wire {
    stream: UnixStream,
    decoder: FrameDecoder,
    /// Frames that came while an answer was waited for.
    kept: VecDeque<Frame>,
    last_id: u64,
}

impl Wire {
    /// Connects, and says nothing.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(socket: &Path) -> io::Result<Wire> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_write_timeout(Some(BOUND))?;
        let decoder = FrameDecoder::default();
        Ok(Wire { stream, decoder, kept: VecDeque::new(), last_id: 0 })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The other side is gone, or takes nothing for a long time.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// As for [`send_bytes`](Wire::send_bytes).
    pub fn send(&mut self, kind: u8, id: &str, payload: &[u8]) -> io::Result<()> {
        self.send_bytes(&encode(kind, id, payload).map_err(io::Error::other)?)
    }

    /// The bytes of a request, and its id.
    #[must_use]
    pub fn request(&mut self, method: &str, params: &Value) -> (u64, Vec<u8>) {
        self.last_id += 1;
        let message = rpc::request(self.last_id, method, params);
        (self.last_id, encode(kind::JSON_RPC, "", &message).expect("a request fits a frame"))
    }

    /// The next frame; none when the daemon closed the connection.
    ///
    /// # Panics
    /// Nothing comes in time.
    pub fn frame(&mut self) -> Option<Frame> {
        match self.kept.pop_front() {
            Some(frame) => Some(frame),
            None => self.read_frame(),
        }
    }

    fn read_frame(&mut self) -> Option<Frame> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(frame) = self.decoder.next().expect("the daemon sends whole frames") {
                return Some(frame);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.decoder.feed(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came from the daemon: {error}"),
            }
        }
    }

    /// Calls a method; none when the connection is lost before the answer.
    pub fn call(&mut self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        let (id, bytes) = self.request(method, params);
        self.send_bytes(&bytes).ok()?;
        self.answer(&id.into())
    }

    /// Waits for the answer with that id; other frames are kept.
    pub fn answer(&mut self, id: &Value) -> Option<Result<Value, Value>> {
        let before = self.kept.iter().position(|frame| response(frame, id).is_some());
        if let Some(frame) = before.and_then(|at| self.kept.remove(at)) {
            return response(&frame, id);
        }
        loop {
            let frame = self.read_frame()?;
            match response(&frame, id) {
                Some(result) => return Some(result),
                None => self.kept.push_back(frame),
            }
        }
    }

    /// Says that nothing more will be sent.
    pub fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap_or_default();
    }

    /// The socket.
    #[must_use]
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
}

/// What a frame answers to a request, if it does.
fn response(frame: &Frame, id: &Value) -> Option<Result<Value, Value>> {
    let message = (frame.kind == kind::JSON_RPC).then(|| Message::from_wire(&frame.payload));
    let Some(Ok(Message::Response { id: it, result })) = message else { return None };
    (it == *id).then(|| {
        result.map_err(
            |error| json!({"code": error.code, "message": error.message, "data": error.data}),
        )
    })
}
