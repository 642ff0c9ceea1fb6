//! How much each client has typed, to the byte, whatever becomes of who types it for them.
//!
//! A daemon types what clients send it, and may be killed in the middle of a `write`: nobody could say
//! then how much of it the terminal took. So a *piece* goes into a pipe first, which outlives the
//! daemon, and from there into the terminal: the system moves it in one step, and what is left in
//! the pipe is what the terminal has not taken. How much each client typed before is on a page beside
//! it. The next daemon reads both, throws the rest of the piece away and tells the client where to go
//! on; the client still has it.
//!
//! The holder makes a tally and keeps it ([`Tally::make`]); one daemon at a time uses it.
//!
//! Invariant: whatever single step was the last one, page and pipe tell how much the terminal took.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::ProtFlags;
use rustix::pipe::{PIPE_BUF, PipeFlags, SpliceFlags};

use crate::page::{self, Page};

/// How many clients are known: as many as ever type into one session at a time, and those who were cut off
/// and may come back.
const TYPISTS: usize = 100;

/// What is on the page.
#[derive(Debug)]
#[repr(C)]
struct Counts {
    /// Whose piece was in the pipe last.
    current: AtomicU64,
    /// Counts up whenever somebody comes or types.
    clock: AtomicU64,
    /// How many were forgotten to make room for others.
    forgotten: AtomicU64,
    typists: [Count; TYPISTS],
}

/// What a client typed.
#[derive(Debug)]
#[repr(C)]
struct Count {
    /// Who it is; nobody is zero.
    token: AtomicU64,
    /// When it came or typed last.
    came: AtomicU64,
    /// How many bytes went into the pipe.
    typed: AtomicU64,
    /// How many will have, once the piece that is being put there is in it. Less than `typed` says how
    /// many the terminal took, while the rest of a piece is being thrown away.
    announced: AtomicU64,
}

/// A client whose typing is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typist(usize);

/// The page and the pipe, for the daemon that uses them.
#[derive(Debug)]
pub struct Tally {
    counts: Page<Counts>,
    out: OwnedFd,
    into: OwnedFd,
    /// How much of the current piece is in the pipe.
    rest: usize,
}

impl Tally {
    /// What a tally is made of: to be kept, and given to each daemon in turn.
    ///
    /// # Errors
    /// The system is out of something.
    pub fn make() -> io::Result<[OwnedFd; 3]> {
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok([page::memory(c"greenroom-tally")?, out, into])
    }

    /// Goes on with a tally. What was left in the pipe was not typed, and is gone.
    ///
    /// # Errors
    /// These are not what they should be, the system is out of something, or it cannot move bytes from a pipe
    /// to this terminal.
    pub fn new([memory, out, into]: [OwnedFd; 3], terminal: impl AsFd) -> io::Result<Tally> {
        let counts = Page::map(&memory, ProtFlags::READ | ProtFlags::WRITE)?;
        let mut tally = Tally { counts, out, into, rest: 0 };
        tally.settle()?;
        let flags = SpliceFlags::NONBLOCK;
        match rustix::pipe::splice(&tally.out, None, terminal, None, PIPE_BUF, flags) {
            // The pipe is empty; whether the terminal is still there shows when something is typed.
            Ok(_) | Err(Errno::AGAIN | Errno::IO) => Ok(tally),
            Err(error) => Err(error.into()),
        }
    }

