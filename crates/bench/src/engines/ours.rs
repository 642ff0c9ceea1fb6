//! `greenroom-screen`: the only file of this crate that knows its API.
//!
//! Besides the trait all contenders share, the reads only we promise numbers for. Each hands its
//! result out, so that the clock can stop before the result is dropped.

use greenroom_model::Size;
use greenroom_screen::{
    Depth, Diff, Match, Options, Position, Query, Screen, Search, Snapshot, Wrap,
};

use super::Engine;

/// Our screen, with the reads that are timed.
pub struct Ours(Screen);

impl Ours {
    /// Makes an empty screen with room for `history` lines that scrolled off.
    #[must_use]
    pub fn new(size: Size, history: usize) -> Ours {
        Ours(Screen::new(size, Options::default().with_history(history)))
    }

    /// The visible text.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// The visible cells, each visited once; how many there were.
    #[must_use]
    pub fn cells(&self) -> (Snapshot, usize) {
        let snapshot = self.0.snapshot();
        let cells = snapshot.rows().map(|row| row.cells().map(std::hint::black_box).count()).sum();
        (snapshot, cells)
    }

    /// Where a reader stands who has seen everything so far.
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position()
    }

    /// What changed since that position.
    #[must_use]
    pub fn diff(&self, since: Position) -> Diff {
        self.0.diff(since)
    }

    /// The whole history as text.
    #[must_use]
    pub fn history(&self) -> String {
        self.0.history_text(Wrap::default())
    }

    /// Where a text occurs in history and screen; nowhere if it is empty.
    #[must_use]
    pub fn search(&self, text: &str) -> Vec<Match> {
        let query = Query::literal(text);
        query.map_or_else(|_| Vec::new(), |query| self.0.search(&query, Search::default()))
    }

    /// The visible screen as escape sequences.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        self.0.dump(Depth::Screen)
    }

    /// All state, to be restored by another process.
    #[must_use]
    pub fn checkpoint(&self) -> Vec<u8> {
        self.0.checkpoint()
    }

    /// The screen a checkpoint was made of, or nothing if it cannot be read.
    #[must_use]
    pub fn restore(checkpoint: &[u8]) -> Option<Ours> {
        Screen::restore(checkpoint).ok().map(Ours)
    }
}

impl Engine for Ours {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    fn rows(&self) -> Vec<String> {
        self.0.snapshot().rows().map(|row| row.text()).collect()
    }
}
