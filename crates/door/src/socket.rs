//! A listening socket for us alone.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use tokio::net::UnixListener;

/// The longest path the system takes for a socket, with the byte that ends it.
const MAX_PATH: usize = 108;

/// Whether a socket can have this path.
#[must_use]
pub fn takes_path(path: &Path) -> bool {
    path.as_os_str().len() < MAX_PATH
}

/// Why a socket cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Its path is longer than the system takes.
    #[error(
        "`{0}` is too long for a socket: at most 107 bytes; set GREENROOM_HOME to a shorter one"
    )]
    TooLong(PathBuf),
    /// Something is there that is not a socket of ours.
    #[error("`{0}` is there already and is not a socket of ours: remove it")]
    Foreign(PathBuf),
    /// The system said no.
    #[error("`{path}`: {error}")]
    Io {
        /// The socket.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Listens at a path, in the place of a socket that an earlier daemon left.
///
/// Whoever calls this holds the lock that says there is no other daemon.
///
/// # Errors
/// The path is too long, or taken by something that is not ours.
pub fn bind(path: &Path) -> Result<UnixListener, BindError> {
    let io = |error| BindError::Io { path: path.to_owned(), error };
    if !takes_path(path) {
        return Err(BindError::TooLong(path.to_owned()));
    }
    match fs::symlink_metadata(path) {
        Ok(there) => {
            let ours = there.uid() == rustix::process::getuid().as_raw();
            if !there.file_type().is_socket() || !ours {
                return Err(BindError::Foreign(path.to_owned()));
            }
            fs::remove_file(path).map_err(io)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(io(error)),
    }
    // The mode must be right from the first moment: changing it afterwards leaves a gap, and on
    // the bound descriptor does nothing.
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    bound.map_err(io)
}
