//! Modes set, reset, saved and asked for, and the alternate screen.

use super::Terminal;
use crate::event::Event;
use crate::grid::Grid;
use crate::modes::{self, Effect, MOUSE_ENCODING, MOUSE_TRACKING, Modes};
use crate::parser::Params;

impl Terminal {
    /// SM, RM, DECSET and DECRST.
    pub(super) fn set_modes(&mut self, params: &Params, private: bool, set: bool) {
        for &number in params.values() {
            self.set_mode(private, number, set);
        }
    }

    pub(super) fn set_mode(&mut self, private: bool, number: u16, set: bool) {
        let Some(entry) = modes::entry(private, number) else { return };
        let before = self.modes;
        match entry.effect {
            Effect::Bit => self.modes.set(entry.bit, set),
            Effect::MouseTracking => self.set_one_of(MOUSE_TRACKING, entry.bit, set),
            Effect::MouseEncoding => self.set_one_of(MOUSE_ENCODING, entry.bit, set),
            Effect::Home => {
                self.modes.set(entry.bit, set);
                self.move_to(0, 0);
            }
            Effect::Alternate => self.switch(set, false),
            Effect::Cursor if set => self.save_cursor(),
            Effect::Cursor => self.restore_cursor(),
            Effect::AlternateCursor => self.switch_with_cursor(set),
            Effect::SizeReport => {
                self.modes.set(entry.bit, set);
                self.report_size_in_band();
            }
        }
        if entry.bit != Modes::ALTERNATE {
            self.report_changes(before);
        } else if self.modes.contains(entry.bit) != before.contains(entry.bit) {
            self.happened.event(Event::Mode { mode: entry.mode, set });
        }
    }

    /// Tells which modes are not what they were: a reset changes several at once.
    pub(super) fn report_changes(&mut self, before: Modes) {
        // Of the numbers that enter the alternate screen the newest stands for all.
        let named = modes::TABLE.iter().filter(|it| !matches!(it.mode.number, 47 | 1047));
        for entry in named {
            let set = self.modes.contains(entry.bit);
            if set != before.contains(entry.bit) {
                self.happened.event(Event::Mode { mode: entry.mode, set });
            }
        }
    }

    /// Of some modes one at most is set; resetting any resets all.
    fn set_one_of(&mut self, group: Modes, bit: Modes, set: bool) {
        self.modes.remove(group);
        self.modes.set(bit, set);
    }

    /// 1049: the cursor is saved on the way in and restored on the way out.
    fn switch_with_cursor(&mut self, set: bool) {
        if set && !self.is_alternate() {
            self.save_cursor();
        }
        self.switch(set, true);
        if !set {
            self.restore_cursor();
        }
    }

    /// Shows the alternate screen or the primary one; the cursor stays where it is.
    fn switch(&mut self, alternate: bool, clear: bool) {
        if alternate != self.is_alternate() {
            if alternate {
                self.enter_alternate()
            } else {
                self.leave_alternate()
            }
            if alternate && clear {
                self.clear_screen();
            }
        }
    }

    fn enter_alternate(&mut self) {
        self.swap(Box::new(Grid::new(self.rows)));
        self.modes.insert(Modes::ALTERNATE);
    }

    /// What the alternate screen showed is not kept, as in xterm.js: whoever enters it next draws
    /// it anew, and a session at its prompt should not pay for two screens.
    pub(super) fn leave_alternate(&mut self) {
        if let Some(next) = self.other.take() {
            self.swap(next);
        }
        self.other = None;
        self.modes.remove(Modes::ALTERNATE);
    }

    fn swap(&mut self, mut next: Box<Grid>) {
        std::mem::swap(&mut self.grid, &mut next);
        self.other = Some(next);
        self.all_changed = self.generation;
        self.graphics.leave_alternate();
    }

    fn clear_screen(&mut self) {
        let style = self.erase_style();
        for y in 0..self.rows {
            self.blank_row(y, style);
        }
    }

    /// XTSAVE.
    pub(super) fn save_modes(&mut self, params: &Params) {
        let mut saved = self.saved_modes.unwrap_or(self.modes);
        for entry in params.values().iter().filter_map(|&number| modes::entry(true, number)) {
            saved.set(entry.bit, self.modes.intersects(entry.bit));
        }
        // The screens are not switched by restoring modes.
        saved.remove(Modes::ALTERNATE);
        self.saved_modes = Some(saved);
    }

    /// XTRESTORE.
    pub(super) fn restore_modes(&mut self, params: &Params) {
        let Some(saved) = self.saved_modes else { return };
        for &number in params.values() {
            if let Some(entry) = modes::entry(true, number)
                && !matches!(entry.bit, Modes::ALTERNATE)
                && entry.effect != Effect::Cursor
            {
                self.set_mode(true, number, saved.intersects(entry.bit));
            }
        }
    }

    /// DECRQM: 0 not known, 1 set, 2 reset.
    pub(super) fn report_mode(&mut self, params: &Params, private: bool) {
        let number = params.get(0);
        let state = match modes::entry(private, number) {
            None => 0,
            Some(entry) if entry.effect == Effect::Cursor => {
                if self.grid.saved.is_some() {
                    1
                } else {
                    2
                }
            }
            Some(entry) if self.modes.intersects(entry.bit) => 1,
            Some(_) => 2,
        };
        let mark = if private { "?" } else { "" };
        self.reply(format_args!("\x1b[{mark}{number};{state}$y"));
    }
}
