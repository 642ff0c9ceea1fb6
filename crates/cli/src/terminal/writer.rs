//! Standard output that never makes its caller wait, where that is possible.
//!
//! A terminal that does not read must not keep the person's keys from the session. Making standard
//! output itself non-blocking would make it so for every process that shares it, the shell
//! included: a terminal or a pipe is opened a second time instead. A file is not (it would be
//! written from its beginning), and never waits anyway.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, writev};
use rustix::stdio::stdout;
use rustix::termios::isatty;

use super::alternate::Alternate;
use super::timespec;

/// How many pieces go into one write: a few reads' worth, far below what the system takes.
const PIECES: usize = 64;

/// How long whoever reads may take for the last bytes before they are given up.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Bytes on their way to standard output.
pub(crate) struct Writer {
    fd: OwnedFd,
    waiting: VecDeque<Bytes>,
    /// Which screen it shows, if it is a terminal.
    alternate: Option<Alternate>,
}

impl Writer {
    /// A writer to standard output.
    pub(crate) fn stdout() -> io::Result<Writer> {
        let fd = match reopened() {
            Some(fd) => fd,
            None => stdout().try_clone_to_owned()?,
        };
        Ok(Writer { alternate: isatty(&fd).then(Alternate::default), ..Writer::to(fd) })
    }

    /// A writer to something that never makes its caller wait.
    pub(crate) fn to(fd: OwnedFd) -> Writer {
        Writer { fd, waiting: VecDeque::new(), alternate: None }
    }

    /// Whether it is a terminal that shows its alternate screen.
    pub(crate) fn shows_alternate(&self) -> bool {
        self.alternate.as_ref().is_some_and(Alternate::is_shown)
    }

    /// Adds bytes; they go with the next [`Writer::flush`].
    pub(crate) fn push(&mut self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        if !bytes.is_empty() {
            self.waiting.push_back(bytes);
        }
    }

    /// Whether bytes wait for room: then poll for writing.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Writes what there is room for.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while self.has_waiting() {
            let pieces: Vec<IoSlice<'_>> =
                self.waiting.iter().take(PIECES).map(|it| IoSlice::new(it)).collect();
            match writev(&self.fd, &pieces) {
                Ok(count) => self.written(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn written(&mut self, mut count: usize) {
        while let Some(first) = self.waiting.front_mut() {
            if let Some(alternate) = &mut self.alternate {
                alternate.note(&first[..count.min(first.len())]);
            }
            if count < first.len() {
                first.advance(count);
                return;
            }
            count -= first.len();
            self.waiting.pop_front();
        }
    }

    /// Writes what waits, as long as somebody reads it.
    pub(crate) fn finish(&mut self) {
        let deadline = Instant::now() + LAST_WRITE;
        while self.flush().is_ok() && self.has_waiting() {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut polled = [PollFd::from_borrowed_fd(self.fd.as_fd(), PollFlags::OUT)];
            let ready = poll(&mut polled, Some(&timespec(left)));
            if left.is_zero() || matches!(ready, Err(error) if error != Errno::INTR) {
                return;
            }
        }
    }

    /// Forgets what waits: nobody will see it.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }
}

impl AsFd for Writer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Standard output opened a second time, for us alone.
fn reopened() -> Option<OwnedFd> {
    let kind = FileType::from_raw_mode(fstat(stdout()).ok()?.st_mode);
    if !isatty(stdout()) && kind != FileType::Fifo {
        return None;
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open("/proc/self/fd/1", flags, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_there_is_no_room_for_waits_and_arrives_in_order() {
        let (mut reader, socket) = UnixStream::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut writer = Writer::to(socket.into());
        let wanted: Vec<u8> = (0..4_000_000u32).map(|it| (it % 251) as u8).collect();
        for part in wanted.chunks(10_007) {
            writer.push(Bytes::copy_from_slice(part));
        }
        writer.push("");
        writer.flush().unwrap();
        assert!(writer.has_waiting());
        let mut got = Vec::new();
        let mut buffer = vec![0; 100_000];
        while got.len() < wanted.len() {
            let count = reader.read(&mut buffer).unwrap();
            got.extend_from_slice(&buffer[..count]);
            writer.flush().unwrap();
        }
        assert!(got == wanted && !writer.has_waiting());
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error() {
        let (reader, socket) = UnixStream::pair().unwrap();
        drop(reader);
        let mut writer = Writer::to(socket.into());
        writer.push("x");
        assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
