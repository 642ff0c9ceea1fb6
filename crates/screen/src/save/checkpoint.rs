//! A screen's state, exactly and compactly.
//!
//! Fields follow one another without names; the version says which. History pages are written as
//! they lie, and so are the grids' rows, as pages of their own.

use super::{MAGIC, VERSION};
use crate::charset::Charsets;
use crate::codec::Writer;
use crate::event::MarkKind;
use crate::grid::Grid;
use crate::history::History;
use crate::palette::Slot;
use crate::screen::Screen;
use crate::style::Packed;
use crate::terminal::{Graphic, GraphicKind, Place, SavedCursor, Series, Terminal};

impl Screen {
    /// The whole state, exactly, to be given to [`Screen::restore`].
    ///
    /// It may be taken at any time, in the middle of a sequence or character too.
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"half a sequence: \x1b[3");
    /// let mut copy = Screen::restore(&screen.checkpoint()).unwrap();
    /// copy.feed(b"1mred");
    /// assert_eq!(copy.text(), "half a sequence: red");
    /// ```
    #[must_use]
    pub fn checkpoint(&self) -> Vec<u8> {
        let terminal = &self.terminal;
        let mut out = Writer::default();
        out.out.reserve(terminal.history.heap() + 4096);
        out.out.extend_from_slice(MAGIC);
        out.number(VERSION);
        self.parser.write(&mut out);
        write_setup(terminal, &mut out);
        write_history(&terminal.history, &mut out);
        write_grid(&terminal.grid, terminal.styles.all(), &mut out);
        out.flag(terminal.other.is_some());
        if let Some(other) = &terminal.other {
            write_grid(other, terminal.styles.all(), &mut out);
        }
        let below = Grid::from_rows(terminal.below.clone());
        write_grid(&below, terminal.styles.all(), &mut out);
        write_links(terminal, &mut out);
        write_names(terminal, &mut out);
        write_marks(terminal, &mut out);
        write_graphics(terminal, &mut out);
        out.out
    }
}

fn write_setup(terminal: &Terminal, out: &mut Writer) {
    let options = &terminal.options;
    out.number(options.history_lines as u64);
    out.flag(options.graphics);
    out.flag(options.checksums);
    out.number(u64::from(options.cell_pixels.0));
    out.number(u64::from(options.cell_pixels.1));
    out.number(u64::from(terminal.size.cols()));
    out.number(u64::from(terminal.size.rows()));
    write_cursor(
        &SavedCursor {
            place: terminal.cursor,
            pen: terminal.pen,
            charsets: terminal.charsets,
            origin: false,
        },
        out,
    );
    out.number(terminal.top as u64);
    out.number(terminal.bottom as u64);
    let stops: Vec<usize> = terminal.tabs.stops().collect();
    out.number(stops.len() as u64);
    stops.iter().for_each(|&stop| out.number(stop as u64));
    out.number(terminal.modes.bits());
    out.flag(terminal.saved_modes.is_some());
    out.number(terminal.saved_modes.map_or(0, |modes| modes.bits()));
    out.number(u64::from(terminal.cursor_style));
    out.byte(terminal.other_keys);
    out.flag(terminal.rectangle);
    out.flag(terminal.printed);
    out.flag(terminal.series.is_some());
    if let Some(Series { row, col, roomy }) = terminal.series {
        out.number(row);
        out.number(col as u64);
        out.flag(roomy);
    }
}

fn write_cursor(saved: &SavedCursor, out: &mut Writer) {
    let Place { x, y, pending } = saved.place;
    out.number(x as u64);
    out.number(y as u64);
    out.flag(pending);
    out.wide(saved.pen.bits());
    let Charsets { sets, left, single } = saved.charsets;
    sets.iter().for_each(|set| out.byte(set.to_final()));
    out.byte(left);
    out.byte(single.unwrap_or(0));
    out.flag(saved.origin);
}

fn write_history(history: &History, out: &mut Writer) {
    out.number(history.first());
    let pages: Vec<_> = history.pages().collect();
    out.number(pages.len() as u64);
    for (page, skipped) in pages {
        out.number(skipped as u64);
        page.write(&mut out.out);
    }
}

fn write_grid(grid: &Grid, styles: &[Packed], out: &mut Writer) {
    let mut rows = History::new(usize::MAX);
    for row in grid.rows() {
        rows.push(row, styles);
    }
    write_history(&rows, out);
    out.flag(grid.saved.is_some());
    if let Some(saved) = &grid.saved {
        write_cursor(saved, out);
    }
    out.bytes(grid.keyboard.levels());
}

fn write_links(terminal: &Terminal, out: &mut Writer) {
    let links: Vec<_> = terminal.links.all().collect();
    out.number(links.len() as u64);
    for (number, link) in links {
        out.number(u64::from(number));
        out.bytes(link.uri.as_bytes());
        out.flag(link.id.is_some());
        out.bytes(link.id.as_deref().unwrap_or("").as_bytes());
    }
}

fn write_names(terminal: &Terminal, out: &mut Writer) {
    out.bytes(terminal.titles.current.as_bytes());
    out.number(terminal.titles.stack.len() as u64);
    terminal.titles.stack.iter().for_each(|title| out.bytes(title.as_bytes()));
    out.flag(terminal.cwd.is_some());
    if let Some((host, path)) = &terminal.cwd {
        out.bytes(host.as_bytes());
        out.bytes(path.as_bytes());
    }
    out.number(terminal.palette.changes().len() as u64);
    for &(slot, (r, g, b)) in terminal.palette.changes() {
        let index = if let Slot::Indexed(index) = slot { index } else { 0 };
        out.number(u64::from(slot.osc()));
        [index, r, g, b].into_iter().for_each(|byte| out.byte(byte));
    }
}

fn write_marks(terminal: &Terminal, out: &mut Writer) {
    out.number(terminal.marks.iter().len() as u64);
    for mark in terminal.marks.iter() {
        let (kind, code) = match mark.kind {
            MarkKind::PromptStart => (0, 0),
            MarkKind::CommandStart => (1, 0),
            MarkKind::OutputStart => (2, 0),
            MarkKind::CommandEnd(None) => (3, 0),
            MarkKind::CommandEnd(Some(code)) => (4, code),
        };
        out.byte(kind);
        out.number(u64::from(code as u32));
        out.number(mark.start.0);
        out.number(mark.end.0);
        out.number(mark.row);
        out.number(u64::from(mark.col));
    }
}

fn write_graphics(terminal: &Terminal, out: &mut Writer) {
    out.number(terminal.graphics.iter().count() as u64);
    for Graphic { kind, row, col, rows, alternate, bytes } in terminal.graphics.iter() {
        out.byte(match kind {
            GraphicKind::Sixel => 0,
            GraphicKind::Kitty => 1,
        });
        out.number(*row);
        out.number(u64::from(*col));
        out.number(u64::from(*rows));
        out.flag(*alternate);
        out.bytes(bytes);
    }
}
