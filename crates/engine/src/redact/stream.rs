//! Redaction of text that arrives in pieces.
//!
//! A stream looks at a window: what is held back, and as much of what was shown as the rules need to
//! judge it. Nothing is remembered of a rule but that window and, once a secret must be hidden
//! before its end is here, its [`Tail`].
//!
//! Not here: the clock. The caller calls [`Stream::flush`] when nothing came for a while.
//!
//! Invariant: without a flush in between, what is shown is what [`Redaction::apply`] makes of the
//! whole. The exceptions are a key of which only the last lines come, a caller's expressions that
//! look over the end of a line, what a pause at the very end hides because it is a good part of a
//! token, and a value that was judged at a blank which turns out to be where a shell wrapped the
//! line; what follows is judged with it all the same.

use super::lanes::{LANES, Lane, Lanes, STRINGS, Start};
use super::scan::{Scan, Site, floor};
use super::tail::Tail;
use super::{Piece, Redaction, pieces_of, show, sort};

#[cfg(test)]
mod tests;

/// How many bytes are held back at most. Longer than every token that must be seen whole.
pub const HOLD_MAX: usize = 4096;

/// How large the window may grow, for what is inside of a long secret or a long title.
const WINDOW_MAX: usize = 3 * HOLD_MAX;

/// Redacts text that arrives in pieces.
#[derive(Debug)]
pub struct Stream {
    redaction: Redaction,
    window: String,
    /// How much of the window was shown or hidden.
    shown: usize,
    /// Where in an escape sequence, and on the screen, the window begins.
    start: Start,
    /// The letter before the window, by lane.
    before: [Option<char>; LANES],
    /// Where in the window the last hidden piece ends, in the text and in string sequences.
    hidden: [usize; 2],
    tails: Vec<Resume>,
}

/// A secret that is hidden already and goes on in the window.
#[derive(Debug, Clone, Copy)]
struct Resume {
    lane: usize,
    at: usize,
    tail: Tail,
}

/// What the window looks like now. Places are those of the window.
struct View {
    pieces: Vec<Piece>,
    hold: usize,
    keep: usize,
    /// Secrets that may go on; the flag says whether only a pause makes them secrets.
    open: Vec<(Resume, bool)>,
    end: Start,
}

impl Stream {
    /// A stream that nothing has come through yet.
    pub fn new(redaction: Redaction) -> Stream {
        Stream {
            redaction,
            window: String::new(),
            shown: 0,
            start: Start::default(),
            before: [None; LANES],
            hidden: [0; 2],
            tails: Vec::new(),
        }
    }

    /// The same, printed on a terminal that has so many columns now.
    pub fn on(&mut self, cols: u16) -> &mut Stream {
        self.start.cols = Some(cols);
        self
    }

    /// Takes more text and returns what may be shown now.
    ///
    /// What could be a part of a secret is held back, up to [`HOLD_MAX`] bytes.
    pub fn push(&mut self, text: &str) -> String {
        self.window.push_str(text);
        let view = self.look(false);
        let mut shown = self.show(&view, view.hold);
        if self.window.len() - self.shown > HOLD_MAX {
            shown.push_str(&self.flush());
            return shown;
        }
        self.trim(&view);
        shown
    }

    /// Shows what is held back; for when nothing came for a while, or nothing will come.
    ///
    /// It is hidden if it is a secret already, or so much of one that the rest is no secret. If more
    /// of the same comes afterwards, that is hidden as well. So pauses show no more of a secret than its
    /// first 16 bytes, of those with letters of their own in front 7 behind these; but of what only a
    /// caller's expression makes a secret, all that it does not match yet.
    pub fn flush(&mut self) -> String {
        if !self.is_holding() {
            return String::new();
        }
        let view = self.look(true);
        let shown = self.show(&view, self.window.len());
        let mut is_known = [false; LANES];
        self.tails.iter().for_each(|it| is_known[it.lane] |= it.at == self.window.len());
        for (resume, is_pause) in &view.open {
            if *is_pause && !std::mem::replace(&mut is_known[resume.lane], true) {
                self.tails.push(*resume);
            }
        }
        self.trim(&view);
        shown
    }

