//! A row as text.

use super::{CLUSTER, Row};
use crate::style::StyleId;

/// A glyph whose bounds its text alone does not tell: a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exception {
    pub(crate) col: usize,
    pub(crate) bytes: usize,
    pub(crate) width: usize,
}

impl Row {
    /// Appends the text of the cells `from..to` as UTF-8, and says whether any of it was past
    /// ASCII.
    pub(crate) fn push_text(&self, from: usize, to: usize, out: &mut Vec<u8>) -> bool {
        let to = to.min(self.len());
        if from >= to {
            return false;
        }
        if !self.is_wide {
            out.extend_from_slice(&self.ascii[from..to]);
            return false;
        }
        out.reserve(4 * (to - from));
        let mut wide = false;
        for &raw in &self.wide[from..to] {
            if raw < 0x80 {
                out.push(raw as u8);
                continue;
            }
            wide = true;
            // Arrays of fixed length become plain stores, where a slice would be a call.
            let low = |shift: u32| 0x80 | (raw >> shift & 0x3f) as u8;
            match raw {
                0x80..=0x7ff => out.extend_from_slice(&[0xc0 | (raw >> 6) as u8, low(0)]),
                0x800..=0xffff => {
                    out.extend_from_slice(&[0xe0 | (raw >> 12) as u8, low(6), low(0)]);
                }
                0x1_0000..=0x10_ffff => {
                    let first = 0xf0 | (raw >> 18) as u8;
                    out.extend_from_slice(&[first, low(12), low(6), low(0)]);
                }
                CLUSTER.. => {
                    out.extend_from_slice(self.clusters.get(raw & !CLUSTER).as_bytes());
                }
                // The right half of a wide cell.
                _ => {}
            }
        }
        wide
    }

    /// The glyphs whose bounds the text alone does not tell.
    pub(crate) fn exceptions(&self) -> impl Iterator<Item = Exception> + '_ {
        let any = self.is_wide && !self.clusters.is_empty();
        let cells = if any { self.wide.as_slice() } else { &[] };
        cells.iter().enumerate().filter(|(_, raw)| **raw & CLUSTER != 0).map(|(col, raw)| {
            let bytes = self.clusters.get(raw & !CLUSTER).len();
            Exception { col, bytes, width: self.width(col) }
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
