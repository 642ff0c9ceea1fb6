//! A client of tmux on a terminal of our own, whose other end is read and typed into here.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use greenroom_model::Size;
use greenroom_pty::{Master, Program, SpawnError};
use rustix::termios::OptionalActions;
use tokio::io::unix::AsyncFd;
use tokio::sync::{oneshot, watch};

use crate::Error;
use crate::client::Client;

/// How much one read has room for: more than the kernel gives at once.
const READ_BYTES: usize = 16 << 10;

/// A client of tmux, attached to a session.
///
/// One task may read while another types. Dropped, it hangs up: the client ends, the session stays.
pub struct Attachment {
    terminal: AsyncFd<Master>,
    /// Open as long as the client lives.
    lives: watch::Receiver<()>,
    /// Dropped together with the terminal, so that the end of the client is seen to.
    _held: oneshot::Sender<Infallible>,
}

/// Starts tmux on a new terminal.
pub(crate) fn start(
    program: &Path,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    size: Size,
) -> Result<Attachment, Error> {
    let (master, slave) = greenroom_pty::open(size).map_err(Error::Terminal)?;
    // Raw from the beginning: what is typed before tmux has made it so would be echoed and changed.
    let mut modes = rustix::termios::tcgetattr(&slave).map_err(terminal)?;
    modes.make_raw();
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes).map_err(terminal)?;
    #[expect(
        deprecated,
        reason = "the other way is unsafe; an owned descriptor makes this one sound"
    )]
    let master = AsyncFd::new(master).map_err(Error::Terminal)?;
    let args: Vec<Vec<u8>> = args.into_iter().map(OsString::into_vec).collect();
    let env: Vec<(Vec<u8>, Vec<u8>)> =
        env.into_iter().map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
    let started = Program {
        program: program.as_os_str().as_bytes(),
        arg0: b"tmux",
        args: &args,
        env: &env,
        cwd: b"/",
        open_files: None,
        umask: None,
    };
    let child = greenroom_pty::spawn(&started, &slave).map_err(|error| match error {
        SpawnError::Terminal(error) => Error::Terminal(error),
        SpawnError::Cwd(error) | SpawnError::Group(error) | SpawnError::Program(error) => {
            Error::Start(error)
        }
    })?;
    let client = Client::of(child).map_err(Error::Start)?;
    let (held, let_go) = oneshot::channel();
    let (living, lives) = watch::channel(());
    tokio::spawn(client.mind(let_go, living));
    Ok(Attachment { terminal: master, lives, _held: held })
}

impl Attachment {
    /// Appends what tmux draws next to `buffer` and says how many bytes that is; zero means that
    /// the client is gone and all was read.
    ///
    /// If the future is dropped, nothing was read.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub async fn read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        // A client that draws without end is always ready; others have their turn too.
        tokio::task::coop::consume_budget().await;
        buffer.reserve(READ_BYTES);
        while !self.is_gone() {
            tokio::select! {
                ready = self.terminal.readable() => {
                    if let Ok(read) = ready?.try_io(|terminal| terminal.get_ref().read(buffer)) {
                        return read;
                    }
                }
                () = self.gone() => {}
            }
        }
        // The server may keep the terminal open, but all that its client was to show is there.
        match self.terminal.get_ref().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            read => read,
        }
    }

    /// Types bytes, as many as the terminal takes now, and says how many; waits if it is full.
    ///
    /// If the future is dropped, nothing was typed.
    ///
    /// # Errors
    /// `BrokenPipe` when the client is gone.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        tokio::task::coop::consume_budget().await;
        while !self.is_gone() {
            tokio::select! {
                ready = self.terminal.writable() => {
                    let mut ready = ready?;
                    // A terminal that was full when it was closed says for ever that it is full.
                    if ready.ready().is_write_closed() {
                        break;
                    }
                    let write = |terminal: &AsyncFd<Master>| Ok(rustix::io::write(terminal.get_ref(), bytes)?);
                    if let Ok(written) = ready.try_io(write) {
                        return written;
                    }
                }
                () = self.gone() => {}
            }
        }
        Err(io::ErrorKind::BrokenPipe.into())
    }

    /// Gives the client's terminal another size; tmux draws anew for it.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        self.terminal.get_ref().resize(size)
    }

    fn is_gone(&self) -> bool {
        self.lives.has_changed().is_err()
    }

    async fn gone(&self) {
        let mut lives = self.lives.clone();
        while lives.changed().await.is_ok() {}
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("gone", &self.is_gone()).finish_non_exhaustive()
    }
}

fn terminal(error: rustix::io::Errno) -> Error {
    Error::Terminal(error.into())
}
