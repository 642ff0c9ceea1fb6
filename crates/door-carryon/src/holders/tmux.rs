//! One connection to the socket of a session of tmux: tmux's own client draws on a terminal of ours.
//!
//! The greeting brings no screen: what tmux draws first is all of it.

use std::sync::Arc;

use bytes::Bytes;
use greenroom_door::{Outgoing, Peer};
use greenroom_engine::End;
use greenroom_model::{ExitStatus, Size};
use greenroom_tmux::Attachment;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;

use super::client::{LAST_WORDS, READ_BYTES, come, leave};
use super::frames::{self, About, Decoder, kind};
use crate::Door;
use crate::connection::hung_up;
use crate::params::size_of;
use crate::tmux::{self, Presence};

/// Serves a connection until its end, the session's, or the daemon's.
pub(super) async fn serve(stream: UnixStream, peer: Peer, door: Arc<Door>, name: &str) {
    let client = come(&door, peer).id;
    {
        let (mut reader, writer) = stream.into_split();
        let out = Outgoing::default();
        let shutdown = door.holders.shutdown.clone();
        let serving = async {
            tokio::select! {
                () = show(&door, name, client, (&mut reader, &out)) => {}
                () = shutdown.begun() => {}
            }
            out.close();
            // What is written must be read by somebody within this time.
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            _ = out.write_to(writer) => {}
            () = serving => {}
        }
    }
    leave(&door, client);
}

async fn show(
    door: &Arc<Door>,
    name: &str,
    client: greenroom_engine::ClientId,
    (reader, out): (&mut OwnedReadHalf, &Outgoing),
) {
    let Ok(session) = tmux::info(door, name).await else { return };
    tmux::come(door, name, client);
    let about = about(&session);
    let Ok(attachment) = tmux::open(door, name, about.size, false).await else { return };
    let _present = Presence::new(door, name, client);
    out.push([frames::handshake(&about, 0)]);
    tokio::select! {
        () = carry(&attachment, out) => {}
        () = listen(&attachment, &about, reader, out) => return,
    }
    out.push(frames::exit(End::Exited(ExitStatus::Code(0))));
    out.flushed().await;
}

fn about(session: &Value) -> About {
    let text = |name: &str| session[name].as_str().unwrap_or_default().to_owned();
    let pid = session["pid"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
    About {
        pid,
        // The server holds all of its sessions; whose process it is, nobody asks.
        holder_pid: 0,
        size: size_of(session).unwrap_or(Size::DEFAULT),
        clients: session["attachedClients"].as_u64().unwrap_or(0) as usize,
        cwd: text("cwd"),
        command: text("command"),
    }
}

async fn carry(attachment: &Attachment, out: &Outgoing) {
    loop {
        // Who does not read is not read for: tmux minds slow terminals itself.
        out.room().await;
        let mut bytes = Vec::new();
        match attachment.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(_) => out.push(frames::data(Bytes::from(bytes))),
        }
    }
}

async fn listen(
    attachment: &Attachment,
    about: &About,
    reader: &mut OwnedReadHalf,
    out: &Outgoing,
) {
    let mut decoder = Decoder::default();
    let mut about = about.clone();
    loop {
        while let Some((kind, payload)) = match decoder.next() {
            Ok(next) => next,
            Err(_) => return,
        } {
            match kind {
                kind::DATA => tokio::select! {
                    biased;
                    () = tmux::type_in(attachment, &payload) => {}
                    () = hung_up(reader) => return,
                },
                kind::RESIZE => {
                    if let Some(size) = frames::size(&payload) {
                        about.size = size;
                        // A client that is gone has no size.
                        attachment.resize(size).unwrap_or_default();
                    }
                }
                kind::STATUS => {
                    out.room().await;
                    out.push(frames::status(&about));
                }
                _ => {}
            }
        }
        decoder.buffer.reserve(READ_BYTES);
        match reader.read_buf(&mut decoder.buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
