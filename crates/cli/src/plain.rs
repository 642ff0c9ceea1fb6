//! Text of strangers, fit to be shown.
//!
//! Names, titles and folders are chosen by programs and people; in a list they must neither move
//! the cursor nor pretend to be something else. Not the screen's work: one line, no layout.

/// The text without control characters and without what changes the direction of writing.
///
/// Line ends and tabs become spaces: what is shown is one line of a list.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .filter_map(|it| match it {
            '\n' | '\t' => Some(' '),
            it if is_hidden(it) => None,
            it => Some(it),
        })
        .collect()
}

/// A name of whomever with those characters spelled out: two names that differ must look different.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for it in text.chars() {
        match is_hidden(it) {
            true => shown.extend(it.escape_debug()),
            false => shown.push(it),
        }
    }
    shown
}

/// The text of a screen: as [`plain`], but lines stay lines.
pub(crate) fn plain_lines(text: &str) -> String {
    text.chars().filter(|it| matches!(it, '\n' | '\t') || !is_hidden(*it)).collect()
}

/// Whether a character is no glyph but an instruction: C0, DEL, C1, bidirectional controls.
pub(crate) fn is_hidden(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// How many columns a text takes, roughly: wide characters take two, marks none.
///
/// A list is aligned by it; a rare script that is measured wrongly shifts its own row only.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(it: char) -> usize {
    match u32::from(it) {
        0x300..=0x36f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The beginning of a text that fits into so many columns, with `…` if something was left out.
pub(crate) fn cut(text: &str, columns_max: usize) -> String {
    if width(text) <= columns_max {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.chars().take_while(|it| {
        used += columns(*it);
        used < columns_max
    });
    let mut kept: String = kept.collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_to_a_terminal_are_taken_out() {
        assert_eq!(plain("a\x1b]0;x\x07b\u{9b}31mc\x7f\r\nd\te"), "a]0;xb31mc d e");
        assert_eq!(plain("user\u{202e}txt.exe\u{2066}"), "usertxt.exe");
        assert_eq!(plain("größe 日本 🎉"), "größe 日本 🎉");
    }

    #[test]
    fn names_are_spelled_out() {
        assert_eq!(escaped("a\x1bb\u{202e}c\u{200f}\n"), r"a\u{1b}b\u{202e}c\u{200f}\n");
        assert_eq!(escaped("größe 日本 🎉"), "größe 日本 🎉");
    }

    #[test]
    fn lines_of_a_screen_stay_lines() {
        assert_eq!(plain_lines("a\n\tb\x1b[31mc\n"), "a\n\tb[31mc\n");
    }

    #[test]
    fn long_texts_are_cut_by_columns() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(width("e\u{301}日"), 3);
    }
}
