//! Raw transcripts: every byte a session prints, in a file its maker named.
//!
//! The file is written as the bytes come, by the daemon; the program waits for a slow disk rather than
//! lose a byte. The session carries a note of it, so that the next daemon goes on where the file ends. A
//! file that is not all that was printed is said to be so to whoever hears of the session's end, and to
//! everybody who is told what happens.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_engine::{Attach, Caller, ClientId, Engine, Event, Info, Lag, Rights, Scene};
use greenroom_model::{Offset, SessionId};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Door;
use crate::error::RpcError;

/// The note of a session with a raw transcript: how long the file was before, a blank, the path.
const NOTE: &str = "ptywright.raw";

/// The note of one that is not whole: a [`Flaw`].
const FLAW: &str = "ptywright.raw_flaw";

/// How many flaws are remembered: those of sessions that a client may still ask about.
const MAX_FLAWS: usize = 256;

/// How long a disk has to take what was printed before the end of a session, or of a private server, is told
/// without it. A disk that takes longer than that for what waits at most is none to wait for.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// The raw transcripts of sessions. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(crate) struct Recordings(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How far each is that is being written.
    written: Mutex<BTreeMap<SessionId, watch::Receiver<Offset>>>,
    /// What is wrong with those that are not whole, the newest first. Told when there is another.
    flaws: watch::Sender<VecDeque<(SessionId, Flaw)>>,
}

/// Why a raw transcript is not all that its session printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Flaw {
    pub(crate) error: String,
    /// How much of the session is in the file, and nothing is missing of.
    written: u64,
    /// How much is missing behind that, of what the file goes on with.
    missing: u64,
    /// Nothing more is added to the file.
    stopped: bool,
}

impl Flaw {
    /// The file cannot be written any more.
    fn stopped(error: impl std::fmt::Display, written: u64) -> Flaw {
        Flaw { error: error.to_string(), written, missing: 0, stopped: true }
    }

    /// Some bytes were gone before they could be written.
    fn gap(from: Offset, to: Offset) -> Flaw {
        let (written, missing) = (from.0, to.0 - from.0);
        let error = format!("{missing} bytes are missing behind the first {written}");
        Flaw { error, written, missing, stopped: false }
    }

    /// What is wrong, where something was before.
    fn behind(self, before: Option<&Flaw>) -> Flaw {
        let Some(before) = before else { return self };
        let missing = self.missing + before.missing;
        Flaw { written: self.written.min(before.written), missing, ..self }
    }

    fn note(&self) -> String {
        format!("{} {} {} {}", self.written, self.missing, self.stopped, self.error)
    }

    fn from_note(note: &str) -> Option<Flaw> {
        let mut parts = note.splitn(4, ' ');
        let (written, missing) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (stopped, error) = (parts.next()?.parse().ok()?, parts.next()?.to_owned());
        Some(Flaw { error, written, missing, stopped })
    }
}

impl Recordings {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, watch::Receiver<Offset>>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session has one that is being written.
    pub(crate) fn has(&self, id: SessionId) -> bool {
        self.all().contains_key(&id)
    }

    /// What is wrong with the one of a session, if anything is.
    pub(crate) fn flaw(&self, id: SessionId) -> Option<Flaw> {
        self.0.flaws.borrow().iter().find(|it| it.0 == id).map(|it| it.1.clone())
    }

    /// What is wrong with any of them; told whenever there is more.
    pub(crate) fn flaws(&self) -> watch::Receiver<VecDeque<(SessionId, Flaw)>> {
        self.0.flaws.subscribe()
    }

    fn remember(&self, id: SessionId, flaw: Flaw) {
        self.0.flaws.send_modify(|flaws| {
            flaws.retain(|it| it.0 != id);
            flaws.push_front((id, flaw));
            flaws.truncate(MAX_FLAWS);
        });
    }

    /// The one of a session is not whole: everybody may know, also after this daemon.
    async fn spoil(&self, engine: &Engine, id: SessionId, path: &Path, flaw: Flaw) {
        let (path, error) = (path.display(), &flaw.error);
        tracing::error!(session = %id, %path, error, "a raw transcript is not whole");
        let flaw = flaw.behind(self.flaw(id).as_ref());
        let note = flaw.note();
        self.remember(id, flaw);
        engine.note(id, FLAW.to_owned(), note).await;
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
            Err(error) => {
                let flaw = Flaw::stopped(error, from.0);
                return recordings.spoil(engine, id, &self.path, flaw).await;
            }
        };
        match subscription.start {
            start if start > from => {
                let flaw = Flaw::gap(from, start);
                recordings.spoil(engine, id, &self.path, flaw).await;
            }
            start if start < from => {
                tracing::warn!(session = %id, path = %self.path.display(), "others write to a raw transcript");
            }
            _ => {}
        }
        let (told, written) = watch::channel(subscription.start);
        let (engine, recordings) = (engine.clone(), recordings.clone());
        recordings.all().insert(id, written);
        tokio::spawn(async move {
            let over = Over(recordings, id);
            let mut file = self.file;
            while let Some(event) = subscription.next().await {
                let bytes = match event {
                    Event::Output { bytes, .. } => bytes,
                    Event::Ended(_) => return,
                    _ => continue,
                };
                // Not on this thread: a disk may take its time.
                let appended = tokio::task::spawn_blocking(move || {
                    let appended = append(&mut file, &bytes);
                    (file, appended)
                });
                let (length, result) = match appended.await {
                    Ok((same, appended)) => {
                        file = same;
                        appended
                    }
                    Err(error) => {
                        let flaw = Flaw::stopped(error, told.borrow().0);
                        return over.0.spoil(&engine, id, &self.path, flaw).await;
                    }
                };
                if let Err(error) = result {
                    let written = told.borrow().0 + length;
                    let flaw = Flaw::stopped(format!("io error: {error}"), written);
                    return over.0.spoil(&engine, id, &self.path, flaw).await;
                }
                told.send_modify(|written| written.0 += length);
            }
        });
    }
}

