//! What was typed at a mark, as the lines that it makes.
//!
//! A line is edited before it is entered: keys go back in it and take away of it, and the echo shows what comes
//! of that. The keys are those that the line editors of shells and interpreters have in common.

/// How much of what was typed is remembered: a prompt for an agent, a script that is pasted. A longer echo is
/// recognised by its beginning.
pub(super) const MAX_TYPED: usize = 64 << 10;

/// What goes before and behind text that is pasted, where a program asked for that: no echo shows it.
const PASTE: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";

/// What a key or a sequence of keys of a terminal is to a line editor: the control key that does the same.
const SEQUENCES: &[(&str, char)] = &[
    ("[D", LEFT),
    ("OD", LEFT),
    ("[C", RIGHT),
    ("OC", RIGHT),
    ("[H", HOME),
    ("OH", HOME),
    ("[1~", HOME),
    ("[7~", HOME),
    ("[F", END),
    ("OF", END),
    ("[4~", END),
    ("[8~", END),
    ("[3~", DELETE),
    ("[A", OTHER_LINE),
    ("OA", OTHER_LINE),
    ("[B", OTHER_LINE),
    ("OB", OTHER_LINE),
];

const HOME: char = '\x01';
const LEFT: char = '\x02';
const DELETE: char = '\x04';
const END: char = '\x05';
const RIGHT: char = '\x06';
const TAKE_BACK: char = '\x08';
const CUT_BEHIND: char = '\x0b';
const OTHER_LINE: char = '\x10';
/// Looks for another line, by what is typed next.
const SEARCH: char = '\x12';
const CUT_BEFORE: char = '\x15';
const CUT_WORD: char = '\x17';
const ENTER: char = '\r';
/// A line ends in what is pasted: it is not entered by that.
const NEWLINE: char = '\n';

/// Stands in a line for what a program puts there by itself: blanks, or what it completes, for a tab; a line it
/// remembers, for another key.
pub(super) const FILLED: char = '\t';

/// Lines that are typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// Without controls, but for `FILLED`.
    pub(super) lines: Vec<String>,
    /// How many of them were ended by Enter. Those behind are still being edited: several, if they were pasted.
    pub(super) ended: usize,
    /// How many bytes of the last line stand behind the cursor.
    behind: usize,
    /// What is typed is looked for, and stands in no line.
    searches: bool,
}

/// What was typed at a mark.
#[derive(Debug, Clone, Default)]
pub(super) struct Keyed {
    /// Text and the keys above.
    keys: String,
    /// What they make of an empty line.
    draft: Draft,
    /// They reach what stood on the line before, and would make something else of that.
    reaches_back: bool,
}

impl From<&[u8]> for Keyed {
    fn from(bytes: &[u8]) -> Keyed {
        let cut = &bytes[..bytes.len().min(MAX_TYPED)];
        let text = String::from_utf8_lossy(cut);
        // Not half a character.
        let text = if cut.len() < bytes.len() { text.trim_end_matches('\u{fffd}') } else { &*text };
        let mut keyed = Keyed::default();
        keyed.press(&keys_of(text));
        keyed
    }
}

impl Keyed {
    /// What they make of an empty line.
    pub(super) fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Whether they only add to what stood on the line before.
    pub(super) fn adds(&self) -> bool {
        !self.reaches_back
    }

    /// Whether another line is wanted, which was typed before.
    pub(super) fn asks_for_other_line(&self) -> bool {
        self.keys.contains([OTHER_LINE, SEARCH])
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// More was typed. What is too much to be an echo that somebody waits behind is not remembered.
    pub(super) fn extend(&mut self, more: &Keyed) {
        if self.keys.len() <= MAX_TYPED {
            self.press(&more.keys);
        }
    }

    fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            let is_first_line = self.draft.lines.len() <= 1;
            self.reaches_back |= is_first_line && self.draft.reaches_back(key);
            self.draft.press(key);
        }
        self.keys.push_str(keys);
    }
}

impl Draft {
    /// What comes of it when this is typed behind it, or into it.
    pub(super) fn with(&self, keyed: &Keyed) -> Draft {
        let mut draft = self.clone();
        keyed.keys.chars().for_each(|key| draft.press(key));
        draft
    }

    /// What is still being edited.
    pub(super) fn unended(mut self) -> Draft {
        self.lines.drain(..self.ended);
        self.ended = 0;
        let is_kept = self.lines.iter().any(|line| !line.is_empty()) && self.size() <= MAX_TYPED;
        if is_kept { self } else { Draft::default() }
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }

    /// The lines that were ended, without the empty ones.
    pub(super) fn ended(self) -> impl Iterator<Item = String> {
        self.lines.into_iter().take(self.ended).filter(|line| !line.trim().is_empty())
    }

    /// Whether the line that is being edited is one that was typed before.
    pub(super) fn is_other_line(&self) -> bool {
        self.lines.last().is_some_and(|line| line.starts_with(FILLED))
    }

    /// Whether what is typed next goes behind everything else.
    pub(super) fn is_at_end(&self) -> bool {
        self.behind == 0
    }

    /// Whether a key reaches beyond the beginning of the line, as far as that is known.
    fn reaches_back(&self, key: char) -> bool {
        let before = self.lines.last().map_or(0, |line| line.len() - self.behind);
        match key {
            HOME | CUT_BEFORE | OTHER_LINE | SEARCH => true,
            LEFT | TAKE_BACK | CUT_WORD => before == 0,
            _ => false,
        }
    }

