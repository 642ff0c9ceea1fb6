//! What a daemon sends that nobody waited for.

use bytes::Bytes;
use greenroom_frame::binary::stream::{Output, Redraw, RedrawReason, taken_from_payload};
use greenroom_frame::binary::{Frame, kind};
use greenroom_model::{ExitStatus, Offset};
use serde_json::Value;

use crate::error::{Error, Refusal};

/// One thing a daemon said.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Feed these bytes to the terminal.
    Output {
        /// The stream it is of.
        stream: String,
        /// Where the next byte is.
        end: Offset,
        /// The bytes.
        bytes: Bytes,
    },
    /// Forget what you drew: these bytes draw the screen as it is.
    Redraw {
        /// The stream it is of.
        stream: String,
        /// Where the next byte is.
        offset: Offset,
        /// Why it was sent.
        reason: RedrawReason,
        /// The bytes.
        bytes: Bytes,
    },
    /// The terminal took so much of what was typed, in all.
    Taken {
        /// The stream it is of.
        stream: String,
        /// How many bytes; nothing if the daemon does not know and will not.
        taken: Option<u64>,
    },
    /// The session ended; the stream has no more.
    Ended {
        /// The stream it is of.
        stream: String,
        /// How.
        how: Ended,
    },
    /// Somebody else sized last: say your size.
    SizeWanted {
        /// The session it is about.
        session: String,
    },
    /// Something happened to some session.
    Notification {
        /// What.
        method: String,
        /// Its particulars.
        params: Value,
    },
    /// The answer to a request that was started and not waited for.
    Answer {
        /// What [`start`](crate::Connection::start) gave.
        id: u64,
        /// What the daemon answered.
        result: Result<Value, Refusal>,
    },
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Its program ended.
    Program(ExitStatus),
    /// Nobody knows: its holder is gone, or the daemon gave another reason.
    Unknown(String),
}

impl Ended {
    /// Reads `code`, `signal` or `reason` of an object.
    #[must_use]
    pub fn from_wire(value: &Value) -> Ended {
        let number = |key: &str| {
            value.get(key).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok())
        };
        match (number("signal"), number("code")) {
            (Some(signal), _) => Ended::Program(ExitStatus::Signal(signal)),
            (None, Some(code)) => Ended::Program(ExitStatus::Code(code)),
            (None, None) => {
                let reason = value.get("reason").and_then(Value::as_str);
                Ended::Unknown(reason.unwrap_or("lost").to_owned())
            }
        }
    }
}

impl Event {
    /// The event of a frame; types that are not for us are none. JSON is the connection's.
    pub(crate) fn from_frame(frame: Frame) -> Result<Option<Event>, Error> {
        let stream = frame.id;
        Ok(Some(match frame.kind {
            kind::OUTPUT => {
                let Output { end, bytes } = Output::from_payload(frame.payload)?;
                Event::Output { stream, end: Offset(end), bytes }
            }
            kind::REDRAW => {
                let Redraw { offset, reason, bytes } = Redraw::from_payload(frame.payload)?;
                Event::Redraw { stream, offset: Offset(offset), reason, bytes }
            }
            kind::ENDED => {
                // An unreadable reason must not hide that it ended.
                let how: Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
                Event::Ended { stream, how: Ended::from_wire(&how) }
            }
            kind::TAKEN => Event::Taken { stream, taken: taken_from_payload(frame.payload)? },
            kind::RESIZE_REQUEST => Event::SizeWanted { session: stream },
            _ => return Ok(None),
        }))
    }
}
