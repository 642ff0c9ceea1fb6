//! What a connection needs of whatever carries it.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A stream of bytes to a daemon and back that never makes its caller wait.
///
/// The descriptor is for `poll`: readable when [`read`](Transport::read) has something, writable
/// when [`write`](Transport::write) has room. Both give `WouldBlock` otherwise.
pub trait Transport: AsFd + Send {
    /// Reads what is there; zero means that the other side is gone.
    ///
    /// # Errors
    /// What the system says, `WouldBlock` if there is nothing now.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes what there is room for.
    ///
    /// # Errors
    /// What the system says, `WouldBlock` if there is no room now.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Ends the stream both ways.
    ///
    /// # Errors
    /// What the system says.
    fn shutdown(&mut self) -> io::Result<()>;
}

/// The stream must be in non-blocking mode.
impl Transport for UnixStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn shutdown(&mut self) -> io::Result<()> {
        UnixStream::shutdown(self, Shutdown::Both)
    }
}
