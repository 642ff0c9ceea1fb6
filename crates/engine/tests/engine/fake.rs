//! A holder played by the test, and an archive that keeps everything in memory.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use greenroom_engine::{
    Archive, ArchiveError, AuditEntry, Caller, Done, EndedRecord, Engine, Event, Limits,
    LivingRecord, Options, Rights, Scene, SizePolicy, Subscription, Waited,
};
use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_proto::{Decoder, Description, FromHolder, Hello, ToHolder};
use greenroom_screen::Screen;

/// How long anything may take before the test says what it waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// The session of every test.
pub(crate) const ID: SessionId = SessionId(7);

/// What a fake holder begins with.
pub(crate) struct Begin {
    pub(crate) kept: Offset,
    pub(crate) log: Vec<u8>,
    pub(crate) answered: Offset,
    pub(crate) checkpoint: Option<(Offset, Bytes)>,
    pub(crate) notes: Vec<(String, String)>,
    pub(crate) version: u16,
    /// It can count what clients type.
    pub(crate) tallies: bool,
}

impl Default for Begin {
    fn default() -> Begin {
        Begin {
            kept: Offset::START,
            log: Vec::new(),
            answered: Offset::START,
            checkpoint: None,
            notes: Vec::new(),
            version: greenroom_proto::VERSION,
            tallies: false,
        }
    }
}

/// An engine with one session on a fake holder.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) archive: Arc<Memory>,
    listener: UnixListener,
    holder: UnixStream,
    decoder: Decoder,
    /// What the program would read.
    pub(crate) terminal: UnixStream,
    at: Offset,
    pub(crate) folder: tempfile::TempDir,
}

/// Everything the archive was given.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) ended: Mutex<Vec<EndedRecord>>,
    pub(crate) full: Mutex<bool>,
}

impl Archive for Memory {
    fn created(&self, _: LivingRecord) {}
    fn renamed(&self, _: SessionId, _: String) {}
    fn ended(&self, record: EndedRecord, done: Done<()>) {
        if *self.full.lock().unwrap() {
            return done(Err(ArchiveError::Full));
        }
        self.ended.lock().unwrap().push(record);
        done(Ok(()));
    }
    fn checkpoint(&self, id: SessionId, done: Done<Option<Vec<u8>>>) {
        let ended = self.ended.lock().unwrap();
        let found = ended.iter().find(|it| it.living.id == id);
        done(Ok(found.and_then(|it| it.checkpoint.clone())));
    }
    fn forget(&self, id: SessionId, done: Done<()>) {
        self.ended.lock().unwrap().retain(|it| it.living.id != id);
        done(Ok(()));
    }
    fn audit(&self, _: AuditEntry) {}
}

fn options(folder: &Path) -> Options {
    Options {
        holder: "no-holder-is-started-here".into(),
        holders: folder.to_owned(),
        socket: folder.join("socket"),
        environment: Vec::new(),
        shell: "/bin/sh".to_owned(),
        cwd: "/".into(),
        size: size(),
        history_lines: 1000,
        size_policy: SizePolicy::Latest,
        lag_bytes: 64 << 10,
        clipboard_write: false,
        input_bytes: 4096,
        max_sessions: 10,
        grace: Duration::from_secs(1),
        keep_bytes: 1 << 20,
        open_files: 0,
        limits: Limits::default(),
        leashed: false,
    }
}

pub(crate) fn size() -> Size {
    Size::new(40, 10).unwrap()
}

impl World {
    pub(crate) async fn new() -> World {
        World::begin(Begin::default()).await
    }

