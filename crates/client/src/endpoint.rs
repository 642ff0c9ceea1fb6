//! Where the daemon listens: checking whose socket that is, connecting, starting a daemon.
//!
//! **Invariant:** not a byte is sent before the folder, the socket and the process at its other
//! end are known to be of the same user. Checked with `lstat`: a link is somebody's redirection.

#[cfg(test)]
mod tests;

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Identity};
use crate::error::Error;

/// How many daemons are greeted: one that ends right then is no accident, and the next has just begun.
const GREETINGS: usize = 3;

/// How long a daemon that was started may take until it accepts: it has sessions to take over.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The first pause between two attempts: about what a daemon takes to start.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// The longest pause: a person does not notice it.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The socket beside the daemon's where it lends terminals.
const TAPS: &str = "tap.sock";

/// Folder permissions that let others put something else in the socket's place.
const OTHERS_WRITE: u32 = 0o022;

/// Where a daemon listens.
#[derive(Debug, Clone)]
pub struct Endpoint {
    path: PathBuf,
}

impl Endpoint {
    /// The daemon whose socket is there.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Endpoint {
        Endpoint { path: path.into() }
    }

    /// The socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the same daemon lends terminals.
    pub(crate) fn taps(&self) -> Endpoint {
        Endpoint { path: self.path.with_file_name(TAPS) }
    }

    /// The process that listens, without speaking to it: it may not answer. A system that does not
    /// tell gives none.
    ///
    /// # Errors
    /// No daemon, a socket that is not ours.
    pub fn peer(&self) -> Result<Option<u32>, Error> {
        let peer = rustix::net::sockopt::socket_peercred(self.stream()?);
        let peer = peer.map_err(|error| self.unreachable(error.into()))?;
        Ok(u32::try_from(peer.pid.as_raw_nonzero().get()).ok())
    }

    /// Connects to a daemon that is running.
    ///
    /// # Errors
    /// No daemon, a socket that is not ours, a daemon that speaks something else.
    pub fn connect(&self, identity: &Identity) -> Result<Connection, Error> {
        Connection::open(self.stream()?, identity)
    }

    /// Connects; if nothing listens, starts a daemon and waits until it does.
    ///
    /// # Errors
    /// As for [`Endpoint::connect`], and the text of a daemon that did not start.
    pub fn connect_or_start(
        &self,
        identity: &Identity,
        start: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<Connection, Error> {
        for _ in 1..GREETINGS {
            match Connection::open(self.stream_or_start(start)?, identity) {
                // It ended while we said who we are; nothing was asked of it yet.
                Err(Error::Lost(_)) => thread::sleep(FIRST_PAUSE),
                other => return other,
            }
        }
        Connection::open(self.stream_or_start(start)?, identity)
    }

    /// The same with a daemon that is only hailed: see [`Connection::hail`].
    ///
    /// # Errors
    /// As for [`Endpoint::connect_or_start`]; whose daemon it is shows with the first call.
    pub fn hail_or_start(
        &self,
        identity: &Identity,
        start: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<Connection, Error> {
        Connection::hail(self.stream_or_start(start)?, identity)
    }

    fn stream_or_start(
        &self,
        start: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<UnixStream, Error> {
        match self.stream() {
            Err(Error::Unreachable { .. }) => {
                start().map_err(Error::Start)?;
                self.wait_for_stream()
            }
            other => other,
        }
    }

    /// Tries until something listens, within bounds.
    fn wait_for_stream(&self) -> Result<UnixStream, Error> {
        let deadline = Instant::now() + START_TIMEOUT;
        let mut pause = FIRST_PAUSE;
        loop {
            match self.stream() {
                Err(Error::Unreachable { .. }) if Instant::now() < deadline => {}
                Err(Error::Unreachable { .. }) => {
                    let seconds = START_TIMEOUT.as_secs();
                    return Err(Error::Start(format!("nothing listens after {seconds} s")));
                }
                other => return other,
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Connects to the socket if it is ours.
    pub(crate) fn stream(&self) -> Result<UnixStream, Error> {
        self.check()?;
        let stream = UnixStream::connect(&self.path).map_err(|error| self.unreachable(error))?;
        stream.set_nonblocking(true).map_err(|error| self.unreachable(error))?;
        // The path may have changed hands since it was looked at; this cannot be.
        let peer = rustix::net::sockopt::socket_peercred(&stream);
        let peer = peer.map_err(|error| self.unreachable(error.into()))?.uid.as_raw();
        if peer != our_uid() {
            return Err(not_ours(&self.path, format!("user {peer} listens there")));
        }
        Ok(stream)
    }

    /// Refuses a folder or a socket that may be somebody else's.
    fn check(&self) -> Result<(), Error> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        folder.symlink_metadata().map_err(|error| self.unreachable(error))?;
        check_folder(folder)?;
        let about = self.path.symlink_metadata().map_err(|error| self.unreachable(error))?;
        if !about.file_type().is_socket() {
            return Err(not_ours(&self.path, "it is not a socket".into()));
        }
        check_owner(&self.path, about.uid())
    }

    fn unreachable(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::PermissionDenied => not_ours(&self.path, source.to_string()),
            _ => Error::Unreachable { path: self.path.clone(), source },
        }
    }
}

/// Refuses a folder in which others could put something in the place of something else.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Error> {
    let about = folder.symlink_metadata();
    let about = about.map_err(|source| Error::Unreachable { path: folder.to_owned(), source })?;
    if !about.is_dir() {
        return Err(not_ours(folder, "it is not a folder (a link is not followed)".into()));
    }
    check_owner(folder, about.uid())?;
    if about.mode() & OTHERS_WRITE != 0 {
        let mode = about.mode() & 0o777;
        return Err(not_ours(folder, format!("others may write to it (mode {mode:o})")));
    }
    Ok(())
}

fn check_owner(path: &Path, owner: u32) -> Result<(), Error> {
    match owner == our_uid() {
        true => Ok(()),
        false => Err(not_ours(path, format!("it belongs to user {owner}"))),
    }
}

fn not_ours(path: &Path, why: String) -> Error {
    Error::NotOurs { path: path.to_owned(), why }
}

fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
