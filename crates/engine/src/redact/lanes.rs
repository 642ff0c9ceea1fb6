//! Text as a reader sees it, with the way back to where it lies in a raw transcript.
//!
//! What is printed is one lane, what is inside of string sequences (titles, links) another, and what
//! is printed without what interrupts a word on its way to the screen a third. Each is searched
//! alone. Sequences that only change the look vanish, and bytes that no terminal shows; those that move the cursor become
//! white space, but in the third lane, if they move it nowhere, or from the end of a full row into the next.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr_iter, memchr2};

use super::place::{Moved, Place};

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;

/// Whether a terminal takes nothing in a text for more than letters and lines.
fn is_plain(text: &[u8]) -> bool {
    // All of it, without stopping at the first: so many bytes are looked at at once.
    let has_void = text.iter().fold(false, |has, byte| has | is_void(*byte));
    !has_void && memchr2(ESC, BACKSPACE, text).is_none()
}

/// Whether a terminal shows nothing for a byte and stays where it is.
fn is_void(byte: u8) -> bool {
    matches!(byte, 0..=BEL | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)
}

/// Where in an escape sequence a text begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    #[default]
    Ground,
    Escape,
    /// In a two-byte escape with intermediates, such as `ESC ( B`.
    Intermediate,
    Csi,
    /// In the content of an OSC, DCS, APC, PM or SOS.
    String,
    StringEscape,
}

/// How a text begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Start {
    state: State,
    place: Place,
    /// How many columns the terminal has, if that is known: a row that is full may go on in the next.
    pub(super) cols: Option<u16>,
}

impl Start {
    /// At the beginning of a line of a terminal with so many columns.
    pub(super) fn of(cols: Option<u16>) -> Start {
        Start { cols, ..Start::default() }
    }

    /// Whether what comes next belongs to a string sequence.
    pub(super) fn is_string(self) -> bool {
        matches!(self.state, State::String | State::StringEscape)
    }
}

/// How many lanes there are.
pub(super) const LANES: usize = 3;
const TEXT: usize = 0;
pub(super) const STRINGS: usize = 1;
const UNWRAPPED: usize = 2;

/// All lanes of a text.
pub(super) struct Lanes<'t> {
    pub(super) text: Lane<'t>,
    pub(super) strings: Lane<'t>,
    /// The text as it was before a shell wrapped the line that was being typed, or a program set the cursor in
    /// the middle of a word, if one did.
    ///
    /// Searched as well and not instead: a program that draws over its own line looks the same.
    pub(super) unwrapped: Lane<'t>,
    pub(super) end: Start,
}

/// Text without what interrupts it.
#[derive(Default)]
pub(super) struct Lane<'t> {
    pub(super) text: Cow<'t, str>,
    /// Sorted; none at all means that the lane is the original.
    segments: Vec<Segment>,
    /// Where a movement stands that may have moved nothing.
    joints: Vec<usize>,
}

/// A stretch of a lane that is one stretch of the original.
#[derive(Debug, Clone, Copy)]
struct Segment {
    at: usize,
    origin: usize,
    /// How many bytes before `origin` were a first try of its first letter, and go with it.
    lead: usize,
    /// Whether it stands for a movement of the cursor and is nothing in the original.
    is_void: bool,
}

impl<'t> Lanes<'t> {
    /// Splits a text that begins so.
    pub(super) fn split(text: &'t str, start: Start) -> Lanes<'t> {
        let Start { state, mut place, cols } = start;
        if state == State::Ground && is_plain(text.as_bytes()) {
            place.print(text);
            let lane = Lane { text: Cow::Borrowed(text), ..Lane::default() };
            return Lanes::of(lane, Lane::default(), start, Start { state, place, cols });
        }
        let mut splitter = Splitter { source: text, place, ..Splitter::default() };
        let state = splitter.run(state);
        let end = Start { state, place: splitter.place, cols };
        Lanes::of(splitter.text, splitter.strings, start, end)
    }

    fn of(mut text: Lane<'t>, strings: Lane<'t>, start: Start, end: Start) -> Lanes<'t> {
        if let Some(cols) = start.cols {
            text.join_full_rows(cols.into(), start.place.cells_before());
        }
        let unwrapped = text.unwrapped();
        Lanes { text, strings, unwrapped, end }
    }