    /// The count of who calls itself so. One that is not known begins at zero, in the place of who has
    /// not come or typed for longest and is not here; nobody's, if all are here.
    pub fn typist(&self, token: u64, is_here: impl Fn(u64) -> bool) -> Option<Typist> {
        let counts = self.counts.get();
        let clock = counts.clock.fetch_add(1, Ordering::SeqCst) + 1;
        let mut all = counts.typists.iter();
        if let Some(known) = all.position(|it| it.token.load(Ordering::SeqCst) == token) {
            counts.typists[known].came.store(clock, Ordering::SeqCst);
            return Some(Typist(known));
        }
        let current = counts.current.load(Ordering::SeqCst);
        let free = counts.typists.iter().enumerate().filter(|(index, it)| {
            let busy = self.rest > 0 && *index as u64 == current;
            let token = it.token.load(Ordering::SeqCst);
            !busy && (token == 0 || !is_here(token))
        });
        let Some((index, count)) = free.min_by_key(|(_, it)| it.came.load(Ordering::SeqCst)) else {
            // What it types is nowhere.
            counts.forgotten.fetch_add(1, Ordering::SeqCst);
            return None;
        };
        if count.token.load(Ordering::SeqCst) != 0 {
            counts.forgotten.fetch_add(1, Ordering::SeqCst);
        }
        // First nobody's: a count of one is never taken for that of the other.
        count.token.store(0, Ordering::SeqCst);
        count.typed.store(0, Ordering::SeqCst);
        count.announced.store(0, Ordering::SeqCst);
        count.came.store(clock, Ordering::SeqCst);
        count.token.store(token, Ordering::SeqCst);
        Some(Typist(index))
    }

    /// Whether it is known how much somebody who calls itself so has typed. Of a stranger that is: nothing,
    /// unless somebody was forgotten.
    #[must_use]
    pub fn knows(&self, token: u64) -> bool {
        let counts = self.counts.get();
        let mut all = counts.typists.iter();
        counts.forgotten.load(Ordering::SeqCst) == 0
            || all.any(|it| it.token.load(Ordering::SeqCst) == token)
    }

    /// Something is typed that is not counted: whose it is, nobody knows any more.
    pub fn lose_count(&self) {
        let counts = self.counts.get();
        counts.forgotten.fetch_add(1, Ordering::SeqCst);
        counts.typists.iter().for_each(|it| it.token.store(0, Ordering::SeqCst));
    }

    /// How many bytes of a client's the terminal took.
    #[must_use]
    pub fn typed(&self, typist: Typist) -> u64 {
        let rest = if self.is_current(typist) { self.rest as u64 } else { 0 };
        self.count(typist).typed.load(Ordering::SeqCst).saturating_sub(rest)
    }

