//! `/ws/pty`: a terminal for foreign front ends, by the contract in docs/protocol/websocket.md.
//!
//! `opening` finds or makes the session, `words` has the messages, here is the conversation. A session
//! made here is one as any other; what the contract knows of it besides is in `made`.

mod opening;
mod words;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, Query, State};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::Instant;

use crate::auth::Who;
use crate::beat::Beat;
use crate::fault;
use crate::history::{self, anew};
use crate::hub::{Guest, Item, Seat};
use crate::listen::{Site, Wire};
use crate::metrics::{Counted, count};
use crate::native::{GOING, LATER, TOO_MANY, bounded, close};
use opening::{Opened, Opening};
use words::{Said, Speaker};

/// The largest message: a large paste. Past it the connection is closed before any of it is kept.
const MESSAGE: usize = 4 << 20;

/// How many lines above the screen somebody sees who was too slow.
const LAG_LINES: usize = 500;

/// The shortest time between two screens for somebody who is too slow all the time.
const ANEW_EVERY: Duration = Duration::from_millis(100);

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) async fn pty(
    State(site): State<Arc<Site>>,
    Extension(who): Extension<Who>,
    Extension(wire): Extension<Wire>,
    Query(query): Query<Vec<(String, String)>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let opening = Opening::new(query);
    bounded(upgrade, MESSAGE).on_upgrade(move |socket| async move {
        let Some(_open) = site.door.sockets.open(&who) else {
            return close(socket, LATER, TOO_MANY).await;
        };
        let _counted = Counted::new(&site.door.metrics.sockets);
        let caller = site.door.caller(&who, &format!("ws/pty, {}", wire.peer));
        match opening.open(&site.door, &caller).await {
            Ok(opened) => converse(&site, &who, socket, opened).await,
            Err(refused) => close(socket, refused.code, &refused.reason).await,
        }
    })
}

/// A conversation about one session.
struct Talk<'a> {
    site: &'a Site,
    opened: &'a Opened,
    speaker: Speaker<'a>,
    beat: Beat,
    /// Where answers wait for a client that sits at no session.
    alone: Seat,
}

async fn converse(site: &Site, who: &Who, socket: WebSocket, opened: Opened) {
    let (mut sink, mut messages) = socket.split();
    let speaker = Speaker { session: &opened.id };
    let talk = Talk { site, opened: &opened, speaker, beat: Beat::new(), alone: Seat::default() };
    let (code, reason, farewell) = tokio::select! {
        _ = talk.down(&mut sink) => (GOING, "", false),
        (code, left) = talk.up(&mut messages) => (code, fault::reason(code), left),
        () = site.over(who) => (GOING, "this login does not hold any more, or the daemon ends", false),
        () = site.closed.begun() => (GOING, "nobody listens here any more", false),
    };
    if let Ok(socket) = sink.reunite(messages) {
        let _late = tokio::time::timeout(FAREWELL, close(socket, code, reason)).await;
    }
    if let (true, Some(guest)) = (farewell, opened.guest) {
        guest.farewell();
    }
}

type Sink = SplitSink<WebSocket, Message>;