    /// An engine that recovers a session from a holder in this state.
    pub(crate) async fn begin(begin: Begin) -> World {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("7.sock")).unwrap();
        let (terminal, ours) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let end = begin.kept + begin.log.len() as u64;
        let knocked = listener.try_clone().unwrap();
        let introduced = tokio::task::spawn_blocking(move || {
            let (mut holder, _) = knocked.accept().unwrap();
            introduce(&mut holder, &ours, &begin, end);
            holder
        });
        let archive = Arc::new(Memory::default());
        let shared: Arc<dyn Archive> = Arc::<Memory>::clone(&archive);
        let engine = Engine::new(options(folder.path()), shared, SessionId(1));
        let recovered = engine.recover().await.unwrap();
        let holder = introduced.await.unwrap();
        holder.set_read_timeout(Some(PATIENCE)).unwrap();
        terminal.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(recovered.sessions.len() + recovered.refused.len(), 1);
        let caller = Caller { id: engine.next_client(), rights: Rights::ALL, name: "test".into() };
        let decoder = Decoder::default();
        World { engine, caller, archive, listener, holder, decoder, terminal, at: end, folder }
    }

    /// The holder is met anew, in this state.
    pub(crate) async fn is_met(&mut self, begin: Begin) {
        let (terminal, ours) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let listener = self.listener.try_clone().unwrap();
        let introduced = tokio::task::spawn_blocking(move || {
            let (mut holder, _) = listener.accept().unwrap();
            introduce(&mut holder, &ours, &begin, begin.kept + begin.log.len() as u64);
            holder
        });
        let recovered = self.engine.recover().await.unwrap();
        assert_eq!(recovered.sessions, [ID]);
        self.holder = introduced.await.unwrap();
        (self.terminal, self.decoder) = (terminal, Decoder::default());
    }

    /// The program prints.
    pub(crate) fn prints(&mut self, bytes: impl AsRef<[u8]>) {
        for piece in bytes.as_ref().chunks(greenroom_proto::MAX_OUTPUT) {
            let bytes = Bytes::copy_from_slice(piece);
            self.say(&FromHolder::Output { at: self.at, bytes });
            self.at += piece.len() as u64;
        }
    }

    pub(crate) fn ends(&mut self, status: ExitStatus) {
        self.say(&FromHolder::Ended(status));
    }

    pub(crate) fn say(&mut self, message: &FromHolder) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.holder.write_all(&bytes).unwrap();
    }

    /// The holder reads a terminal through a pipe, and lends it.
    pub(crate) fn lends(&mut self, intake: &greenroom_pty::Intake) {
        let mut bytes = Vec::new();
        FromHolder::Tap.encode(&mut bytes);
        greenroom_pty::send_with_fds(&self.holder, &bytes, &intake.descriptors()).unwrap();
    }

    /// The holder gives what typing is counted with.
    pub(crate) fn gives_tally(&mut self, tally: &[std::os::fd::OwnedFd; 3]) {
        let mut bytes = Vec::new();
        FromHolder::Tally { given: true }.encode(&mut bytes);
        let descriptors = tally.each_ref().map(std::os::fd::AsFd::as_fd);
        greenroom_pty::send_with_fds(&self.holder, &bytes, &descriptors).unwrap();
    }

    /// The holder dies.
    pub(crate) fn dies(&mut self) {
        self.holder.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// The next thing the daemon says to the holder that `wanted` picks.
    pub(crate) async fn hears<T: Send + 'static>(
        &mut self,
        wanted: impl Fn(ToHolder) -> Option<T> + Send + 'static,
    ) -> T {
        let mut socket = self.holder.try_clone().unwrap();
        let mut decoder = std::mem::take(&mut self.decoder);
        let heard = tokio::task::spawn_blocking(move || {
            loop {
                while let Some(message) = decoder.to_holder().unwrap() {
                    if let Some(found) = wanted(message) {
                        return (found, decoder);
                    }
                }
                let mut buffer = [0; 65536];
                let length = socket.read(&mut buffer).expect("the daemon says something in time");
                assert!(length > 0, "the daemon hung up");
                decoder.feed(&buffer[..length]);
            }
        });
        let (found, decoder) = heard.await.unwrap();
        self.decoder = decoder;
        found
    }

    /// What arrives at the terminal next.
    pub(crate) async fn typed(&mut self) -> String {
        let mut terminal = self.terminal.try_clone().unwrap();
        let read = tokio::task::spawn_blocking(move || {
            let mut buffer = [0; 4096];
            let length = terminal.read(&mut buffer).expect("something is typed in time");
            String::from_utf8_lossy(&buffer[..length]).into_owned()
        });
        read.await.unwrap()
    }

    /// What the screen shows once everything printed so far was taken.
    pub(crate) async fn shown(&self) -> String {
        loop {
            let (offset, text) =
                self.engine.look(ID, |screen| (screen.offset(), screen.text())).await.unwrap();
            if offset >= self.at {
                return text;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn introduce(holder: &mut UnixStream, terminal: &UnixStream, begin: &Begin, end: Offset) {
    let hello = Hello {
        version: begin.version,
        session: ID,
        holder_pid: 2,
        child_pid: 3,
        size: size(),
        kept: begin.kept,
        end,
        answered: begin.answered,
        checkpoint: begin.checkpoint.is_some(),
        grouped: false,
        tallies: begin.tallies,
    };
    let description = Description {
        id: ID,
        uuid: [7; 16],
        name: "seven".to_owned(),
        created_ms: 1,
        attached_ms: 0,
        cwd: "/".to_owned(),
        command: vec!["fake".to_owned()],
        notes: begin.notes.clone(),
    };
    let mut bytes = Vec::new();
    FromHolder::Hello(hello).encode(&mut bytes);
    FromHolder::Description(description.encode().into()).encode(&mut bytes);
    if let Some((at, blob)) = begin.checkpoint.clone() {
        FromHolder::Checkpoint { at, blob }.encode(&mut bytes);
    }
    let mut at = begin.kept;
    for piece in begin.log.chunks(greenroom_proto::MAX_OUTPUT) {
        FromHolder::Output { at, bytes: Bytes::copy_from_slice(piece) }.encode(&mut bytes);
        at += piece.len() as u64;
    }
    let sent = greenroom_pty::send_with_fds(&*holder, &bytes, &[terminal.as_fd()]).unwrap();
    holder.write_all(&bytes[sent..]).unwrap();
}

/// The next event, or a complaint that it did not come.
pub(crate) async fn next(subscription: &mut Subscription) -> Event {
    let event = tokio::time::timeout(PATIENCE, subscription.next()).await;
    event.expect("an event comes in time").expect("the subscription goes on")
}

/// A terminal that is fed what a subscriber gets.
pub(crate) struct Viewer {
    pub(crate) screen: Screen,
    pub(crate) redraws: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) offset: Offset,
}

impl Viewer {
    pub(crate) fn new(size: Size) -> Viewer {
        let screen = Screen::new(size, greenroom_screen::Options::default());
        Viewer { screen, redraws: 0, bytes: Vec::new(), offset: Offset::START }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Output { end, bytes } => {
                self.offset = *end;
                self.bytes.extend_from_slice(bytes);
                self.screen.feed(bytes);
            }
            Event::Redraw { at, bytes, .. } => {
                self.offset = *at;
                self.redraws += 1;
                self.screen.feed(bytes);
            }
            _ => {}
        }
    }

    /// Takes events until the terminal shows a text.
    pub(crate) async fn until(&mut self, subscription: &mut Subscription, text: &str) {
        while !self.screen.text().contains(text) {
            self.take(&next(subscription).await);
        }
    }
}

/// What a wait came to.
pub(crate) fn told(waited: &Waited, _: Scene<'_>) -> Waited {
    waited.clone()
}
