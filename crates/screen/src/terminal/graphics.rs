//! Pictures, kept as they came and replayed to whoever can show them.
//!
//! A picture is opaque: where it was put, and the bytes that put it there. Its pixels are never
//! decoded; only its height is read, so that the cursor ends where a terminal that shows it puts
//! it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Terminal;
use crate::event::Event;
use crate::parser::{MAX_STRING, StringSequence};

/// How many pictures, or pieces of pictures, are kept; the oldest go first. Programs send pictures
/// in pieces of 4 KiB, so that many pieces reach the bound below first.
const MAX_GRAPHICS: usize = 1024;

/// How much all pictures together may take.
const MAX_GRAPHIC_BYTES: usize = 4 * MAX_STRING;

/// Which protocol a picture came in.
///
/// ```
/// use greenroom_screen::{GraphicKind, Options, Screen};
///
/// let options = Options { graphics: true, ..Options::default() };
/// let mut screen = Screen::new("20x4".parse().unwrap(), options);
/// screen.feed(b"\x1bPq#0~~\x1b\\");
/// screen.feed(b"\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\");
/// let kinds: Vec<_> = screen.graphics().map(|picture| picture.kind).collect();
/// assert_eq!(kinds, [GraphicKind::Sixel, GraphicKind::Kitty]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphicKind {
    /// DECSIXEL.
    Sixel,
    /// The kitty graphics protocol.
    Kitty,
}

/// A picture: where it was put and the bytes that put it there.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let options = Options { graphics: true, ..Options::default() };
/// let mut screen = Screen::new("20x4".parse().unwrap(), options);
/// screen.feed(b"at: \x1bPq#0~~\x1b\\");
/// let picture = screen.graphics().next().unwrap();
/// assert_eq!((picture.row, picture.col), (0, 4));
/// assert!(picture.bytes.ends_with(b"#0~~\x1b\\"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graphic {
    /// Which protocol it came in.
    pub kind: GraphicKind,
    /// The row of its top left corner, counted from the beginning of the session.
    pub row: u64,
    /// The column of its top left corner.
    pub col: u16,
    /// How many rows it takes, as far as is known.
    pub rows: u16,
    /// Whether it is on the alternate screen.
    pub alternate: bool,
    /// The whole sequence.
    pub bytes: Arc<[u8]>,
}

/// The pictures on the screen and in the history.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graphics {
    list: VecDeque<Graphic>,
    bytes: usize,
}

impl Graphics {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Graphic> {
        self.list.iter()
    }

    pub(crate) fn push(&mut self, graphic: Graphic) {
        self.bytes += graphic.bytes.len();
        self.list.push_back(graphic);
        while self.list.len() > MAX_GRAPHICS || self.bytes > MAX_GRAPHIC_BYTES {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some(gone) = self.list.pop_front() {
            self.bytes -= gone.bytes.len();
        }
    }

    /// Forgets the pictures in rows before `first`.
    #[inline]
    pub(crate) fn trim(&mut self, first: u64) {
        if !self.list.is_empty() {
            self.retain(|it| it.row >= first || it.alternate);
        }
    }

    /// Forgets the pictures of a screen that is erased.
    pub(super) fn clear(&mut self, top: u64, alternate: bool) {
        self.retain(|it| it.alternate != alternate || (!alternate && it.row < top));
    }

    /// Forgets the pictures of the alternate screen.
    pub(crate) fn leave_alternate(&mut self) {
        self.retain(|it| !it.alternate);
    }

    /// Forgets all kitty pictures. Which of them a program means takes decoding more than we do;
    /// one too few shows as a gap, one too many would show what was meant to be gone.
    fn forget_kitty(&mut self) {
        self.retain(|it| it.kind != GraphicKind::Kitty);
    }

    fn retain(&mut self, keep: impl Fn(&Graphic) -> bool) {
        if !self.list.is_empty() {
            self.list.retain(keep);
            self.bytes = self.list.iter().map(|it| it.bytes.len()).sum();
        }
    }

    /// Gives every picture a new place, in order; those of the alternate screen stay.
    pub(crate) fn relocate(&mut self, mut new: impl FnMut(&Graphic) -> Option<(u64, u16)>) {
        for graphic in &mut self.list {
            if let Some((row, col)) = new(graphic)
                && !graphic.alternate
            {
                (graphic.row, graphic.col) = (row, col);
            }
        }
    }

    pub(crate) fn heap(&self) -> usize {
        self.bytes + self.list.capacity() * size_of::<Graphic>()
    }
}

impl Terminal {
    /// DECSIXEL: the cursor goes to the row below the picture, as xterm scrolls.
    pub(super) fn sixel(&mut self, string: &StringSequence<'_>) {
        if !self.options.graphics {
            return;
        }
        let bands = 1 + string.payload.iter().filter(|&&byte| byte == b'-').count();
        let cell = self.options.cell_pixels.1.max(1) as usize;
        let rows = (bands * 6).div_ceil(cell).min(self.rows);
        let mut bytes = b"\x1bP".to_vec();
        string.csi.params.write(&mut bytes);
        bytes.push(b'q');
        bytes.extend_from_slice(string.payload);
        bytes.extend_from_slice(b"\x1b\\");
        self.place(GraphicKind::Sixel, bytes, rows);
        self.happened.event(Event::Graphic);
        self.carriage_return();
        (0..rows).for_each(|_| self.index());
    }

    /// Kitty graphics: `G` control data `;` payload. A query is answered with its own number.
    pub(super) fn kitty_graphics(&mut self, string: &StringSequence<'_>) {
        let Some(body) = string.payload.strip_prefix(b"G") else { return };
        if !self.options.graphics {
            return;
        }
        let control = body.split(|&byte| byte == b';').next().unwrap_or_default();
        let value = |key: &[u8]| {
            let mut pairs = control.split(|&byte| byte == b',');
            pairs.find_map(|pair| pair.strip_prefix(key)?.strip_prefix(b"="))
        };
        let number = |key: &[u8]| {
            value(key).and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok())
        };
        let id = number(b"i").unwrap_or(0);
        if value(b"a") == Some(b"q") {
            return self.reply(format_args!("\x1b_Gi={id};OK\x1b\\"));
        }
        if value(b"a") == Some(b"d") {
            return self.graphics.forget_kitty();
        }
        let mut bytes = b"\x1b_".to_vec();
        bytes.extend_from_slice(string.payload);
        bytes.extend_from_slice(b"\x1b\\");
        let rows = number(b"r").unwrap_or(0).min(self.rows as u32);
        let shown = value(b"a") == Some(b"T") || value(b"a") == Some(b"p");
        let stays = value(b"C") == Some(b"1");
        self.place(GraphicKind::Kitty, bytes, rows as usize);
        // A picture comes in pieces (`m=1`), or only to be shown later.
        if shown && value(b"m") != Some(b"1") {
            self.happened.event(Event::Graphic);
        }
        if shown && !stays {
            (1..rows).for_each(|_| self.index());
            let cols = number(b"c").unwrap_or(0).min(self.cols as u32) as usize;
            self.move_right(cols);
        }
    }

    fn place(&mut self, kind: GraphicKind, bytes: Vec<u8>, rows: usize) {
        let graphic = Graphic {
            kind,
            row: self.history.end() + self.cursor.y as u64,
            col: self.cursor.x as u16,
            rows: rows as u16,
            alternate: self.is_alternate(),
            bytes: bytes.into(),
        };
        self.graphics.push(graphic);
    }
}
