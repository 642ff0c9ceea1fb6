//! Saved cursors and resets.

use super::{Place, Terminal};
use crate::charset::Charsets;
use crate::keyboard::KeyboardStack;
use crate::modes::Modes;
use crate::style::Packed;
use crate::tabs::Tabs;

/// What DECSC keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SavedCursor {
    pub(crate) place: Place,
    pub(crate) pen: Packed,
    pub(crate) charsets: Charsets,
    pub(crate) origin: bool,
}

impl Terminal {
    /// DECSC.
    pub(super) fn save_cursor(&mut self) {
        self.grid.saved = Some(SavedCursor {
            place: self.cursor,
            pen: self.pen,
            charsets: self.charsets,
            origin: self.modes.contains(Modes::ORIGIN),
        });
    }

    /// DECRC. With nothing saved the cursor goes home and the pen is reset.
    pub(super) fn restore_cursor(&mut self) {
        let saved = self.grid.saved.unwrap_or_default();
        self.modes.set(Modes::ORIGIN, saved.origin);
        self.charsets = saved.charsets;
        self.pen = saved.pen;
        self.pen_id = None;
        self.cursor.x = saved.place.x.min(self.cols - 1);
        let (first, last) = self.bounds();
        self.cursor.y = saved.place.y.clamp(first, last);
        self.cursor.pending = saved.place.pending && self.cursor.x + 1 == self.cols;
    }

    /// DECSTR.
    pub(super) fn soft_reset(&mut self) {
        let before = self.modes;
        self.reset_state();
        self.report_changes(before);
    }

    /// What both resets have in common.
    fn reset_state(&mut self) {
        self.modes.remove(Modes::INSERT | Modes::ORIGIN | Modes::APP_CURSOR | Modes::APP_KEYPAD);
        self.modes.insert(Modes::CURSOR_VISIBLE | Modes::AUTOWRAP);
        self.top = 0;
        self.bottom = self.rows - 1;
        self.pen = Packed::DEFAULT;
        self.pen_id = Some(0);
        self.charsets = Charsets::default();
        self.grid.saved = None;
        self.cursor_style = 0;
    }

    /// RIS. The history and the marks in it stay: a program that resets its terminal does not
    /// mean what others printed before it. (ED 3 says so when it is meant.)
    pub(super) fn hard_reset(&mut self) {
        let before = self.modes;
        if self.is_alternate() {
            self.leave_alternate();
        }
        self.modes = Modes::INITIAL;
        self.saved_modes = None;
        self.reset_state();
        self.grid.keyboard = KeyboardStack::default();
        self.other_keys = 0;
        self.rectangle = false;
        self.tabs = Tabs::new(self.cols);
        self.palette = Default::default();
        self.titles.clear_stack();
        self.graphics.clear(self.history.end(), false);
        self.cursor = Place::default();
        for y in 0..self.rows {
            self.blank_row(y, 0);
        }
        self.history.close();
        self.report_changes(before);
    }
}