    /// All lanes, each with its number. What is hidden in the last is hidden in the first.
    pub(super) fn all(&self) -> [(usize, &Lane<'t>); LANES] {
        [(TEXT, &self.text), (STRINGS, &self.strings), (UNWRAPPED, &self.unwrapped)]
    }

    /// The same, for who goes on in one of them: where nothing interrupts the text, the third is the first.
    pub(super) fn going_on(&self) -> [(usize, &Lane<'t>); LANES] {
        self.all().map(|(index, lane)| match index {
            UNWRAPPED if lane.text.is_empty() => (index, &self.text),
            _ => (index, lane),
        })
    }
}

#[derive(Default)]
struct Splitter<'t> {
    source: &'t str,
    text: Lane<'t>,
    strings: Lane<'t>,
    place: Place,
}

impl Splitter<'_> {
    fn run(&mut self, mut state: State) -> State {
        let bytes = self.source.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match state {
                State::Ground => {
                    let stop = |byte: &u8| matches!(*byte, ESC | BACKSPACE) || is_void(*byte);
                    let end = bytes[at..].iter().position(stop).map_or(bytes.len(), |it| at + it);
                    self.text.add(self.source, at..end);
                    self.place.print(self.source.get(at..end).unwrap_or_default());
                    match bytes.get(end) {
                        Some(&ESC) => state = State::Escape,
                        Some(&BACKSPACE) => self.step_back(),
                        Some(_) | None => {}
                    }
                    at = end;
                }
                State::String => {
                    let stop = |byte: &u8| matches!(*byte, ESC | BEL | 0x18 | 0x1a);
                    let end = bytes[at..].iter().position(stop).map_or(bytes.len(), |it| at + it);
                    self.strings.add(self.source, at..end);
                    state = match bytes.get(end) {
                        Some(&ESC) => State::StringEscape,
                        Some(_) => State::Ground,
                        None => state,
                    };
                    at = end;
                }
                State::StringEscape if byte == b'\\' => state = State::Ground,
                // Not a sequence after all: the text goes on here.
                State::Escape | State::StringEscape | State::Intermediate
                    if byte != ESC && !(0x20..0x7f).contains(&byte) =>
                {
                    state = State::Ground;
                    continue;
                }
                State::Escape | State::StringEscape => state = self.escape(byte, at),
                State::Intermediate => {
                    state = if (0x20..0x30).contains(&byte) { state } else { State::Ground };
                }
                State::Csi => match byte {
                    ESC => state = State::Escape,
                    0x40..=0x7e => {
                        state = State::Ground;
                        self.move_cursor(byte, at);
                    }
                    0x80.. | 0x18 | 0x1a => {
                        state = State::Ground;
                        continue;
                    }
                    _ => self.place.parameter(byte),
                },
            }
            at += 1;
        }
        state
    }

    /// A blank that is stepped back over is how programs get from a full row into the next.
    fn step_back(&mut self) {
        if self.text.text.ends_with(' ') {
            self.text.joints.push(self.text.text.len() - 1);
        }
        self.place.step_back();
    }

    /// The byte after an ESC.
    fn escape(&mut self, byte: u8, at: usize) -> State {
        match byte {
            b'[' => {
                self.place.begin();
                State::Csi
            }
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.strings.add_void("\n", at);
                State::String
            }
            ESC => State::Escape,
            0x20..=0x2f => State::Intermediate,
            b'D' | b'E' | b'M' | b'c' => {
                self.text.add_void("\n", at);
                self.place.forget();
                State::Ground
            }
            // Back to where it once was.
            b'8' => {
                self.place.forget();
                State::Ground
            }
            _ => State::Ground,
        }
    }

    fn move_cursor(&mut self, last: u8, at: usize) {
        let void = match last {
            b'C' | b'a' => " ",
            b'A' | b'B' | b'E'..=b'H' | b'J' | b'L' | b'M' | b'S' | b'T' | b'd'..=b'f' | b'r' => {
                "\n"
            }
            _ => "",
        };
        let joins = match self.place.end(last) {
            Moved::Nowhere => true,
            Moved::Perhaps => self.text.ends_in_word(),
            Moved::Elsewhere => false,
        };
        if !void.is_empty() {
            if joins {
                self.text.joints.push(self.text.text.len());
            }
            self.text.add_void(void, at);
        }
    }
}

