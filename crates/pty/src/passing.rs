//! A descriptor from process to process, beside the bytes of a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Sends bytes, and a descriptor with the first of them. Says how many bytes were taken.
///
/// # Errors
/// As a write; nothing was sent then.
pub fn send_with_fd(
    socket: impl AsFd,
    bytes: &[u8],
    descriptor: BorrowedFd<'_>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor];
    if !beside.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    Ok(rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

/// Receives bytes, and the descriptor that came with them if one did. No bytes means the end.
///
/// A second descriptor is closed: nobody here sends one.
///
/// # Errors
/// As a read.
pub fn recv_with_fd(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(buffer)];
    let received = rustix::net::recvmsg(socket, &mut slices, &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((received.bytes, descriptor))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_descriptor_travels_with_the_first_byte() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut kept, given) = UnixStream::pair().unwrap();
        assert_eq!(send_with_fd(&here, b"hello", given.as_fd()).unwrap(), 5);
        drop(given);
        let mut buffer = [0; 2];
        let (length, descriptor) = recv_with_fd(&there, &mut buffer).unwrap();
        assert_eq!((length, &buffer), (2, b"he"));
        let descriptor = descriptor.unwrap();
        assert!(
            rustix::io::fcntl_getfd(&descriptor).unwrap().contains(rustix::io::FdFlags::CLOEXEC)
        );
        UnixStream::from(descriptor).write_all(b"!").unwrap();
        let mut read = String::new();
        kept.read_to_string(&mut read).unwrap();
        assert_eq!(read, "!");
        let (length, none) = recv_with_fd(&there, &mut buffer).unwrap();
        assert_eq!((length, none.is_none()), (2, true));
    }
}
