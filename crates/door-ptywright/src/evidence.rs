//! The last of what a session printed, as a wait tells it: without secrets, and written as JSON.
//!
//! To hide and to write four thousand characters takes longer than all the rest of an answer that somebody
//! waits for. So it is done when a wait begins; when it is over, only what came meanwhile is added.
//!
//! Not here: the screen (`snapshot`), and what is a secret (`engine::redact`).

use greenroom_engine::Transcript;
use greenroom_engine::redact::{Excerpt, Redaction, Stream};

use crate::json::push_escaped;

/// How many characters of a transcript are evidence, by the contract.
const CHARS: usize = 4096;

/// The last of what a session printed, for who waits.
pub(crate) struct Tail {
    policy: Option<Redaction>,
    /// What is done already; nothing where that would show other things than a look at the whole.
    ahead: Option<Ahead>,
}

/// The last of what a session printed, up to some place.
struct Ahead {
    /// What hides secrets, where they are to be hidden: it knows what came before.
    hiding: Option<Stream>,
    /// The place in the transcript.
    place: u64,
    /// As JSON has it between quotes.
    written: Vec<u8>,
    /// How many characters it has.
    chars: usize,
}

impl Tail {
    /// Prepares what somebody with this policy may see of what was printed on a terminal with so many columns.
    pub(crate) fn begin(
        transcript: Option<&Transcript>,
        cols: u16,
        policy: Option<&Redaction>,
    ) -> Tail {
        let ahead = transcript.filter(|_| !policy.is_some_and(Redaction::has_expressions));
        let ahead = ahead.map(|transcript| Ahead::begin(transcript, cols, policy));
        Tail { policy: policy.cloned(), ahead }
    }

    /// Takes the last of what was printed by now.
    pub(crate) fn end(self, transcript: Option<&Transcript>, cols: u16) -> Printed {
        let Tail { policy, ahead } = self;
        let Some(transcript) = transcript else {
            return Printed { policy, text: Text::Written(Vec::new(), 0), most: 0 };
        };
        // A session may have been made to keep less than that.
        let most = transcript.max_chars().min(CHARS);
        let ahead = ahead.and_then(|ahead| ahead.end(transcript, cols));
        let text = ahead.map_or_else(
            || {
                let (text, from) = transcript.tail_in_context(most);
                Text::Taken(Excerpt::of_screen(text, from, cols))
            },
            |(written, chars)| Text::Written(written, chars),
        );
        Printed { policy, text, most }
    }
}

/// The last of what a session printed, when a wait is over.
pub(crate) struct Printed {
    policy: Option<Redaction>,
    text: Text,
    /// How many characters of it are told.
    most: usize,
}

enum Text {
    /// As JSON has it between quotes, and how many characters that is.
    Written(Vec<u8>, usize),
    /// With its secrets.
    Taken(Excerpt),
}

impl Printed {
    /// As JSON has it between quotes.
    pub(crate) fn into_wire(self) -> Vec<u8> {
        let Printed { policy, text, most } = self;
        let (mut written, chars) = match text {
            Text::Written(written, chars) => (written, chars),
            Text::Taken(taken) => {
                let shown = taken.shown(policy.as_ref());
                let mut written = Vec::new();
                push_escaped(&mut written, &shown);
                (written, shown.chars().count())
            }
        };
        let surplus = length_of_first(&written, chars.saturating_sub(most));
        written.drain(..surplus);
        written
    }
}

impl Ahead {
    fn begin(transcript: &Transcript, cols: u16, policy: Option<&Redaction>) -> Ahead {
        let (place, written) = (transcript.end(), Vec::with_capacity(CHARS * 2));
        let hiding = policy.cloned().map(Stream::new);
        let mut ahead = Ahead { hiding, place, written, chars: 0 };
        let (text, from) = transcript.tail_in_context(CHARS);
        let (before, text) = text.split_at(from);
        match &mut ahead.hiding {
            Some(hiding) => {
                let _before = hiding.on(cols).push(before);
                let shown = hiding.push(text);
                ahead.write(&shown);
            }
            None => ahead.write(text),
        }
        ahead
    }

    /// With what was printed since, and how many characters that is; nothing, if that is a whole tail, or
    /// not all there any more.
    fn end(mut self, transcript: &Transcript, cols: u16) -> Option<(Vec<u8>, usize)> {
        let (since, is_torn) = transcript.since(self.place);
        if is_torn || since.len() > CHARS {
            return None;
        }
        match self.hiding.take() {
            Some(mut hiding) => {
                hiding.on(cols);
                self.write(&hiding.finish(since));
            }
            None => self.write(since),
        }
        Some((self.written, self.chars))
    }

    fn write(&mut self, text: &str) {
        self.chars += text.chars().count();
        push_escaped(&mut self.written, text);
    }
}

