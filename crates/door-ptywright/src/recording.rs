//! Raw transcripts: every byte a session prints, in a file its maker named.
//!
//! The file is written as the bytes come, by the daemon; the program waits for a slow disk rather than
//! lose a byte. The session carries a note of it, so that the next daemon goes on where the file ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_engine::{Attach, Caller, ClientId, Engine, Event, Info, Lag, Rights, Scene};
use greenroom_model::{Offset, SessionId};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Door;
use crate::error::RpcError;

/// The note of a session with a raw transcript: how long the file was before, a blank, the path.
const NOTE: &str = "ptywright.raw";

/// How long a disk has to take what was printed before the end of a session, or of a private server, is told
/// without it. A disk that takes longer than that for what waits at most is none to wait for.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// The raw transcripts that are being written. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(crate) struct Recordings(Arc<Mutex<BTreeMap<SessionId, watch::Receiver<Offset>>>>);

impl Recordings {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, watch::Receiver<Offset>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session has one that is being written.
    pub(crate) fn has(&self, id: SessionId) -> bool {
        self.all().contains_key(&id)
    }

    /// Waits until all that a session printed is in its file, if it has one and has ended.
    pub(crate) async fn whole(&self, engine: &Engine, id: SessionId) {
        self.whole_by(engine, id, Instant::now() + WRITTEN_WITHIN).await;
    }

    /// The same for all sessions.
    pub(crate) async fn all_whole(&self, engine: &Engine) {
        let ids: Vec<SessionId> = self.all().keys().copied().collect();
        let by = Instant::now() + WRITTEN_WITHIN;
        for id in ids {
            self.whole_by(engine, id, by).await;
        }
    }

    async fn whole_by(&self, engine: &Engine, id: SessionId, by: Instant) {
        let Some(mut written) = self.all().get(&id).cloned() else { return };
        let printed = |scene: Scene<'_>| scene.end.map(|_| scene.screen.offset());
        let Ok(Some(printed)) = engine.scene(id, printed).await else { return };
        // Closed when it is whole, or has stopped.
        let whole = written.wait_for(|written| *written >= printed);
        if tokio::time::timeout_at(by, whole).await.is_err() {
            tracing::warn!(session = %id, "a raw transcript is not whole: the disk is too slow");
        }
    }
}

/// A raw transcript.
#[derive(Debug)]
pub(crate) struct Recording {
    file: File,
    path: PathBuf,
    /// How long the file was before the session.
    before: u64,
    created: bool,
}

impl Recording {
    /// Opens the file: a new one, or one to append to.
    pub(crate) async fn open(
        door: &Door,
        path: PathBuf,
        append: bool,
    ) -> Result<Recording, RpcError> {
        if path.is_relative() && !door.options.private {
            return Err(RpcError::params("raw_transcript_path must be absolute"));
        }
        // Not on this thread: a file may be on a disk that does not answer.
        let opened = tokio::task::spawn_blocking(move || {
            let path = std::path::absolute(&path)?;
            let created = !path.exists();
            let (file, before) = open(&path, append)?;
            Ok(Recording { file, path, before, created })
        });
        match opened.await {
            Ok(opened) => opened.map_err(|error: io::Error| RpcError::io(&error)),
            Err(error) => Err(RpcError::internal(error.to_string())),
        }
    }

    /// What the session is to remember of it.
    pub(crate) fn note(&self) -> (String, String) {
        (NOTE.to_owned(), format!("{} {}", self.before, self.path.display()))
    }

    /// There is no session after all: a file that was made for it goes.
    pub(crate) fn abandon(self) {
        if self.created {
            let _gone = std::fs::remove_file(&self.path);
        }
    }

    /// Writes everything a session prints, from its first byte on.
    pub(crate) async fn begin(self, door: &Door, caller: &Caller, id: SessionId) {
        self.go_on((&door.engine, &door.recordings), caller, id, Offset::START).await;
    }

    async fn go_on(
        self,
        (engine, recordings): (&Engine, &Recordings),
        caller: &Caller,
        id: SessionId,
        from: Offset,
    ) {
        let attach =
            Attach { read_only: true, from: Some(from), lag: Lag::Block, ..Attach::default() };
        let mut subscription = match engine.attach(caller, id, attach).await {
            Ok(subscription) => subscription,
            Err(error) => return self.complain(id, &error),
        };
        if subscription.start != from {
            tracing::warn!(session = %id, path = %self.path.display(), "a raw transcript has a gap");
        }
        let (told, written) = watch::channel(from);
        let recordings = recordings.clone();
        recordings.all().insert(id, written);
        tokio::spawn(async move {
            let _over = Over(recordings, id);
            let mut file = self.file;
            while let Some(event) = subscription.next().await {
                let bytes = match event {
                    Event::Output { bytes, .. } => bytes,
                    Event::Ended(_) => return,
                    _ => continue,
                };
                let length = bytes.len() as u64;
                // Not on this thread: a disk may take its time.
                let written =
                    tokio::task::spawn_blocking(move || file.write_all(&bytes).map(|()| file));
                file = match written.await {
                    Ok(Ok(file)) => file,
                    Ok(Err(error)) => {
                        tracing::error!(session = %id, path = %self.path.display(), %error,
                            "a raw transcript has stopped");
                        return;
                    }
                    Err(_) => return,
                };
                told.send_modify(|written| written.0 += length);
            }
        });
    }

    fn complain(&self, id: SessionId, error: &greenroom_engine::Error) {
        tracing::error!(session = %id, path = %self.path.display(), %error, "no raw transcript");
    }
}

/// A raw transcript that is whole, or has stopped, is not waited for.
struct Over(Recordings, SessionId);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.all().remove(&self.1);
    }
}

/// Goes on with the raw transcript of a session that an earlier daemon's door made.
pub(crate) fn take_up(engine: &Engine, recordings: &Recordings, info: &Info) {
    let Some((_, note)) = info.notes.iter().find(|note| note.0 == NOTE) else { return };
    let Some((before, path)) = note.split_once(' ') else { return };
    let Ok(before) = before.parse::<u64>() else { return };
    let path = PathBuf::from(path);
    let (engine, recordings, id) = (engine.clone(), recordings.clone(), info.id);
    tokio::spawn(async move {
        let at = path.clone();
        let opened = tokio::task::spawn_blocking(move || open(&at, true)).await;
        let (file, length) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => {
                let path = path.display();
                return tracing::error!(session = %id, %path, %error, "no raw transcript");
            }
            Err(_) => return,
        };
        let from = Offset(length.saturating_sub(before));
        let recording = Recording { file, path, before, created: false };
        let caller =
            Caller { id: ClientId(0), rights: Rights::NONE, name: "raw transcript".into() };
        recording.go_on((&engine, &recordings), &caller, id, from).await;
    });
}

/// Opens a file for a raw transcript, and says how long it is. Only a file will do: what is written to a
/// pipe or a device may never be taken.
fn open(path: &Path, append: bool) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    // At its end in any case: others may write to it, too.
    options.append(true);
    match append {
        true => options.create(true),
        false => options.create_new(true),
    };
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, metadata.len()))
}
