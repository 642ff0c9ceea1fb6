//! Questions of programs, answered.
//!
//! Invariant: an answer has a fixed form with numbers of ours in it. Nothing a program sent
//! (titles, names, text) is ever sent back: it would be typed into whatever reads next.

use std::fmt;
use std::io::Write as _;

use super::Terminal;
use crate::modes::Modes;
use crate::palette::Slot;
use crate::parser::Params;
use crate::style::Attrs;

impl Terminal {
    /// Sends an answer.
    pub(super) fn reply(&mut self, text: fmt::Arguments<'_>) {
        let mut bytes = Vec::with_capacity(32);
        // Writing to a vector cannot fail.
        if bytes.write_fmt(text).is_ok() {
            self.happened.reply(&bytes);
        }
    }

    /// DA1: a VT220 with selective erase, colour and rectangles; sixel if pictures are kept.
    pub(super) fn device_attributes(&mut self) {
        let sixel = if self.options.graphics { "4;" } else { "" };
        self.reply(format_args!("\x1b[?62;{sixel}6;22;28c"));
    }

    /// DA2. Programs read xterm's version number out of it and switch on what that version can:
    /// 380 can what we can.
    pub(super) fn secondary_attributes(&mut self) {
        self.reply(format_args!("\x1b[>41;380;0c"));
    }

    /// DA3: no unit has a serial number.
    pub(super) fn tertiary_attributes(&mut self) {
        self.reply(format_args!("\x1bP!|00000000\x1b\\"));
    }

    /// XTVERSION.
    pub(super) fn version(&mut self) {
        self.reply(format_args!("\x1bP>|greenroom {}\x1b\\", env!("CARGO_PKG_VERSION")));
    }

    /// DSR.
    pub(super) fn device_status(&mut self, params: &Params, private: bool) {
        let mark = if private { "?" } else { "" };
        let top = if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 };
        match (private, params.get(0)) {
            (false, 5) => self.reply(format_args!("\x1b[0n")),
            (_, 6) => {
                let (row, col) = (self.cursor.y.saturating_sub(top) + 1, self.cursor.x + 1);
                self.reply(format_args!("\x1b[{mark}{row};{col}R"));
            }
            // Printer: none. Keys: not locked. Keyboard: unknown. Locator: none.
            (true, 15) => self.reply(format_args!("\x1b[?13n")),
            (true, 25) => self.reply(format_args!("\x1b[?20n")),
            (true, 26) => self.reply(format_args!("\x1b[?27;0;0;0n")),
            (true, 55) => self.reply(format_args!("\x1b[?53n")),
            // Colour scheme: dark, as a terminal nobody looks at is.
            (true, 996) => self.reply(format_args!("\x1b[?997;1n")),
            _ => {}
        }
    }

    /// DECREQTPARM.
    pub(super) fn terminal_parameters(&mut self, params: &Params) {
        let kind = params.get(0);
        if kind < 2 {
            self.reply(format_args!("\x1b[{};1;1;128;128;1;0x", kind + 2));
        }
    }

    /// The answer to XTQMODKEYS for modifyOtherKeys.
    pub(super) fn report_other_keys(&mut self, params: &Params) {
        if params.get(0) == 4 {
            let level = self.other_keys;
            self.reply(format_args!("\x1b[>4;{level}m"));
        }
    }

    /// The kitty keyboard flags in force.
    pub(super) fn report_keyboard(&mut self) {
        let flags = self.grid.keyboard.flags();
        self.reply(format_args!("\x1b[?{flags}u"));
    }

    /// XTWINOPS: sizes are told, titles kept and brought back; windows are not ours to move and
    /// titles are never told.
    pub(super) fn window(&mut self, params: &Params) {
        let (cols, rows) = (self.size.cols(), self.size.rows());
        let (width, height) = self.options.cell_pixels;
        let pixels = (u32::from(width) * u32::from(cols), u32::from(height) * u32::from(rows));
        match params.get(0) {
            8 => self
                .happened
                .event(crate::Event::SizeRequest { rows: params.get(1), cols: params.get(2) }),
            11 => self.reply(format_args!("\x1b[1t")),
            13 => self.reply(format_args!("\x1b[3;0;0t")),
            14 => self.reply(format_args!("\x1b[4;{};{}t", pixels.1, pixels.0)),
            15 => self.reply(format_args!("\x1b[5;{};{}t", pixels.1, pixels.0)),
            16 => self.reply(format_args!("\x1b[6;{height};{width}t")),
            18 => self.reply(format_args!("\x1b[8;{rows};{cols}t")),
            19 => self.reply(format_args!("\x1b[9;{rows};{cols}t")),
            22 => self.titles.push(),
            23 => self.pop_title(),
            _ => {}
        }
    }

    /// Mode 2048's report, if the mode is set.
    pub(crate) fn report_size_in_band(&mut self) {
        if self.modes.contains(Modes::SIZE_REPORTS) {
            let (cols, rows) = (u32::from(self.size.cols()), u32::from(self.size.rows()));
            let (width, height) = self.options.cell_pixels;
            let pixels = (u32::from(width) * cols, u32::from(height) * rows);
            self.reply(format_args!("\x1b[48;{rows};{cols};{};{}t", pixels.1, pixels.0));
        }
    }

    /// A colour of the palette, as the program changed it or as it was.
    pub(super) fn report_color(&mut self, slot: Slot, bell: bool) {
        let end = if bell { "\x07" } else { "\x1b\\" };
        let (r, g, b) = self.palette.get(slot);
        let number = slot.osc();
        let wide = |part: u8| u16::from(part) * 0x101;
        let (r, g, b) = (wide(r), wide(g), wide(b));
        match slot {
            Slot::Indexed(index) => {
                self.reply(format_args!("\x1b]4;{index};rgb:{r:04x}/{g:04x}/{b:04x}{end}"));
            }
            Slot::Foreground | Slot::Background | Slot::Cursor => {
                self.reply(format_args!("\x1b]{number};rgb:{r:04x}/{g:04x}/{b:04x}{end}"));
            }
        }
    }

    /// DECRQSS.
    pub(super) fn report_setting(&mut self, asked: &[u8]) {
        match asked {
            b"m" => {
                let mut reply = b"\x1bP1$r".to_vec();
                self.pen.unpack().push_sgr(&mut reply);
                reply.extend_from_slice(b"m\x1b\\");
                self.happened.reply(&reply);
            }
            b"r" => {
                let (top, bottom) = (self.top + 1, self.bottom + 1);
                self.reply(format_args!("\x1bP1$r{top};{bottom}r\x1b\\"));
            }
            b" q" => {
                let style = self.cursor_style.max(1);
                self.reply(format_args!("\x1bP1$r{style} q\x1b\\"));
            }
            b"\"q" => {
                let protected = u8::from(self.pen.contains(Attrs::PROTECTED));
                self.reply(format_args!("\x1bP1$r{protected}\"q\x1b\\"));
            }
            b"\"p" => self.reply(format_args!("\x1bP1$r62;1\"p\x1b\\")),
            b"*x" => {
                let extent = if self.rectangle { 2 } else { 1 };
                self.reply(format_args!("\x1bP1$r{extent}*x\x1b\\"));
            }
            b"t" => {
                let rows = self.rows.max(24);
                self.reply(format_args!("\x1bP1$r{rows}t\x1b\\"));
            }
            _ => self.reply(format_args!("\x1bP0$r\x1b\\")),
        }
    }
}
