//! What source code assigns without quotes or without telling it: names of other things, formats, ends of texts.
//!
//! A name may look like a password, and so it takes more than the value to tell: what is assigned to (`self.token`,
//! `let token`), how the line ends, or a value that is the name it is assigned to. See `code` for all other guesses.

use super::code::is_password;

/// What a value without quotes is assigned to.
pub(super) struct Target<'t> {
    /// What says that it is a secret, and the same with all that is in front, as in `GITHUB_TOKEN`.
    pub(super) name: &'t str,
    pub(super) whole: &'t str,
    /// The text before it, of which only the last [`BEFORE_MAX`] bytes matter.
    pub(super) before: &'t str,
    /// Whether there is white space before the value, and `=` before that.
    pub(super) is_apart: bool,
}

/// How much of the text before a name is looked at.
pub(super) const BEFORE_MAX: usize = 16;

/// What a thing's own parts follow.
const OWNERS: &[&str] = &["self.", "this.", "cls.", "args."];

/// How long a format with nothing else in it may be. Every brace of it looks for another.
const FORMAT_MAX: usize = 64;

/// How long a word in a name is at most: longer ones are made up, and digits are at the end of one if anywhere.
const WORD_MAX: usize = 19;

/// How many digits those are at most.
const DIGITS_MAX: usize = 2;

/// Words before a name that is made here.
const MAKERS: &[&str] = &["let", "const", "var", "mut"];

impl Target<'_> {
    /// Whether a value is the name of something else.
    pub(super) fn is_given_name(&self, value: &str) -> bool {
        let path = value.split([';', ')']).next().unwrap_or(value);
        let is_last = self.is_apart && value.len() == path.len() + 1 && value.ends_with(';');
        // A password may look like any word, but where only source code has one; what has parts is none.
        let can_be_name =
            !is_password(self.name) || path.contains(['_', '.', '>']) || self.is_made();
        let is_named = self.is_same(path) || (self.is_apart && self.is_of_code());
        (is_path(path) && can_be_name && is_named)
            || (is_last && !is_password(self.name) && is_plain(path))
    }

    /// Whether a path leads to what is called the same, or to a part of the thing the code belongs to.
    fn is_same(&self, path: &str) -> bool {
        let last = path.rsplit(['.', '>']).next().unwrap_or(path);
        let has_owner = OWNERS.iter().any(|owner| path.starts_with(owner));
        let is_alike = is_alike(last, self.whole);
        has_owner || (is_alike && (last.len() < path.len() || self.is_compound(path)))
    }

    /// Whether nobody has such a word for a password, as `pageToken=page_token`.
    fn is_compound(&self, path: &str) -> bool {
        path.contains('_') && !is_password(self.name)
    }

    /// Whether it is a part of a thing, or made here.
    fn is_of_code(&self) -> bool {
        self.is_made() || ends_in(self.last_before(), OWNERS)
    }

    /// Whether it is made here, or behind an arrow, as only source code has it.
    fn is_made(&self) -> bool {
        let before = self.last_before();
        let word = before.trim_end_matches([' ', '\t']);
        before.ends_with("->") || (word.len() < before.len() && ends_in(word, MAKERS))
    }

    /// The last of the text before it.
    fn last_before(&self) -> &str {
        let from = self.before.len().saturating_sub(BEFORE_MAX);
        &self.before[self.before.ceil_char_boundary(from)..]
    }
}

/// Whether a text ends in one of some words.
fn ends_in(text: &str, words: &[&str]) -> bool {
    words
        .iter()
        .filter_map(|word| text.strip_suffix(word))
        .any(|before| !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
}

/// Whether it is a name or names of parts, one of another.
fn is_path(value: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && part.split('_').all(is_of_name)
    };
    value.split('.').flat_map(|it| it.split("->")).all(is_name)
}

