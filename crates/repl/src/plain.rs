//! Text that a terminal may be given: no control sequences, no control characters.

/// Where in a sequence a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Text,
    Escape,
    /// `ESC [`, until a final byte.
    Control,
    /// OSC, DCS and their kin, until BEL or ST.
    String,
    /// ESC in a string, which a backslash ends.
    StringEscape,
}

/// The text without sequences and control characters; line ends and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    let mut at = At::Text;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        at = match (at, letter) {
            (At::Text | At::Escape | At::Control, '\x1b') => At::Escape,
            (At::Text, '\n' | '\t') => {
                out.push(letter);
                At::Text
            }
            (At::Text, '\u{9b}') | (At::Escape, '[') => At::Control,
            (At::Text, '\u{90}' | '\u{9d}') | (At::Escape, ']' | 'P' | '_' | '^' | 'X') => {
                At::String
            }
            (At::Text, _) => {
                if !letter.is_control() && !turns(letter) {
                    out.push(letter);
                }
                At::Text
            }
            // What designates a character set has one letter more.
            (At::Escape, ' '..='/') => At::Escape,
            (At::Escape, _) => At::Text,
            (At::Control, '\x40'..='\x7e') => At::Text,
            (At::Control, '\n') => {
                out.push('\n');
                At::Text
            }
            (At::Control, _) => At::Control,
            (At::String | At::StringEscape, '\x07' | '\u{9c}') => At::Text,
            (At::String | At::StringEscape, '\x1b') => At::StringEscape,
            (At::StringEscape, '\\') => At::Text,
            (At::String | At::StringEscape, _) => At::String,
        };
    }
    out
}

/// Whether a character changes the order in which others are read.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        let cases = [
            ("a\r\n\tb", "a\n\tb"),
            ("\x1b[1;31mred\x1b[m \x1b]0;title\x07x\x1b]8;;u\x1b\\y", "red xy"),
            ("\x1b(Bok\x1b=\x1bP1$r0m\x1b\\!", "ok!"),
            ("\u{9b}2Jx\u{202e}y", "xy"),
            ("open \x1b[", "open "),
            ("größe 日本", "größe 日本"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
