//! Every sequence we know, in one table: dispatch and documentation both come from it.
//!
//! To add a sequence, add a row here and a function in the file of its group.

use super::Terminal;
use crate::charset::Charset;
use crate::parser::{Csi, Params, StringSequence};
use crate::style::Attrs;

/// One sequence, for the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// How it is written, such as `CSI ? Pm h`.
    pub(crate) form: &'static str,
    /// Its name, such as `DECSET`.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) does: &'static str,
}

macro_rules! csi {
    ($terminal:ident, $params:ident;
     $($prefix:literal $intermediate:literal $last:literal
       $form:literal $name:literal $does:literal => $act:expr;)*) => {
        /// The control sequences we know.
        pub(crate) const CSI: &[Sequence] =
            &[$(Sequence { form: $form, name: $name, does: $does }),*];

        impl Terminal {
            #[inline]
            pub(super) fn dispatch_csi(&mut self, csi: &Csi) {
                let $terminal = self;
                let plain;
                let $params = if csi.params.has_subs() && csi.last != b'm' {
                    // Only SGR has sub-parameters; elsewhere they say nothing.
                    plain = csi.params.without_subs();
                    &plain
                } else {
                    &csi.params
                };
                match (csi.prefix, csi.intermediate, csi.last) {
                    $(($prefix, $intermediate, $last) => $act,)*
                    _ => {}
                }
            }
        }
    };
}

