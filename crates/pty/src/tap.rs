//! A terminal that more than one process may read, without a byte lost or out of order.
//!
//! The owner of a terminal takes what it prints out of a pipe, and anybody who has the same pipe may
//! *pull*: move bytes from the terminal into it. The system does that in one step and one at a time,
//! so the pipe has what the terminal printed, in order, whoever pulled and whatever became of them. Only
//! the owner takes bytes out; others *peek*: they get a copy of what lies in the pipe, and find on a
//! page of memory that they share at which offset it begins, and the last few bytes that were taken out.
//!
//! [`Intake`] is the owner's side, [`Tap`] everybody else's. All of them wake when something is printed;
//! who waits for an echo says so on a second page, and the owner then stands back for a moment. Who
//! types by a tap does it under the [`KeyLock`], so that nothing is typed into the middle of what another is
//! typing.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

use greenroom_model::Offset;
use rustix::buffer::spare_capacity;
use rustix::fs::{FlockOperation, SealFlags};
use rustix::io::Errno;
use rustix::mm::ProtFlags;
use rustix::pipe::{PipeFlags, SpliceFlags};
use rustix::time::ClockId;

use crate::Master;
use crate::page::{self, Page};

/// How much is pulled at once: as much as a terminal has. The system reserves as much for each pull.
const PULL: usize = 4 << 10;

/// How much is peeked at once: what lies in the pipe is a moment's output.
const PEEK: usize = 16 << 10;

/// How many bytes that were taken out are shown all the same: an echo, with a line of colours.
const RECENT: usize = 512;

/// How many of them are written at once.
const WORD: usize = size_of::<u64>();

/// How often to look again while the owner is just taking bytes out: as long as that takes it.
const PEEKS: usize = 200;

/// How long the owner stands back at most. Who waits for an echo takes microseconds for it; who says so and
/// does not, must not hold up the others noticeably.
const STAND_BACK: Duration = Duration::from_micros(300);

/// What the owner tells everybody: where the pipe begins.
#[derive(Debug)]
#[repr(C)]
struct Place {
    /// Odd while the owner takes bytes out.
    turn: AtomicU64,
    /// The offset of the first byte in the pipe.
    at: AtomicU64,
    /// How many of the bytes that were taken out last are here.
    recent: AtomicU64,
    /// These bytes.
    bytes: [AtomicU64; RECENT / WORD],
}

/// What anybody tells the owner.
#[derive(Debug)]
#[repr(C)]
struct Looking {
    /// Until when somebody waits for an echo, in nanoseconds of the monotonic clock.
    until: AtomicU64,
}

/// The owner's side of a terminal that others may read, too.
#[derive(Debug)]
pub struct Intake {
    out: OwnedFd,
    into: OwnedFd,
    place_memory: OwnedFd,
    place: Page<Place>,
    looking_memory: OwnedFd,
    looking: Page<Looking>,
}

impl Intake {
    /// Begins at an offset. From now on the terminal must be read by [`Intake::read`] alone.
    ///
    /// # Errors
    /// The system is out of something, or cannot move bytes from a terminal to a pipe.
    pub fn new(master: &Master, at: Offset) -> io::Result<Intake> {
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let (place_memory, looking_memory) =
            (page::memory(c"greenroom-tap")?, page::memory(c"greenroom-keys")?);
        let place = Page::<Place>::map(&place_memory, ProtFlags::READ | ProtFlags::WRITE)?;
        let looking = Page::map(&looking_memory, ProtFlags::READ)?;
        // Others may look at it and not write to it.
        rustix::fs::fcntl_add_seals(&place_memory, SealFlags::FUTURE_WRITE | SealFlags::SEAL)?;
        place.get().at.store(at.0, Ordering::Release);
        let intake = Intake { out, into, place_memory, place, looking_memory, looking };
        match pull(master.as_fd(), intake.into.as_fd()) {
            // A terminal that nobody has open is none of our business here.
            Ok(_) | Err(Errno::AGAIN | Errno::IO) => Ok(intake),
            Err(error) => Err(error.into()),
        }
    }

