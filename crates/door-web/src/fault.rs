//! With which code a WebSocket is closed when what came is no message.
//!
//! The codes are the standard's (RFC 6455, 7.4.1). Contracts that know others for what was said are
//! with what they are about: `pty`, `native`, `raw`, `chat`.

use std::error::Error as _;

use tungstenite::Error;

use crate::native::GOING;

/// Closing: what came is no frame, or none that may come here.
pub(crate) const NO_FRAME: u16 = 1002;

/// Closing: what came as text is none.
pub(crate) const NO_TEXT: u16 = 1007;

/// Closing: the message was too large.
pub(crate) const TOO_LARGE: u16 = 1009;

/// The code for what went wrong with reading.
pub(crate) fn code(error: &axum::Error) -> u16 {
    match error.source().and_then(|it| it.downcast_ref::<Error>()) {
        Some(Error::Capacity(_)) => TOO_LARGE,
        Some(Error::Utf8(_)) => NO_TEXT,
        Some(Error::Protocol(_)) => NO_FRAME,
        // Nobody hears it: the connection is broken.
        _ => GOING,
    }
}

/// What is said with it.
pub(crate) fn reason(code: u16) -> &'static str {
    match code {
        NO_FRAME => "this is no frame of a WebSocket",
        NO_TEXT => "this text is not UTF-8",
        TOO_LARGE => "this message is too large",
        _ => "",
    }
}
