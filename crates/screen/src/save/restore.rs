//! A screen out of a checkpoint, which may come from anywhere.
//!
//! Invariant: whatever the bytes, the screen that comes out keeps every invariant of one that was
//! fed, or none comes out. Memory taken is in proportion to the bytes given.

use greenroom_model::{Offset, Size};

use super::{MAGIC, RestoreError, VERSION};
use crate::charset::{Charset, Charsets};
use crate::codec::Reader;
use crate::event::{Mark, MarkKind};
use crate::grid::Grid;
use crate::history::{History, MAX_HISTORY, Page};
use crate::keyboard::KeyboardStack;
use crate::links::{Link, MAX_URI};
use crate::modes::Modes;
use crate::options::Options;
use crate::palette::Slot;
use crate::parser::{MAX_STRING, Parser};
use crate::resize::MAX_BELOW;
use crate::row::Row;
use crate::screen::Screen;
use crate::style::Packed;
use crate::terminal::{
    Graphic, GraphicKind, MAX_CURSOR_STYLE, Place, SavedCursor, Series, Terminal,
};
use crate::title::MAX_TITLES;

/// The longest text of one kind in a checkpoint: a title, a folder, an address.
const MAX_TEXT: usize = 4096;

impl Screen {
    /// Brings a screen back from a checkpoint.
    ///
    /// ```
    /// # use greenroom_screen::{Options, RestoreError, Screen};
    /// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]2;vi\x07text");
    /// let copy = Screen::restore(&screen.checkpoint()).unwrap();
    /// assert_eq!((copy.text().as_str(), copy.title()), ("text", "vi"));
    /// assert_eq!(Screen::restore(b"nonsense").unwrap_err(), RestoreError::NotACheckpoint);
    /// ```
    pub fn restore(checkpoint: &[u8]) -> Result<Screen, RestoreError> {
        let Some(rest) = checkpoint.strip_prefix(MAGIC) else {
            return Err(RestoreError::NotACheckpoint);
        };
        let mut input = Reader { rest };
        let version = input.number().ok_or(RestoreError::NotACheckpoint)?;
        if version == 0 || version > VERSION {
            return Err(RestoreError::Version(version));
        }
        let damaged = RestoreError::Damaged;
        let parser = Parser::read(&mut input).ok_or(damaged("parser"))?;
        let mut terminal = read_setup(&mut input).ok_or(damaged("setup"))?;
        terminal.history = read_history(&mut input, terminal.cols).ok_or(damaged("history"))?;
        if terminal.options.history_lines == 0 && terminal.history.len() > 0 {
            return Err(damaged("history"));
        }
        terminal.history.bound_to(terminal.options.history_lines);
        // It may lie below the screen, but not by more than rows were blank.
        let below = 2 * u64::from(Size::MAX_ROWS);
        let kept = terminal.history.first()..=terminal.history.end() + below;
        if terminal.series.is_some_and(|series| !kept.contains(&series.row)) {
            return Err(damaged("setup"));
        }
        read_grids(&mut terminal, &mut input).ok_or(damaged("screens"))?;
        read_links(&mut terminal, &mut input).ok_or(damaged("links"))?;
        read_names(&mut terminal, &mut input).ok_or(damaged("names"))?;
        read_marks(&mut terminal, &mut input).ok_or(damaged("marks"))?;
        read_graphics(&mut terminal, &mut input).ok_or(damaged("pictures"))?;
        if !input.rest.is_empty() {
            return Err(damaged("end"));
        }
        terminal.generation += 1;
        terminal.all_changed = terminal.generation;
        Ok(Screen { parser, terminal })
    }
}

fn read_setup(input: &mut Reader<'_>) -> Option<Terminal> {
    let options = Options {
        history_lines: input.count(MAX_HISTORY)?,
        graphics: input.flag()?,
        checksums: input.flag()?,
        cell_pixels: (small(input)?, small(input)?),
    };
    let size = Size::new(small(input)?, small(input)?)?;
    let mut terminal = Terminal::new(size, options);
    let cursor = read_cursor(input, terminal.cols, terminal.rows)?;
    (terminal.cursor, terminal.pen) = (cursor.place, cursor.pen);
    terminal.pen_id = None;
    terminal.charsets = cursor.charsets;
    terminal.top = input.count(terminal.rows - 1)?;
    terminal.bottom = input.count(terminal.rows - 1)?;
    if terminal.top > terminal.bottom {
        return None;
    }
    terminal.tabs.clear();
    for _ in 0..input.count(terminal.cols)? {
        terminal.tabs.set(input.count(terminal.cols - 1)?, true);
    }
    terminal.modes = Modes::from_bits(input.number()?)?;
    let (has_saved, saved) = (input.flag()?, Modes::from_bits(input.number()?)?);
    terminal.saved_modes = has_saved.then_some(saved);
    terminal.cursor_style = small(input).filter(|&style| style <= MAX_CURSOR_STYLE)?;
    terminal.other_keys = input.byte().filter(|&level| level <= 2)?;
    terminal.rectangle = input.flag()?;
    terminal.printed = input.flag()?;
    if input.flag()? {
        let (row, col, roomy) = (input.number()?, input.count(terminal.cols)?, input.flag()?);
        terminal.series = Some(Series { row, col, roomy });
    }
    Some(terminal)
}

fn small(input: &mut Reader<'_>) -> Option<u16> {
    u16::try_from(input.number()?).ok()
}