    /// Takes the last of a text and returns all that was not shown, as [`Stream::flush`] would.
    ///
    /// In one look, for who is in a hurry.
    pub fn finish(mut self, text: &str) -> String {
        self.window.push_str(text);
        let view = self.look(true);
        self.show(&view, self.window.len())
    }

    /// Whether something is held back.
    pub fn is_holding(&self) -> bool {
        self.shown < self.window.len()
    }

    fn look(&self, is_pause: bool) -> View {
        let end = self.window.len();
        let lanes = Lanes::split(&self.window, self.start);
        let (mut hold, mut keep) = (end, end);
        let (mut pieces, mut open) = (Vec::new(), Vec::new());
        for ((index, lane), (_, going_on)) in lanes.all().into_iter().zip(lanes.going_on()) {
            let goes_on = self.tails.iter().any(|it| it.lane == index);
            if lane.text.is_empty() && !goes_on {
                continue;
            }
            let lane = if goes_on { going_on } else { lane };
            // A string sequence ends, the text does not.
            let more = index != STRINGS || lanes.end.is_string();
            let mut scan = self.scan(index, lane, more);
            if more {
                hold = hold.min(lane.origin(scan.hold, end));
                keep = keep.min(lane.origin(floor(&lane.text, scan.keep), end));
            }
            for it in scan.open.iter().filter(|it| it.is_secret) {
                let at = lane.origin(it.range.end, end);
                open.push((Resume { lane: index, at, tail: it.tail }, !it.is_sure));
            }
            if is_pause {
                scan.take_open();
            }
            pieces_of(lane, index, &scan, &mut pieces);
        }
        sort(&mut pieces);
        View { pieces, hold, keep, open, end: lanes.end }
    }

    fn scan(&self, index: usize, lane: &Lane<'_>, more: bool) -> Scan {
        let tails = self.tails.iter().filter(|it| it.lane == index);
        let tails: Vec<_> = tails.map(|it| (lane.place(it.at), it.tail)).collect();
        Scan::of(&Site::new(&lane.text, self.before[index], more, &self.redaction), &tails)
    }

    fn show(&mut self, view: &View, to: usize) -> String {
        let to = to.max(self.shown);
        let range = self.shown..to;
        self.shown = to;
        show(&self.window, range, &view.pieces, &mut self.hidden, self.redaction.replacement())
    }

    /// Forgets what is not needed any more.
    fn trim(&mut self, view: &View) {
        let mut keep = view.keep.min(self.shown);
        if self.window.len() - keep > WINDOW_MAX {
            keep = self.shown;
            let is_sure = |it: &&(Resume, bool)| !it.1 && it.0.at >= keep;
            self.tails.retain(|it| it.at >= keep);
            self.tails.extend(view.open.iter().filter(is_sure).map(|it| it.0));
        }
        if keep == 0 {
            return;
        }
        self.cut(keep, view);
    }

    fn cut(&mut self, keep: usize, view: &View) {
        let lanes = Lanes::split(&self.window[..keep], self.start);
        let literals = self.redaction.literals();
        self.hidden = self.hidden.map(|it| it.saturating_sub(keep));
        for (index, lane) in lanes.going_on() {
            self.before[index] = lane.text.chars().next_back().or(self.before[index]);
            self.tails.retain_mut(|it| {
                if it.lane != index || it.at >= keep {
                    return true;
                }
                let rest = &lane.text.as_bytes()[lane.place(it.at)..];
                let tail = it.tail.consume(rest, literals).1;
                it.at = keep;
                tail.map(|tail| it.tail = tail).is_some()
            });
        }
        self.tails.iter_mut().for_each(|it| it.at -= keep);
        self.start = if keep == self.window.len() { view.end } else { lanes.end };
        self.window.drain(..keep);
        self.shown -= keep;
    }
}
