//! The cells of a screen as JSON.
//!
//! A cell takes some two hundred bytes, of which only a few are its own: the rest is made once for all
//! cells of a row, a column or a style, and copied.

use std::ops::Range;
use std::sync::Arc;

use greenroom_engine::redact::Redaction;
use greenroom_model::Size;
use greenroom_screen::{Attrs, Cell, CellText, Color, Snapshot, Style, Underline};

use crate::json::{push_escaped, push_number};

/// How many styles are kept as they are written: more than a screen has, mostly.
const MAX_STYLES: usize = 64;

/// Cells that hold a secret, and what is shown instead.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// The row and column of each, in order.
    cells: Vec<((u16, u16), char)>,
}

impl Hidden {
    /// Finds the cells of secrets, also of those that are wrapped. `before` is the beginning of the first
    /// line, if that has scrolled away.
    pub(super) fn find(snapshot: &Snapshot, before: &str, policy: &Redaction) -> Hidden {
        let mut text = String::from(before);
        // Where each cell's text is.
        let mut places: Vec<(Range<usize>, (u16, u16))> = Vec::new();
        for (row, line) in (0..).zip(snapshot.rows()) {
            let written = line.written();
            for cell in line.cells().take_while(|cell| cell.col < written) {
                let begin = text.len();
                match cell.text() {
                    CellText::Char(c) => text.push(c),
                    CellText::Cluster(cluster) => text.push_str(cluster),
                }
                places.push((begin..text.len(), (row, cell.col)));
            }
            if !line.is_wrapped() {
                text.push('\n');
            }
        }
        // The end of the screen is where its text ends, for expressions that mean the end.
        let text = text.trim_end_matches('\n');
        let mut hidden = Hidden::default();
        for span in policy.spans_of_screen(text, snapshot.size().cols()) {
            let Range { start, end } = span;
            // It may begin inside of what is one cell.
            let first = places.partition_point(|place| place.0.end <= start);
            let inside = places[first..].iter().take_while(|place| place.0.start < end);
            let mut marker = policy.replacement().chars();
            hidden.cells.extend(inside.map(|place| (place.1, marker.next().unwrap_or(' '))));
        }
        hidden
    }

    fn get(&self, at: (u16, u16)) -> Option<char> {
        if self.cells.is_empty() {
            return None;
        }
        let found = self.cells.binary_search_by_key(&at, |cell| cell.0).ok()?;
        Some(self.cells[found].1)
    }
}

/// The cells of some rows, written row by row.
#[derive(Debug)]
pub(super) struct Cells {
    snapshot: Arc<Snapshot>,
    rows: Range<u16>,
    hidden: Hidden,
    styles: Styles,
    /// Nothing was before.
    is_first: bool,
}

impl Cells {
    pub(super) fn new(snapshot: Arc<Snapshot>, rows: Range<u16>, hidden: Hidden) -> Cells {
        Cells { snapshot, rows, hidden, styles: Styles::default(), is_first: true }
    }

    /// Adds those of the next row; whether there are more.
    pub(super) fn push_row(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(row) = self.rows.next() else { return false };
        let Cells { snapshot, hidden, styles, is_first, .. } = self;
        let Some(line) = snapshot.row(row) else { return false };
        let columns = COLUMNS.get(..usize::from(snapshot.size().cols())).unwrap_or(&COLUMNS);
        let column = |col: u16| columns.get(usize::from(col)).map(Column::bytes);
        let mut begin = br#",{"row":"#.to_vec();
        push_number(&mut begin, row);
        begin.extend_from_slice(br#","col":"#);
        let written = line.written();
        for cell in line.cells() {
            // A terminal of one column has a second behind its edge.
            let Some(place) = column(cell.col) else { break };
            let style = styles.get(cell.style);
            // The first of all follows nothing.
            out.extend_from_slice(&begin[usize::from(std::mem::take(is_first))..]);
            out.extend_from_slice(place);
            match hidden.get((row, cell.col)) {
                Some(instead) => push_escaped(out, instead.encode_utf8(&mut [0; 4])),
                None if cell.col >= written => {}
                None => push_glyph(out, &cell),
            }
            if cell.width == 2 {
                let style = &style[NARROW.len()..];
                out.extend_from_slice(WIDE);
                out.extend_from_slice(style);
                let Some(place) = column(cell.col + 1) else { break };
                out.extend_from_slice(&begin);
                out.extend_from_slice(place);
                out.extend_from_slice(TAIL);
                out.extend_from_slice(style);
            } else {
                out.extend_from_slice(style);
            }
        }
        !self.rows.is_empty()
    }
}

/// What is between a cell's row and its text.
#[derive(Clone, Copy)]
struct Column {
    text: [u8; 15],
    length: u8,
}

impl Column {
    const fn new(number: usize) -> Column {
        let mut column = Column { text: [0; 15], length: 0 };
        let mut divisor = 1000;
        while divisor > 0 {
            if number >= divisor || divisor == 1 {
                column.push(b'0' + (number / divisor % 10) as u8);
            }
            divisor /= 10;
        }
        let mut rest = br#","text":""#.as_slice();
        while let [byte, more @ ..] = rest {
            column.push(*byte);
            rest = more;
        }
        column
    }

