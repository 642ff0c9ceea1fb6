//! A row as text.

use super::{CLUSTER, Glyph, Row, TAIL};
use crate::style::StyleId;

/// A glyph whose bounds its text alone does not tell: a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exception {
    pub(crate) col: usize,
    pub(crate) bytes: usize,
    pub(crate) width: usize,
}

impl Row {
    /// Appends the text of the cells `from..to` as UTF-8.
    pub(crate) fn push_text(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        let to = to.min(self.len());
        if from >= to {
            return;
        }
        if !self.is_wide {
            out.extend_from_slice(&self.ascii[from..to]);
            return;
        }
        for &raw in &self.wide[from..to] {
            if raw < 0x80 {
                out.push(raw as u8);
            } else if raw & (TAIL | CLUSTER) == 0 {
                let mut buffer = [0; 4];
                let c = char::from_u32(raw).unwrap_or(' ');
                out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            } else if raw & CLUSTER != 0
                && let Some(text) = self.clusters.get((raw & !CLUSTER) as usize)
            {
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// The glyphs whose bounds the text alone does not tell.
    pub(crate) fn exceptions(&self) -> impl Iterator<Item = Exception> + '_ {
        let cells = if self.is_wide { self.wide.as_slice() } else { &[] };
        cells.iter().enumerate().filter_map(|(col, &raw)| {
            if raw < 0x80 && !self.is_tail(col + 1) || raw == TAIL {
                return None;
            }
            let bytes = match self.glyph(col) {
                Glyph::Cluster(text) => text.len(),
                Glyph::Char(c) if !self.width_is_natural(col, c) => c.len_utf8(),
                Glyph::Char(_) | Glyph::Tail => return None,
            };
            Some(Exception { col, bytes, width: self.width(col) })
        })
    }

    /// The row's styles as runs of (cells, style), without a last run of the default style.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, StyleId)> + '_ {
        let mut rest = self.styles.as_slice();
        while let [head @ .., 0] = rest {
            rest = head;
        }
        std::iter::from_fn(move || {
            let &style = rest.first()?;
            let run = rest.iter().position(|&it| it != style).unwrap_or(rest.len());
            rest = &rest[run..];
            Some((run, style))
        })
    }

    /// Gives `count` cells from `x` on a style, without touching their text.
    pub(crate) fn style_run(&mut self, x: usize, count: usize, style: StyleId) {
        let count = count.min(self.len().saturating_sub(x));
        if count > 0 {
            self.put_style(x, count, style);
        }
    }
}
