//! Who is the daemon: the one that holds the lock. A socket file cannot say it, a lock ends with
//! its process whatever way that ended.

use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// How long a daemon that is ending or just starting is waited for: it has a few last bytes to
/// send, or hundreds of sessions to take up.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often its socket must answer for it to be alive: what a killed daemon was just starting
/// has that socket, too, until it is another program.
const ANSWERS: u32 = 5;

/// How often to look meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

/// Another daemon has the lock.
#[derive(Debug)]
pub(crate) struct Taken(String);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another daemon runs already (process {})", self.0)
    }
}

impl Error for Taken {}

/// The lock, held as long as this lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says who has it. A daemon that listens keeps it; one that is ending lets go
    /// of it soon, and so does a process that a killed one was just starting.
    pub(crate) fn take(path: &Path, socket: &Path) -> Result<Lock> {
        let deadline = Instant::now() + PATIENCE;
        let mut answers = 0;
        loop {
            match Lock::try_take(path) {
                Err(error) if error.is::<Taken>() && Instant::now() < deadline => {
                    answers += u32::from(UnixStream::connect(socket).is_ok());
                    if answers > ANSWERS {
                        return Err(error);
                    }
                    std::thread::sleep(PAUSE);
                }
                other => return other,
            }
        }
    }

    fn try_take(path: &Path) -> Result<Lock> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(path);
        let mut file = opened.with_context(|| format!("opening the lock `{}`", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.take(32).read_to_string(&mut pid).unwrap_or_default();
                return Err(Taken(pid.trim().to_owned()).into());
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking `{}`", path.display()));
            }
        }
        // The number is only for people; a full disk must not keep the daemon from starting.
        let _noted = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}