    /// What others need beside the terminal: the pipe's ends and the two pages.
    #[must_use]
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 4] {
        let (place, looking) = (self.place_memory.as_fd(), self.looking_memory.as_fd());
        [self.out.as_fd(), self.into.as_fd(), place, looking]
    }

    /// For how long to stand back, when the terminal has something: somebody waits for it.
    #[must_use]
    pub fn stand_back(&self) -> Option<Duration> {
        let until = self.looking.get().until.load(Ordering::Relaxed);
        let left = Duration::from_nanos(until.saturating_sub(monotonic()));
        (!left.is_zero()).then(|| left.min(STAND_BACK))
    }

    /// Appends what the children wrote to `buffer`, whoever pulled it. As [`Master::read`].
    ///
    /// # Errors
    /// As [`Master::read`].
    pub fn read(&self, master: &Master, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let pulled = pull(master.as_fd(), self.into.as_fd());
        match (self.take(buffer), pulled) {
            // Only now: the last words may have been pulled by somebody else.
            (Err(Errno::AGAIN), Ok(0) | Err(Errno::IO)) => Ok(0),
            (Err(Errno::AGAIN), Err(error)) => Err(error.into()),
            (taken, _) => Ok(taken?),
        }
    }

    /// Appends what others have pulled, and pulls nothing itself.
    ///
    /// # Errors
    /// `WouldBlock` when there is nothing.
    pub fn read_pulled(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        Ok(self.take(buffer)?)
    }

    /// Takes bytes out of the pipe, and says so on the page.
    fn take(&self, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
        let place = self.place.get();
        let (turn, begin) = (place.turn.load(Ordering::Relaxed), buffer.len());
        place.turn.store(turn.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let taken = rustix::io::read(&self.out, spare_capacity(buffer));
        if let Ok(taken @ 1..) = taken {
            place.at.fetch_add(taken as u64, Ordering::Relaxed);
            place.show(&buffer[begin..]);
        }
        place.turn.store(turn.wrapping_add(2), Ordering::Release);
        taken
    }
}

impl Place {
    /// Shows the last bytes that were taken out: these, and those before them as far as there is room.
    fn show(&self, taken: &[u8]) {
        let mut recent = Vec::with_capacity(2 * RECENT);
        if taken.len() < RECENT {
            self.shown(0, &mut recent);
        }
        recent.extend_from_slice(&taken[taken.len().saturating_sub(RECENT)..]);
        let recent = &recent[recent.len().saturating_sub(RECENT)..];
        for (word, bytes) in self.bytes.iter().zip(recent.chunks(WORD)) {
            let mut whole = [0; WORD];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
        }
        self.recent.store(recent.len() as u64, Ordering::Relaxed);
    }

    /// Appends the bytes that are shown, but for as many words of those that begin before an offset as
    /// can be left out, and says how many these are.
    fn shown(&self, known: u64, buffer: &mut Vec<u8>) -> usize {
        let begin = buffer.len();
        let shown =
            usize::try_from(self.recent.load(Ordering::Relaxed)).map_or(0, |it| it.min(RECENT));
        let first = self.at.load(Ordering::Relaxed).saturating_sub(shown as u64);
        let old = usize::try_from(known.saturating_sub(first)).map_or(shown, |it| it.min(shown));
        let words = old / WORD..shown.div_ceil(WORD);
        let count = shown - words.start * WORD;
        for word in &self.bytes[words] {
            buffer.extend_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        buffer.truncate(begin + count);
        count
    }
}

/// The side of anybody who may read a terminal and type into it beside its owner.
#[derive(Debug)]
pub struct Tap {
    terminal: OwnedFd,
    out: OwnedFd,
    into: OwnedFd,
    place: Page<Place>,
    looking: Page<Looking>,
    lock: KeyLock,
    /// Where the copy of what lies in the pipe goes.
    copy: (OwnedFd, OwnedFd),
}

impl Tap {
    /// A tap of the terminal and of what [`Intake::descriptors`] gave.
    ///
    /// # Errors
    /// These are not what they should be, or the system is out of something.
    pub fn new(terminal: OwnedFd, [out, into, place, looking]: [OwnedFd; 4]) -> io::Result<Tap> {
        let lock = KeyLock::new(&looking)?;
        let place = Page::map(&place, ProtFlags::READ)?;
        let looking = Page::map(&looking, ProtFlags::READ | ProtFlags::WRITE)?;
        let copy = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Tap { terminal, out, into, place, looking, lock, copy })
    }

    /// Says that an echo is waited for, for so long; the owner leaves it to us then.
    pub fn look_out(&self, wait: Duration) {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        self.looking.get().until.store(monotonic().saturating_add(wait), Ordering::Relaxed);
    }