    /// Whether the terminal has taken all that was put into the pipe.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest == 0
    }

    /// Puts as much of this into the pipe as makes a piece, and says how much that is. The piece before must
    /// have been taken.
    ///
    /// # Errors
    /// The system is out of something; nothing was put there.
    pub fn put(&mut self, typist: Typist, bytes: &[u8]) -> io::Result<usize> {
        // One of this length goes in whole or not at all.
        let piece = &bytes[..bytes.len().min(PIPE_BUF)];
        let clock = self.counts.get().clock.fetch_add(1, Ordering::SeqCst) + 1;
        self.count(typist).came.store(clock, Ordering::SeqCst);
        let typed = self.announce(typist, piece);
        match rustix::io::write(&self.into, piece) {
            Ok(_) => {
                self.note(typist, typed, piece);
                Ok(piece.len())
            }
            Err(error) => {
                self.count(typist).announced.store(typed, Ordering::SeqCst);
                Err(error.into())
            }
        }
    }

    fn announce(&self, typist: Typist, piece: &[u8]) -> u64 {
        let count = self.count(typist);
        let typed = count.typed.load(Ordering::SeqCst);
        self.counts.get().current.store(typist.0 as u64, Ordering::SeqCst);
        count.announced.store(typed + piece.len() as u64, Ordering::SeqCst);
        typed
    }

    fn note(&mut self, typist: Typist, before: u64, piece: &[u8]) {
        self.count(typist).typed.store(before + piece.len() as u64, Ordering::SeqCst);
        self.rest = piece.len();
    }

    /// Has the terminal take what is in the pipe.
    ///
    /// # Errors
    /// `WouldBlock` if it does not take all of it now; anything else if it never will.
    pub fn pass_on(&mut self, terminal: impl AsFd) -> io::Result<()> {
        while self.rest > 0 {
            let flags = SpliceFlags::NONBLOCK;
            match rustix::pipe::splice(&self.out, None, terminal.as_fd(), None, self.rest, flags) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(taken) => self.rest -= taken.min(self.rest),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Throws away what this client has in the pipe.
    ///
    /// # Errors
    /// The system is out of something.
    pub fn take_back(&mut self, typist: Typist) -> io::Result<()> {
        if self.rest > 0 && self.is_current(typist) { self.settle() } else { Ok(()) }
    }

    /// Throws away what is in the pipe: it was not typed.
    ///
    /// # Errors
    /// The system is out of something.
    pub fn settle(&mut self) -> io::Result<()> {
        let counts = self.counts.get();
        let current = usize::try_from(counts.current.load(Ordering::SeqCst)).unwrap_or(TYPISTS);
        let Some(count) = counts.typists.get(current) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let typed = count.typed.load(Ordering::SeqCst);
        let announced = count.announced.load(Ordering::SeqCst);
        let left = rustix::io::ioctl_fionread(&self.out)?;
        let taken = match announced.cmp(&typed) {
            // Somebody was about to throw it away.
            std::cmp::Ordering::Less => announced,
            std::cmp::Ordering::Equal => typed.saturating_sub(left),
            // It was just being put there; nothing of it can have been taken.
            std::cmp::Ordering::Greater => typed,
        };
        if taken < typed {
            count.announced.store(taken, Ordering::SeqCst);
        }
        self.empty()?;
        count.typed.store(taken, Ordering::SeqCst);
        count.announced.store(taken, Ordering::SeqCst);
        self.rest = 0;
        Ok(())
    }

    fn empty(&self) -> io::Result<()> {
        loop {
            match rustix::io::read(&self.out, &mut [0; PIPE_BUF]) {
                Err(Errno::AGAIN) | Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_current(&self, typist: Typist) -> bool {
        self.counts.get().current.load(Ordering::SeqCst) == typist.0 as u64
    }

    fn count(&self, typist: Typist) -> &Count {
        &self.counts.get().typists[typist.0]
    }
}

#[cfg(test)]
mod tests {
    use greenroom_model::Size;

    use super::*;
    use crate::Master;

    const ANNA: u64 = 7;

    fn raw_terminal() -> (Master, OwnedFd) {
        let (master, slave) = crate::open(Size::DEFAULT).unwrap();
        let mut modes = rustix::termios::tcgetattr(&slave).unwrap();
        modes.make_raw();
        rustix::termios::tcsetattr(&slave, rustix::termios::OptionalActions::Now, &modes).unwrap();
        rustix::io::ioctl_fionbio(&slave, true).unwrap();
        (master, slave)
    }

    /// The next daemon.
    fn next(made: &[OwnedFd; 3]) -> Tally {
        let (master, _slave) = raw_terminal();
        Tally::new(made.each_ref().map(|it| it.try_clone().unwrap()), master.as_fd()).unwrap()
    }

    fn known(tally: &Tally, token: u64) -> Typist {
        assert!(tally.knows(token));
        tally.typist(token, |_| true).unwrap()
    }

    /// All that the terminal took; `until` it says so, for it is handed on by another thread of the system.
    fn read(slave: &OwnedFd, until: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < until {
            match rustix::io::read(
                slave,
                rustix::buffer::spare_capacity({
                    all.reserve(4096);
                    &mut all
                }),
            ) {
                Ok(_) | Err(Errno::AGAIN) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
        all
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|it| (it / 7 % 251) as u8).collect()
    }

    #[test]
    fn what_a_full_terminal_did_not_take_is_not_counted_and_the_rest_follows() {
        const ALL: usize = 300_000;
        let (master, slave) = raw_terminal();
        let made = Tally::make().unwrap();
        let (all, mut got) = (bytes(ALL), Vec::new());
        let mut typed = 0;
        let mut ends = 0;
        while typed < ALL {
            let mut tally = next(&made);
            let anna = tally.typist(ANNA, |_| false).unwrap();
            assert_eq!(tally.typed(anna), typed as u64);
            let mut put = typed;
            while put < ALL {
                put += tally.put(anna, &all[put..]).unwrap();
                if let Err(error) = tally.pass_on(master.as_fd()) {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    ends += 1;
                    break;
                }
            }
            let taken = tally.typed(anna) as usize;
            assert!(taken <= put && put - taken <= PIPE_BUF, "{taken} of {put}");
            // That one ends; nothing of what it says to itself is left.
            drop(tally);
            got.extend(read(&slave, taken - typed));
            typed = taken;
        }
        assert!(ends > 0 && got == all, "{ends}");
    }

    #[test]
    fn whatever_step_was_the_last_the_count_is_right() {
        let (master, slave) = raw_terminal();
        let made = Tally::make().unwrap();
        let mut first = next(&made);
        let anna = first.typist(ANNA, |_| false).unwrap();
        first.put(anna, b"before").unwrap();
        first.pass_on(master.as_fd()).unwrap();
        let counted = |tally: &Tally| tally.typed(known(tally, ANNA));
        let one = next(&made);
        one.announce(anna, b"piece");
        assert_eq!(counted(&next(&made)), 6, "announced");
        let one = next(&made);
        one.announce(anna, b"piece");
        rustix::io::write(&one.into, b"piece").unwrap();
        assert_eq!(counted(&next(&made)), 6, "put");
        let mut one = next(&made);
        one.put(anna, b"piece").unwrap();
        assert_eq!(counted(&next(&made)), 6, "noted");
        let mut one = next(&made);
        one.put(anna, b"piece").unwrap();
        let flags = SpliceFlags::NONBLOCK;
        rustix::pipe::splice(&one.out, None, master.as_fd(), None, 2, flags).unwrap();
        // The one that throws the rest away ends as well: before, in the middle, and after.
        one.count(anna).announced.store(8, Ordering::SeqCst);
        let two = Tally { rest: 0, ..next_unsettled(&made) };
        rustix::io::read(&two.out, &mut [0; 1]).unwrap();
        assert_eq!(counted(&next(&made)), 8, "in part");
        let mut one = next(&made);
        one.put(anna, b"ece").unwrap();
        one.pass_on(master.as_fd()).unwrap();
        assert_eq!(counted(&next(&made)), 11, "taken");
        assert_eq!(read(&slave, 11), b"beforepiece");
    }

    fn next_unsettled(made: &[OwnedFd; 3]) -> Tally {
        let [memory, out, into] = made.each_ref().map(|it| it.try_clone().unwrap());
        let counts = Page::map(&memory, ProtFlags::READ | ProtFlags::WRITE).unwrap();
        Tally { counts, out, into, rest: 0 }
    }

    #[test]
    fn who_was_here_longest_ago_makes_room_for_others_and_who_is_here_does_not() {
        let tally = next(&Tally::make().unwrap());
        let all: Vec<u64> = (1..=TYPISTS as u64).collect();
        let counted: Vec<_> = all.iter().map(|&it| tally.typist(it, |_| true).unwrap()).collect();
        assert_eq!(tally.typist(1, |_| true), Some(counted[0]), "it came again");
        assert!(tally.knows(1000), "it has typed nothing");
        assert_eq!(tally.typist(1000, |_| true), None);
        assert!(!tally.knows(1000), "what it types now is not counted");
        assert_eq!(tally.typist(1000, |it| it == 2), Some(counted[2]));
        assert!(tally.knows(1) && tally.knows(2) && !tally.knows(3) && !tally.knows(1001));
    }

    #[test]
    fn what_cannot_be_typed_into_is_told_at_once() {
        let made = Tally::make().unwrap();
        let epoll =
            rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC).unwrap();
        let error = Tally::new(made, epoll).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::INVAL.raw_os_error()));
    }

    #[test]
    fn what_one_takes_back_is_not_the_others() {
        let (master, _slave) = raw_terminal();
        let mut tally = next(&Tally::make().unwrap());
        let (anna, bert) =
            (tally.typist(ANNA, |_| true).unwrap(), tally.typist(8, |_| true).unwrap());
        tally.put(anna, b"anna").unwrap();
        tally.take_back(bert).unwrap();
        assert!(!tally.is_empty());
        tally.take_back(anna).unwrap();
        assert!(tally.is_empty());
        tally.put(bert, b"bert").unwrap();
        tally.pass_on(master.as_fd()).unwrap();
        assert_eq!((tally.typed(anna), tally.typed(bert)), (0, 4));
    }
}
