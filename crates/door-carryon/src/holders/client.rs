//! One connection to a session's own socket: the screen, then every byte, then the exit code.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use greenroom_door::{Outgoing, Peer};
use greenroom_engine::{
    Attach, Caller, ClientId, Error, Event, Info, Rights, State, Subscription, SubscriptionId,
};
use greenroom_model::SessionId;
use greenroom_screen::{Depth, Screen};
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;

use super::frames::{self, About, Decoder, kind};
use crate::Door;
use crate::clients::Client;
use crate::connection::hung_up;
use crate::methods::now_ms;

/// How many lines above the screen a client gets: what carryOn's ring of 256 KiB holds of text.
const HISTORY: usize = 2_000;

/// How much is read at once.
pub(super) const READ_BYTES: usize = 32 << 10;

/// How long a client has to take its last bytes when the daemon ends.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(5);

/// What a client is that nobody knows from elsewhere.
const KIND: &str = "cli";

/// Serves a connection until its end, the session's, or the daemon's.
pub(super) async fn serve(stream: UnixStream, peer: Peer, door: Arc<Door>, session: SessionId) {
    let caller = come(&door, peer);
    let client = caller.id;
    let viewing = Viewing { door: Arc::clone(&door), caller, session, out: Outgoing::default() };
    viewing.run(stream).await;
    leave(&door, client);
}

/// Somebody came to a session's own socket: who the same process said it is on the daemon's.
pub(super) fn come(door: &Door, peer: Peer) -> Caller {
    let client = door.engine.next_client();
    let pid = peer.pid.and_then(|pid| u64::try_from(pid).ok()).unwrap_or(0);
    let asked = door.clients.of_process(pid);
    let known = asked.as_ref().map(|it| (it.1.kind.clone(), it.1.name.clone()));
    let (kind, name) = known.unwrap_or_else(|| (KIND.to_owned(), String::new()));
    let said = Client {
        kind,
        name,
        pid,
        connected_ms: now_ms(),
        native: false,
        stands_for: asked.map(|it| it.0),
        at_session: true,
    };
    door.clients.add(client, said);
    Caller { id: client, rights: Rights::ALL, name: format!("pid {pid}").into() }
}

pub(super) fn leave(door: &Door, client: ClientId) {
    door.clients.remove(client);
    door.sizers.left(client);
}

/// A client that looks at a session.
struct Viewing {
    door: Arc<Door>,
    caller: Caller,
    session: SessionId,
    out: Outgoing,
}

impl Viewing {
    async fn run(&self, stream: UnixStream) {
        let (mut reader, writer) = stream.into_split();
        let shutdown = self.door.holders.shutdown.clone();
        let serving = async {
            tokio::select! {
                () = self.show(&mut reader) => {}
                () = shutdown.begun() => {}
            }
            self.out.close();
            // What is written must be read by somebody within this time.
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            _ = self.out.write_to(writer) => {}
            () = serving => {}
        }
    }

    /// Shows the session to its end, or until the client has gone.
    async fn show(&self, reader: &mut OwnedReadHalf) {
        let engine = &self.door.engine;
        let Some(info) = engine.get(self.session) else { return };
        let attach = Attach {
            terminal: Some(info.size),
            follows: true,
            history: HISTORY,
            ..Attach::default()
        };
        match engine.attach(&self.caller, self.session, attach).await {
            Ok(subscription) => {
                let id = subscription.id;
                tokio::select! {
                    () = self.carry(subscription) => {}
                    () = self.listen(reader, id) => {}
                }
            }
            // Between the answer that named this socket and now.
            Err(Error::Ended(_)) => self.show_ended().await,
            Err(error) => tracing::debug!(%error, "a client was not shown a session"),
        }
    }

    /// The last screen, and the end.
    async fn show_ended(&self) {
        let engine = &self.door.engine;
        let redraw = |screen: &Screen| screen.redraw(Depth::Lines(HISTORY));
        let bytes = engine.look(self.session, redraw).await.unwrap_or_default();
        let Some(info) = engine.get(self.session) else { return };
        self.greet(&info, Bytes::from(bytes));
        if let State::Ended(end, _) = info.state {
            self.out.push(frames::exit(end));
        }
        self.out.flushed().await;
    }

    fn greet(&self, info: &Info, screen: Bytes) {
        let handshake = frames::handshake(&About::of(info), screen.len());
        self.out.push([handshake, screen]);
    }

    /// Everything that happens in the session, cut where the screen was.
    async fn carry(&self, mut subscription: Subscription) {
        let (info, mut greeted) = (subscription.info.clone(), false);
        while let Some(event) = subscription.next().await {
            self.out.room().await;
            match event {
                Event::Redraw { bytes, .. } if !greeted => {
                    self.greet(&info, bytes);
                    greeted = true;
                }
                Event::Output { bytes, .. } | Event::Redraw { bytes, .. } => {
                    self.out.push(frames::data(bytes));
                }
                Event::Ended(end) => {
                    self.out.push(frames::exit(end));
                    // The session stays until nothing of it can get lost with the daemon any more.
                    return self.out.flushed().await;
                }
                Event::Title(_)
                | Event::Cwd(_)
                | Event::Bell
                | Event::Mark(_)
                | Event::Notification { .. }
                | Event::Progress(_)
                | Event::Resized(_) => {}
            }
        }
    }

    /// Takes what the client sends until it has no more.
    async fn listen(&self, reader: &mut OwnedReadHalf, id: SubscriptionId) {
        let mut decoder = Decoder::default();
        loop {
            loop {
                match decoder.next() {
                    Ok(Some((kind, payload))) => tokio::select! {
                        // Almost every frame is taken at once, and no timer is set.
                        biased;
                        () = self.take(kind, payload, id) => {}
                        () = hung_up(reader) => return,
                    },
                    Ok(None) => break,
                    Err(error) => {
                        tracing::info!(client = %self.caller.name, %error, "a connection was closed");
                        return;
                    }
                }
            }
            decoder.buffer.reserve(READ_BYTES);
            match reader.read_buf(&mut decoder.buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    async fn take(&self, kind: u8, payload: Bytes, id: SubscriptionId) {
        let (engine, session) = (&self.door.engine, self.session);
        let taken = match kind {
            kind::DATA => {
                if self.door.sizers.typed(session, self.caller.id) {
                    self.out.push([frames::resize_request()]);
                }
                engine.input(&self.caller, session, id, payload).await
            }
            kind::RESIZE => match frames::size(&payload) {
                Some(size) => {
                    self.door.sizers.sized(session, self.caller.id);
                    engine.sized(session, id, size).await
                }
                None => Ok(()),
            },
            kind::STATUS => {
                self.out.room().await;
                if let Some(info) = engine.get(session) {
                    self.out.push(frames::status(&About::of(&info)));
                }
                Ok(())
            }
            // Frames this version does not know are skipped.
            _ => Ok(()),
        };
        if let Err(error) = taken {
            tracing::debug!(%error, "a frame was not taken");
        }
    }
}