csi! { it, p;
    0 0 b'm' "CSI Pm m" "SGR" "sets colours and attributes; colon forms, underline styles and colours included" => it.set_pen(p);
    0 0 b'H' "CSI Ps ; Ps H" "CUP" "moves the cursor" => it.move_to(p.count(0) - 1, p.count(1) - 1);
    0 0 b'K' "CSI Ps K" "EL" "erases in the line" => it.erase_line(p.get(0));
    0 0 b'@' "CSI Ps @" "ICH" "inserts blanks" => it.insert_chars(p.count(0));
    0 b' ' b'@' "CSI Ps SP @" "SL" "scrolls left" => it.scroll_sideways(p.count(0), true);
    0 0 b'A' "CSI Ps A" "CUU" "moves the cursor up" => it.move_up(p.count(0));
    0 b' ' b'A' "CSI Ps SP A" "SR" "scrolls right" => it.scroll_sideways(p.count(0), false);
    0 0 b'B' "CSI Ps B" "CUD" "moves the cursor down" => it.move_down(p.count(0));
    0 0 b'C' "CSI Ps C" "CUF" "moves the cursor right" => it.move_right(p.count(0));
    0 0 b'D' "CSI Ps D" "CUB" "moves the cursor left" => it.move_left(p.count(0));
    0 0 b'E' "CSI Ps E" "CNL" "moves the cursor to the start of a line below" => {
        it.move_down(p.count(0));
        it.carriage_return();
    };
    0 0 b'F' "CSI Ps F" "CPL" "moves the cursor to the start of a line above" => {
        it.move_up(p.count(0));
        it.carriage_return();
    };
    0 0 b'G' "CSI Ps G" "CHA" "moves the cursor to a column" => it.move_to_col(p.count(0) - 1);
    0 0 b'I' "CSI Ps I" "CHT" "moves the cursor to a tab stop on the right" => it.tab(p.count(0));
    0 0 b'J' "CSI Ps J" "ED" "erases in the display; 3 erases the history" => it.erase_display(p.get(0));
    b'?' 0 b'J' "CSI ? Ps J" "DECSED" "erases what is not protected in the display" => it.erase_selectively(p.get(0), true);
    b'?' 0 b'K' "CSI ? Ps K" "DECSEL" "erases what is not protected in the line" => it.erase_selectively(p.get(0), false);
    0 0 b'L' "CSI Ps L" "IL" "inserts lines" => it.insert_lines(p.count(0));
    0 0 b'M' "CSI Ps M" "DL" "deletes lines" => it.delete_lines(p.count(0));
    0 0 b'P' "CSI Ps P" "DCH" "deletes characters" => it.delete_chars(p.count(0));
    0 0 b'S' "CSI Ps S" "SU" "scrolls up" => it.scroll_up(p.count(0));
    0 0 b'T' "CSI Ps T" "SD" "scrolls down" => if p.len() < 2 { it.scroll_down(p.count(0)) };
    0 0 b'X' "CSI Ps X" "ECH" "erases characters" => it.erase_chars(p.count(0));
    0 0 b'Z' "CSI Ps Z" "CBT" "moves the cursor to a tab stop on the left" => it.tab_back(p.count(0));
    0 0 b'`' "CSI Ps `" "HPA" "moves the cursor to a column" => it.move_to_col(p.count(0) - 1);
    0 0 b'a' "CSI Ps a" "HPR" "moves the cursor right" => it.move_right(p.count(0));
    0 0 b'b' "CSI Ps b" "REP" "repeats the character before" => it.repeat(p.count(0));
    0 0 b'c' "CSI c" "DA1" "asks what the terminal can do" => if p.get(0) == 0 { it.device_attributes() };
    b'>' 0 b'c' "CSI > c" "DA2" "asks for the terminal's version" => if p.get(0) == 0 { it.secondary_attributes() };
    b'=' 0 b'c' "CSI = c" "DA3" "asks for the unit's number" => if p.get(0) == 0 { it.tertiary_attributes() };
    0 0 b'd' "CSI Ps d" "VPA" "moves the cursor to a row" => it.move_to_row(p.count(0) - 1);
    0 0 b'e' "CSI Ps e" "VPR" "moves the cursor down" => it.move_down(p.count(0));
    0 0 b'f' "CSI Ps ; Ps f" "HVP" "moves the cursor" => it.move_to(p.count(0) - 1, p.count(1) - 1);
    0 0 b'g' "CSI Ps g" "TBC" "clears tab stops" => it.clear_tabs(p.get(0));
    0 0 b'h' "CSI Pm h" "SM" "sets modes" => it.set_modes(p, false, true);
    0 0 b'l' "CSI Pm l" "RM" "resets modes" => it.set_modes(p, false, false);
    b'?' 0 b'h' "CSI ? Pm h" "DECSET" "sets private modes" => it.set_modes(p, true, true);
    b'?' 0 b'l' "CSI ? Pm l" "DECRST" "resets private modes" => it.set_modes(p, true, false);
    b'>' 0 b'm' "CSI > 4 ; Pv m" "XTMODKEYS" "sets modifyOtherKeys" => it.set_other_keys(p);
    b'?' 0 b'm' "CSI ? 4 m" "XTQMODKEYS" "asks for modifyOtherKeys" => it.report_other_keys(p);
    b'>' 0 b'n' "CSI > 4 n" "XTMODKEYS off" "disables modifyOtherKeys" => if p.get(0) == 4 { it.other_keys = 0 };
    0 0 b'n' "CSI Ps n" "DSR" "asks for the status or the cursor's position" => it.device_status(p, false);
    b'?' 0 b'n' "CSI ? Ps n" "DSR" "asks for the position, devices, colour scheme" => it.device_status(p, true);
    0 b'!' b'p' "CSI ! p" "DECSTR" "resets softly" => it.soft_reset();
    0 b'$' b'p' "CSI Ps $ p" "DECRQM" "asks for a mode" => it.report_mode(p, false);
    b'?' b'$' b'p' "CSI ? Ps $ p" "DECRQM" "asks for a private mode" => it.report_mode(p, true);
    b'>' 0 b'q' "CSI > q" "XTVERSION" "asks for the terminal's name" => if p.get(0) == 0 { it.version() };
    0 b' ' b'q' "CSI Ps SP q" "DECSCUSR" "sets the cursor's shape" => it.set_cursor_style(p.get(0));
    0 b'"' b'q' "CSI Ps \" q" "DECSCA" "protects characters" => it.protect(p.get(0));
    0 0 b'r' "CSI Ps ; Ps r" "DECSTBM" "sets the scroll region" => it.set_margins(p);
    b'?' 0 b'r' "CSI ? Pm r" "XTRESTORE" "restores private modes" => it.restore_modes(p);
    b'?' 0 b's' "CSI ? Pm s" "XTSAVE" "saves private modes" => it.save_modes(p);
    0 0 b's' "CSI s" "SCOSC" "saves the cursor" => it.save_cursor();
    0 0 b'u' "CSI u" "SCORC" "restores the cursor" => it.restore_cursor();
    0 0 b't' "CSI Ps ; … t" "XTWINOPS" "asks for sizes; keeps and restores the title" => it.window(p);
    b'?' 0 b'u' "CSI ? u" "kitty keyboard" "asks for the flags" => it.report_keyboard();
    b'>' 0 b'u' "CSI > Ps u" "kitty keyboard" "pushes flags" => it.grid.keyboard.push(p.get(0));
    b'<' 0 b'u' "CSI < Ps u" "kitty keyboard" "pops flags" => it.grid.keyboard.pop(p.count(0));
    b'=' 0 b'u' "CSI = Ps ; Ps u" "kitty keyboard" "changes flags" => it.grid.keyboard.set(p.get(0), p.get(1));
    0 0 b'x' "CSI Ps x" "DECREQTPARM" "asks for the line's parameters" => it.terminal_parameters(p);
    0 b'$' b'r' "CSI Pt;Pl;Pb;Pr;Pm $ r" "DECCARA" "sets attributes in a rectangle" => it.restyle_rect(p, false);
    0 b'$' b't' "CSI Pt;Pl;Pb;Pr;Pm $ t" "DECRARA" "reverses attributes in a rectangle" => it.restyle_rect(p, true);
    0 b'$' b'v' "CSI Pt;Pl;Pb;Pr;Pp;Pt;Pl;Pp $ v" "DECCRA" "copies a rectangle" => it.copy_rect(p);
    0 b'$' b'x' "CSI Pc;Pt;Pl;Pb;Pr $ x" "DECFRA" "fills a rectangle" => it.fill_rect(p);
    0 b'$' b'z' "CSI Pt;Pl;Pb;Pr $ z" "DECERA" "erases a rectangle" => it.erase_rect(p, false);
    0 b'$' b'{' "CSI Pt;Pl;Pb;Pr $ {" "DECSERA" "erases what is not protected in a rectangle" => it.erase_rect(p, true);
    0 b'*' b'x' "CSI Ps * x" "DECSACE" "chooses rectangle or stream" => it.rectangle = p.get(0) == 2;
    0 b'*' b'y' "CSI Pi;Pg;Pt;Pl;Pb;Pr * y" "DECRQCRA" "asks for a checksum (if allowed)" => it.checksum(p);
    0 b'\'' b'}' "CSI Ps ' }" "DECIC" "inserts columns" => it.columns(p.count(0), true);
    0 b'\'' b'~' "CSI Ps ' ~" "DECDC" "deletes columns" => it.columns(p.count(0), false);
}