impl Lane<'_> {
    fn add(&mut self, source: &str, range: Range<usize>) {
        let at = self.text.len();
        // Sequences are ASCII, so a letter is never cut in two.
        if let Some(text) = source.get(range.clone()).filter(|text| !text.is_empty()) {
            self.segments.push(Segment { at, origin: range.start, lead: 0, is_void: false });
            self.text.to_mut().push_str(text);
        }
    }

    fn add_void(&mut self, text: &str, origin: usize) {
        let at = self.text.len();
        self.segments.push(Segment { at, origin, lead: 0, is_void: true });
        self.text.to_mut().push_str(text);
    }

    /// Whether what comes next could go on with a word.
    fn ends_in_word(&self) -> bool {
        let is_inside = |it: &u8| it.is_ascii_alphanumeric() || b"-_.~+/%\\".contains(it);
        self.text.as_bytes().last().is_some_and(is_inside)
    }

    /// Where a stretch of the lane lies in the original.
    pub(super) fn origins(&self, range: Range<usize>) -> Vec<Range<usize>> {
        if self.segments.is_empty() {
            return vec![range];
        }
        let first = self.segments.partition_point(|it| it.at <= range.start).saturating_sub(1);
        let mut origins: Vec<Range<usize>> = Vec::new();
        for (index, segment) in self.segments.iter().enumerate().skip(first) {
            let end = self.segments.get(index + 1).map_or(self.text.len(), |next| next.at);
            if segment.at >= range.end {
                break;
            }
            let (start, end) = (range.start.max(segment.at), range.end.min(end));
            if segment.is_void || start >= end {
                continue;
            }
            let lead = if start == segment.at { segment.lead } else { 0 };
            let start = segment.origin + (start - segment.at) - lead;
            let end = segment.origin + (end - segment.at);
            match origins.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => origins.push(start..end),
            }
        }
        origins
    }

    /// Where the letter at `at` lies in the original, or `end` if it is past the last.
    pub(super) fn origin(&self, at: usize, end: usize) -> usize {
        if at >= self.text.len() {
            return end;
        }
        self.origins(at..self.text.len()).first().map_or(end, |range| range.start.min(end))
    }

    /// The first place in the lane that lies at `origin` or behind it.
    pub(super) fn place(&self, origin: usize) -> usize {
        if self.segments.is_empty() {
            return origin.min(self.text.len());
        }
        let next = self.segments.partition_point(|it| it.origin <= origin);
        let end = self.segments.get(next).map_or(self.text.len(), |it| it.at);
        match next.checked_sub(1).map(|index| self.segments[index]) {
            Some(segment) if segment.is_void => end,
            Some(segment) => (segment.at + (origin - segment.origin)).min(end),
            None => 0,
        }
    }

    /// The lane without what shells print where they wrap the line that is being typed, and without movements
    /// that may have moved nothing; empty if there is none of that.
    ///
    /// bash writes a blank and a carriage return; zsh then writes the next letter twice, with a
    /// carriage return between.
    fn unwrapped<'u>(&self) -> Lane<'u> {
        let bytes = self.text.as_bytes();
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for at in wraps(bytes) {
            match bytes.get(at + 2) {
                None | Some(b'\n' | b'\r') => continue,
                Some(letter) if bytes.get(at + 3..at + 5) == Some(&[b'\r', *letter]) => {
                    cuts.push(at..at + 4);
                }
                Some(_) => cuts.push(at..at + 2),
            }
        }
        if !self.joints.is_empty() {
            cuts.extend(self.joints.iter().map(|at| *at..at + 1));
            cuts.sort_unstable_by_key(|cut| cut.start);
            let mut end = 0;
            cuts.retain(|cut| {
                let is_apart = cut.start >= end;
                end = end.max(cut.end);
                is_apart
            });
        }
        if cuts.is_empty() { Lane::default() } else { self.without(&cuts) }
    }

    /// Notes the ends of rows that are full, on a terminal with so many columns of which the first were printed before:
    /// a program that went up to one and left it again broke the line there, and what it wrote goes on all the same.
    fn join_full_rows(&mut self, cols: usize, mut before: usize) {
        let mut begin = 0;
        for end in memchr_iter(b'\n', self.text.as_bytes()) {
            let start = std::mem::replace(&mut begin, end + 1);
            let line = self.text[start..end].trim_end_matches('\r');
            let before = std::mem::take(&mut before);
            // No letter takes more cells than bytes: most lines are not worth looking at.
            if before + line.len() < cols {
                continue;
            }
            // What was printed before a return is not in this row, or is under it.
            let (row, before) = line.rsplit_once('\r').map_or((line, before), |(_, row)| (row, 0));
            let doubled = doubled_end(row);
            if fills(row, before, cols) {
                self.joints.extend(start + line.len()..=end);
            } else if doubled > 0 && fills(&row[..row.len() - doubled], before, cols) {
                self.joints.extend(start + line.len() - doubled..=end);
            }
        }
    }

    /// Without some stretches.
    fn without<'u>(&self, cuts: &[Range<usize>]) -> Lane<'u> {
        let mut lane = Lane::default();
        let mut at = 0;
        let mut lead = 0;
        for cut in cuts {
            lane.copy(self, at..cut.start, lead);
            // Of a letter that is written twice, the first goes where the second goes.
            lead = if cut.len() == 4 { 2 } else { 0 };
            at = cut.end;
        }
        lane.copy(self, at..self.text.len(), lead);
        lane
    }

    /// Adds a stretch of another lane.
    fn copy(&mut self, from: &Lane<'_>, range: Range<usize>, lead: usize) {
        let all = [Segment { at: 0, origin: 0, lead: 0, is_void: false }];
        let segments = if from.segments.is_empty() { &all[..] } else { &from.segments };
        let first = segments.partition_point(|it| it.at <= range.start).saturating_sub(1);
        let mut lead = lead;
        for (index, segment) in segments.iter().enumerate().skip(first) {
            let end = segments.get(index + 1).map_or(from.text.len(), |next| next.at);
            if segment.at >= range.end {
                break;
            }
            let (start, end) = (range.start.max(segment.at), range.end.min(end));
            if start >= end {
                continue;
            }
            let shift = if segment.is_void { 0 } else { start - segment.at };
            // Only what is next to it in the original can go with it.
            let lead = std::mem::take(&mut lead).min(shift);
            let origin = segment.origin + shift;
            self.segments.push(Segment { at: self.text.len(), origin, lead, ..*segment });
            self.text.to_mut().push_str(&from.text[start..end]);
        }
    }
}

/// A blank and a carriage return. Most texts are short: to make the search ready would take longer than to search.
static WRAP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b" \r"));

/// Whether a line of a screen with so many columns fills its rows: what a program wrote may go on in the next.
pub(super) fn is_full(line: &str, cols: usize) -> bool {
    fills(line, 0, cols)
}

/// How long the last letter of a row is if it is there twice: so vim has a terminal go on in the next.
fn doubled_end(row: &str) -> usize {
    let mut letters = row.chars().rev();
    letters.next().filter(|last| letters.next() == Some(*last)).map_or(0, char::len_utf8)
}

/// The same of the rest of a line, behind so many cells.
fn fills(line: &str, before: usize, cols: usize) -> bool {
    // No letter takes more cells than bytes: most rows are not worth counting.
    if before + line.len() < cols {
        return false;
    }
    let letters = before + line.chars().count();
    let wide = line.chars().filter(|letter| !letter.is_ascii()).count();
    (letters..=letters + wide).any(|cells| cells > 0 && cells % cols == 0)
}

/// Where a blank and a carriage return follow each other.
fn wraps(bytes: &[u8]) -> impl Iterator<Item = usize> {
    WRAP.find_iter(bytes)
}
