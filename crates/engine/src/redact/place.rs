//! Where the cursor is, as far as the text itself says, to tell movements that lead elsewhere from those that
//! interrupt a word and no more.
//!
//! Programs that draw set the cursor where it is already, and step over what is drawn already: what they
//! print behind that goes on with what stood before it. There is no screen here: a line that was wrapped or
//! scrolled is not followed, and where nothing is known, a movement may lead anywhere.

use memchr::memrchr2;

/// How many cells a step to the right may skip in the middle of a word. More is the next column of a table.
const SKIPPED_MAX: u32 = 3;

/// What a movement did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    Nowhere,
    /// Nowhere, or over what was drawn before, for all that is known.
    Perhaps,
    Elsewhere,
}

/// Where the cursor is, and what is known of a sequence that moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// From 1, as sequences count.
    row: Option<u32>,
    col: Option<u32>,
    /// Whether cells were skipped in this line. Programs that do so once write their blanks like that.
    has_skipped: bool,
    parameters: [Option<u32>; 2],
    /// Which of them is being read.
    reading: usize,
}

impl Place {
    /// Text is printed.
    pub(super) fn print(&mut self, text: &str) {
        let mut line = text;
        if let Some(at) = memrchr2(b'\r', b'\n', text.as_bytes()) {
            // A line feed alone, where nobody adds the rest, leaves the column as it is: not followed.
            let is_left = text.as_bytes()[at] == b'\r' || text[..at].ends_with('\r');
            (self.col, self.has_skipped) = (is_left.then_some(1), false);
            line = &text[at + 1..];
            if text[..=at].contains('\n') {
                // It may have scrolled.
                self.row = None;
            }
        }
        let Some(col) = self.col else { return };
        // Most letters take one cell; a line with others is followed less well.
        let cells = line.chars().filter(|letter| !letter.is_control()).count();
        let col = u32::try_from(cells).ok().and_then(|cells| col.checked_add(cells));
        self.col = col.filter(|_| !line.contains('\t'));
    }

    /// How many cells of the line were printed, as far as that is known.
    pub(super) fn cells_before(self) -> usize {
        self.col.map_or(0, |col| col.saturating_sub(1) as usize)
    }

    /// One letter back.
    pub(super) fn step_back(&mut self) {
        self.col = self.col.map(|col| col.saturating_sub(1).max(1));
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        *self = Place::default();
    }

    /// A control sequence begins.
    pub(super) fn begin(&mut self) {
        (self.parameters, self.reading) = ([None; 2], 0);
    }

    /// A byte of a control sequence that is not its last.
    pub(super) fn parameter(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                if let Some(parameter) = self.parameters.get_mut(self.reading) {
                    let digits = parameter.unwrap_or(0).saturating_mul(10);
                    *parameter = Some(digits.saturating_add(u32::from(byte - b'0')));
                }
            }
            b';' => self.reading = self.reading.saturating_add(1),
            _ => {}
        }
    }

    /// A control sequence ends with a byte; says what it did.
    pub(super) fn end(&mut self, last: u8) -> Moved {
        let [first, second] = self.parameters.map(|it| it.unwrap_or(0).max(1));
        match last {
            b'C' | b'a' => {
                self.col = self.col.map(|col| col.saturating_add(first));
                let is_first = !std::mem::replace(&mut self.has_skipped, true);
                let may_be_inside = is_first && first <= SKIPPED_MAX;
                if may_be_inside { Moved::Perhaps } else { Moved::Elsewhere }
            }
            b'D' => {
                self.col = self.col.map(|col| col.saturating_sub(first).max(1));
                Moved::Elsewhere
            }
            b'G' | b'`' => self.go(self.row, first),
            b'H' | b'f' => self.go(Some(first), second),
            // It erases, and moves nothing.
            b'J' => Moved::Nowhere,
            b'A' | b'B' | b'E' | b'F' | b'L' | b'M' | b'S' | b'T' | b'd' | b'e' | b'r' | b'u' => {
                self.forget();
                Moved::Elsewhere
            }
            _ => Moved::Nowhere,
        }
    }

    fn go(&mut self, row: Option<u32>, col: u32) -> Moved {
        let is_same = |now: Option<u32>, then: Option<u32>| now.zip(then).map(|(a, b)| a == b);
        let same = (is_same(self.row, row), is_same(self.col, Some(col)));
        let moved = match same {
            (Some(false), _) | (_, Some(false)) => Moved::Elsewhere,
            (_, Some(true)) => Moved::Nowhere,
            // No word goes on where a line begins.
            (_, None) if col == 1 => Moved::Elsewhere,
            (_, None) => Moved::Perhaps,
        };
        (self.row, self.col) = (row, Some(col));
        self.has_skipped &= moved != Moved::Elsewhere;
        moved
    }
}
