//! What goes out on a connection: a queue that never blocks who fills it, but tells them to wait.

use std::cell::Cell;
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

/// How large a draft may be to be kept for the next: one write's worth, and a long row more.
const KEPT: usize = 2 * GATHERED;

/// How many pieces one write takes: as many as the system is happy with.
const PIECES: usize = 64;

thread_local! {
    /// Where what is urgent is written before it is sent: memory that was just given back comes from the system
    /// again, page by page, which takes longer than to fill it.
    static DRAFT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

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

    /// Writes what the socket takes of these bytes without waiting, if nothing is before them.
    fn send_first(&self, bytes: &[u8]) -> usize {
        match &self.socket {
            Some(socket) if self.bytes == 0 => {
                halves::send(socket, &[IoSlice::new(bytes)]).unwrap_or(0)
            }
            _ => 0,
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

    /// Writes a message that somebody waits for, as [`push_now`](Outgoing::push_now) does, straight from
    /// where it is made: `write` adds the next piece to what is there, and says whether there is more.
    pub fn write_now(&self, mut write: impl FnMut(&mut Vec<u8>) -> bool) {
        let mut queue = self.queue();
        let mut draft = DRAFT.take();
        let mut is_more = true;
        while is_more {
            draft.clear();
            while is_more && draft.len() < GATHERED {
                is_more = write(&mut draft);
            }
            let sent = queue.send_first(&draft);
            if sent < draft.len() {
                queue.push([Bytes::copy_from_slice(&draft[sent..])]);
            }
        }
        if queue.bytes > 0 {
            self.filled.notify_one();
        }
        if draft.capacity() <= KEPT {
            DRAFT.set(draft);
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

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream as Peer;

    use tokio::net::UnixStream;

    use super::*;

    /// Has a message of numbered lines written, one at a time.
    fn write_lines(out: &Outgoing, first: usize, count: usize) {
        let mut lines = first..first + count;
        out.write_now(|draft| {
            let number = lines.next().unwrap();
            draft.extend_from_slice(format!("{number:>79}\n").as_bytes());
            !lines.is_empty()
        });
    }

    fn lines(count: usize) -> String {
        (0..count).map(|number| format!("{number:>79}\n")).collect()
    }

    #[tokio::test]
    async fn what_is_written_at_once_arrives_whole_and_in_order_however_late_it_is_read() {
        let (ours, mut theirs) = Peer::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let (_reader, writer) = halves::halves(UnixStream::from_std(ours).unwrap()).unwrap();
        let out = Outgoing::to(Some(writer.socket()));
        // The first fits; of the second the socket takes some; all others wait.
        write_lines(&out, 0, 10);
        assert!(out.is_empty());
        write_lines(&out, 10, 50_000);
        assert!(!out.is_empty() && !out.has_room());
        out.push([Bytes::from(lines(50_020).split_off(50_010 * 80))]);
        write_lines(&out, 50_020, 10);
        out.close();
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = String::new();
            theirs.read_to_string(&mut read).unwrap();
            read
        });
        out.write_to(writer).await.unwrap();
        assert!(reading.await.unwrap() == lines(50_030));
    }

    #[tokio::test]
    async fn without_a_socket_everything_waits_for_who_writes() {
        let out = Outgoing::to(None);
        write_lines(&out, 0, 3);
        out.close();
        let mut written = Vec::new();
        out.write_to(&mut written).await.unwrap();
        assert_eq!(written, lines(3).into_bytes());
    }
}
