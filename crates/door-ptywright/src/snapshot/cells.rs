//! The cells of a screen as JSON.
//!
//! A cell takes some two hundred bytes, of which only a few are its own: the rest is made once for all
//! cells of a row, a column or a style, and copied.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use greenroom_engine::redact::Redaction;
use greenroom_screen::{Attrs, Cell, CellText, Color, Snapshot, Style, Underline};

use super::push_escaped;

/// How long a piece becomes: the allocator gives such memory again and again, where larger pieces would
/// come from the system, page by page.
const PIECE: usize = 48 << 10;

/// More than a row's worth of cells of one column.
const CELL_BYTES: usize = 256;

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
        // Where each cell's text begins.
        let mut places: Vec<(usize, (u16, u16))> = Vec::new();
        for (row, line) in (0..).zip(snapshot.rows()) {
            let written = line.written();
            for cell in line.cells().take_while(|cell| cell.col < written) {
                places.push((text.len(), (row, cell.col)));
                match cell.text() {
                    CellText::Char(c) => text.push(c),
                    CellText::Cluster(cluster) => text.push_str(cluster),
                }
            }
            if !line.is_wrapped() {
                text.push('\n');
            }
        }
        let mut hidden = Hidden::default();
        for span in policy.spans_of_screen(&text, snapshot.size().cols()) {
            let Range { start, end } = span;
            let first = places.partition_point(|place| place.0 < start);
            let inside = places[first..].iter().take_while(|place| place.0 < end);
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

/// The cells of some rows, in pieces that are made when they are asked for.
#[derive(Debug)]
pub(super) struct Cells {
    snapshot: Arc<Snapshot>,
    rows: Range<u16>,
    hidden: Hidden,
    /// What is between a cell's row and its text, by column.
    columns: Vec<String>,
    styles: Styles,
    /// Nothing was before.
    is_first: bool,
}

impl Cells {
    pub(super) fn new(snapshot: Arc<Snapshot>, rows: Range<u16>, hidden: Hidden) -> Cells {
        let cols = if rows.is_empty() { 0 } else { snapshot.size().cols() };
        let columns = (0..cols).map(|col| format!(r#"{col},"text":""#)).collect();
        Cells { snapshot, rows, hidden, columns, styles: Styles::default(), is_first: true }
    }

    fn push_row(&mut self, out: &mut String, row: u16) {
        let Cells { snapshot, hidden, columns, styles, is_first, .. } = self;
        let Some(line) = snapshot.row(row) else { return };
        let column = |col: u16| columns.get(usize::from(col)).map(String::as_str);
        let begin = format!(r#",{{"row":{row},"col":"#);
        let written = line.written();
        for cell in line.cells() {
            // A terminal of one column has a second behind its edge.
            let Some(place) = column(cell.col) else { break };
            let style = styles.get(cell.style);
            // The first of all follows nothing.
            out.push_str(&begin[usize::from(std::mem::take(is_first))..]);
            out.push_str(place);
            match hidden.get((row, cell.col)) {
                Some(instead) => push_escaped(out, instead.encode_utf8(&mut [0; 4])),
                None if cell.col >= written => {}
                None => push_glyph(out, &cell),
            }
            if cell.width == 2 {
                let style = &style[NARROW.len()..];
                out.push_str(WIDE);
                out.push_str(style);
                let Some(place) = column(cell.col + 1) else { break };
                out.push_str(&begin);
                out.push_str(place);
                out.push_str(TAIL);
                out.push_str(style);
            } else {
                out.push_str(style);
            }
        }
    }
}

impl Iterator for Cells {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut row = self.rows.next()?;
        let mut out = String::with_capacity(PIECE);
        loop {
            self.push_row(&mut out, row);
            let is_full = out.len() + self.columns.len() * CELL_BYTES > PIECE;
            match if is_full { None } else { self.rows.next() } {
                Some(next) => row = next,
                None => return Some(out.into()),
            }
        }
    }
}

const WIDE: &str = r#"","wide":true,"wide_continuation":false,"style":"#;
const TAIL: &str = r#"","wide":false,"wide_continuation":true,"style":"#;
const NARROW: &str = r#"","wide":false,"wide_continuation":false,"style":"#;

/// What follows the text of a narrow cell, by its style.
#[derive(Debug, Default)]
struct Styles {
    known: Vec<(Style, String)>,
    last: usize,
}

impl Styles {
    fn get(&mut self, style: Style) -> &str {
        if self.known.get(self.last).is_none_or(|known| known.0 != style) {
            self.last = match self.known.iter().position(|known| known.0 == style) {
                Some(at) => at,
                None => self.add(style),
            };
        }
        self.known.get(self.last).map_or("", |known| &known.1)
    }

    fn add(&mut self, style: Style) -> usize {
        // A screen of so many styles has more yet: none of them comes again soon.
        if self.known.len() >= MAX_STYLES {
            self.known.clear();
        }
        let mut text = String::from(NARROW);
        push_style(&mut text, &style);
        self.known.push((style, text));
        self.known.len() - 1
    }
}

fn push_glyph(out: &mut String, cell: &Cell<'_>) {
    match cell.text() {
        CellText::Char(c) if c != '"' && c != '\\' && !c.is_control() => out.push(c),
        other => push_escaped(out, &other.to_string()),
    }
}

/// A style, and the end of its cell.
fn push_style(out: &mut String, style: &Style) {
    let has = |attr| style.attrs.contains(attr);
    out.push_str(r#"{"foreground":""#);
    push_color(out, style.fg);
    out.push_str(r#"","background":""#);
    push_color(out, style.bg);
    // Writing to a text does not fail.
    let _ok = write!(
        out,
        r#"","bold":{},"dim":{},"italic":{},"underline":{},"inverse":{}}}}}"#,
        has(Attrs::BOLD),
        has(Attrs::DIM),
        has(Attrs::ITALIC),
        style.underline != Underline::None,
        has(Attrs::INVERSE)
    );
}

fn push_color(out: &mut String, color: Color) {
    let _ok = match color {
        Color::Default => write!(out, "default"),
        Color::Indexed(index) => write!(out, "idx:{index}"),
        Color::Rgb(r, g, b) => write!(out, "rgb:{r}:{g}:{b}"),
    };
}
