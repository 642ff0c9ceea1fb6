//! What was typed and may have to be sent again: until a daemon says that the terminal took it, or, one
//! that does not count, until it got it whole.

use bytes::{Buf as _, BytesMut};

/// How much is kept at most: more than a daemon counts at once, and a paste may be large.
const MAX_KEPT: usize = 1 << 20;

/// What was typed.
#[derive(Debug)]
pub(super) struct Kept {
    bytes: BytesMut,
    /// How many bytes were typed before these.
    before: u64,
    /// How many of these went into this connection.
    sent: usize,
    /// How many of these a daemon has got whole, this one or one before.
    got: usize,
    counts: Counts,
}

/// What the daemon says of what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// Nothing: what it has got is typed, for all we know.
    No,
    /// It has to say first what became of what was sent before.
    Awaited,
    Yes,
}

impl Kept {
    pub(super) fn new(counts: bool) -> Kept {
        let counts = if counts { Counts::Yes } else { Counts::No };
        Kept { bytes: BytesMut::new(), before: 0, sent: 0, got: 0, counts }
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= MAX_KEPT
    }

    /// Whether there is nothing to be sent, now or later.
    pub(super) fn is_sent(&self) -> bool {
        self.sent == self.bytes.len() && self.counts != Counts::Awaited
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What is to be sent next.
    pub(super) fn unsent(&self) -> &[u8] {
        if self.counts == Counts::Awaited { &[] } else { &self.bytes[self.sent..] }
    }

    /// All of that went into the connection.
    pub(super) fn was_sent(&mut self) {
        self.sent = self.bytes.len();
    }

    /// All that went into the connection has left it.
    pub(super) fn has_left(&mut self) {
        self.got = self.got.max(self.sent);
        if self.counts == Counts::No {
            self.forget(self.got);
        }
    }

    /// The terminal took so much of what was ever typed, or nobody knows; false if nobody does, or it cannot
    /// be.
    pub(super) fn taken(&mut self, taken: Option<u64>) -> bool {
        match taken.and_then(|it| it.checked_sub(self.before)) {
            Some(taken) => {
                self.forget(usize::try_from(taken).unwrap_or(usize::MAX));
                self.counts = Counts::Yes;
                true
            }
            None => {
                self.count_no_more();
                false
            }
        }
    }

    /// The connection broke.
    pub(super) fn cut(&mut self) {
        self.sent = 0;
    }

    /// There is another stream, of a daemon that counts or does not, and has to say first how far it is or
    /// does not.
    pub(super) fn resumed(&mut self, counts: bool, awaited: bool) {
        self.sent = 0;
        match (counts, awaited) {
            (true, true) => self.counts = Counts::Awaited,
            (true, false) => self.counts = Counts::Yes,
            (false, _) => self.count_no_more(),
        }
    }

    /// What a daemon has got is typed, for all we know; who counts later begins anew.
    fn count_no_more(&mut self) {
        self.counts = Counts::No;
        self.forget(self.got);
        self.before = 0;
    }

    fn forget(&mut self, count: usize) {
        let count = count.min(self.bytes.len());
        self.bytes.advance(count);
        if self.counts != Counts::No {
            self.before += count as u64;
        }
        self.sent = self.sent.saturating_sub(count);
        self.got = self.got.saturating_sub(count);
        if self.bytes.is_empty() {
            // A large paste is not kept for ever.
            self.bytes = BytesMut::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(kept: &mut Kept) -> Vec<u8> {
        let bytes = kept.unsent().to_vec();
        kept.was_sent();
        bytes
    }

    #[test]
    fn what_was_not_taken_is_sent_again_and_nothing_else() {
        for taken in 0..=6 {
            let mut kept = Kept::new(true);
            kept.push(b"abcdef");
            assert_eq!(sent(&mut kept), b"abcdef");
            kept.has_left();
            kept.cut();
            kept.push(b"gh");
            kept.resumed(true, true);
            assert!(
                kept.unsent().is_empty() && !kept.is_sent(),
                "not before the daemon says how far it is"
            );
            assert!(kept.taken(Some(taken)));
            assert_eq!(sent(&mut kept), &b"abcdefgh"[taken as usize..]);
            kept.has_left();
            assert!(kept.taken(Some(8)));
            assert!(kept.is_sent() && kept.bytes.is_empty());
        }
    }

    #[test]
    fn what_did_not_leave_whole_is_not_known_to_any_daemon() {
        for counts in [true, false] {
            let mut kept = Kept::new(counts);
            kept.push(b"abc");
            sent(&mut kept);
            kept.cut();
            kept.resumed(counts, counts);
            if counts {
                assert!(kept.taken(Some(0)));
            }
            assert_eq!(sent(&mut kept), b"abc", "{counts}");
        }
    }

    #[test]
    fn a_daemon_that_does_not_count_has_what_it_got() {
        let mut kept = Kept::new(false);
        kept.push(b"abc");
        sent(&mut kept);
        kept.has_left();
        kept.push(b"d");
        kept.cut();
        kept.resumed(false, false);
        assert_eq!(sent(&mut kept), b"d");
        kept.has_left();
        // One that counts comes after it: it begins at zero.
        kept.resumed(true, false);
        kept.push(b"ef");
        assert_eq!(sent(&mut kept), b"ef");
        kept.has_left();
        kept.resumed(true, true);
        assert!(kept.taken(Some(1)));
        assert_eq!(sent(&mut kept), b"f");
    }

    #[test]
    fn what_a_daemon_got_behind_our_back_is_not_sent_again() {
        // It left the connection when something else was asked, and nobody noted that.
        let mut kept = Kept::new(true);
        kept.push(b"abc");
        sent(&mut kept);
        kept.resumed(true, true);
        assert!(kept.unsent().is_empty());
        assert!(kept.taken(Some(3)));
        assert!(kept.is_sent() && kept.bytes.is_empty());
    }

    #[test]
    fn a_count_that_goes_back_is_none() {
        let mut kept = Kept::new(true);
        kept.push(b"abc");
        sent(&mut kept);
        assert!(kept.taken(Some(2)));
        assert!(!kept.taken(Some(1)));
    }

    #[test]
    fn a_daemon_that_lost_count_has_what_was_sent_to_it() {
        let mut kept = Kept::new(true);
        kept.push(b"abc");
        sent(&mut kept);
        kept.has_left();
        kept.cut();
        kept.push(b"def");
        kept.resumed(true, true);
        assert!(!kept.taken(None));
        assert_eq!(sent(&mut kept), b"def");
    }
}
