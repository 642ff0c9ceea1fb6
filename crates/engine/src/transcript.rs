//! The last of what a session printed, as text with its escape sequences.
//!
//! Bytes become text where they arrive: a character that is cut by a read waits for its rest, and what
//! is no UTF-8 becomes U+FFFD. Places are counted in characters from the session's beginning, so
//! that whoever has seen it up to a place can ask for the rest.

use crate::redact::{HOLD_MAX, open_block};

/// How many characters before a part of it are looked at with it: nobody could tell otherwise that the part
/// begins with the rest of a secret.
const BEFORE: usize = HOLD_MAX;

/// How many bytes more it may be where these begin in the middle of what may be one: a line without a blank,
/// or a key.
const BEFORE_MORE: usize = 4 * HOLD_MAX;

/// How much more than it must keep a transcript holds before it lets go of the oldest: so that it
/// is not moved for every piece.
const SLACK: usize = 2;

/// The last of what a session printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    text: String,
    /// How many characters `text` has.
    chars: usize,
    /// How many came before.
    start: u64,
    max_chars: usize,
    /// The beginning of a character whose rest has not come yet.
    cut: Vec<u8>,
}

impl Transcript {
    /// One that keeps so many characters.
    #[must_use]
    pub fn new(max_chars: usize) -> Transcript {
        Transcript {
            text: String::new(),
            chars: 0,
            start: 0,
            max_chars: max_chars.max(1),
            cut: Vec::new(),
        }
    }

    /// How many characters it keeps.
    #[must_use]
    pub fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// The place after its last character.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.chars as u64
    }

    /// All it keeps.
    #[must_use]
    pub fn text(&self) -> &str {
        self.tail(self.max_chars)
    }

    /// Its last characters, at most so many.
    #[must_use]
    pub fn tail(&self, chars: usize) -> &str {
        let chars = chars.min(self.max_chars);
        if self.chars <= chars {
            return &self.text;
        }
        &self.text[start_of_last(&self.text, chars)..]
    }

    /// The same, and some of what came before it, to know a secret by its beginning; and where in that text the
    /// last characters begin. Of a secret longer than what is looked at, the rest is not known for one.
    #[must_use]
    pub fn tail_in_context(&self, chars: usize) -> (&str, usize) {
        let from = self.text.len() - self.tail(chars).len();
        let start = context_of(&self.text, from);
        (&self.text[start..], from - start)
    }

    /// What came after a place, and whether some of that is not kept any more.
    #[must_use]
    pub fn since(&self, place: u64) -> (&str, bool) {
        let missing = self.end().saturating_sub(place);
        let kept = self.chars.min(self.max_chars) as u64;
        let chars = usize::try_from(missing.min(kept)).unwrap_or(usize::MAX);
        (self.tail(chars), missing > kept)
    }

    /// The same with what came before it, as [`tail_in_context`](Transcript::tail_in_context) has it.
    #[must_use]
    pub fn since_in_context(&self, place: u64) -> (&str, usize) {
        let from = self.text.len() - self.since(place).0.len();
        let start = context_of(&self.text, from);
        (&self.text[start..], from - start)
    }

    /// Takes what was printed.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.cut.is_empty() {
            self.push(bytes);
        } else {
            let mut whole = std::mem::take(&mut self.cut);
            whole.extend_from_slice(bytes);
            self.push(&whole);
        }
        if self.chars > (self.max_chars + BEFORE + BEFORE_MORE) * SLACK {
            let gone = context_of(&self.text, start_of_last(&self.text, self.max_chars));
            let chars = self.text[..gone].chars().count();
            self.text.drain(..gone);
            self.start += chars as u64;
            self.chars -= chars;
        }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.push_str(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.push_str(std::str::from_utf8(valid).unwrap_or_default());
            let Some(wrong) = error.error_len() else {
                self.cut = rest.to_vec();
                return;
            };
            self.push_str("\u{fffd}");
            bytes = &rest[wrong..];
        }
    }

    fn push_str(&mut self, text: &str) {
        self.chars += text.chars().count();
        self.text.push_str(text);
    }

    /// As bytes, for a checkpoint.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        let text = self.tail_in_context(self.max_chars).0;
        let start = self.end() - text.chars().count() as u64;
        out.extend_from_slice(&start.to_le_bytes());
        out.extend_from_slice(&(self.max_chars as u64).to_le_bytes());
        out.push(self.cut.len() as u8);
        out.extend_from_slice(&self.cut);
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }

    /// From bytes, and what follows them; none if they are no transcript.
    pub(crate) fn restore(bytes: &[u8]) -> Option<(Transcript, &[u8])> {
        let (start, rest) = bytes.split_first_chunk()?;
        let (max_chars, rest) = rest.split_first_chunk()?;
        let (&cut, rest) = rest.split_first()?;
        let (cut, rest) = rest.split_at_checked(cut.into())?;
        let (length, rest) = rest.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let mut transcript = Transcript::new(usize::try_from(u64::from_le_bytes(*max_chars)).ok()?);
        transcript.push_str(std::str::from_utf8(text).ok()?);
        transcript.start = u64::from_le_bytes(*start);
        transcript.cut = cut.to_vec();
        Some((transcript, rest))
    }
}

