//! Descriptors from process to process, beside the bytes of a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// How many descriptors travel together at most: a terminal and what its tap needs.
pub const MAX_PASSED: usize = 5;

/// Sends bytes, and descriptors with the first of them. Says how many bytes were taken.
///
/// # Errors
/// As a write, and more descriptors than [`MAX_PASSED`]; nothing was sent then.
pub fn send_with_fds(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PASSED))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    Ok(rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

/// Receives bytes, and the descriptors that came with them. No bytes means the end. Also says whether
/// descriptors came, or would have if there had been room for them: then these are not all the bytes there are.
///
/// Descriptors past [`MAX_PASSED`] are closed: nobody here sends more.
///
/// # Errors
/// As a read.
pub fn recv_with_fds(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<(usize, bool)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PASSED))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(buffer)];
    let received = rustix::net::recvmsg(socket, &mut slices, &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let before = descriptors.len();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            descriptors.extend(passed);
        }
    }
    let cut = received.flags.contains(ReturnFlags::CTRUNC);
    Ok((received.bytes, cut || descriptors.len() > before))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn descriptors_travel_with_the_first_byte() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut kept, given) = UnixStream::pair().unwrap();
        assert_eq!(send_with_fds(&here, b"hello", &[given.as_fd(); 2]).unwrap(), 5);
        drop(given);
        let (mut buffer, mut descriptors) = ([0; 2], Vec::new());
        assert_eq!(recv_with_fds(&there, &mut buffer, &mut descriptors).unwrap(), (2, true));
        assert_eq!((&buffer, descriptors.len()), (b"he", 2));
        for descriptor in descriptors.drain(..) {
            let flags = rustix::io::fcntl_getfd(&descriptor).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
            UnixStream::from(descriptor).write_all(b"!").unwrap();
        }
        let mut read = String::new();
        kept.read_to_string(&mut read).unwrap();
        assert_eq!(read, "!!");
        assert_eq!(recv_with_fds(&there, &mut buffer, &mut descriptors).unwrap(), (2, false));
        assert!(descriptors.is_empty());
    }
}
