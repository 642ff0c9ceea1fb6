//! Finds secrets in text and replaces them.
//!
//! The text may be a raw transcript: it is split into `lanes` first, so that a colour or a wrapped
//! line in the middle of a value does not hide it. `scan` then looks for the beginnings of secrets
//! in one pass and asks the rule behind each (`keyed`, `basic`, `known`, `url`, `signed`, `cookie`, `command`, `block`) what it
//! sees.
//! A rule answers "not yet clear" as an ordinary value, which is what [`Stream`] is built on.
//!
//! Not here: clocks, sessions, wire formats, and what to redact (a door decides).
//!
//! **Invariants.** Escape sequences stay where they are. Every rule decides within [`HOLD_MAX`]
//! bytes, for whole texts as for streams; only the end of a block looks back further, which comes too late
//! for a stream. Nothing takes more than linear time.

mod above;
mod assigned;
mod basic;
mod block;
mod code;
mod command;
mod cookie;
mod excerpt;
mod keyed;
mod known;
mod lanes;
mod place;
mod policy;
mod scan;
mod signed;
mod stream;
mod tail;
#[cfg(test)]
mod tests;
mod typed;
mod url;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use above::part_of_secret;
pub(crate) use block::open_block;
pub use excerpt::Excerpt;
pub(crate) use excerpt::Faded;
use lanes::{Lane, Lanes, STRINGS, Start};
pub use policy::{Redaction, RedactionError};
use scan::{Scan, Site};
pub use stream::{HOLD_MAX, Stream};

impl Redaction {
    /// The text with every secret replaced; borrowed when there is none.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.apply_within(text, 0..text.len(), None)
    }

    /// The same of a part of a text, which may be from a terminal with so many columns.
    fn apply_within<'t>(
        &self,
        text: &'t str,
        part: Range<usize>,
        cols: Option<u16>,
    ) -> Cow<'t, str> {
        let mut pieces = self.pieces(text, cols);
        pieces.retain(|piece| piece.range.end > part.start && piece.range.start < part.end);
        if pieces.is_empty() {
            return Cow::Borrowed(&text[part]);
        }
        Cow::Owned(show(text, part, &pieces, &mut [0; 2], self.replacement()))
    }

    /// What would be replaced, sorted and without overlaps.
    ///
    /// A secret that is interrupted by escape sequences is more than one span.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        self.pieces(text, None).into_iter().map(|piece| piece.range).collect()
    }

    /// The same of the text of a screen with so many columns, where a row that is full may go on in the next.
    pub fn spans_of_screen(&self, text: &str, cols: u16) -> Vec<Range<usize>> {
        self.pieces(text, Some(cols)).into_iter().map(|piece| piece.range).collect()
    }

    fn pieces(&self, text: &str, cols: Option<u16>) -> Vec<Piece> {
        let lanes = Lanes::split(text, Start::of(cols));
        let mut pieces = Vec::new();
        for (index, lane) in lanes.all().into_iter().filter(|(_, lane)| !lane.text.is_empty()) {
            let site = Site::new(&lane.text, None, false, self);
            pieces_of(lane, index, &Scan::of(&site, &[]), &mut pieces);
        }
        sort(&mut pieces);
        pieces
    }
}

/// A part of a secret as it lies in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    range: Range<usize>,
    /// Whether it is inside of a string sequence, and so apart from the text around it.
    is_string: bool,
    /// Where its secret begins, unless that was hidden before this text.
    secret: Option<usize>,
}

/// Adds the pieces of all secrets of a lane.
fn pieces_of(lane: &Lane<'_>, index: usize, scan: &Scan, pieces: &mut Vec<Piece>) {
    for secret in &scan.secrets {
        let origins = lane.origins(secret.range.clone());
        let first = origins.first().map(|range| range.start);
        let start = first.filter(|_| !secret.is_continued);
        let piece = |range| Piece { range, is_string: index == STRINGS, secret: start };
        pieces.extend(origins.into_iter().map(piece));
    }
}

/// Sorts pieces, and takes away from each what is in another.
fn sort(pieces: &mut Vec<Piece>) {
    pieces.sort_by_key(|piece| (piece.range.start, piece.secret));
    let mut end = 0;
    pieces.retain_mut(|piece| {
        piece.range.start = piece.range.start.max(end);
        end = end.max(piece.range.end);
        !piece.range.is_empty()
    });
}

/// How many bytes replacements may take in one text: as many as the longest message. A caller may choose a long one, and
/// what occurs a million times.
const REPLACED_MAX: usize = 16 << 20;

/// A part of a text with its secrets replaced; those for which there is no room any more vanish. `hidden` is where the last piece ends, in the text and
/// in string sequences.
fn show(
    text: &str,
    range: Range<usize>,
    pieces: &[Piece],
    hidden: &mut [usize; 2],
    replacement: &str,
) -> String {
    let mut shown = String::with_capacity(range.len());
    let (mut at, mut room) = (range.start, REPLACED_MAX);
    for piece in pieces {
        let (start, end) = (piece.range.start.max(at), piece.range.end.min(range.end));
        if start >= end {
            continue;
        }
        shown.push_str(&text[at..start]);
        // Of a secret in many pieces, only the first is replaced; the others vanish.
        let hidden = &mut hidden[usize::from(piece.is_string)];
        if piece.secret.is_some_and(|secret| secret >= *hidden) {
            let left = room.checked_sub(replacement.len());
            shown.push_str(if left.is_some() { replacement } else { "" });
            room = left.unwrap_or(room);
        }
        *hidden = end;
        at = end;
    }
    shown.push_str(&text[at..range.end]);
    shown
}
