//! The way to the program: what is typed, in order, as fast as the terminal takes it.
//!
//! The terminal is written by the daemon itself, by the descriptor the holder passed on. It never
//! blocks: what the program does not read waits here, and whoever types waits for room.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use greenroom_model::{Offset, Size};
use greenroom_pty::KeyLock;
use rustix::termios::{LocalModes, Winsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Semaphore;

use super::Reply;
use super::tallies::Tallies;
use crate::Error;
use crate::mark::Echo;

/// How many bytes of answers to a program's queries wait at most. A program that asks and never
/// reads loses the rest.
const MAX_ANSWERS: usize = 64 << 10;

/// How long to let a full terminal be that the system does not want to watch for us.
const UNWATCHED: Duration = Duration::from_millis(10);

/// How often to try for a lock that somebody else has: as long as a key takes them.
const LOCK_TRIES: usize = 20;

/// The terminal's input and what waits for it.
#[derive(Debug)]
pub(crate) struct Keyboard {
    terminal: Arc<OwnedFd>,
    /// The terminal while it is full. One that is always watched wakes the daemon whenever the
    /// program reads: for every key, just when its echo is on the way.
    full: Option<AsyncFd<Arc<OwnedFd>>>,
    queue: VecDeque<Keys>,
    /// Bytes in the queue that nobody reserved room for.
    answers: usize,
    room: Arc<Semaphore>,
    /// Nobody has the other end open.
    closed: bool,
    /// Held while something waits, once others may type by themselves: theirs comes behind it.
    lock: Option<KeyLock>,
    holds: bool,
    /// What is typed for clients is counted here.
    pub(super) tallies: Tallies,
}

/// Some bytes to be typed.
#[derive(Debug)]
struct Keys {
    bytes: Bytes,
    /// How much room they give back.
    reserved: usize,
    /// The client they are of, if they are counted.
    typist: Option<NonZeroU64>,
    /// Who wants to know when the terminal has taken them, and the offset to tell.
    done: Option<(Reply<Offset>, Offset)>,
}

impl Keyboard {
    /// The keyboard of a terminal; whether its holder has a tally.
    pub(crate) fn new(terminal: OwnedFd, room: Arc<Semaphore>, tallies: bool) -> Keyboard {
        let terminal = Arc::new(terminal);
        Keyboard {
            terminal,
            full: None,
            queue: VecDeque::new(),
            answers: 0,
            room,
            closed: false,
            lock: None,
            holds: false,
            tallies: Tallies::new(tallies),
        }
    }

    /// Others may type by themselves from now on, one at a time.
    pub(super) fn share(&mut self, lock: KeyLock) {
        (self.lock, self.holds) = (Some(lock), false);
        if !self.queue.is_empty() {
            self.lock();
        }
    }

    /// Whether everything typed so far was taken by the terminal.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn terminal(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.terminal)
    }

    /// Gives the terminal a size. The holder does as well, but what is typed next would be there before.
    pub(super) fn resize(&self, size: Size) {
        let size = Winsize { ws_row: size.rows(), ws_col: size.cols(), ws_xpixel: 0, ws_ypixel: 0 };
        // One that is gone needs none.
        let _gone = rustix::termios::tcsetwinsize(&self.terminal, size);
    }

    /// Types bytes whose room was reserved, for a client whose typing may be counted.
    pub(super) fn type_in(&mut self, bytes: Bytes, typist: Option<NonZeroU64>) {
        let reserved = bytes.len();
        self.push(Keys { bytes, reserved, typist, done: None });
    }

    /// Whether nothing waits that a client typed.
    pub(super) fn has_none_of(&self, typist: NonZeroU64) -> bool {
        self.queue.iter().all(|keys| keys.typist != Some(typist))
    }

    /// Takes back what a client typed and the terminal has not taken.
    pub(super) fn take_back(&mut self, typist: NonZeroU64) {
        self.tallies.take_back(typist);
        let theirs = |keys: &Keys| keys.typist == Some(typist);
        let room = self.queue.iter().filter(|keys| theirs(keys)).map(|keys| keys.reserved).sum();
        self.queue.retain(|keys| !theirs(keys));
        self.room.add_permits(room);
        self.write();
    }

    /// Types bytes and tells when the terminal has them.
    pub(super) fn type_with_reply(
        &mut self,
        bytes: Bytes,
        reserved: usize,
        done: (Reply<Offset>, Offset),
    ) {
        self.push(Keys { bytes, reserved, typist: None, done: Some(done) });
    }

    /// Answers a query of the program.
    pub(super) fn answer(&mut self, bytes: &[u8]) {
        if self.answers + bytes.len() > MAX_ANSWERS {
            return;
        }
        self.answers += bytes.len();
        let bytes = Bytes::copy_from_slice(bytes);
        self.push(Keys { bytes, reserved: 0, typist: None, done: None });
    }

    /// Who shows what is typed. A terminal that reads lines without echo, as for a password, does not; one in
    /// raw mode leaves it to the program.
    pub(super) fn echo(&self) -> Echo {
        let Ok(modes) = rustix::termios::tcgetattr(&self.terminal) else { return Echo::Terminal };
        let local = modes.local_modes;
        match (local.contains(LocalModes::ICANON), local.contains(LocalModes::ECHO)) {
            (true, true) => Echo::Terminal,
            (true, false) => Echo::Nobody,
            (false, _) => Echo::Program,
        }
    }

    /// Nobody can type any more: whoever waits for room is told.
    pub(super) fn close(&self) {
        self.room.close();
    }

    /// Gives back room that was reserved for nothing.
    pub(super) fn release(&self, bytes: usize) {
        self.room.add_permits(bytes);
    }

    fn push(&mut self, keys: Keys) {
        self.queue.push_back(keys);
        if self.queue.len() == 1 {
            self.write();
        }
    }

    /// Waits until the terminal takes more, or never will; for ever if nothing waits.
    pub(super) async fn writable(&mut self) {
        if self.queue.is_empty() || self.tallies.is_awaited() {
            return std::future::pending().await;
        }
        match &self.full {
            // An error is met again, and handled, by the write.
            Some(full) => {
                if let Ok(mut ready) = full.writable().await {
                    self.closed = ready.ready().is_write_closed();
                    ready.clear_ready();
                }
            }
            None => tokio::time::sleep(UNWATCHED).await,
        }
    }

    /// Notices that the terminal is full: from now on somebody waits until it takes more.
    fn watch(&mut self) {
        if self.full.is_some() {
            return;
        }
        #[expect(
            deprecated,
            reason = "the other way is unsafe; an owned descriptor makes this one sound"
        )]
        let full = AsyncFd::with_interest(Arc::clone(&self.terminal), Interest::WRITABLE);
        self.full =
            full.inspect_err(|error| tracing::warn!(%error, "a full terminal is not watched")).ok();
    }

    /// Keeps others from typing in the middle of this. A key of theirs takes microseconds; who was
    /// stopped in it is not waited for.
    fn lock(&mut self) {
        let Some(lock) = self.lock.as_ref().filter(|_| !self.holds) else { return };
        for _ in 0..LOCK_TRIES {
            self.holds = lock.hold();
            if self.holds {
                return;
            }
            std::thread::yield_now();
        }
    }

    fn unlock(&mut self) {
        if let (Some(lock), true) = (&self.lock, std::mem::take(&mut self.holds)) {
            lock.release();
        }
    }

    /// Writes as much as the terminal takes.
    pub(super) fn write(&mut self) {
        self.lock();
        self.write_queue();
        if self.queue.is_empty() {
            self.unlock();
        }
    }

    fn write_queue(&mut self) {
        while let Some(keys) = self.queue.front_mut().filter(|_| !self.tallies.is_awaited()) {
            if keys.bytes.has_remaining() || !self.tallies.is_settled() {
                let written = self.tallies.write(&self.terminal, keys.typist, &mut keys.bytes);
                match written.map_err(|error| (error.kind(), error)) {
                    Ok(()) => {}
                    Err((io::ErrorKind::WouldBlock, _)) if !self.closed => return self.watch(),
                    Err((io::ErrorKind::Interrupted, _)) => continue,
                    // The child is gone: its end is on the way, and nobody reads this any more. A
                    // terminal that was full then stays full, and says so for ever.
                    Err((_, error)) => {
                        self.tallies.give_up();
                        self.taken(Err(Error::Typing(error)));
                        continue;
                    }
                }
            }
            if !self.queue.front().is_some_and(|keys| keys.bytes.has_remaining()) {
                self.taken(Ok(()));
            }
        }
        if self.queue.is_empty() {
            (self.answers, self.full) = (0, None);
        }
    }

    /// The first of the queue was written, or never will be.
    fn taken(&mut self, how: Result<(), Error>) {
        let Some(keys) = self.queue.pop_front() else { return };
        self.room.add_permits(keys.reserved);
        if let Some((reply, offset)) = keys.done {
            let _gone = reply.send(how.map(|()| offset));
        }
    }
}
