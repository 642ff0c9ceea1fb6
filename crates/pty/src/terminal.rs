//! A terminal's two ends.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use greenroom_model::Size;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, OptionalActions, Winsize};

/// The end of a terminal that a terminal emulator holds. Reads and writes never block.
#[derive(Debug)]
pub struct Master(OwnedFd);

/// Opens a terminal: the master, and the slave for a child.
///
/// The line discipline is the kernel's own default with UTF-8 input, so that erasing takes a
/// whole character.
///
/// # Errors
/// The system has no terminal or no descriptor left.
pub fn open(size: Size) -> io::Result<(Master, OwnedFd)> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let master = Master(rustix::fs::open("/dev/ptmx", flags, Mode::empty())?);
    rustix::pty::unlockpt(&master)?;
    // By the master, not by name: no other mount of devpts can be mistaken for ours.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = rustix::termios::tcgetattr(&slave)?;
    modes.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
    master.resize(size)?;
    Ok((master, slave))
}

impl Master {
    /// Gives the terminal a new size; the foreground programs are told if it differs.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows(), ws_col: size.cols(), ws_xpixel: 0, ws_ypixel: 0 };
        Ok(rustix::termios::tcsetwinsize(&self.0, size)?)
    }

    /// The size it has, which the programs on it may have changed.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn size(&self) -> io::Result<Size> {
        let size = rustix::termios::tcgetwinsize(&self.0)?;
        Ok(Size::clamped(size.ws_col, size.ws_row))
    }

    /// Appends what the children wrote to `buffer`, as far as it has room, and says how much.
    ///
    /// Zero means the last of them closed the terminal and nothing is left.
    ///
    /// # Errors
    /// `WouldBlock` when there is nothing yet. The kernel moves on what is under way before it
    /// says so: nothing written before the call is missed.
    pub fn read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match rustix::io::read(&self.0, spare_capacity(buffer)) {
            Err(rustix::io::Errno::IO) => Ok(0),
            read => Ok(read?),
        }
    }

    /// The process group in the foreground, if there is one.
    #[must_use]
    pub fn foreground(&self) -> Option<u32> {
        let group = rustix::termios::tcgetpgrp(&self.0).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Master {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_its_size_and_knows_utf8() {
        let (master, slave) = open(Size::clamped(91, 17)).unwrap();
        let size = rustix::termios::tcgetwinsize(&slave).unwrap();
        assert_eq!((size.ws_col, size.ws_row), (91, 17));
        let modes = rustix::termios::tcgetattr(&slave).unwrap();
        assert!(modes.input_modes.contains(InputModes::IUTF8));
        master.resize(Size::clamped(5, 6)).unwrap();
        assert_eq!(rustix::termios::tcgetwinsize(&slave).unwrap().ws_col, 5);
        assert_eq!(master.size().unwrap(), Size::clamped(5, 6));
        assert_eq!(master.foreground(), None);
    }

    #[test]
    fn reading_appends_waits_and_ends() {
        let (master, slave) = open(Size::DEFAULT).unwrap();
        let mut buffer = Vec::with_capacity(64);
        let nothing = master.read(&mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        rustix::io::write(&slave, b"one ").unwrap();
        assert_eq!(master.read(&mut buffer).unwrap(), 4);
        rustix::io::write(&slave, b"two").unwrap();
        drop(slave);
        assert_eq!(master.read(&mut buffer).unwrap(), 3);
        assert_eq!(master.read(&mut buffer).unwrap(), 0);
        assert_eq!(buffer, b"one two");
    }
}
