//! Running the system's `ssh`: within a time, without leaving it behind, and with its words kept.
//!
//! Everything here is one `ssh` process that ends; the line it leaves open (`ControlPersist`) is
//! `tunnel`'s to use and to close.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The program.
pub(crate) const SSH: &str = "ssh";

/// What `ssh` ends with if the line failed; any other code is the far program's.
pub(crate) const LINE_FAILED: i32 = 255;

/// How much of each stream is kept: a far program that says more says nothing for us.
const MAX_SAID: usize = 64 << 10;

/// How often it is looked whether a process that said its last word has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What an `ssh` said, and how it ended.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// The far program's code, or 255 if the line failed.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error, and `ssh`'s own.
    pub err: String,
}

/// Why it said nothing.
#[derive(Debug)]
pub(crate) enum Mute {
    /// It could not be started.
    Absent(io::Error),
    /// The time was up, and it was ended.
    Late,
    /// Nobody wants to know any more, and it was ended.
    Unwanted,
    /// The system said no meanwhile.
    System(io::Error),
}

/// Runs it to its end. Whatever happens, the process is gone afterwards.
///
/// `stop` becomes readable, or is closed at its other end, when nobody wants to know any more.
pub(crate) fn run(
    mut command: Command,
    deadline: Instant,
    stop: Option<&UnixStream>,
) -> Result<Said, Mute> {
    // Questions to the person go to their terminal, not through these.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Mute::Absent)?;
    let listened = listen(&mut child, deadline, stop);
    if listened.is_err() {
        // It may have ended by itself; then there is nothing to end.
        child.kill().unwrap_or_default();
    }
    let status = child.wait().map_err(Mute::System)?;
    let mut said = listened?;
    said.code = status.code().unwrap_or(LINE_FAILED);
    Ok(said)
}

/// Listens until standard output is closed and the process has ended.
///
/// The end of standard error is not waited for: a `ProxyCommand` of the shared line keeps it open.
fn listen(child: &mut Child, deadline: Instant, stop: Option<&UnixStream>) -> Result<Said, Mute> {
    let mut out = Ear::new(child.stdout.take());
    let mut err = Ear::new(child.stderr.take());
    while out.is_open() {
        wait(&[out.fd(), err.fd(), stop.map(AsFd::as_fd)], deadline)?;
        if stop.is_some_and(is_readable) {
            return Err(Mute::Unwanted);
        }
        out.hear().map_err(Mute::System)?;
        err.hear().map_err(Mute::System)?;
    }
    while child.try_wait().map_err(Mute::System)?.is_none() {
        if Instant::now() >= deadline {
            return Err(Mute::Late);
        }
        thread::sleep(LOOK_EVERY);
    }
    err.hear().map_err(Mute::System)?;
    Ok(Said { code: 0, out: out.text(), err: err.text() })
}

/// Waits until one of them is ready.
fn wait(fds: &[Option<BorrowedFd<'_>>], deadline: Instant) -> Result<(), Mute> {
    let fds = fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
    let mut fds: Vec<PollFd<'_>> = fds.collect();
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Mute::Late);
    }
    let tv_sec = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
    match poll(&mut fds, Some(&Timespec { tv_sec, tv_nsec: left.subsec_nanos().into() })) {
        // The time is looked at on the next turn.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(Mute::System(error.into())),
    }
}

/// Whether a read would not wait.
fn is_readable(fd: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(count) if count > 0)
}

/// One stream of what is said.
struct Ear<R> {
    stream: Option<R>,
    heard: Vec<u8>,
}

impl<R: Read + AsFd> Ear<R> {
    fn new(stream: Option<R>) -> Ear<R> {
        Ear { stream, heard: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Takes what is there, and waits for nothing.
    fn hear(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        while let Some(stream) = self.stream.as_mut().filter(|it| is_readable(*it)) {
            match stream.read(&mut buffer) {
                Ok(0) => self.stream = None,
                Ok(count) => {
                    let room = MAX_SAID.saturating_sub(self.heard.len());
                    self.heard.extend_from_slice(&buffer[..count.min(room)]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.heard).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(30);

    fn sh(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn what_is_said_is_kept_to_a_bound() {
        let said = run(sh("echo out; echo err >&2; exit 3"), Instant::now() + LONG, None).unwrap();
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (3, "out\n", "err\n"));
        let line = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
        let said = run(sh(line), Instant::now() + LONG, None).unwrap();
        assert_eq!((said.out.len(), said.err.len()), (MAX_SAID, MAX_SAID));
    }

    #[test]
    fn a_process_that_keeps_standard_error_is_not_waited_for() {
        let line = "sleep 30 >/dev/null & echo $!";
        let said = run(sh(line), Instant::now() + LONG, None).unwrap();
        let pid = rustix::process::Pid::from_raw(said.out.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn it_is_ended_when_the_time_is_up_or_nobody_wants_to_know() {
        let late = run(sh("exec sleep 30"), Instant::now() + SOON, None);
        assert!(matches!(late, Err(Mute::Late)), "{late:?}");
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(ours);
        let unwanted = run(sh("exec sleep 30"), Instant::now() + LONG, Some(&theirs));
        assert!(matches!(unwanted, Err(Mute::Unwanted)), "{unwanted:?}");
        let absent = run(Command::new("/no/such/ssh"), Instant::now() + LONG, None);
        assert!(matches!(absent, Err(Mute::Absent(_))), "{absent:?}");
    }
}
