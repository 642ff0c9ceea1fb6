//! Checkpoints: what the holder keeps, so that the next daemon has this screen.
//!
//! A checkpoint is given when a lot was printed, and when a session that printed something comes to
//! rest; between two of them the holder has every byte. So a busy session costs its holder a few
//! megabytes, and one at rest hardly more than its screen.

use std::time::Duration;

use bytes::Bytes;
use greenroom_model::Offset;
use greenroom_proto::ToHolder;
use greenroom_screen::{RestoreError, Screen};
use tokio::time::Instant;

use super::Session;
use crate::Transcript;

/// How much of what a holder keeps may be full before the next checkpoint: half, so that it has
/// room for what is printed while the checkpoint is made and sent.
const FULL_SHARE: u64 = 2;

/// How much a checkpoint must let go of to be worth its while: clients that are behind may need
/// nearly all that is kept.
const WORTH_SHARE: u64 = 8;

/// How much of it is kept for clients nobody waits for: were it all, the program would wait for them after
/// all. One that is further behind is redrawn.
const SKIPPING_SHARE: u64 = 4;

/// How much must have been printed for a checkpoint at rest to be worth its while.
const REST_BYTES: u64 = 16 << 10;

/// How long a session must be quiet to be at rest.
const REST: Duration = Duration::from_millis(500);

/// How long after a resize: soon, but once for a window that is being dragged.
const AFTER_RESIZE: Duration = Duration::from_millis(20);

/// How much is kept of what attached clients have taken: what a connection may have on its way.
const IN_FLIGHT: u64 = 1 << 20;

/// The first byte of a packed screen: compressed with LZ4, the length in front.
const PACKED: u8 = 1;

/// The first byte of a packed transcript and screen.
const PACKED_BOTH: u8 = 2;

/// How large an unpacked checkpoint may be.
const MAX_UNPACKED: usize = 256 << 20;

/// When to give the next checkpoint.
#[derive(Debug)]
pub(super) struct Saves {
    /// The offset of the last one.
    at: Offset,
    /// Where the holder keeps bytes from.
    kept: Offset,
    /// The offset now.
    end: Offset,
    rest: Option<Instant>,
}

impl Saves {
    pub(super) fn new(at: Offset, kept: Offset) -> Saves {
        Saves { at, kept, end: at, rest: None }
    }

    /// Whether a holder that keeps this much should be told to let go, if it then kept from here.
    fn is_full(&self, keep_bytes: u64, keep: Offset) -> bool {
        self.end - self.kept >= keep_bytes / FULL_SHARE
            && keep - self.kept >= keep_bytes / WORTH_SHARE
    }

    pub(super) fn printed(&mut self, end: Offset, now: Instant) {
        self.end = end;
        if end - self.at >= REST_BYTES {
            self.rest = Some(now + REST);
        }
    }

    /// The size is not in the bytes: a restored screen must have it.
    pub(super) fn resized(&mut self) {
        self.rest = Some(Instant::now() + AFTER_RESIZE);
    }

    /// There is something to let go of.
    pub(super) fn rest_at(&mut self, now: Instant) {
        self.rest = Some(now);
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.rest
    }
}

impl Session {
    /// Lets go of what no client can ask for any more; the holder has more until the checkpoint.
    pub(super) fn trim_journal(&mut self) {
        let keep = self.keep(self.screen.offset());
        if keep - self.journal.start() > IN_FLIGHT {
            self.journal.trim(keep);
        }
    }

    pub(super) fn save_if_due(&mut self, now: Instant) {
        let at = self.screen.offset();
        let keep = self.keep(at);
        let rests = self.saves.rest.is_some_and(|rest| now >= rest);
        if !rests && !self.saves.is_full(self.options.keep_bytes, keep) {
            return;
        }
        let blob = Bytes::from(pack(&self.screen, self.transcript.as_ref()));
        self.link.say(&ToHolder::Checkpoint { at, keep, blob });
        self.journal.trim(keep);
        self.saves = Saves::new(at, keep);
    }

    /// What must still be known after a checkpoint: as much as clients that are attached, or will be
    /// again, may have missed.
    fn keep(&self, at: Offset) -> Offset {
        let absent = if self.keeps_for_absent() { self.absent_keep(at) } else { at };
        if self.viewers.all.is_empty() {
            return absent;
        }
        let behind = self.viewers.furthest_behind(self.skipping_bound()) + IN_FLIGHT;
        Offset(at.0.saturating_sub(behind)).min(absent)
    }

    /// How much is kept for clients nobody waits for.
    pub(super) fn skipping_bound(&self) -> u64 {
        self.options.keep_bytes / SKIPPING_SHARE
    }
}

/// What a holder or the archive keeps.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) screen: Screen,
    pub(crate) transcript: Option<Transcript>,
}

/// A screen and a transcript as a holder or the archive keeps them.
pub(crate) fn pack(screen: &Screen, transcript: Option<&Transcript>) -> Vec<u8> {
    let checkpoint = screen.checkpoint();
    let (kind, kept) = match transcript {
        None => (PACKED, checkpoint),
        Some(transcript) => {
            let mut both = Vec::new();
            transcript.save(&mut both);
            both.extend_from_slice(&checkpoint);
            (PACKED_BOTH, both)
        }
    };
    let mut packed = vec![kind];
    packed.extend_from_slice(&lz4_flex::compress_prepend_size(&kept));
    packed
}

/// What a holder or the archive kept.
pub(crate) fn unpack(packed: &[u8]) -> Result<Kept, RestoreError> {
    let (kind, rest) = match packed.split_first() {
        Some((&kind @ (PACKED | PACKED_BOTH), rest)) => (kind, rest),
        _ => return Err(RestoreError::NotACheckpoint),
    };
    let length = rest.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
    if length > MAX_UNPACKED {
        return Err(RestoreError::Damaged("length"));
    }
    let unpacked = lz4_flex::decompress_size_prepended(rest)
        .map_err(|_| RestoreError::Damaged("compression"))?;
    let (transcript, checkpoint) = match kind {
        PACKED => (None, unpacked.as_slice()),
        _ => {
            let restored = Transcript::restore(&unpacked);
            let (transcript, rest) = restored.ok_or(RestoreError::Damaged("transcript"))?;
            (Some(transcript), rest)
        }
    };
    Ok(Kept { screen: Screen::restore(checkpoint)?, transcript })
}
