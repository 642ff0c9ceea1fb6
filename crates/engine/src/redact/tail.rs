//! How a secret goes on once it is known to be one.
//!
//! A stream that has shown the replacement remembers only this, so a secret of any length costs
//! nothing more.

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// An unquoted value; this is the contract of ptywright.
    Value,
    /// What RFC 6750 allows behind `Bearer`.
    Bearer,
    Letter,
    Capital,
    Word,
    Dashed,
    /// A web token with its dots.
    Dotted,
    /// What is in a parameter of a URL, or in its path.
    Escaped,
    /// A password in a URL.
    Password,
    /// All up to the end of a line, or to the next tag.
    Tagged,
    /// All up to the end of a line, or to a quote around it.
    Line,
}

/// How many classes there are.
pub(super) const CLASSES: usize = Class::Line as usize + 1;

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        match self {
            Class::Value => byte > b' ' && byte != 0x7f && !b",'\"]}".contains(&byte),
            Class::Bearer => byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte),
            Class::Letter => byte.is_ascii_alphanumeric(),
            Class::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Word => is_word,
            Class::Dashed => is_word || byte == b'-',
            Class::Dotted => is_word || byte == b'-' || byte == b'.',
            Class::Escaped => is_word || b"%+-./=".contains(&byte),
            Class::Password => byte > b' ' && byte != 0x7f && !b"/\"'<>`\\@".contains(&byte),
            Class::Tagged => byte >= b' ' && byte != 0x7f && byte != b'<',
            Class::Line => byte >= b' ' && byte != 0x7f && !b"\"'".contains(&byte),
        }
    }
}

/// What still belongs to a secret.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tail {
    /// All bytes of a class.
    While(Class),
    /// All up to the closing quote.
    Quoted(Quote),
    /// Lines of base64, up to anything else. Each may have its number before it.
    Block(Numbered),
    /// Words of base64 on one line, up to anything else; with how many letters there were so far.
    Flat(usize),
    /// The rest of a caller's literal, from this byte of it on.
    Literal { index: usize, from: usize },
}

/// How a quoted value ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) mark: u8,
    /// How many backslashes stood before the opening mark: text inside of other quoted text.
    pub(super) depth: usize,
    /// How many stand directly before what comes next.
    pub(super) slashes: usize,
}

impl Tail {
    /// How many bytes of `text` belong to the secret for sure, and how it goes on if it is not over.
    pub(super) fn consume(self, text: &[u8], literals: &[String]) -> (usize, Option<Tail>) {
        match self {
            Tail::While(class) => {
                let end = text.iter().position(|byte| !class.has(*byte));
                (end.unwrap_or(text.len()), end.is_none().then_some(self))
            }
            Tail::Quoted(quote) => quote.consume(text),
            Tail::Block(numbered) => consume_block(text, numbered),
            Tail::Flat(seen) => consume_flat(text, seen),
            Tail::Literal { index, from } => {
                let rest = literals.get(index).map_or(&[][..], |it| &it.as_bytes()[from..]);
                let same = rest.iter().zip(text).take_while(|(one, other)| one == other).count();
                let is_open = same == text.len() && same < rest.len();
                // A literal that goes on otherwise was none; no letter may be cut in two.
                let same = if is_open || same == rest.len() { same } else { 0 };
                (same, is_open.then_some(Tail::Literal { index, from: from + same }))
            }
        }
    }
}

impl Quote {
    fn consume(mut self, text: &[u8]) -> (usize, Option<Tail>) {
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b'\\' => self.slashes += 1,
                b'\n' | b'\r' => return (at, None),
                _ if byte == self.mark && self.closes() => {
                    // The slashes before the closing mark belong to the mark.
                    return (at - self.depth.min(self.slashes).min(at), None);
                }
                _ => self.slashes = 0,
            }
        }
        // Slashes at the end of inner text may belong to the closing mark.
        let back = if self.depth == 0 { 0 } else { self.slashes.min(text.len()) };
        self.slashes -= back;
        (text.len() - back, Some(Tail::Quoted(self)))
    }

    fn closes(&self) -> bool {
        if self.depth == 0 { self.slashes.is_multiple_of(2) } else { self.slashes <= self.depth }
    }
}

/// How much white space may be between two lines of a key: an indentation.
const INDENT_MAX: usize = 64;

/// The longest number of a line, as `cat -n` and `grep -n` put it before.
const NUMBER_MAX: u8 = 6;

/// How many letters the first word of a key on one line has at least: no word of a sentence has so many.
const FLAT_MIN: usize = 16;

/// How many digits a line of a key has so far, if it has nothing else and they may be its number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbered(Option<u8>);

impl Numbered {
    /// At the beginning of a line.
    pub(super) const LINE: Numbered = Numbered(Some(0));

    fn digits(self) -> u8 {
        self.0.unwrap_or(0)
    }

    /// These come next in the line.
    fn with(self, body: &[u8]) -> Numbered {
        let count = body.iter().all(u8::is_ascii_digit).then(|| u8::try_from(body.len()).ok());
        let digits = self.0.zip(count.flatten()).and_then(|(some, more)| some.checked_add(more));
        Numbered(digits.filter(|digits| *digits <= NUMBER_MAX))
    }
}

fn consume_block(text: &[u8], mut numbered: Numbered) -> (usize, Option<Tail>) {
    let mut end = 0;
    loop {
        let body = text[end..].iter().take_while(|byte| is_body(**byte)).count();
        numbered = numbered.with(&text[end..end + body]);
        end += body;
        let is_number = numbered.digits() > 0;
        let is_blank =
            |byte: &&u8| byte.is_ascii_whitespace() || (is_number && matches!(byte, b':' | b'|'));
        let blank = text[end..].iter().take_while(is_blank).count();
        let has_break = text[end..end + blank].contains(&b'\n');
        let goes_on = has_break || (is_number && blank > 0);
        match text.get(end + blank) {
            None if blank <= INDENT_MAX => return (end, Some(Tail::Block(numbered))),
            Some(byte) if is_body(*byte) && goes_on && blank <= INDENT_MAX => {
                end += blank;
                numbered = if has_break { Numbered::LINE } else { Numbered::default() };
            }
            _ => return (end, None),
        }
    }
}

fn consume_flat(text: &[u8], mut seen: usize) -> (usize, Option<Tail>) {
    let mut end = 0;
    loop {
        let body = text[end..].iter().take_while(|byte| is_body(**byte)).count();
        (end, seen) = (end + body, seen + body);
        let blank = text[end..].iter().take_while(|byte| **byte == b' ').count();
        match text.get(end + blank) {
            None if blank <= INDENT_MAX => return (end, Some(Tail::Flat(seen))),
            Some(byte) if is_body(*byte) && seen >= FLAT_MIN && blank <= INDENT_MAX => end += blank,
            _ => return (end, None),
        }
    }
}

/// Base64, and the `\n` of a key that is inside of JSON.
fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}