/// Whether people name something so, and not machines.
fn is_of_name(word: &str) -> bool {
    let letters = word.trim_end_matches(|it: char| it.is_ascii_digit());
    word.len() <= WORD_MAX
        && word.len() - letters.len() <= DIGITS_MAX
        && letters.bytes().all(|it| it.is_ascii_alphabetic())
}

/// Whether it is a name in letters, or a small number.
fn is_plain(value: &str) -> bool {
    let number = value.trim_start_matches('-');
    let has_digit = value.bytes().any(|it| it.is_ascii_digit());
    (is_path(value) && !has_digit)
        || (matches!(number.len(), 1..=3) && number.bytes().all(|it| it.is_ascii_digit()))
}

/// Whether two names are the same, in whatever way their words are set apart.
fn is_alike(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(|it| *it != b'_').map(|it| it.to_ascii_lowercase())
    }
    letters(one).eq(letters(other))
}

/// Whether it is a format with nothing in it but what will be put there: `%s:%s`, `{}`, `{:?}`.
pub(super) fn is_format(value: &str) -> bool {
    if value.len() > FORMAT_MAX {
        return false;
    }
    let (mut rest, mut has_place) = (value, false);
    while let Some(letter) = rest.chars().next() {
        let place = place(rest);
        has_place |= place.is_some();
        let length = place.or_else(|| escape(rest)).unwrap_or(letter.len_utf8());
        if length == letter.len_utf8() && letter.is_alphanumeric() {
            return false;
        }
        rest = &rest[length..];
    }
    has_place
}

/// How long the place is that a format begins with.
fn place(format: &str) -> Option<usize> {
    let end = |from: usize, last: char| {
        let inner = &format[from..from + format[from..].find(last)?];
        let is_spec = |it: u8| it.is_ascii_alphanumeric() || b"_.:?#<>^*".contains(&it);
        inner.bytes().all(is_spec).then_some(from + inner.len() + 1)
    };
    match format.as_bytes() {
        [b'%', b's' | b'd' | b'v' | b'q' | b'r' | b'@', ..] => Some(2),
        [b'%', b'(', ..] => {
            end(2, ')').filter(|it| format[*it..].starts_with('s')).map(|it| it + 1)
        }
        // A value is cut before a closing brace, so there may be none.
        [b'{', b':', spec @ ..] if spec.iter().all(|it| b"?#".contains(it)) => Some(format.len()),
        [b'{', ..] => end(1, '}'),
        [b'$' | b'#', b'{', ..] => end(2, '}'),
        _ => None,
    }
}

/// How long the end of a line is, or a tab, as it is written in a text.
fn escape(format: &str) -> Option<usize> {
    matches!(format.as_bytes(), [b'\\', b'n' | b'r' | b't', ..]).then_some(2)
}

/// What begins where a quote closed a text that ends in a name: `"token=" + name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    No,
    /// It is too short to tell.
    Perhaps,
    Yes,
}

/// Whether what seems to be in quotes is what is behind them, by its first letters.
pub(super) fn is_joined(value: &str) -> Joined {
    match value.as_bytes() {
        [b' ', b'+' | b'%' | b'.' | b'&', b' ', ..] | [b' ', b'<', b'<', ..] => Joined::Yes,
        [b' '] | [b' ', b'+' | b'%' | b'.' | b'&' | b'<'] => Joined::Perhaps,
        _ => Joined::No,
    }
}

/// The same with no blanks between: where no quote closes it on the same line, or where another text is joined behind it.
pub(super) fn is_joined_without_blanks(value: &str, is_closed: bool) -> bool {
    let Some(rest) = value.strip_prefix('+') else { return false };
    let is_call = |it: u8| it.is_ascii_alphanumeric() || b"_.()[]$".contains(&it);
    match rest.strip_suffix('+') {
        Some(name) if is_closed => !name.is_empty() && name.bytes().all(is_call),
        _ => {
            !is_closed
                && rest.starts_with(|it: char| it.is_ascii_alphabetic() || "_$(".contains(it))
        }
    }
}
