//! What a daemon does, as far as a holder can tell. Every wait has a name and a bound.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_proto::{Decoder, Description, FromHolder, Hello, Spawn, ToHolder};
use rustix::event::{PollFd, PollFlags, Timespec};
use tempfile::TempDir;

/// How long anything may take: far more than it does, on a machine with much else to do.
const BOUND: Duration = Duration::from_secs(20);

/// A holder's process. Whatever it started ends with it.
pub(crate) struct Holder {
    process: Child,
    socket: PathBuf,
    _folder: TempDir,
}

/// One connection to a holder.
pub(crate) struct Daemon {
    stream: UnixStream,
    decoder: Decoder,
    terminal: Option<OwnedFd>,
    /// What came beside the stream.
    descriptors: Vec<OwnedFd>,
}

/// What a child wrote, and how it ended.
pub(crate) struct Ended {
    pub(crate) text: String,
    pub(crate) status: ExitStatus,
}

/// What to start: a shell with this script, in `/`, with an empty environment but for `PATH`.
pub(crate) fn shell(script: &str) -> Spawn {
    let description = Description {
        id: SessionId(7),
        uuid: [7; 16],
        name: "test".into(),
        created_ms: 1,
        attached_ms: 0,
        cwd: "/".into(),
        command: vec!["sh".into()],
        notes: Vec::new(),
    };
    Spawn {
        socket: Vec::new(),
        description: description.encode(),
        program: b"sh".to_vec(),
        arg0: b"sh".to_vec(),
        args: vec![b"-c".to_vec(), script.into()],
        env: vec![(b"PATH".to_vec(), b"/usr/bin:/bin".to_vec())],
        cwd: b"/".to_vec(),
        size: Size::DEFAULT,
        keep_bytes: 16 << 20,
        open_files: 0,
        leashed: false,
        groups: Vec::new(),
    }
}

/// Starts a shell and waits for the holder's introduction.
pub(crate) fn started(script: &str) -> (Holder, Daemon, Hello) {
    let (holder, mut daemon) = Holder::start(shell(script));
    let hello = daemon.hello();
    (holder, daemon, hello)
}

/// Waits until something is true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !is_true() {
        assert!(Instant::now() < deadline, "not so after {BOUND:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a process is there and not a zombie.
pub(crate) fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != "Z")
}

/// The one letter a process's state has, if there is such a process.
pub(crate) fn state(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').next()?.to_owned())
}