impl Talk<'_> {
    /// Tells the client everything there is to tell.
    async fn down(&self, sink: &mut Sink) -> Result<(), axum::Error> {
        self.begin(sink).await?;
        let Some(guest) = &self.opened.guest else { return self.stay(sink).await };
        let mut redrawn = Instant::now() - ANEW_EVERY;
        loop {
            let item = tokio::select! {
                item = guest.seat.next() => item,
                alive = self.beat.ask() => {
                    if !alive {
                        return Ok(());
                    }
                    sink.send(Message::Ping(Bytes::new())).await?;
                    continue;
                }
            };
            match item {
                Item::Printed(piece, seen) => {
                    let words = piece.words(seen, |text, next| self.speaker.printed(text, next));
                    self.send(sink, Message::Text(words)).await?;
                }
                Item::Lagged => {
                    count(&self.site.door.metrics.lagged, 1);
                    tokio::time::sleep_until(redrawn + ANEW_EVERY).await;
                    self.anew(sink, guest).await?;
                    redrawn = Instant::now();
                }
                Item::Say(words) => self.send(sink, Message::Text(words)).await?,
                Item::AskSize => {}
                Item::Ended(end) => {
                    let words = self.speaker.exit(end);
                    self.send(sink, Message::Text(words)).await?;
                }
            }
        }
    }

    async fn send(&self, sink: &mut Sink, message: Message) -> Result<(), axum::Error> {
        if let Message::Text(words) = &message {
            count(&self.site.door.metrics.bytes_out, words.len() as u64);
        }
        let since = Instant::now();
        sink.send(message).await?;
        self.beat.sent(since);
        Ok(())
    }

    /// What every conversation begins with: which session it is, and what it has printed.
    async fn begin(&self, sink: &mut Sink) -> Result<(), axum::Error> {
        let (opened, speaker) = (self.opened, &self.speaker);
        if let Some(failed) = &opened.failed {
            return self.send(sink, Message::Text(speaker.failed(failed))).await;
        }
        self.send(sink, Message::Text(speaker.session(opened))).await?;
        if opened.not_found {
            self.send(sink, Message::Text(speaker.not_found())).await?;
        }
        if let Some(missed) = &opened.missed {
            for piece in missed {
                self.send(sink, Message::Text(speaker.printed(&piece.0, piece.1))).await?;
            }
        } else if let Some(id) = opened.session {
            let bytes = self.site.door.options().history_bytes;
            match history::history(&self.site.door.engine, id, bytes).await {
                Ok(history) => {
                    if let Some(guest) = &opened.guest {
                        guest.seat.saw(history.at);
                    }
                    if !history.text.is_empty() {
                        self.send(sink, Message::Text(speaker.history(&history))).await?;
                    }
                }
                Err(error) => tracing::debug!(%error, "a session has no history"),
            }
        }
        if let Some(end) = opened.ended {
            self.send(sink, Message::Text(speaker.exit(end))).await?;
        }
        Ok(())
    }

    /// Shows the screen to somebody who was too slow.
    async fn anew(&self, sink: &mut Sink, guest: &Guest) -> Result<(), axum::Error> {
        let Some(id) = self.opened.session else { return Ok(()) };
        // In this order: what is printed meanwhile is in the seat, and skipped if it is in the picture.
        guest.seat.catch_up();
        let Ok(history) = anew(&self.site.door.engine, id, LAG_LINES).await else {
            return Ok(());
        };
        guest.seat.saw(history.at);
        self.send(sink, Message::Text(self.speaker.lagged(history.at))).await?;
        self.send(sink, Message::Text(self.speaker.history(&history))).await
    }

    /// There is nothing more to tell but answers; the contract leaves the connection open.
    async fn stay(&self, sink: &mut Sink) -> Result<(), axum::Error> {
        loop {
            tokio::select! {
                item = self.alone.next() => if let Item::Say(words) = item {
                    self.send(sink, Message::Text(words)).await?;
                },
                alive = self.beat.ask() => {
                    if !alive {
                        return Ok(());
                    }
                    sink.send(Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    /// Does what the client says, until it leaves; gives the code to close with, and whether it said so.
    async fn up(&self, messages: &mut SplitStream<WebSocket>) -> (u16, bool) {
        loop {
            let message = match messages.next().await {
                Some(Ok(message)) => message,
                Some(Err(error)) => return (fault::code(&error), false),
                None => return (GOING, false),
            };
            self.beat.sign();
            let bytes = match message {
                Message::Text(text) => Bytes::from(text),
                Message::Binary(bytes) => bytes,
                Message::Close(_) => return (1000, true),
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            count(&self.site.door.metrics.bytes_in, bytes.len() as u64);
            self.take(words::read(bytes)).await;
        }
    }

    async fn take(&self, said: Said) {
        let guest = self.opened.guest.as_ref();
        let done = match (said, guest) {
            (Said::Input(bytes), Some(guest)) => self.beat.deaf(guest.input(bytes)).await,
            (Said::Resize(size), Some(guest)) => self.beat.deaf(guest.resize(size)).await,
            (Said::Ping(request), guest) => {
                let seat = guest.map_or(&self.alone, |guest| &*guest.seat);
                seat.say(words::pong(request.as_ref()));
                Ok(())
            }
            (Said::Nothing | Said::Input(_) | Said::Resize(_), _) => Ok(()),
        };
        if let Err(error) = done {
            tracing::debug!(%error, "a browser's word was not taken");
        }
    }
}