/// Where to begin to look for secrets, to know those that go on behind a place.
fn context_of(text: &str, from: usize) -> usize {
    let start = start_of_last(&text[..from], BEFORE);
    let least = text.floor_char_boundary(start.saturating_sub(BEFORE_MORE));
    let before = &text[least..start];
    if let Some(begin) = open_block(before) {
        return least + begin;
    }
    // Every other ends with its line, and nearly all at a blank.
    let line = memchr::memrchr(b'\n', before.as_bytes()).map_or(least, |at| least + at);
    let has_blank = text[line..start].trim_end().contains([' ', '\t']);
    if has_blank { start } else { line }
}

/// Where the last characters of a text begin, at most so many. Whole stretches are counted, which
/// is many times faster than going back character by character.
fn start_of_last(text: &str, chars: usize) -> usize {
    let (mut at, mut missing) = (text.len(), chars);
    while missing > 0 && at > 0 {
        // Each is at least a byte, so there are never too many.
        let from = text.floor_char_boundary(at.saturating_sub(missing));
        missing -= text[from..at].chars().count();
        at = from;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::redact::{Excerpt, Redaction};

    #[test]
    fn what_was_seen_is_not_told_again() {
        let mut transcript = Transcript::new(10);
        transcript.feed(b"hello");
        assert_eq!(transcript.since(0), ("hello", false));
        assert_eq!(transcript.since(3), ("lo", false));
        assert_eq!(transcript.since(5), ("", false));
        assert_eq!(transcript.since(99), ("", false));
        transcript.feed(b" wonderful world");
        assert_eq!(transcript.text(), "rful world");
        assert_eq!(transcript.since(5), ("rful world", true));
        assert_eq!(transcript.since(20), ("d", false));
        assert_eq!(transcript.end(), 21);
    }

    /// What is shown of the last characters of a text.
    fn shown(text: &str, chars: usize) -> (String, usize) {
        let mut transcript = Transcript::new(text.len());
        transcript.feed(text.as_bytes());
        let (text, from) = transcript.tail_in_context(chars);
        (Excerpt::new(text, from).shown(Some(Redaction::standard())).into_owned(), from)
    }

    #[test]
    fn the_rest_of_a_long_secret_is_known_for_one() {
        let line = "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL\r\n";
        let key = |kind| format!("$ cat id\r\n-----BEGIN {kind}-----\r\n{}", line.repeat(150));
        assert_eq!(shown(&key("RSA PRIVATE KEY"), 40).0, "[REDACTED]\r\n");
        assert_eq!(shown(&format!("token={}", "a".repeat(15_000)), 40).0, "[REDACTED]");
        // As large as a certificate may be, it is none.
        let expected = &line.repeat(2)[..];
        assert_eq!(shown(&key("CERTIFICATE"), expected.len()).0, expected);
        let over = format!(
            "{}-----END RSA PRIVATE KEY-----\r\n{}",
            key("RSA PRIVATE KEY"),
            line.repeat(80)
        );
        assert_eq!(shown(&over, expected.len()).0, expected);
    }

    #[test]
    fn no_more_is_looked_at_than_a_secret_may_need() {
        for line in ["12345\r\n", "x\n", "a b\n"] {
            let from = shown(&line.repeat(30_000 / line.len()), 40).1;
            assert!((BEFORE..BEFORE + 10).contains(&from), "{from}: {line:?}");
        }
        let from = shown(&"x".repeat(30_000), 40).1;
        assert_eq!(from, BEFORE + BEFORE_MORE);
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        let mut transcript = Transcript::new(100);
        transcript.feed(b"a\xffb\xe6\xbc");
        assert_eq!(transcript.text(), "a\u{fffd}b");
        transcript.feed(b"\xa2!");
        assert_eq!(transcript.text(), "a\u{fffd}b漢!");
        transcript.feed(b"\xe6\xbc");
        transcript.feed(b"x");
        assert_eq!(transcript.text(), "a\u{fffd}b漢!\u{fffd}x");
    }

    proptest! {
        #[test]
        fn the_last_characters_are_found(text in "[a-cé漢😀]{0,40}", chars in 0usize..50) {
            let expected: String = text.chars().skip(text.chars().count().saturating_sub(chars)).collect();
            prop_assert_eq!(&text[start_of_last(&text, chars)..], expected);
        }

        #[test]
        fn any_split_gives_the_same(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(0xe6), Just(0xbc), Just(0xa2), Just(b'x')], 0..300),
            cuts in proptest::collection::vec(0_usize..300, 0..20),
            max in 1_usize..80,
        ) {
            let mut whole = Transcript::new(max);
            whole.feed(&bytes);
            let mut pieces = Transcript::new(max);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for cut in cuts.windows(2) {
                pieces.feed(&bytes[cut[0]..cut[1]]);
                prop_assert!(pieces.text().chars().count() <= max);
            }
            prop_assert_eq!(whole.text(), pieces.text());
            prop_assert_eq!(whole.end(), pieces.end());
            let mut saved = Vec::new();
            pieces.save(&mut saved);
            saved.extend_from_slice(b"rest");
            let (restored, rest) = Transcript::restore(&saved).unwrap();
            prop_assert_eq!((restored.text(), restored.end()), (pieces.text(), pieces.end()));
            prop_assert_eq!(rest, b"rest");
            for cut in 0..saved.len() - 4 {
                let _no_panic = Transcript::restore(&saved[..cut]);
            }
        }
    }
}
