//! carryOn's terminal: the bytes of one session over a WebSocket, at any path with `?session=`.
//!
//! First the screen with its history, then what is printed, in binary messages. What comes is typed,
//! unless it is the byte 01 and a size in JSON; the byte 01 alone is Ctrl+A.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Query, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures_util::{SinkExt as _, StreamExt as _};
use greenroom_engine::{Caller, Error, Info};
use greenroom_model::Size;
use serde_json::Value;
use tokio::time::Instant;

use crate::auth::Who;
use crate::beat::Beat;
use crate::fault;
use crate::history::{LINES, anew};
use crate::hub::{Guest, Item};
use crate::listen::{Site, Wire};
use crate::metrics::{Counted, count};
use crate::native::{GOING, LATER, TOO_MANY, bounded, close};
use crate::routes;

/// The largest message: a large paste.
const MESSAGE: usize = 4 << 20;

/// What a message begins with that is not for the program.
const CONTROL: u8 = 0x01;

/// Closing: something is wrong with the session.
const WRONG: u16 = 1011;

/// Closing: they said farewell.
const DONE: u16 = 1000;

/// Closing: the session has ended.
const ENDED: u16 = 1000;

/// The shortest time between two screens for somebody who is too slow all the time.
const ANEW_EVERY: Duration = Duration::from_millis(100);

pub(crate) async fn raw(site: Arc<Site>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let wanted = query.ok().and_then(|it| it.0.into_iter().find(|it| it.0 == "session"));
    let Some((_, wanted)) = wanted.filter(|it| !it.1.is_empty()) else {
        return routes::refusal(StatusCode::BAD_REQUEST, "missing session parameter");
    };
    let (Some(who), Some(wire)) =
        (parts.extensions.get::<Who>().cloned(), parts.extensions.get::<Wire>().cloned())
    else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(refused) => return refused.into_response(),
    };
    bounded(upgrade, MESSAGE).on_upgrade(move |socket| async move {
        let Some(_open) = site.door.sockets.open(&who) else {
            return close(socket, LATER, TOO_MANY).await;
        };
        let _counted = Counted::new(&site.door.metrics.sockets);
        let caller = site.door.caller(&who, &format!("web, {}", wire.peer));
        match join(&site, &caller, &wanted).await {
            Ok((info, guest)) => converse(&site, &who, socket, &info, guest).await,
            Err(Error::NoSession(_)) => {
                close(socket, WRONG, &format!("session not found: {}", shown(&wanted))).await;
            }
            Err(error) => close(socket, WRONG, &shown(&error.to_string())).await,
        }
    })
}

async fn join(site: &Site, caller: &Caller, wanted: &str) -> Result<(Info, Guest), Error> {
    let engine = &site.door.engine;
    let info = engine.info(wanted)?;
    let guest = site.door.hubs.join(engine, caller, info.id).await?;
    Ok((info, guest))
}

/// As much as the frame that closes can hold.
fn shown(text: &str) -> String {
    text.chars().filter(|it| it.is_ascii_graphic() || *it == ' ').take(80).collect()
}

async fn converse(site: &Site, who: &Who, socket: WebSocket, info: &Info, guest: Guest) {
    let (mut sink, mut messages) = socket.split();
    let (beat, metrics) = (Beat::new(), &site.door.metrics);
    let down = async {
        // A client begins with the whole screen, as one that was too slow does.
        let (mut next, mut redrawn) = (Item::Lagged, Instant::now() - ANEW_EVERY);
        loop {
            let message = match next {
                Item::Printed(piece, seen) => Message::Binary(piece.unseen(seen)),
                Item::Lagged => {
                    tokio::time::sleep_until(redrawn + ANEW_EVERY).await;
                    guest.seat.catch_up();
                    let engine = &site.door.engine;
                    let history = anew(engine, info.id, LINES).await.map_err(axum::Error::new)?;
                    guest.seat.saw(history.at);
                    redrawn = Instant::now();
                    Message::Binary(Bytes::from(history.text))
                }
                Item::Say(_) => Message::Ping(Bytes::new()),
                Item::AskSize => {
                    let ask = b"\x01{\"type\":\"resize_request\"}";
                    Message::Binary(Bytes::from_static(ask))
                }
                Item::Ended(_) => return Ok::<bool, axum::Error>(true),
            };
            if let Message::Binary(bytes) = &message {
                count(&metrics.bytes_out, bytes.len() as u64);
            }
            let since = Instant::now();
            sink.send(message).await?;
            beat.sent(since);
            next = tokio::select! {
                item = guest.seat.next() => item,
                alive = beat.ask() => match alive {
                    true => Item::Say(axum::extract::ws::Utf8Bytes::default()),
                    false => return Ok(false),
                },
            };
        }
    };
    let up = async {
        while let Some(message) = messages.next().await {
            beat.sign();
            let bytes = match message {
                Ok(Message::Text(text)) => Bytes::from(text),
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Close(_)) => return DONE,
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Err(error) => return fault::code(&error),
            };
            count(&metrics.bytes_in, bytes.len() as u64);
            let done = match size(&bytes) {
                Some(size) => beat.deaf(guest.resize(size)).await,
                None => beat.deaf(guest.input(bytes)).await,
            };
            if let Err(error) = done {
                tracing::debug!(%error, "a browser's word was not taken");
            }
        }
        GOING
    };
    let (code, reason) = tokio::select! {
        ended = down => match ended {
            Ok(true) => (ENDED, "session ended"),
            _ => (GOING, ""),
        },
        code = up => (code, fault::reason(code)),
        () = site.over(who) => (GOING, "this login does not hold any more, or the daemon ends"),
        () = site.closed.begun() => (GOING, "nobody listens here any more"),
    };
    if let Ok(socket) = sink.reunite(messages) {
        let _late = tokio::time::timeout(Duration::from_secs(1), close(socket, code, reason)).await;
    }
}

/// A size, if a message is one.
fn size(bytes: &[u8]) -> Option<Size> {
    let (&CONTROL, json) = bytes.split_first()? else { return None };
    let value: Value = serde_json::from_slice(json).ok()?;
    if value["type"] != "resize" {
        return None;
    }
    let side = |name: &str| u16::try_from(value[name].as_u64()?).ok().filter(|it| *it > 0);
    Some(Size::clamped(side("cols")?, side("rows")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_size_is_not_typed() {
        assert_eq!(
            size(b"\x01{\"type\":\"resize\",\"cols\":100,\"rows\":30}"),
            "100x30".parse().ok()
        );
        for typed in [
            &b"\x01"[..],
            b"\x01ls",
            b"\x01{}",
            b"{\"type\":\"resize\"}",
            b"",
            b"\x01{\"type\":\"resize\",\"cols\":0,\"rows\":30}",
        ] {
            assert_eq!(size(typed), None);
        }
    }
}
