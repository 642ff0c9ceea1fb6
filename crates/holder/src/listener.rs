//! Where the next daemon finds the holder.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// How many daemons may knock at once. There is one, and perhaps the one it replaces.
const BACKLOG: i32 = 8;

/// A socket file and who knocks there. The file goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    path: Option<PathBuf>,
}

impl Listener {
    /// Listens at a path; the file's mode is what the umask leaves.
    pub(crate) fn bind(path: &[u8]) -> Result<Listener, Errno> {
        let path = Path::new(OsStr::from_bytes(path));
        if !path.is_absolute() {
            return Err(Errno::INVAL);
        }
        let address = SocketAddrUnix::new(path)?;
        let socket = stream()?;
        match rustix::net::bind(&socket, &address) {
            Err(Errno::ADDRINUSE) if is_stale(path, &address) => {
                rustix::fs::unlink(path)?;
                rustix::net::bind(&socket, &address)?;
            }
            bound => bound?,
        }
        let listener = Listener { socket, path: Some(path.to_owned()) };
        rustix::net::listen(&listener.socket, BACKLOG)?;
        Ok(listener)
    }

    /// Lets one in, if it is this user's. `WouldBlock` when nobody is there any more.
    pub(crate) fn accept(&self) -> io::Result<Option<OwnedFd>> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::accept_with(&self.socket, flags)?;
        let peer = rustix::net::sockopt::socket_peercred(&socket)?;
        Ok((peer.uid == rustix::process::getuid()).then_some(socket))
    }

    /// Whether the file is still there.
    pub(crate) fn is_findable(&self) -> bool {
        self.path.as_deref().is_some_and(is_socket)
    }

    /// Removes the file: nobody is to find the holder any more.
    pub(crate) fn remove(&mut self) {
        if let Some(path) = self.path.take() {
            // Somebody may have removed it before.
            let _gone = rustix::fs::unlink(path);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.remove();
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn stream() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Whether a socket file has nobody behind it. Whatever is no socket is not ours to remove.
fn is_stale(path: &Path, address: &SocketAddrUnix) -> bool {
    is_socket(path)
        && stream()
            .is_ok_and(|socket| rustix::net::connect(&socket, address) == Err(Errno::CONNREFUSED))
}

fn is_socket(path: &Path) -> bool {
    rustix::fs::lstat(path)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
}
