//! The socket where an attached client is lent the session's terminal.
//!
//! Descriptors travel beside the bytes of a socket, and the frames of a connection have no place for
//! them: so there is one for this alone. A client says in a line which stream of which session it is,
//! and how many bytes it typed; it gets one byte, with descriptors if it may type by itself.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use greenroom_door::Peer;
use greenroom_engine::{Caller, Offer, Rights};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Interest};
use tokio::net::UnixStream;

use crate::Door;
use crate::streams::subscription_of;

/// How long a line is at most: two ids and a number.
const MAX_LINE: u64 = 16 << 10;

/// How long a client has for all of it. It is a local program with one thing to say.
const PATIENCE: Duration = Duration::from_secs(2);

/// The answer with a terminal, and the one without.
const LENT: &[u8] = b"+";
const NOT_NOW: &[u8] = b"-";

/// Serves one client.
pub async fn serve_tap(stream: UnixStream, peer: Peer, door: Arc<Door>) {
    let served = tokio::time::timeout(PATIENCE, lend(stream, peer, &door));
    if let Ok(Err(error)) = served.await {
        tracing::debug!(%error, "a terminal was not lent");
    }
}

async fn lend(stream: UnixStream, peer: Peer, door: &Door) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    (&mut reader).take(MAX_LINE).read_line(&mut line).await?;
    let offer = offer(&line, peer, door).await;
    let stream = reader.into_inner();
    loop {
        stream.writable().await?;
        let sent = stream.try_io(Interest::WRITABLE, || send(&stream, offer.as_ref()));
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            sent => return sent,
        }
    }
}

async fn offer(line: &str, peer: Peer, door: &Door) -> Option<Offer> {
    let wanted: Value = serde_json::from_str(line).ok()?;
    let name = format!("pid {}", peer.pid.unwrap_or(0)).into();
    let caller = Caller { id: door.engine.next_client(), rights: Rights::ALL, name };
    let session = door.engine.find(wanted["sessionId"].as_str()?).ok()?;
    let subscription = subscription_of(wanted["streamId"].as_str()?)?;
    door.engine.tap(&caller, session, subscription, wanted["typed"].as_u64()?).await.ok()?
}

fn send(stream: &UnixStream, offer: Option<&Offer>) -> io::Result<()> {
    match offer {
        Some(Offer { terminal, pipe }) => {
            let [out, into, place, looking] = pipe.each_ref().map(|it| it.as_fd());
            let all = [terminal.as_fd(), out, into, place, looking];
            greenroom_pty::send_with_fds(stream, LENT, &all)
        }
        None => stream.try_write(NOT_NOW),
    }
    .map(drop)
}