impl Holder {
    /// A holder to which nothing was said yet.
    pub(crate) fn silent() -> (Holder, Daemon) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_holder"))
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let socket = folder.path().join("s");
        (Holder { process, socket, _folder: folder }, Daemon::new(ours))
    }

    /// A holder that was told what to start.
    pub(crate) fn start(spawn: Spawn) -> (Holder, Daemon) {
        let (holder, mut daemon) = Holder::silent();
        daemon.send(&holder.order(spawn));
        (holder, daemon)
    }

    /// The message for it: its socket is its own.
    pub(crate) fn order(&self, spawn: Spawn) -> ToHolder {
        let socket = self.socket.as_os_str().as_encoded_bytes().to_vec();
        ToHolder::Spawn(Box::new(Spawn { socket, ..spawn }))
    }

    pub(crate) fn connect(&self) -> Daemon {
        Daemon::new(UnixStream::connect(&self.socket).unwrap())
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits for its end, and tells whether it was a success.
    pub(crate) fn wait(&mut self) -> bool {
        let mut status = None;
        eventually("the holder ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().success()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // What is killed may have started another meanwhile, so more than once.
        for _ in 0..100 {
            let left = greenroom_pty::descendants(self.pid());
            let killed = left.iter().filter(|&&pid| greenroom_pty::kill(pid, 9)).count();
            if killed == 0 {
                break;
            }
        }
        let _ended_before = self.process.kill();
        let _reaped_before = self.process.wait();
    }
}

impl Daemon {
    fn new(stream: UnixStream) -> Daemon {
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.set_write_timeout(Some(BOUND)).unwrap();
        Daemon { stream, decoder: Decoder::default(), terminal: None, descriptors: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &ToHolder) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.send_bytes(&bytes).unwrap();
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Types into the terminal.
    pub(crate) fn type_in(&mut self, text: &str) {
        let terminal = self.terminal.as_ref().unwrap().try_clone().unwrap();
        File::from(terminal).write_all(text.as_bytes()).unwrap();
    }

    /// Asks for a tap and waits for it; what was printed before is dropped.
    #[track_caller]
    pub(crate) fn tap(&mut self) -> greenroom_pty::Tap {
        self.send(&ToHolder::Tap);
        while self.next("the tap") != Some(FromHolder::Tap) {}
        let terminal = self.terminal.as_ref().unwrap().try_clone().unwrap();
        let descriptors: [OwnedFd; 4] = std::mem::take(&mut self.descriptors).try_into().unwrap();
        greenroom_pty::Tap::new(terminal, descriptors).unwrap()
    }

    /// Asks for the tally and waits for it; what was printed before is dropped.
    #[track_caller]
    pub(crate) fn tally(&mut self) -> greenroom_pty::Tally {
        self.send(&ToHolder::Tally);
        while self.next("the tally") != Some(FromHolder::Tally { given: true }) {}
        let descriptors: [OwnedFd; 3] = std::mem::take(&mut self.descriptors).try_into().unwrap();
        greenroom_pty::Tally::new(descriptors, self.terminal()).unwrap()
    }

    /// The terminal's size.
    pub(crate) fn size(&self) -> Size {
        let size = rustix::termios::tcgetwinsize(self.terminal.as_ref().unwrap()).unwrap();
        Size::clamped(size.ws_col, size.ws_row)
    }

    /// Whether something lies in the terminal for who reads it.
    pub(crate) fn has_unread(&self) -> bool {
        let mut polled = [PollFd::new(self.terminal.as_ref().unwrap(), PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&Timespec::default())).unwrap() > 0
    }

    /// The terminal.
    pub(crate) fn terminal(&self) -> &OwnedFd {
        self.terminal.as_ref().unwrap()
    }

    /// Whether nothing came beside the messages but the terminal.
    pub(crate) fn has_no_descriptors(&self) -> bool {
        self.descriptors.is_empty()
    }

    /// Whether the terminal's descriptor has come.
    pub(crate) fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// The next message; none when the holder closed the connection.
    #[track_caller]
    pub(crate) fn next(&mut self, what: &str) -> Option<FromHolder> {
        loop {
            if let Some(message) = self.decoder.from_holder().unwrap() {
                return Some(message);
            }
            if !self.receive(what) {
                return None;
            }
        }
    }

    /// Waits for bytes. False at the end of the connection.
    #[track_caller]
    fn receive(&mut self, what: &str) -> bool {
        let mut buffer = vec![0; 64 << 10];
        let received =
            greenroom_pty::recv_with_fds(&self.stream, &mut buffer, &mut self.descriptors);
        let (length, _) = match received {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return false,
            received => received.unwrap_or_else(|error| panic!("waiting for {what}: {error}")),
        };
        if self.terminal.is_none() {
            self.terminal = self.descriptors.pop();
        }
        self.decoder.feed(&buffer[..length]);
        length > 0
    }

    /// The introduction: `Hello`, and the description after it.
    #[track_caller]
    pub(crate) fn hello(&mut self) -> Hello {
        let Some(FromHolder::Hello(hello)) = self.next("a hello") else { panic!("no hello") };
        let Some(FromHolder::Description(_)) = self.next("a description") else {
            panic!("no description")
        };
        hello
    }

    /// The next output from `at` on, added to `output`; none at the end.
    #[track_caller]
    pub(crate) fn output(&mut self, at: &mut Offset, output: &mut Vec<u8>) -> Option<ExitStatus> {
        match self.next("output") {
            Some(FromHolder::Output { at: begin, bytes }) => {
                assert_eq!(begin, *at, "output without a gap");
                *at += bytes.len() as u64;
                output.extend_from_slice(&bytes);
                None
            }
            Some(FromHolder::Ended(status)) => Some(status),
            Some(FromHolder::Tap | FromHolder::Tally { .. }) => None,
            other => panic!("no output: {other:?}"),
        }
    }

    /// Everything to the end.
    #[track_caller]
    pub(crate) fn until_ended(&mut self, mut at: Offset) -> Ended {
        let mut output = Vec::new();
        loop {
            if let Some(status) = self.output(&mut at, &mut output) {
                return Ended { text: String::from_utf8(output).unwrap(), status };
            }
        }
    }

    /// All output until it contains a text.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str, mut at: Offset) -> String {
        let mut output = Vec::new();
        while !String::from_utf8_lossy(&output).contains(text) {
            let ended = self.output(&mut at, &mut output);
            assert_eq!(ended, None, "no `{text}` in {:?}", String::from_utf8_lossy(&output));
        }
        String::from_utf8(output).unwrap()
    }

    /// Whether the holder closes the connection, whatever it says before.
    #[track_caller]
    pub(crate) fn closes(mut self) -> bool {
        while self.next("the end of the connection").is_some() {}
        let mut rest = [0; 1];
        matches!(self.stream.read(&mut rest), Ok(0) | Err(_))
    }
}
