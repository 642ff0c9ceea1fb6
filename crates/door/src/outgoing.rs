//! What goes out on a connection: a queue that never blocks who fills it, but tells them to wait.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use crate::halves;

/// How much may wait before whoever has more must wait themselves: enough to keep the socket busy.
const BOUND: usize = 256 << 10;

/// How much may wait before what nobody asked for is left out.
const NOTE_BOUND: usize = 1 << 20;

/// How much of what is urgent is gathered before it is written: its reader begins while the rest is made, and
/// what was written is made room of for that.
const GATHERED: usize = 64 << 10;

/// How many pieces one write takes: as many as the system is happy with.
const PIECES: usize = 64;

/// Bytes on their way to one client.
#[derive(Debug, Default)]
pub struct Outgoing {
    queue: Mutex<Queue>,
    /// Something is there, or nothing more will come.
    filled: Notify,
    /// There is room.
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    /// The socket, if what is urgent may be written by who has it; until the end.
    socket: Option<Arc<OwnedFd>>,
    pieces: VecDeque<Bytes>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    fn push(&mut self, pieces: impl IntoIterator<Item = Bytes>) {
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            self.bytes += piece.len();
            self.pieces.push_back(piece);
        }
    }

    /// Writes what the socket takes without waiting. What fails is met again by who writes otherwise.
    fn send(&mut self) {
        let Some(socket) = &self.socket else { return };
        let sent = halves::send(socket, &slices(&self.pieces)).unwrap_or(0);
        self.bytes -= sent;
        advance(&mut self.pieces, sent);
    }
}

impl Outgoing {
    /// Bytes on their way to a socket that does not block, the one that
    /// [`write_to`](Outgoing::write_to) writes to.
    #[must_use]
    pub fn to(socket: Option<Arc<OwnedFd>>) -> Outgoing {
        let queue = Mutex::new(Queue { socket, ..Queue::default() });
        Outgoing { queue, ..Outgoing::default() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room, or the connection is gone.
    pub async fn room(&self) {
        loop {
            let emptied = self.emptied.notified();
            {
                let queue = self.queue();
                if queue.bytes < BOUND || queue.closed {
                    return;
                }
            }
            emptied.await;
        }
    }

    /// Waits until the socket has taken everything, or the connection is gone.
    pub async fn flushed(&self) {
        loop {
            let emptied = self.emptied.notified();
            {
                let queue = self.queue();
                if queue.bytes == 0 || queue.closed {
                    return;
                }
            }
            emptied.await;
        }
    }

    /// Puts bytes in the queue, whatever it has. To be called after [`room`](Outgoing::room).
    pub fn push(&self, pieces: impl IntoIterator<Item = Bytes>) {
        self.queue().push(pieces);
        self.filled.notify_one();
    }

    /// Writes bytes that somebody waits for, at once if nothing is before them: who writes otherwise has to
    /// wake up first. Else, or as far as the socket does not take them, they wait with the others.
    ///
    /// The pieces may be made one by one as they are asked for.
    pub fn push_now(&self, pieces: impl IntoIterator<Item = Bytes>) {
        let mut queue = self.queue();
        let mut takes = queue.bytes == 0;
        for piece in pieces {
            queue.push([piece]);
            if takes && queue.bytes >= GATHERED {
                queue.send();
                takes = queue.bytes == 0;
            }
        }
        if takes {
            queue.send();
        }
        if queue.bytes > 0 {
            self.filled.notify_one();
        }
    }

    /// Whether the socket has taken everything.
    pub fn is_empty(&self) -> bool {
        self.queue().bytes == 0
    }

    /// Whether there is room.
    pub fn has_room(&self) -> bool {
        let queue = self.queue();
        queue.bytes < BOUND && !queue.closed
    }

    /// Puts in what nobody asked for; false if the client is too far behind to be told.
    pub fn push_note(&self, piece: Bytes) -> bool {
        if self.queue().bytes > NOTE_BOUND {
            return false;
        }
        self.push([piece]);
        true
    }

    /// Nothing more will come: what is there is still written.
    pub fn close(&self) {
        let mut queue = self.queue();
        (queue.closed, queue.socket) = (true, None);
        drop(queue);
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }

    /// Writes everything, until the end or an error.
    ///
    /// # Errors
    /// The client is gone.
    pub async fn write_to(&self, mut socket: impl AsyncWrite + Unpin) -> io::Result<()> {
        let mut batch: VecDeque<Bytes> = VecDeque::new();
        loop {
            while batch.is_empty() {
                let closed = {
                    let mut queue = self.queue();
                    std::mem::swap(&mut batch, &mut queue.pieces);
                    queue.closed
                };
                if batch.is_empty() {
                    // What is written to a pipe's buffer has not been written.
                    socket.flush().await?;
                    if closed {
                        return socket.shutdown().await;
                    }
                    self.filled.notified().await;
                }
            }
            while !batch.is_empty() {
                let written = {
                    let slices = slices(&batch);
                    socket.write_vectored(&slices).await?
                };
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                advance(&mut batch, written);
                self.queue().bytes -= written;
                self.emptied.notify_waiters();
            }
            // Standard output keeps what does not end with a line.
            socket.flush().await?;
        }
    }
}

/// Lets who was just answered go on. They often wait on this very processor, behind what is still to be
/// tidied up after the answer; if nobody waits there, this takes less than a microsecond.
pub fn give_way() {
    std::thread::yield_now();
}

/// The first pieces, as one write takes them.
fn slices(pieces: &VecDeque<Bytes>) -> Vec<IoSlice<'_>> {
    pieces.iter().take(PIECES).map(|piece| IoSlice::new(piece)).collect()
}

fn advance(batch: &mut VecDeque<Bytes>, mut written: usize) {
    while let Some(first) = batch.front_mut() {
        if first.len() > written {
            first.advance(written);
            return;
        }
        written -= first.len();
        batch.pop_front();
    }
}
