//! The last of what a session printed, as a wait tells it: without secrets, and written as JSON.
//!
//! To hide and to write four thousand characters takes longer than all the rest of an answer that somebody
//! waits for. So it is done when a wait begins; when it is over, only what came meanwhile is added.
//!
//! Not here: the screen (`snapshot`), and what is a secret (`engine::redact`).

use bytes::Bytes;
use greenroom_engine::Transcript;
use greenroom_engine::redact::{Redaction, Stream};

use crate::snapshot::push_escaped;

/// How many characters of a transcript are evidence, by the contract.
const CHARS: usize = 4096;

/// The last of what a session printed, up to some place.
pub(crate) struct Tail {
    policy: Option<Redaction>,
    /// What hides secrets, where they are to be hidden: it knows what came before.
    hiding: Option<Stream>,
    /// The place in the transcript up to which this goes.
    place: u64,
    /// As JSON has it between quotes.
    written: String,
    /// How many characters it has.
    chars: usize,
}

impl Tail {
    /// The last of what was printed so far, as somebody with this policy may see it.
    pub(crate) fn begin(transcript: Option<&Transcript>, policy: Option<&Redaction>) -> Tail {
        let hiding = policy.cloned().map(Stream::new);
        let policy = policy.cloned();
        let written = String::with_capacity(CHARS * 2);
        let mut tail = Tail { policy, hiding, place: 0, written, chars: 0 };
        if let Some(transcript) = transcript {
            let (text, from) = transcript.tail_in_context(CHARS);
            let (before, text) = text.split_at(from);
            match &mut tail.hiding {
                Some(hiding) => {
                    let _before = hiding.push(before);
                    let shown = hiding.push(text);
                    tail.write(&shown);
                }
                None => tail.write(text),
            }
            tail.place = transcript.end();
        }
        tail
    }

    /// As JSON has it between quotes, with what was printed since.
    pub(crate) fn end(mut self, transcript: Option<&Transcript>) -> Bytes {
        let (mut since, is_torn) = transcript.map_or(("", false), |it| it.since(self.place));
        // A whole tail came, or what came is not all there any more.
        if is_torn || since.len() > CHARS {
            self = Tail::begin(transcript, self.policy.as_ref());
            since = "";
        }
        match self.hiding.take() {
            Some(hiding) => self.write(&hiding.finish(since)),
            None => self.write(since),
        }
        // A session may have been made to keep less than that.
        let most = transcript.map_or(CHARS, |it| it.max_chars().min(CHARS));
        let surplus = length_of_first(&self.written, self.chars.saturating_sub(most));
        Bytes::from(self.written).split_off(surplus)
    }

    fn write(&mut self, text: &str) {
        self.chars += text.chars().count();
        push_escaped(&mut self.written, text);
    }
}

/// How many bytes the first characters of a text take as JSON has them.
fn length_of_first(written: &str, chars: usize) -> usize {
    let mut rest = written.chars();
    for _ in 0..chars {
        if rest.next() == Some('\\') && rest.next() == Some('u') {
            // Four digits; what is written as two such is not escaped at all.
            rest.nth(3);
        }
    }
    written.len() - rest.as_str().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A transcript that keeps so many characters.
    fn transcript(chars: usize, pieces: &[&str]) -> Transcript {
        let mut transcript = Transcript::new(chars);
        pieces.iter().for_each(|piece| transcript.feed(piece.as_bytes()));
        transcript
    }

    /// What a wait tells that began after the first text and ended after the second.
    fn told(chars: usize, before: &str, since: &str, policy: Option<&Redaction>) -> String {
        let tail = Tail::begin(Some(&transcript(chars, &[before])), policy);
        let wire = tail.end(Some(&transcript(chars, &[before, since])));
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