    /// Appends what the children wrote last, and says at which offset that begins: what the owner has not
    /// taken yet, and a little before it, for who did not know that before. Nothing, if the owner is taking
    /// it at this moment.
    ///
    /// # Errors
    /// The terminal is gone, or the system is out of something.
    pub fn peek(&mut self, known: Offset, buffer: &mut Vec<u8>) -> io::Result<Option<Offset>> {
        match pull(self.terminal.as_fd(), self.into.as_fd()) {
            // Perhaps somebody pulled just before.
            Ok(_) | Err(Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        let (place, begin) = (self.place.get(), buffer.len());
        for _ in 0..PEEKS {
            let turn = place.turn.load(Ordering::Acquire);
            let at = place.at.load(Ordering::Relaxed);
            let shown = place.shown(known.0, buffer);
            self.copy(buffer)?;
            fence(Ordering::SeqCst);
            if turn % 2 == 0 && place.turn.load(Ordering::Relaxed) == turn {
                return Ok((buffer.len() > begin).then(|| Offset(at - shown as u64)));
            }
            buffer.truncate(begin);
            std::hint::spin_loop();
        }
        Ok(None)
    }

    /// Appends a copy of what lies in the pipe.
    fn copy(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        let (from, to) = &self.copy;
        let copied = match rustix::pipe::tee(&self.out, to, PEEK, SpliceFlags::NONBLOCK) {
            Ok(copied) => copied,
            Err(Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let end = buffer.len() + copied;
        buffer.reserve(copied);
        while buffer.len() < end {
            rustix::io::read(from, spare_capacity(buffer))?;
        }
        Ok(())
    }

    /// Types, as much as the terminal takes; nothing while somebody else is typing.
    ///
    /// # Errors
    /// `WouldBlock` if the terminal is full or somebody else is typing.
    pub fn type_in(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.lock.hold() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let typed = rustix::io::write(&self.terminal, bytes);
        self.lock.release();
        // Who passes it on to the program was put behind us on this processor, more often than not.
        std::thread::yield_now();
        Ok(typed?)
    }
}

/// The terminal, for `poll`.
impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

impl AsRawFd for Tap {
    fn as_raw_fd(&self) -> RawFd {
        self.terminal.as_raw_fd()
    }
}

/// Who types into a terminal that others type into as well.
///
/// A lock of the system's: it goes with who holds it, whatever becomes of them.
#[derive(Debug)]
pub struct KeyLock(File);

impl KeyLock {
    /// The lock of a page, for one who types.
    ///
    /// # Errors
    /// The system is out of something, or has no `/proc`.
    pub fn new(memory: impl AsFd) -> io::Result<KeyLock> {
        // Opened anew: a descriptor that was passed on shares its locks with who passed it.
        let path = format!("/proc/self/fd/{}", memory.as_fd().as_raw_fd());
        File::options().read(true).open(path).map(KeyLock)
    }

    /// Takes it, if nobody else has it; false if somebody does.
    #[must_use]
    pub fn hold(&self) -> bool {
        rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Lets it go.
    pub fn release(&self) {
        let _never_fails = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// The clock that all processes share, in nanoseconds.
fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Moves what the children wrote from a terminal into a pipe, in one step.
fn pull(terminal: BorrowedFd<'_>, into: BorrowedFd<'_>) -> Result<usize, Errno> {
    rustix::pipe::splice(terminal, None, into, None, PULL, SpliceFlags::NONBLOCK)
}

#[cfg(test)]
mod tests {
    use greenroom_model::Size;

    use super::*;

    fn tap_of(master: &Master, intake: &Intake) -> Tap {
        let terminal = master.as_fd().try_clone_to_owned().unwrap();
        Tap::new(terminal, intake.descriptors().map(|it| it.try_clone_to_owned().unwrap())).unwrap()
    }

    fn raw_terminal() -> (Master, OwnedFd) {
        let (master, slave) = crate::open(Size::DEFAULT).unwrap();
        let mut modes = rustix::termios::tcgetattr(&slave).unwrap();
        modes.make_raw();
        rustix::termios::tcsetattr(&slave, rustix::termios::OptionalActions::Now, &modes).unwrap();
        (master, slave)
    }

    #[test]
    fn what_is_peeked_at_is_still_there_for_the_owner() {
        let (master, slave) = raw_terminal();
        let intake = Intake::new(&master, Offset(100)).unwrap();
        let mut tap = tap_of(&master, &intake);
        let mut seen = Vec::new();
        assert_eq!(tap.peek(Offset::START, &mut seen).unwrap(), None);
        rustix::io::write(&slave, b"one").unwrap();
        assert_eq!(tap.peek(Offset::START, &mut seen).unwrap(), Some(Offset(100)));
        assert_eq!(seen, b"one");
        rustix::io::write(&slave, b" two").unwrap();
        seen.clear();
        assert_eq!(tap.peek(Offset::START, &mut seen).unwrap(), Some(Offset(100)));
        assert_eq!(seen, b"one two");
        let mut log = Vec::with_capacity(64);
        assert_eq!(intake.read(&master, &mut log).unwrap(), 7);
        assert_eq!(log, b"one two");
        rustix::io::write(&slave, b"!").unwrap();
        seen.clear();
        assert_eq!(tap.peek(Offset::START, &mut seen).unwrap(), Some(Offset(100)));
        assert_eq!(seen, b"one two!", "what was taken out last is shown, too");
        assert_eq!(intake.read(&master, &mut log).unwrap(), 1);
        seen.clear();
        assert_eq!(tap.peek(Offset::START, &mut seen).unwrap(), Some(Offset(100)));
        assert_eq!(seen, b"one two!", "and what was taken out before that");
        drop(slave);
        assert_eq!(intake.read(&master, &mut log).unwrap(), 0);
        assert_eq!(log, b"one two!");
    }

    #[test]
    fn of_what_was_taken_out_the_last_is_shown() {
        let (master, slave) = raw_terminal();
        let intake = Intake::new(&master, Offset::START).unwrap();
        let mut tap = tap_of(&master, &intake);
        let mut printed = Vec::new();
        for length in [1, 7, 300, 9, 300, 511, 512, 513, 2000, 3] {
            let bytes: Vec<u8> = (0..length).map(|it| b'a' + (it % 26) as u8).collect();
            rustix::io::write(&slave, &bytes).unwrap();
            printed.extend_from_slice(&bytes);
            let mut log = Vec::with_capacity(4096);
            while log.len() < length {
                intake.read(&master, &mut log).unwrap();
            }
            let mut seen = Vec::new();
            let at = tap.peek(Offset::START, &mut seen).unwrap().unwrap();
            let from = printed.len().saturating_sub(RECENT);
            assert_eq!(at, Offset(from as u64));
            assert!(seen == printed[from..], "after {length}");
            // Who knows the beginning is spared most of it, and misses nothing.
            for known in [0, from, from + 5, printed.len() - 1, printed.len()] {
                seen.clear();
                let at = tap.peek(Offset(known as u64), &mut seen).unwrap();
                let at = at.map_or(printed.len(), |at| at.0 as usize);
                assert!(seen == printed[at..] && at <= known.max(from), "{known} after {length}");
                assert!(known.max(from) - at < WORD);
            }
        }
    }

    #[test]
    fn every_byte_comes_once_and_in_order_however_many_pull() {
        const BYTES: usize = 1 << 20;
        let (master, slave) = raw_terminal();
        let intake = Intake::new(&master, Offset::START).unwrap();
        let byte = |at: usize| (at / 3 % 251) as u8;
        let all: Vec<u8> = (0..BYTES).map(byte).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for chunk in all.chunks(777) {
                    let mut rest = chunk;
                    while !rest.is_empty() {
                        rest = &rest[rustix::io::write(&slave, rest).unwrap()..];
                    }
                }
            });
            for _ in 0..2 {
                let (mut tap, all) = (tap_of(&master, &intake), &all);
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    loop {
                        seen.clear();
                        let Ok(at) = tap.peek(Offset::START, &mut seen) else { return };
                        let at = at.map_or(0, |it| it.0 as usize);
                        assert!(seen.is_empty() || all[at..at + seen.len()] == seen[..], "{at}");
                        if tap.place.get().at.load(Ordering::Acquire) == BYTES as u64 {
                            return;
                        }
                        std::thread::yield_now();
                    }
                });
            }
            let mut log = Vec::with_capacity(BYTES + PULL);
            while log.len() < BYTES {
                match intake.read(&master, &mut log) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        std::thread::yield_now();
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            assert!(log == all);
        });
    }

    #[test]
    fn the_page_is_the_owners_and_keys_are_typed_one_at_a_time() {
        let (master, slave) = raw_terminal();
        let intake = Intake::new(&master, Offset::START).unwrap();
        let [_, _, place, _] = intake.descriptors();
        assert!(Page::<Place>::map(place, ProtFlags::READ | ProtFlags::WRITE).is_err());
        assert!(rustix::io::write(place, b"x").is_err());
        let (one, two) = (tap_of(&master, &intake), tap_of(&master, &intake));
        assert!(one.lock.hold());
        assert_eq!(two.type_in(b"x").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        one.lock.release();
        assert_eq!(two.type_in(b"x").unwrap(), 1);
        let mut read = [0; 4];
        assert_eq!(rustix::io::read(&slave, &mut read).unwrap(), 1);
    }

    #[test]
    fn the_owner_stands_back_for_who_looks_out_and_not_for_long() {
        let (master, _slave) = raw_terminal();
        let intake = Intake::new(&master, Offset::START).unwrap();
        let tap = tap_of(&master, &intake);
        assert_eq!(intake.stand_back(), None);
        tap.look_out(Duration::from_secs(3600));
        assert_eq!(intake.stand_back(), Some(STAND_BACK));
        tap.look_out(Duration::ZERO);
        assert_eq!(intake.stand_back(), None);
    }
}
