//! `/ws/claude-stream`: a conversation with an agent, by the contract in docs/protocol/websocket-chat.md.
//!
//! Here is only what carries it: what is said, and what becomes of it, is in `agents`.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, Query, State};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use greenroom_agents::{Client, Config, Listed, MESSAGE_MAX, Request};
use greenroom_engine::Engine;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Options;
use crate::auth::Who;
use crate::beat::Beat;
use crate::fault;
use crate::listen::Site;
use crate::metrics::{Counted, count};
use crate::native::{GOING, LATER, TOO_MANY, bounded, close};

/// How many messages of a conversation are kept for clients that come back, as the contract has it.
const HISTORY: usize = 1000;

/// The file in which conversations are remembered over the end of the daemon.
const STATE: &str = "conversations.json";

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Closing: there is nothing more to say.
const DONE: u16 = 1000;

/// How agents are run.
pub(crate) fn config(options: &Options, engine: &Engine, state: &Path) -> Config {
    Config {
        command: options.claude_command.iter().map(OsString::from).collect(),
        folder: engine.options().cwd.clone(),
        environment: options.chat_environment.clone(),
        idle_ttl: options.chat_idle_ttl,
        sessions_max: options.max_sessions,
        history_max: HISTORY,
        state_file: Some(state.join(STATE)),
    }
}

/// A conversation in the list of sessions.
pub(crate) fn listed(chat: &Listed) -> Value {
    json!({"id": chat.id.to_string(), "type": "stream", "alive": true, "clients": chat.clients,
        "history_count": chat.history})
}

pub(crate) async fn chat(
    State(site): State<Arc<Site>>,
    Extension(who): Extension<Who>,
    Query(query): Query<Vec<(String, String)>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let pairs = query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let request = Request::from_query(pairs);
    bounded(upgrade, MESSAGE_MAX).on_upgrade(move |socket| async move {
        let Some(_open) = site.door.sockets.open(&who) else {
            return close(socket, LATER, TOO_MANY).await;
        };
        let _counted = Counted::new(&site.door.metrics.sockets);
        let client = site.door.chats.join(request).await;
        converse(&site, &who, socket, client).await;
    })
}

async fn converse(site: &Site, who: &Who, socket: WebSocket, client: Client) {
    let (mut sink, mut messages) = socket.split();
    let beat = Beat::new();
    let (code, reason) = tokio::select! {
        told = down(site, &client, &beat, &mut sink) => match told {
            Ok(()) => (DONE, ""),
            Err(_) => (GOING, ""),
        },
        code = up(site, &client, &beat, &mut messages) => (code, fault::reason(code)),
        () = site.over(who) => (GOING, "this login does not hold any more, or the daemon ends"),
        () = site.closed.begun() => (GOING, "nobody listens here any more"),
    };
    drop(client);
    if let Ok(socket) = sink.reunite(messages) {
        // Somebody who does not read does not hear why, either.
        let _late = tokio::time::timeout(FAREWELL, close(socket, code, reason)).await;
    }
}

/// Tells the client everything there is to tell.
async fn down(
    site: &Site,
    client: &Client,
    beat: &Beat,
    sink: &mut SplitSink<WebSocket, Message>,
) -> io::Result<()> {
    loop {
        let text = tokio::select! {
            text = client.next() => text,
            alive = beat.ask() => {
                if !alive {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                sink.send(Message::Ping(Bytes::new())).await.map_err(io::Error::other)?;
                continue;
            }
        };
        let Some(text) = text else { return Ok(()) };
        count(&site.door.metrics.bytes_out, text.len() as u64);
        let since = Instant::now();
        let message = Message::Text(Utf8Bytes::from(&*text));
        sink.send(message).await.map_err(io::Error::other)?;
        beat.sent(since);
    }
}

/// Takes what the client says, until it leaves; gives the code to close with.
async fn up(
    site: &Site,
    client: &Client,
    beat: &Beat,
    messages: &mut SplitStream<WebSocket>,
) -> u16 {
    loop {
        let message = match messages.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => return fault::code(&error),
            None => return GOING,
        };
        beat.sign();
        let text = match message {
            Message::Text(text) => text.as_str().to_owned(),
            Message::Binary(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Message::Close(_) => return DONE,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        count(&site.door.metrics.bytes_in, text.len() as u64);
        beat.deaf(client.say(text)).await;
    }
}
