//! Rows as the bytes that print them.

use std::io::Write as _;

use crate::row::Row;
use crate::style::{Attrs, Packed, Style};
use crate::terminal::Terminal;
use crate::unicode;

/// Prints rows, changing the pen only where the cells change.
pub(super) struct Painter<'a> {
    pub(super) out: Vec<u8>,
    terminal: &'a Terminal,
    pen: Packed,
    /// The glyph printed last, which a next one might join.
    last: String,
}

impl<'a> Painter<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Painter<'a> {
        Painter {
            out: Vec::with_capacity(4096),
            terminal,
            pen: Packed::DEFAULT,
            last: String::new(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn format(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a vector cannot fail.
        let _ok = self.out.write_fmt(text);
    }

    /// Prints the cells `from..to` of a row.
    pub(super) fn cells(&mut self, row: &Row, from: usize, to: usize, palette: &[Packed]) {
        let to = to.min(row.len());
        let mut x = from;
        while x < to {
            let id = row.style(x);
            let mut end = x + 1;
            while end < to && row.style(end) == id {
                end += 1;
            }
            self.pen(palette.get(id as usize).copied().unwrap_or_default());
            if row.as_ascii().is_some() {
                row.push_text(x, end, &mut self.out);
                self.last.clear();
                self.last.extend(self.out.last().map(|&byte| char::from(byte)));
            } else {
                (x..end).filter(|&x| !row.is_tail(x)).for_each(|x| self.glyph(row, x));
            }
            x = end;
        }
    }

    /// Prints one glyph so that it comes out as wide as it is and joins nothing: it may have been
    /// printed while clusters were not joined (mode 2027).
    fn glyph(&mut self, row: &Row, x: usize) {
        let mut text = String::new();
        row.push_glyph(x, &mut text);
        if text.chars().next().is_some_and(|first| unicode::joins(&self.last, first)) {
            // Any sequence keeps them apart; this one changes nothing.
            self.sgr(&self.pen.unpack());
        }
        let several = text.chars().nth(1).is_some();
        if several && unicode::cluster_width(&text) != row.width(x) {
            self.format(format_args!("\x1b[?2027l{text}\x1b[?2027h"));
        } else {
            self.bytes(text.as_bytes());
        }
        self.last = text;
    }

    /// Changes the pen.
    pub(super) fn pen(&mut self, pen: Packed) {
        if pen == self.pen {
            return;
        }
        let (old, new) = (self.pen.unpack(), pen.unpack());
        self.pen = pen;
        let protected = new.attrs.contains(Attrs::PROTECTED);
        if protected != old.attrs.contains(Attrs::PROTECTED) {
            self.format(format_args!("\x1b[{}\"q", u8::from(protected)));
        }
        if new.link != old.link {
            self.link(&new);
        }
        let looks = |style: &Style| {
            let attrs = style.attrs.difference(Attrs::PROTECTED);
            (style.fg, style.bg, style.underline_color, style.underline, attrs)
        };
        if looks(&old) != looks(&new) {
            self.sgr(&new);
        }
    }

    fn link(&mut self, style: &Style) {
        match style.link.and_then(|link| self.terminal.links.get(link.0)) {
            Some(link) => {
                let id = link.id.as_deref().unwrap_or("");
                let prefix = if id.is_empty() { "" } else { "id=" };
                self.format(format_args!("\x1b]8;{prefix}{id};{}\x1b\\", link.uri));
            }
            None => self.bytes(b"\x1b]8;;\x1b\\"),
        }
    }

    /// Sets everything SGR sets, from nothing: short, and right whatever was before.
    fn sgr(&mut self, style: &Style) {
        self.bytes(b"\x1b[");
        style.push_sgr(&mut self.out);
        self.bytes(b"m");
    }
}
