//! The two halves of a connection, each woken by what it waits for and nothing else.
//!
//! A socket that is watched both ways wakes its owner also when the peer has read, which is after every
//! answer. Here it is watched for room only once there was none.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::UnixStream;

/// A socket that is watched.
type Watched = AsyncFd<Arc<OwnedFd>>;

/// How much is read at once from who says little, and at most: what is read into is cleared before.
const LITTLE: usize = 4 << 10;
const MUCH: usize = 32 << 10;

/// The half that is read.
#[derive(Debug)]
pub struct Reader {
    watched: Arc<Watched>,
    /// How much to read at once.
    much: usize,
}

/// The half that is written.
#[derive(Debug)]
pub struct Writer {
    socket: Arc<OwnedFd>,
    /// Tells when there is room, since there was none once.
    room: Option<Arc<Watched>>,
}

/// Takes a connection apart.
///
/// # Errors
/// The system is out of something.
pub fn halves(stream: UnixStream) -> io::Result<(Reader, Writer)> {
    let socket = Arc::new(OwnedFd::from(stream.into_std()?));
    // A descriptor is watched in one way at a time. Without another one it is watched both ways.
    match socket.try_clone() {
        Ok(other) => {
            let reader = Reader::new(Arc::new(watch(socket, Interest::READABLE)?));
            Ok((reader, Writer { socket: Arc::new(other), room: None }))
        }
        Err(_) => {
            let both = Interest::READABLE | Interest::WRITABLE;
            let watched = Arc::new(watch(Arc::clone(&socket), both)?);
            Ok((Reader::new(Arc::clone(&watched)), Writer { socket, room: Some(watched) }))
        }
    }
}

#[expect(deprecated, reason = "the other way is unsafe; an owned descriptor makes this one sound")]
fn watch(socket: Arc<OwnedFd>, interest: Interest) -> io::Result<Watched> {
    AsyncFd::with_interest(socket, interest)
}

impl Reader {
    fn new(watched: Arc<Watched>) -> Reader {
        Reader { watched, much: LITTLE }
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.watched.get_ref().as_fd()
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Reader { watched, much } = self.get_mut();
        loop {
            let mut ready = ready!(watched.poll_read_ready(cx))?;
            let room = into.remaining().min(*much);
            let buffer = into.initialize_unfilled_to(room);
            match rustix::net::recv(ready.get_inner(), buffer, RecvFlags::empty()) {
                Ok((count, _)) => {
                    // Less than there was room for is all there was; the end says so again.
                    if count > 0 && count < room {
                        ready.clear_ready();
                    }
                    *much = if count < room { LITTLE } else { MUCH };
                    into.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

impl Writer {
    /// The socket, for who writes at once.
    #[must_use]
    pub fn socket(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket)
    }

    /// Is ready when there may be room, after there was none.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let room = match &self.room {
            Some(room) => room,
            None => {
                let room = watch(Arc::clone(&self.socket), Interest::WRITABLE)?;
                self.room.insert(Arc::new(room))
            }
        };
        ready!(room.poll_write_ready(cx))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            match send(&self.socket, pieces) {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(Errno::AGAIN) => ready!(self.poll_room(cx))?,
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write)?))
    }
}

/// Writes what a socket takes without waiting.
pub(crate) fn send(socket: &OwnedFd, pieces: &[IoSlice<'_>]) -> Result<usize, Errno> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    // Most answers are one piece, which is a shorter call.
    if let [piece] = pieces {
        return rustix::net::send(socket, piece, flags);
    }
    rustix::net::sendmsg(socket, pieces, &mut SendAncillaryBuffer::default(), flags)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream as Peer;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// The halves of one end, and the other end.
    fn pair() -> (Reader, Writer, Peer) {
        let (ours, theirs) = Peer::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let (reader, writer) = halves(UnixStream::from_std(ours).unwrap()).unwrap();
        (reader, writer, theirs)
    }

    #[tokio::test]
    async fn what_is_written_piece_by_piece_is_read_until_the_end() {
        let (mut reader, _writer, mut theirs) = pair();
        let mut read = Vec::new();
        for piece in [&b"one"[..], b"two", b"three"] {
            theirs.write_all(piece).unwrap();
            let mut some = [0; 16];
            let count = reader.read(&mut some).await.unwrap();
            read.extend_from_slice(&some[..count]);
        }
        // More than is read at once, and then nothing.
        theirs.write_all(&[b'x'; 40]).unwrap();
        drop(theirs);
        reader.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, [&b"onetwothree"[..], &[b'x'; 40]].concat());
    }

    #[tokio::test]
    async fn who_does_not_read_is_waited_for_and_gets_everything() {
        let (_reader, mut writer, mut theirs) = pair();
        let sent: Vec<u8> = (0..4_000_000_u32).map(|it| it as u8).collect();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            writer.write_all(&sent).await.unwrap();
            let watched = writer.room.is_some();
            writer.shutdown().await.unwrap();
            watched
        });
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            theirs.read_to_end(&mut read).unwrap();
            read
        });
        assert!(writing.await.unwrap(), "there never was no room");
        assert!(reading.await.unwrap() == expected);
    }

    #[tokio::test]
    async fn a_peer_that_is_gone_is_an_error() {
        let (mut reader, mut writer, theirs) = pair();
        drop(theirs);
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 0);
        assert_eq!(writer.write(b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
