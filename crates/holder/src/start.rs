//! From a socket at standard input to a child on a terminal.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use greenroom_model::SessionId;
use greenroom_proto::{Description, FromHolder, Spawn, Stage, ToHolder};
use greenroom_pty::{Groups, Master, Program, Signals, SpawnError};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

use crate::link::Link;
use crate::listener::Listener;
use crate::session::Session;
use crate::turn::{Holder, timeout};

/// How long the first message may take. A daemon sends it at once or has died.
const FIRST_MESSAGE: Duration = Duration::from_secs(10);

/// Below a child's zero: a child that takes all memory ends before the holder that reports it.
const OOM_SCORE: &str = "-500";

/// Takes the first message and does what it says; nothing is left behind if that fails.
pub(crate) fn start() -> Option<Holder> {
    let mut link = Link::new(take_stdin().ok()?);
    let spawn = first_message(&mut link)?;
    let umask = detach();
    match begin(&spawn, umask) {
        Ok((signals, listener, master, slave, child, groups)) => {
            // Not allowed without privilege, and then it stays as it is.
            let _refused = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
            let id = Description::decode(&spawn.description).map_or(SessionId(0), |it| it.id);
            let mut session = Session::new(id, *spawn, (master, slave), child, groups);
            session.greet(link);
            // What it took to start is never needed again: the child's environment, mostly.
            greenroom_pty::return_free_memory();
            Some(Holder::new(session, signals, listener))
        }
        Err((stage, errno)) => {
            let mut message = Vec::new();
            FromHolder::Failed { stage, errno }.encode(&mut message);
            // The buffer of a socket nothing was sent on has room; if the daemon is gone, it is.
            let _gone = rustix::io::write(&link, &message);
            None
        }
    }
}

/// Moves the socket off standard input, and leaves nothing there, nor at the others.
fn take_stdin() -> std::io::Result<OwnedFd> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let flags = rustix::fs::fcntl_getfl(&socket)?;
    rustix::fs::fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(socket)
}

fn first_message(link: &mut Link) -> Option<Box<Spawn>> {
    let deadline = Instant::now() + FIRST_MESSAGE;
    loop {
        match link.message().ok()? {
            Some(ToHolder::Spawn(spawn)) => return Some(spawn),
            Some(_) => return None,
            None => {}
        }
        let now = Instant::now();
        if now >= deadline {
            return None;
        }
        let mut fds = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
        // An error of `poll` is a stop and a continue: the deadline holds.
        let _again = rustix::event::poll(&mut fds, timeout(Some(deadline), now).as_ref());
        if !fds[0].revents().is_empty() {
            link.receive().ok()?;
        }
    }
}

/// Leaves the daemon's surroundings, and gives the umask it came with: the child gets it back.
fn detach() -> u32 {
    // Refused if this process leads its group already, which is as good.
    let _leads = rustix::process::setsid();
    for signal in [Signal::HUP, Signal::PIPE] {
        let _never_fails = greenroom_pty::ignore_signal(signal.as_raw());
    }
    // No folder is kept busy.
    let _never_fails = rustix::process::chdir("/");
    // The socket is the one file it makes, and nobody executes a socket.
    rustix::process::umask(Mode::RWXG | Mode::RWXO | Mode::XUSR).as_raw_mode()
}

type Begun = (Signals, Listener, Master, OwnedFd, u32, Groups);

fn begin(spawn: &Spawn, umask: u32) -> Result<Begun, (Stage, i32)> {
    let at = |stage| move |error: std::io::Error| (stage, error.raw_os_error().unwrap_or(0));
    let taken = [Signal::CHILD, Signal::TERM, Signal::INT].map(Signal::as_raw);
    let signals = Signals::take(&taken).map_err(at(Stage::Terminal))?;
    greenroom_pty::adopt_orphans().map_err(at(Stage::Terminal))?;
    let listener =
        Listener::bind(&spawn.socket).map_err(|error| (Stage::Socket, error.raw_os_error()))?;
    let (master, slave) = greenroom_pty::open(spawn.size).map_err(at(Stage::Terminal))?;
    let program = Program {
        program: &spawn.program,
        arg0: &spawn.arg0,
        args: &spawn.args,
        env: &spawn.env,
        cwd: &spawn.cwd,
        open_files: (spawn.open_files > 0).then_some(spawn.open_files),
        umask: Some(umask),
    };
    let path = |bytes: &Vec<u8>| OsStr::from_bytes(bytes).into();
    let groups = Groups::new(spawn.groups.iter().map(path));
    let child =
        greenroom_pty::spawn_in(&program, &slave, &groups).map_err(|error| match error {
            SpawnError::Terminal(error) => at(Stage::Terminal)(error),
            SpawnError::Cwd(error) => at(Stage::Cwd)(error),
            SpawnError::Group(error) => at(Stage::Group)(error),
            SpawnError::Program(error) => at(Stage::Program)(error),
        })?;
    Ok((signals, listener, master, slave, child, groups))
}
