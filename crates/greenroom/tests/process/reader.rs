//! Somebody attached to a program that prints numbered lines, through as many daemons as it takes.

use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Connection, Event, Lag, Stream};
use greenroom_model::Size;
use greenroom_testkit::{Home, Lines, eventually_ok, next_event};

/// Attached to the printer, through as many daemons as it takes.
pub(crate) struct Reader<'a> {
    home: &'a Home,
    pub(crate) connection: Connection,
    pub(crate) stream: Stream,
    pub(crate) lines: Lines,
    pub(crate) redraws: usize,
    /// Whether the printer said that it is done.
    pub(crate) is_done: bool,
    /// The longest time from a lost connection to the next stream.
    pub(crate) slowest: Duration,
}

impl<'a> Reader<'a> {
    pub(crate) fn attach(home: &'a Home, session: &str) -> Reader<'a> {
        let mut connection = home.connect();
        let size = Some(Size::DEFAULT);
        let options = AttachOptions { size, lag: Lag::Block, ..AttachOptions::default() };
        let stream = Stream::attach(&mut connection, session, options).unwrap();
        let (lines, slowest) = (Lines::default(), Duration::ZERO);
        Reader { home, connection, stream, lines, redraws: 0, is_done: false, slowest }
    }

    /// Takes one event; false when the connection is lost.
    pub(crate) fn take(&mut self) -> bool {
        let (offset, line) = (self.stream.offset(), self.lines.count());
        let what = format!("the printer's output from {offset} on, after line {line}");
        let Some(event) = next_event(&mut self.connection, &what) else { return false };
        if !self.stream.note(&event) {
            return true;
        }
        match event {
            Event::Output { bytes, .. } => {
                self.lines.feed(&bytes);
                // Behind the last line, in however many pieces it comes.
                self.is_done = self.lines.begun() == b"done";
            }
            Event::Redraw { .. } => self.redraws += 1,
            _ => {}
        }
        true
    }

    pub(crate) fn reconnect(&mut self) {
        let begin = Instant::now();
        eventually_ok("the stream goes on", || {
            self.connection = self.home.try_connect()?;
            self.stream.resume(&mut self.connection)
        });
        self.slowest = self.slowest.max(begin.elapsed());
    }
}
