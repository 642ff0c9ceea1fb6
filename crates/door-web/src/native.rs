//! The way of our own page: the native protocol over a WebSocket.
//!
//! Every binary message carries bytes of the stream of frames, cut anywhere. The other end of the bridge
//! is served as a local client's, so the page can do whatever the command line can. Who came by a link
//! to one session goes through `scope`, which lets only that pass.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, State};
use axum::response::Response;
use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::Instant;

use crate::auth::{Grant, Who};
use crate::beat::Beat;
use crate::fault;
use crate::listen::{Site, Wire};
use crate::metrics::{Counted, count};
use crate::scope::Scope;

/// How much is read from the daemon at once: as much as one message carries.
const PIECE: usize = 64 << 10;

/// The largest message of a page: a frame may be cut, so no message need be large.
const MESSAGE: usize = 1 << 20;

/// What a WebSocket keeps to read into; there may be hundreds of them.
const READ_BUFFER: usize = 16 << 10;

/// Closing: we end, and may be back.
pub(crate) const GOING: u16 = 1001;

/// Closing: this may not be done any more.
pub(crate) const REFUSED: u16 = 1008;

/// Closing: there are too many for now.
pub(crate) const LATER: u16 = 1013;

/// What is said then.
pub(crate) const TOO_MANY: &str = "too many WebSockets are open";

/// Closing: they said farewell.
const DONE: u16 = 1000;

/// Closing: it is our fault.
const FAULT: u16 = 1011;

/// The bounds of every WebSocket.
pub(crate) fn bounded(upgrade: WebSocketUpgrade, message: usize) -> WebSocketUpgrade {
    upgrade
        .max_message_size(message)
        .max_frame_size(message)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
}

pub(crate) async fn native(
    State(site): State<Arc<Site>>,
    Extension(who): Extension<Who>,
    Extension(wire): Extension<Wire>,
    upgrade: WebSocketUpgrade,
) -> Response {
    bounded(upgrade, MESSAGE).on_upgrade(move |socket| async move {
        let Some(_open) = site.door.sockets.open(&who) else {
            return close(socket, LATER, TOO_MANY).await;
        };
        let _counted = Counted::new(&site.door.metrics.sockets);
        let name = format!("web, {}", wire.peer);
        match site.door.around.native.open(&name, who.rights()) {
            Ok(stream) => bridge(&site, &who, socket, stream).await,
            Err(error) => {
                tracing::warn!(%error, "a page could not be connected");
                close(socket, FAULT, "the daemon is out of something").await;
            }
        }
    })
}

/// Closes with a reason that a browser can see.
pub(crate) async fn close(mut socket: WebSocket, code: u16, reason: &str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // Whoever is gone needs no reason.
    let _gone = socket.send(Message::Close(Some(frame))).await;
}

async fn bridge(site: &Site, who: &Who, socket: WebSocket, stream: UnixStream) {
    let (mut sink, mut messages) = socket.split();
    let (mut reader, mut writer) = stream.into_split();
    let scope = match &who.grant {
        Grant::All => None,
        Grant::One(share) => Some(Scope::new(&site.door.engine, share)),
    };
    let beat = Beat::new();
    let metrics = &site.door.metrics;
    let down = async {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(PIECE);
            let piece = tokio::select! {
                read = reader.read_buf(&mut buffer) => match read {
                    Ok(0) | Err(_) => return Ok::<(), io::Error>(()),
                    Ok(_) => buffer.split().freeze(),
                },
                alive = beat.ask() => {
                    if !alive {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    sink.send(Message::Ping(Bytes::new())).await.map_err(io::Error::other)?;
                    continue;
                }
            };
            let piece = match &scope {
                Some(scope) => scope.down(&piece)?,
                None => piece,
            };
            if !piece.is_empty() {
                count(&metrics.bytes_out, piece.len() as u64);
                let since = Instant::now();
                sink.send(Message::Binary(piece)).await.map_err(io::Error::other)?;
                beat.sent(since);
            }
        }
    };
    let up = async {
        while let Some(message) = messages.next().await {
            beat.sign();
            let bytes = match message {
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Text(text)) => Bytes::from(text),
                Ok(Message::Close(_)) => return Ok(DONE),
                Err(error) => return Ok(fault::code(&error)),
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            };
            count(&metrics.bytes_in, bytes.len() as u64);
            let bytes = match &scope {
                Some(scope) => scope.up(&bytes)?,
                None => bytes,
            };
            beat.deaf(writer.write_all(&bytes)).await?;
        }
        Ok::<u16, io::Error>(GOING)
    };
    let (code, reason) = tokio::select! {
        _ = down => (GOING, "the daemon closed the connection"),
        wrong = up => match wrong {
            Ok(code) => (code, fault::reason(code)),
            Err(_) => (REFUSED, "this was not understood"),
        },
        () = site.over(who) => (REFUSED, "this login or link does not hold any more"),
        () = site.closed.begun() => (GOING, "nobody listens here any more"),
    };
    if let Ok(socket) = sink.reunite(messages) {
        // Somebody who does not read does not hear why, either.
        let closing = close(socket, code, reason);
        let _late = tokio::time::timeout(std::time::Duration::from_secs(1), closing).await;
    }
}
