//! `vt100`: its `Parser`, which owns the screen.

use std::num::NonZeroU16;

use greenroom_model::Size;

use super::Engine;

pub(super) struct Vt100(::vt100::Parser);

impl Vt100 {
    pub(super) fn new(size: Size, history: usize) -> Vt100 {
        // A `Size` has no empty side; the type cannot say so.
        let side = |cells| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        Vt100(::vt100::Parser::new(side(size.rows()), side(size.cols()), history))
    }
}

impl Engine for Vt100 {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    fn rows(&self) -> Vec<String> {
        let screen = self.0.screen();
        let (_, cols) = screen.size();
        screen.rows(0, cols.get()).map(|row| row.trim_end().to_owned()).collect()
    }
}