/// A raw transcript that is whole, or has stopped, is not waited for.
struct Over(Recordings, SessionId);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.all().remove(&self.1);
    }
}

/// What a session remembers by a name.
fn note<'i>(info: &'i Info, name: &str) -> Option<&'i str> {
    info.notes.iter().find(|note| note.0 == name).map(|note| note.1.as_str())
}

/// Remembers what is wrong with the raw transcript of a session that an earlier daemon's door made, if
/// anything is; whether it can be gone on with.
pub(crate) fn take_up_flaw(recordings: &Recordings, info: &Info) -> bool {
    let flaw = note(info, FLAW).and_then(Flaw::from_note);
    let goes_on = flaw.as_ref().is_none_or(|flaw| !flaw.stopped);
    if let Some(flaw) = flaw {
        recordings.remember(info.id, flaw);
    }
    goes_on
}

/// Goes on with the raw transcript of a session that an earlier daemon's door made.
pub(crate) fn take_up(engine: &Engine, recordings: &Recordings, info: &Info) {
    let Some((before, path)) = note(info, NOTE).and_then(|it| it.split_once(' ')) else { return };
    let Ok(before) = before.parse::<u64>() else { return };
    let path = PathBuf::from(path);
    let (engine, recordings, id) = (engine.clone(), recordings.clone(), info.id);
    tokio::spawn(async move {
        let at = path.clone();
        let opened = tokio::task::spawn_blocking(move || open(&at, true)).await;
        let (file, length) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => {
                let flaw = Flaw::stopped(format!("io error: {error}"), 0);
                return recordings.spoil(&engine, id, &path, flaw).await;
            }
            Err(_) => return,
        };
        let missing = recordings.flaw(id).map_or(0, |flaw| flaw.missing);
        let from = Offset(length.saturating_sub(before) + missing);
        let recording = Recording { file, path, before, created: false };
        let caller =
            Caller { id: ClientId(0), rights: Rights::NONE, name: "raw transcript".into() };
        recording.go_on((&engine, &recordings), &caller, id, from).await;
    });
}

/// Adds bytes to a file; says how many of them it took, also if that was not all.
fn append(file: &mut File, bytes: &[u8]) -> (u64, io::Result<()>) {
    let mut rest = bytes;
    let result = loop {
        if rest.is_empty() {
            break Ok(());
        }
        match file.write(rest) {
            Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    ((bytes.len() - rest.len()) as u64, result)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_is_known_again_by_its_note() {
        let full = Flaw::stopped("io error: no space left", 7);
        for flaw in [full, Flaw::gap(Offset(3), Offset(9))] {
            assert_eq!(Flaw::from_note(&flaw.note()).unwrap(), flaw);
        }
        assert_eq!(Flaw::from_note("7 perhaps"), None);
    }

    #[test]
    fn a_second_flaw_does_not_hide_the_first() {
        let (gap, next) = (Flaw::gap(Offset(3), Offset(9)), Flaw::gap(Offset(20), Offset(25)));
        let two = next.behind(Some(&gap));
        assert_eq!((two.written, two.missing, two.stopped), (3, 11, false));
        let full = Flaw::stopped("full", 100).behind(Some(&two));
        assert_eq!((full.written, full.missing, full.stopped), (3, 11, true));
        assert_eq!(full.error, "full");
    }

    #[test]
    fn only_the_newest_flaws_are_remembered() {
        let recordings = Recordings::default();
        let flaw = Flaw::gap(Offset(0), Offset(1));
        for id in 1..=MAX_FLAWS as u64 + 1 {
            recordings.remember(SessionId(id), flaw.clone());
        }
        assert_eq!(recordings.flaw(SessionId(1)), None);
        assert_eq!(recordings.flaw(SessionId(2)), Some(flaw));
        assert_eq!(recordings.flaws().borrow().len(), MAX_FLAWS);
    }
}