fn read_cursor(input: &mut Reader<'_>, cols: usize, rows: usize) -> Option<SavedCursor> {
    let place =
        Place { x: input.count(cols - 1)?, y: input.count(rows - 1)?, pending: input.flag()? };
    let pen = Packed::from_bits(input.wide()?)?;
    let mut sets = [Charset::Ascii; 4];
    for set in &mut sets {
        *set = Charset::from_final(input.byte()?);
    }
    let left = input.byte().filter(|&left| left < 4)?;
    let single = match input.byte()? {
        0 => None,
        set @ 2..=3 => Some(set),
        _ => return None,
    };
    let origin = input.flag()?;
    let in_last = place.x + 1 == cols;
    (!place.pending || in_last).then_some(SavedCursor {
        place,
        pen,
        charsets: Charsets { sets, left, single },
        origin,
    })
}

fn read_history(input: &mut Reader<'_>, cols: usize) -> Option<History> {
    let mut history = History::new(MAX_HISTORY);
    history.set_first(input.number()?.min(u64::MAX / 2));
    for _ in 0..input.count(input.rest.len())? {
        let skipped = input.count(MAX_HISTORY)?;
        let page = Page::read(&mut input.rest)?;
        if page.widest() > cols || !history.restore_page(page, skipped) {
            return None;
        }
    }
    Some(history)
}

fn read_grids(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<()> {
    let rows = terminal.rows;
    terminal.grid = read_grid(terminal, input).filter(|grid| grid.len() == rows)?;
    if input.flag()? {
        let other = read_grid(terminal, input).filter(|grid| grid.len() == rows)?;
        terminal.other = Some(Box::new(other));
    }
    if terminal.other.is_some() != terminal.is_alternate() {
        return None;
    }
    let mut below = read_grid(terminal, input)?;
    terminal.below = below.take_rows();
    Some(())
}

fn read_grid(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<Grid> {
    let history = read_history(input, terminal.cols)?;
    if history.len() > MAX_BELOW {
        return None;
    }
    let mut rows = Vec::with_capacity(history.len());
    let mut row = Row::default();
    for line in history.lines(history.first(), history.end()) {
        line.decode(&mut row);
        let mut known = (0, 0);
        let mut full = false;
        row.map_styles(|id| {
            if id != known.0 {
                let style = line.styles.get(id as usize).copied().unwrap_or_default();
                // No sweep yet: rows of grids not read so far would be missed by it.
                let number = terminal.styles.find_or_grow(style);
                full |= number.is_none();
                known = (id, number.unwrap_or(0));
            }
            known.1
        });
        if full {
            return None;
        }
        rows.push(row.clone());
    }
    let mut grid = Grid::from_rows(rows);
    if input.flag()? {
        grid.saved = Some(read_cursor(input, terminal.cols, terminal.rows)?);
    }
    grid.keyboard = KeyboardStack::restore(input.bytes()?);
    Some(grid)
}

fn read_links(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<()> {
    for _ in 0..input.count(input.rest.len())? {
        let number = small(input)?;
        let uri = input.text(MAX_URI)?;
        let has_id = input.flag()?;
        let id = input.text(MAX_TEXT)?;
        let link = Link { uri, id: has_id.then_some(id) };
        terminal.links.restore(number, link).then_some(())?;
    }
    Some(())
}

fn read_names(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<()> {
    terminal.titles.current = input.text(MAX_TEXT)?;
    for _ in 0..input.count(MAX_TITLES)? {
        terminal.titles.stack.push(input.text(MAX_TEXT)?);
    }
    if input.flag()? {
        terminal.cwd = Some((input.text(MAX_TEXT)?, input.text(MAX_TEXT)?));
    }
    for _ in 0..input.count(259)? {
        let number = input.number()?;
        let index = input.byte()?;
        let rgb = (input.byte()?, input.byte()?, input.byte()?);
        let slot = match number {
            4 => Slot::Indexed(index),
            10 => Slot::Foreground,
            11 => Slot::Background,
            12 => Slot::Cursor,
            _ => return None,
        };
        terminal.palette.set(slot, rgb);
    }
    Some(())
}

fn read_marks(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<()> {
    let rows = terminal.history.first()..terminal.history.end() + terminal.rows as u64;
    for _ in 0..input.count(input.rest.len())? {
        let (kind, code) = (input.byte()?, u32::try_from(input.number()?).ok()? as i32);
        let kind = match kind {
            0 => MarkKind::PromptStart,
            1 => MarkKind::CommandStart,
            2 => MarkKind::OutputStart,
            3 => MarkKind::CommandEnd(None),
            4 => MarkKind::CommandEnd(Some(code)),
            _ => return None,
        };
        let mark = Mark {
            kind,
            start: Offset(input.number()?),
            end: Offset(input.number()?),
            row: input.number().filter(|row| rows.contains(row))?,
            col: small(input).filter(|&col| col as usize <= terminal.cols)?,
        };
        terminal.marks.push(mark);
    }
    Some(())
}

fn read_graphics(terminal: &mut Terminal, input: &mut Reader<'_>) -> Option<()> {
    let rows = terminal.history.first()..terminal.history.end() + terminal.rows as u64;
    for _ in 0..input.count(input.rest.len())? {
        let kind = match input.byte()? {
            0 => GraphicKind::Sixel,
            1 => GraphicKind::Kitty,
            _ => return None,
        };
        let graphic = Graphic {
            kind,
            row: input.number().filter(|row| rows.contains(row))?,
            col: small(input).filter(|&col| (col as usize) < terminal.cols)?,
            rows: small(input)?,
            alternate: input.flag().filter(|&it| !it || terminal.is_alternate())?,
            bytes: input.bytes().filter(|bytes| bytes.len() <= MAX_STRING + 128)?.into(),
        };
        terminal.graphics.push(graphic);
    }
    Some(())
}