/// How many bytes the first characters of a text take as JSON has them.
fn length_of_first(written: &[u8], chars: usize) -> usize {
    let mut at = 0;
    for _ in 0..chars {
        at += match written.get(at..) {
            // Four digits; what is written as two such is not escaped at all.
            Some([b'\\', b'u', ..]) => 6,
            Some([b'\\', ..]) => 2,
            Some([first, ..]) => usize::try_from(first.leading_ones()).map_or(1, |it| it.max(1)),
            Some([]) | None => break,
        };
    }
    at.min(written.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COLS: u16 = 20;

    #[test]
    fn a_secret_in_rows_is_hidden_whenever_a_wait_begins() {
        let policy = Some(Redaction::standard());
        let text = "x TOKEN=s3Cr3ts3Cr3t\r\ns3Cr3ts3Cr3ts3Cr3ts3\r\nCr3ts3Cr3t\r\n$ ";
        for cut in 0..=text.len() {
            let told = told(99_999, &text[..cut], &text[cut..], policy);
            assert_eq!(told, "x TOKEN=[REDACTED]\r\n\r\n\r\n$ ", "cut at {cut}");
        }
    }

    /// A transcript that keeps so many characters.
    fn transcript(chars: usize, pieces: &[&str]) -> Transcript {
        let mut transcript = Transcript::new(chars);
        pieces.iter().for_each(|piece| transcript.feed(piece.as_bytes()));
        transcript
    }

    /// What a wait tells that began after the first text and ended after the second.
    fn told(chars: usize, before: &str, since: &str, policy: Option<&Redaction>) -> String {
        let tail = Tail::begin(Some(&transcript(chars, &[before])), COLS, policy);
        let wire = tail.end(Some(&transcript(chars, &[before, since])), COLS).into_wire();
        serde_json::from_slice(&[b"\"", &*wire, b"\""].concat()).unwrap()
    }

    #[test]
    fn what_came_meanwhile_is_told() {
        assert_eq!(told(99_999, "one\r\n", "\"two\"\x1b[m\r\n", None), "one\r\n\"two\"\x1b[m\r\n");
        assert_eq!(told(99_999, "", "", None), "");
        assert_eq!(told(4, "abc", "defg", None), "defg");
    }

    #[test]
    fn a_secret_that_a_wait_began_in_is_hidden() {
        let policy = Some(Redaction::standard());
        assert_eq!(told(99_999, "token=abcd", "efgh1234\r\n", policy), "token=[REDACTED]\r\n");
        assert_eq!(told(99_999, "tok", "en=abcdefgh1234", policy), "token=[REDACTED]");
    }

    #[test]
    fn a_secret_that_begins_before_the_tail_is_hidden() {
        let policy = Some(Redaction::standard());
        let secret = format!("token={}", "s3cr".repeat(50));
        let rest = "x\n".repeat((CHARS - 100) / 2);
        for (before, since) in
            [(format!("{secret}\n{rest}"), ""), (secret, format!("\n{rest}").as_str())]
        {
            let told = told(99_999, &before, since, policy);
            assert!(!told.contains("s3cr"), "{}", &told[..200]);
            assert!(told.ends_with(&rest));
        }
    }

    #[test]
    fn a_secret_longer_than_all_that_is_looked_at_is_hidden() {
        let policy = Some(Redaction::standard());
        let secret = format!("token={}", "s3cr".repeat(3000));
        for cut in [secret.len(), 0, 9000] {
            let told = told(99_999, &secret[..cut], &secret[cut..], policy);
            assert!(!told.contains("s3cr"), "cut at {cut}: {} bytes", told.len());
        }
    }

    #[test]
    fn expressions_look_over_the_ends_of_lines() {
        let policy = Redaction::with("XX", &[], &["(?s)BEGIN.*?END".to_owned()]).unwrap();
        let told = |before: &str, since: &str| told(99_999, before, since, Some(&policy));
        assert_eq!(told("a BEGIN one\r\n", "two END b"), "a XX b");
        let rest = "x".repeat(CHARS - 100);
        let hidden = format!("BEGIN\r\n{}END{rest}", "leak\r\n".repeat(50));
        assert_eq!(told(&hidden, ""), format!("XX{rest}"));
    }

    proptest! {
        #[test]
        fn where_a_wait_began_changes_nothing(
            text in "[a-c漢😀\"\\\\\r\n\x1b\x01]{0,60}",
            times in 1_usize..200,
            cut in 0_usize..12_000,
            redact in any::<bool>(),
        ) {
            let text = text.repeat(times);
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let policy = redact.then(Redaction::standard);
            let chars = text.chars().count();
            let expected: String = text.chars().skip(chars.saturating_sub(CHARS)).collect();
            prop_assert_eq!(told(99_999, &text[..cut], &text[cut..], policy), expected);
        }
    }
}