    fn press(&mut self, key: char) {
        if self.lines.is_empty() {
            self.lines.push(String::new());
        }
        if self.searches && (!key.is_control() || matches!(key, TAKE_BACK | SEARCH)) {
            return;
        }
        self.searches = key == SEARCH;
        let Some(line) = self.lines.last_mut() else { return };
        let cursor = line.len() - self.behind;
        let (before, behind) = line.split_at(cursor);
        match key {
            ENTER | NEWLINE => {
                self.behind = 0;
                self.lines.push(String::new());
                if key == ENTER {
                    self.ended = self.lines.len() - 1;
                }
            }
            HOME => self.behind = line.len(),
            END => self.behind = 0,
            LEFT => self.behind += before.chars().next_back().map_or(0, char::len_utf8),
            RIGHT => self.behind -= behind.chars().next().map_or(0, char::len_utf8),
            TAKE_BACK => {
                let taken = before.chars().next_back().map_or(0, char::len_utf8);
                line.drain(cursor - taken..cursor);
            }
            DELETE => {
                let taken = behind.chars().next().map_or(0, char::len_utf8);
                line.drain(cursor..cursor + taken);
                self.behind -= taken;
            }
            CUT_BEHIND => {
                line.truncate(cursor);
                self.behind = 0;
            }
            CUT_BEFORE => drop(line.drain(..cursor)),
            CUT_WORD => {
                let kept = before.trim_end().trim_end_matches(|it: char| !it.is_whitespace()).len();
                line.drain(kept..cursor);
            }
            OTHER_LINE | SEARCH => {
                line.clear();
                line.push(FILLED);
                self.behind = 0;
            }
            _ => line.insert(cursor, key),
        }
    }
}

/// Bytes that are typed, as text and the keys above; other keys do not change a line.
fn keys_of(text: &str) -> String {
    let (mut keys, mut rest) = (String::with_capacity(text.len()), text);
    let mut is_pasted = false;
    while let Some(char) = rest.chars().next() {
        let bracket = if is_pasted { PASTE_END } else { PASTE };
        if let Some(behind) = rest.strip_prefix(bracket) {
            (rest, is_pasted) = (behind, !is_pasted);
            continue;
        }
        rest = &rest[char.len_utf8()..];
        match char {
            '\r' | '\n' => keys.push(if is_pasted { NEWLINE } else { ENTER }),
            FILLED => keys.push(FILLED),
            '\x7f' => keys.push(TAKE_BACK),
            '\x1b' if !is_pasted => {
                let length = sequence(rest);
                let key = SEQUENCES.iter().find(|it| it.0 == &rest[..length]);
                keys.extend(key.map(|it| it.1));
                rest = &rest[length..];
            }
            HOME | LEFT | DELETE | END | RIGHT | TAKE_BACK | CUT_BEHIND | OTHER_LINE | SEARCH
            | CUT_BEFORE | CUT_WORD
                if !is_pasted =>
            {
                keys.push(char);
            }
            // The next one, and the next that is looked for.
            '\x0e' if !is_pasted => keys.push(OTHER_LINE),
            '\x13' if !is_pasted => keys.push(SEARCH),
            _ if char.is_control() => {}
            _ => keys.push(char),
        }
    }
    keys
}

/// How long the sequence is that follows an escape: of one key, with its modifiers.
fn sequence(text: &str) -> usize {
    let mut chars = text.char_indices();
    match chars.next() {
        Some((_, '[')) => {
            let last = chars.find(|it| ('@'..='~').contains(&it.1) || it.1.is_control());
            last.map_or(text.len(), |(at, char)| if char.is_control() { at } else { at + 1 })
        }
        Some((_, 'O')) => chars.next().map_or(1, |(at, char)| at + char.len_utf8()),
        // Enter behind an escape is Enter.
        Some((_, char)) if !char.is_control() => char.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: &[&str]) {
        assert_eq!(Keyed::from(typed.as_bytes()).draft.lines, expected, "{typed:?}");
    }

    #[test]
    fn lines_are_what_is_made_of_them() {
        check("ls\r", &["ls", ""]);
        check("echo ABD\x7fC", &["echo ABC"]);
        check("world\x1b[Hhello \x1b[F!\r", &["hello world!", ""]);
        check("ac\x1b[Db\x06d", &["abcd"]);
        check("漢字\x02\x02あ\x04い\x05う", &["あい字う"]);
        check("one two\x17three\x15x\r\x0b", &["x", ""]);
        check("one\u{3000}two \x17x", &["one\u{3000}x"]);
        check("one\x17\x17x", &["x"]);
        check("abc\x01\x0bd\x7f\x7f\x7fe", &["e"]);
        check("\x1b[1;5Da\x1bbb\x1b[<0;3;4Mc", &["abc"]);
        check("\x1b[200~a\x01\tb\nc\x1b[201~d\r", &["a\tb", "cd", ""]);
        check("x\x1b[A y\r", &["\t y", ""]);
        check("x\x12mak\x7f\x12e\x05 y\rz", &["\t y", "z"]);
        check("\x1b", &["" as &str; 0]);
        check("a\x1b[", &["a"]);
    }

    #[test]
    fn who_goes_back_changes_what_was_there_before() {
        let adds = |typed: &str| Keyed::from(typed.as_bytes()).adds();
        for typed in ["abc\r", "abc\x7f\x7f\r", "a\rb\x15\x01", "ab\x02c", "\x1b[C", "ab \x17"] {
            assert!(adds(typed), "{typed:?}");
        }
        for typed in ["\x7f", "a\x7f\x7f", "\x01", "a\x02\x02", "x\x15", "a\x1b[A", "\x17"] {
            assert!(!adds(typed), "{typed:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let long = "漢".repeat(MAX_TYPED);
        let keyed = Keyed::from(long.as_bytes());
        assert!(long.starts_with(&keyed.draft.lines[0]) && keyed.len() > MAX_TYPED - 4);
    }
}