macro_rules! escapes {
    ($terminal:ident;
     $($intermediate:literal $last:literal $form:literal $name:literal $does:literal => $act:expr;)*) => {
        /// The escape sequences we know, charset designations apart.
        pub(crate) const ESCAPES: &[Sequence] =
            &[$(Sequence { form: $form, name: $name, does: $does }),*];

        impl Terminal {
            pub(super) fn dispatch_escape(&mut self, intermediate: u8, last: u8) {
                let $terminal = self;
                match (intermediate, last) {
                    $(($intermediate, $last) => $act,)*
                    (b'(', last) => $terminal.charsets.sets[0] = Charset::from_final(last),
                    (b')', last) => $terminal.charsets.sets[1] = Charset::from_final(last),
                    (b'*', last) => $terminal.charsets.sets[2] = Charset::from_final(last),
                    (b'+', last) => $terminal.charsets.sets[3] = Charset::from_final(last),
                    // Sets of 96 characters have no place in UTF-8: ASCII instead.
                    (b'-', _) => $terminal.charsets.sets[1] = Charset::Ascii,
                    (b'.', _) => $terminal.charsets.sets[2] = Charset::Ascii,
                    (b'/', _) => $terminal.charsets.sets[3] = Charset::Ascii,
                    _ => {}
                }
            }
        }
    };
}

escapes! { it;
    0 b'7' "ESC 7" "DECSC" "saves the cursor" => it.save_cursor();
    0 b'8' "ESC 8" "DECRC" "restores the cursor" => it.restore_cursor();
    0 b'6' "ESC 6" "DECBI" "moves left, scrolling the columns at the first" => it.back_index();
    0 b'9' "ESC 9" "DECFI" "moves right, scrolling the columns at the last" => it.forward_index();
    0 b'c' "ESC c" "RIS" "resets everything but the history" => it.hard_reset();
    0 b'D' "ESC D" "IND" "moves down, scrolling at the bottom" => it.index();
    0 b'E' "ESC E" "NEL" "moves to the start of the next line" => it.next_line();
    0 b'H' "ESC H" "HTS" "sets a tab stop" => it.tabs.set(it.cursor.x, true);
    0 b'M' "ESC M" "RI" "moves up, scrolling at the top" => it.reverse_index();
    0 b'N' "ESC N" "SS2" "uses G2 for one character" => it.charsets.single = Some(2);
    0 b'O' "ESC O" "SS3" "uses G3 for one character" => it.charsets.single = Some(3);
    0 b'Z' "ESC Z" "DECID" "asks what the terminal can do" => it.device_attributes();
    0 b'=' "ESC =" "DECKPAM" "application keypad" => it.set_mode(true, 66, true);
    0 b'>' "ESC >" "DECKPNM" "numeric keypad" => it.set_mode(true, 66, false);
    0 b'n' "ESC n" "LS2" "uses G2" => it.charsets.left = 2;
    0 b'o' "ESC o" "LS3" "uses G3" => it.charsets.left = 3;
    b'#' b'8' "ESC # 8" "DECALN" "fills the screen with E" => it.align();
}

