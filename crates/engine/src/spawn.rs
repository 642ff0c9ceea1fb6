//! Starting a holder, and making a session of what it holds.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream as Socket;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use greenroom_model::SessionId;
use greenroom_proto::{Description, FromHolder, Hello, Spawn, ToHolder};
use greenroom_screen::Screen;
use rustix::fs::Mode;
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::Transcript;
use crate::engine::{Entry, House};
use crate::info::{Face, Info, State};
use crate::link::{Link, LinkError};
use crate::options::Options;
use crate::points::{Point, reach};
use crate::relink;
use crate::session::{Beginning, Handle, INBOX, Kept, RESIZES, Session, TRANSCRIPT, unpack};

/// How long a holder has to introduce itself. It takes a millisecond; a machine out of memory may
/// take seconds.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Starts a holder; the socket is the first connection to it.
///
/// It gets no arguments but the session's number, for who looks at the process list, and no
/// environment. It is our child, and reaped when it ends although nobody waits for it.
pub(crate) fn start_holder(
    options: &Options,
    id: SessionId,
    umask: Option<u32>,
) -> io::Result<Socket> {
    let (ours, theirs) = Socket::pair()?;
    ours.set_nonblocking(true)?;
    let _umask = umask.map(Umask::set);
    let child = Command::new(&options.holder)
        .arg(format!("s{id}"))
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    tracing::debug!(session = %id, pid = ?child.id(), "a holder was started");
    Ok(ours)
}

/// Another umask, until this is dropped: a holder hands its own on to its program. Whatever another thread makes in
/// between lies in a folder that is nobody else's.
struct Umask(Mode);

impl Umask {
    fn set(mask: u32) -> Umask {
        Umask(rustix::process::umask(Mode::from_raw_mode(mask & 0o777)))
    }
}

impl Drop for Umask {
    fn drop(&mut self) {
        rustix::process::umask(self.0);
    }
}

/// Asks a holder that was just started for its session. If that fails, what came of it is ended.
pub(crate) async fn ask(socket: Socket, spawn: Spawn) -> Result<(Link, Hello, OwnedFd), LinkError> {
    let path = PathBuf::from(OsStr::from_bytes(&spawn.socket));
    let mut link = Link::new(UnixStream::from_std(socket)?);
    let grouped = !spawn.groups.is_empty();
    link.say(&ToHolder::Spawn(Box::new(spawn)));
    reach(Point::CreateAsked);
    let introduced = tokio::time::timeout(INTRODUCTION, introduced(&mut link)).await;
    match introduced.unwrap_or(Err(LinkError::Silent)) {
        Ok((hello, terminal)) if hello.grouped || !grouped => Ok((link, hello, terminal)),
        Ok(_) => {
            relink::undo(link, path).await;
            Err(LinkError::Ungrouped)
        }
        Err(error) => {
            // It has said that it started nothing, or was never told to.
            if !matches!(error, LinkError::Failed(..)) && link.is_flushed() {
                relink::undo(link, path).await;
            }
            Err(error)
        }
    }
}

async fn introduced(link: &mut Link) -> Result<(Hello, OwnedFd), LinkError> {
    let introduced = link.introduction().await?;
    // The description comes back as it was sent.
    link.wait().await?;
    Ok(introduced)
}

/// What a holder found at start-up holds.
pub(crate) struct Adopted {
    link: Link,
    hello: Hello,
    terminal: OwnedFd,
    pub(crate) description: Description,
    kept: Option<Kept>,
}

/// Meets a holder that was there before this daemon.
pub(crate) async fn meet(stream: UnixStream) -> Result<Adopted, LinkError> {
    let mut link = Link::new(stream);
    let (hello, terminal) = link.introduction().await?;
    let FromHolder::Description(blob) = link.wait().await? else { return Err(LinkError::Order) };
    let description = Description::decode(&blob)?;
    let mut kept = None;
    // A holder that was never given a checkpoint has every byte; one that was says it next.
    if hello.checkpoint {
        let FromHolder::Checkpoint { at, blob } = link.wait().await? else {
            return Err(LinkError::Order);
        };
        match unpack(&blob) {
            Ok(restored) if restored.screen.offset() == at => kept = Some(restored),
            Ok(_) => return Err(LinkError::Order),
            Err(error) => {
                tracing::error!(session = %hello.session, %error, "a checkpoint cannot be read");
                return Err(LinkError::Order);
            }
        }
    }
    Ok(Adopted { link, hello, terminal, description, kept })
}

/// Puts a session into the house and lets it run.
pub(crate) fn open(house: &Arc<House>, adopted: Adopted) -> Result<Arc<Face>, LinkError> {
    let Adopted { link, hello, terminal, description, kept } = adopted;
    let options = house.options();
    let kept = kept.unwrap_or_else(|| {
        let history = greenroom_screen::Options::default().with_history(options.history_lines);
        let chars = note(&description, TRANSCRIPT);
        Kept { screen: Screen::new(hello.size, history), transcript: chars.map(Transcript::new) }
    });
    let room_bytes = options.input_bytes.min(Semaphore::MAX_PERMITS);
    let room = Arc::new(Semaphore::new(room_bytes));
    let keyboard = crate::session::Keyboard::new(terminal, Arc::clone(&room), hello.tallies);
    let face = Arc::new(Face::new(info(&hello, &description, &kept.screen)));
    let (inbox, messages) = mpsc::channel(INBOX);
    let begin = kept.screen.offset().0 + face.get().resizes;
    let (changes, changed) = watch::channel(begin);
    let handle = Handle {
        face: Arc::clone(&face),
        inbox,
        texts: Arc::default(),
        room,
        room_bytes,
        changes: changed,
    };
    let id = description.id;
    house.sessions().insert(id, Entry::Living(handle));
    let beginning =
        Beginning { hello, description, kept, link, keyboard, face: Arc::clone(&face), changes };
    let running = tokio::spawn(Session::new(Arc::clone(house), beginning).run(messages));
    let house = Arc::clone(house);
    tokio::spawn(async move {
        if running.await.is_err_and(|error| error.is_panic()) {
            house.fell(id);
        }
    });
    Ok(face)
}

impl Adopted {
    pub(crate) fn fresh(
        (link, hello, terminal): (Link, Hello, OwnedFd),
        description: Description,
    ) -> Adopted {
        Adopted { link, hello, terminal, description, kept: None }
    }

    /// The connection alone, for who has the rest.
    pub(crate) fn into_link(self) -> Link {
        self.link
    }
}

/// A number that the session's description notes.
fn note<T: std::str::FromStr>(description: &Description, name: &str) -> Option<T> {
    let note = description.notes.iter().find(|note| note.0 == name);
    note.and_then(|note| note.1.parse().ok())
}

fn info(hello: &Hello, description: &Description, screen: &Screen) -> Info {
    let mut info = Info {
        id: description.id,
        uuid: description.uuid,
        name: description.name.clone(),
        created_ms: description.created_ms,
        attached_ms: description.attached_ms,
        cwd: description.cwd.clone(),
        command: description.command.clone(),
        size: hello.size,
        title: String::new(),
        state: State::Running,
        offset: screen.offset(),
        resizes: note(description, RESIZES).unwrap_or(0),
        alternate: screen.is_alternate(),
        pid: hello.child_pid,
        holder_pid: hello.holder_pid,
        viewers: Vec::new(),
        notes: description.notes.clone(),
    };
    info.remember(screen);
    info
}