    const fn push(&mut self, byte: u8) {
        self.text[self.length as usize] = byte;
        self.length += 1;
    }

    fn bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }
}

/// All columns a terminal can have: a screen is asked for again and again.
static COLUMNS: [Column; Size::MAX_COLS as usize] = {
    let mut columns = [Column::new(0); Size::MAX_COLS as usize];
    let mut number = 1;
    while number < columns.len() {
        columns[number] = Column::new(number);
        number += 1;
    }
    columns
};

const WIDE: &[u8] = br#"","wide":true,"wide_continuation":false,"style":"#;
const TAIL: &[u8] = br#"","wide":false,"wide_continuation":true,"style":"#;
const NARROW: &[u8] = br#"","wide":false,"wide_continuation":false,"style":"#;

/// What follows the text of a narrow cell, by its style.
#[derive(Debug, Default)]
struct Styles {
    known: Vec<(Style, Vec<u8>)>,
    last: usize,
}

impl Styles {
    fn get(&mut self, style: Style) -> &[u8] {
        if self.known.get(self.last).is_none_or(|known| known.0 != style) {
            self.last = match self.known.iter().position(|known| known.0 == style) {
                Some(at) => at,
                None => self.add(style),
            };
        }
        self.known.get(self.last).map_or(&[], |known| &known.1)
    }

    fn add(&mut self, style: Style) -> usize {
        // A screen of so many styles has more yet: none of them comes again soon.
        if self.known.len() >= MAX_STYLES {
            self.known.clear();
        }
        let mut text = NARROW.to_vec();
        push_style(&mut text, &style);
        self.known.push((style, text));
        self.known.len() - 1
    }
}

fn push_glyph(out: &mut Vec<u8>, cell: &Cell<'_>) {
    match cell.text() {
        CellText::Char(letter) => push_escaped(out, letter.encode_utf8(&mut [0; 4])),
        CellText::Cluster(cluster) => push_escaped(out, cluster),
    }
}

/// A style, and the end of its cell.
fn push_style(out: &mut Vec<u8>, style: &Style) {
    let has = |attr| style.attrs.contains(attr);
    let text = format!(
        r#"{{"foreground":"{}","background":"{}","bold":{},"dim":{},"italic":{},"underline":{},"inverse":{}}}}}"#,
        color(style.fg),
        color(style.bg),
        has(Attrs::BOLD),
        has(Attrs::DIM),
        has(Attrs::ITALIC),
        style.underline != Underline::None,
        has(Attrs::INVERSE)
    );
    out.extend_from_slice(text.as_bytes());
}

fn color(color: Color) -> String {
    match color {
        Color::Default => "default".to_owned(),
        Color::Indexed(index) => format!("idx:{index}"),
        Color::Rgb(r, g, b) => format!("rgb:{r}:{g}:{b}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_its_number() {
        for (number, column) in COLUMNS.iter().enumerate() {
            assert_eq!(column.bytes(), format!(r#"{number},"text":""#).as_bytes());
        }
    }
}