macro_rules! commands {
    ($terminal:ident, $text:ident, $string:ident;
     $($number:pat, $form:literal $name:literal $does:literal => $act:expr;)*) => {
        /// The operating system commands we know.
        pub(crate) const COMMANDS: &[Sequence] =
            &[$(Sequence { form: $form, name: $name, does: $does }),*];

        impl Terminal {
            pub(super) fn dispatch_osc(&mut self, number: u16, $text: &str, $string: &StringSequence<'_>) {
                let $terminal = self;
                match number {
                    $($number => $act,)*
                    _ => {}
                }
            }
        }
    };
}

commands! { it, text, string;
    0 | 2, "OSC 0 ; Pt ST, OSC 2 ; Pt ST" "title" "sets the window's title" => it.set_title(text);
    4, "OSC 4 ; Pn ; Pt ST" "palette" "sets or asks for colours of the palette" => it.set_colors(text, string);
    7, "OSC 7 ; Pt ST" "folder" "tells the working folder" => it.set_cwd(text);
    8, "OSC 8 ; Pt ; Pt ST" "link" "begins or ends a hyperlink" => it.set_link(text);
    9, "OSC 9 ; Pt ST" "progress, notification" "tells progress (9;4) or notifies" => it.notify(text);
    10, "OSC 10 ; Pt ST" "foreground" "sets or asks for the foreground" => it.set_special(0, text, string);
    11, "OSC 11 ; Pt ST" "background" "sets or asks for the background" => it.set_special(1, text, string);
    12, "OSC 12 ; Pt ST" "cursor colour" "sets or asks for the cursor's colour" => it.set_special(2, text, string);
    52, "OSC 52 ; Pc ; Pd ST" "clipboard" "asks to write or read the clipboard: reported, never done" => it.clipboard(text);
    104, "OSC 104 ; Pm ST" "palette" "resets colours of the palette" => it.reset_colors(text);
    110, "OSC 110 ST" "foreground" "resets the foreground" => it.palette.reset(crate::palette::Slot::Foreground);
    111, "OSC 111 ST" "background" "resets the background" => it.palette.reset(crate::palette::Slot::Background);
    112, "OSC 112 ST" "cursor colour" "resets the cursor's colour" => it.palette.reset(crate::palette::Slot::Cursor);
    133, "OSC 133 ; Pt ST" "mark" "marks prompt, command, output and end" => it.mark(text, string);
    777, "OSC 777 ; notify ; Pt ; Pt ST" "notification" "notifies with a heading" => it.notify_titled(text);
}

/// The strings apart from OSC that we know.
pub(crate) const STRINGS: &[Sequence] = &[
    Sequence { form: "DCS $ q Pt ST", name: "DECRQSS", does: "asks for a setting" },
    Sequence { form: "DCS + q Pt ST", name: "XTGETTCAP", does: "asks for capabilities" },
    Sequence {
        form: "DCS Pm q … ST",
        name: "DECSIXEL",
        does: "places a picture (if allowed), opaque",
    },
    Sequence {
        form: "APC G … ST",
        name: "kitty graphics",
        does: "places a picture (if allowed), opaque",
    },
];

impl Terminal {
    /// DECSTBM. A region of fewer than two rows is refused.
    fn set_margins(&mut self, params: &Params) {
        let top = params.count(0) - 1;
        let bottom = (params.or(1, u16::MAX) as usize).min(self.rows) - 1;
        if top < bottom {
            self.top = top;
            self.bottom = bottom;
            self.move_to(0, 0);
        }
    }

    fn set_cursor_style(&mut self, style: u16) {
        if style <= super::MAX_CURSOR_STYLE {
            self.cursor_style = style;
        }
    }

    fn set_other_keys(&mut self, params: &Params) {
        if params.get(0) == 4 {
            self.other_keys = params.get(1).min(2) as u8;
        }
    }

    /// DECSCA.
    fn protect(&mut self, how: u16) {
        match how {
            1 => self.pen.insert(Attrs::PROTECTED),
            0 | 2 => self.pen.remove(Attrs::PROTECTED),
            _ => return,
        }
        self.pen_id = None;
    }

    fn back_index(&mut self) {
        if self.cursor.x > 0 {
            self.move_to_col(self.cursor.x - 1);
        } else if (self.top..=self.bottom).contains(&self.cursor.y) {
            self.scroll_sideways(1, false);
        }
    }

    fn forward_index(&mut self) {
        if self.cursor.x + 1 < self.cols {
            self.move_to_col(self.cursor.x + 1);
        } else if (self.top..=self.bottom).contains(&self.cursor.y) {
            self.scroll_sideways(1, true);
        }
    }
}
