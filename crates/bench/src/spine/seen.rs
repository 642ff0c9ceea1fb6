//! Whether everything that was printed came to a browser, and what came as a redraw instead.
//!
//! A relay's browser gets bytes. Ours gets messages with the offset behind each; who is too slow is told
//! how far, and gets the screen as it is then: what was printed in between is replaced by that. The
//! messages are kept while the clock runs and looked at afterwards.

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use memchr::memmem;
use serde_json::Value;

use super::browser::{SMALL, is, seq};

/// What one browser got.
#[derive(Default)]
pub(super) struct Seen {
    messages: Vec<Bytes>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// How many bytes of what was printed came as a redraw.
    pub(super) replaced: u64,
}

impl Seen {
    /// Keeps a message.
    pub(super) fn see(&mut self, message: &Bytes) {
        self.messages.push(message.clone());
    }

    /// Keeps of a message what [`Seen::counted`] looks at: a hundred browsers get half a gigabyte.
    pub(super) fn glimpse(&mut self, message: &Bytes) {
        let from = if message.len() < SMALL { 0 } else { message.len() - SMALL / 2 };
        self.messages.push(Bytes::copy_from_slice(&message[from..]));
    }

    /// Compares what a relay's browser got with what was printed, which ends it.
    pub(super) fn of_relay(&self, printed: &[u8]) -> Result<Outcome> {
        compare(&self.messages.concat(), printed)?;
        Ok(Outcome::default())
    }

    /// Compares what ours got with what was printed, from the offset `begin` on.
    pub(super) fn of_ours(&self, printed: &[u8], begin: u64) -> Result<Outcome> {
        let mut text = Vec::new();
        let (mut at, mut replaced) = (begin, 0);
        for message in &self.messages {
            let next = seq(message).unwrap_or(at);
            ensure!(next >= at, "a message goes back from {at} to {next}");
            if is(message, "lagged") {
                replaced += next - at;
                text.clear();
            } else if is(message, "output") {
                let value: Value = serde_json::from_slice(message)?;
                let data = value["data"].as_str().context("an output without text")?;
                // Less only by questions to the terminal, which are not for a browser.
                ensure!(data.len() as u64 <= next - at, "more came than was printed");
                text.extend_from_slice(data.as_bytes());
            }
            at = next;
        }
        ensure!(at - begin >= printed.len() as u64, "it ends at {at}");
        if replaced == 0 {
            compare(&text, printed)?;
        } else {
            // What came after the redraw is the end of what was printed; if that is nothing, the end
            // is in the redraw, where whoever waited for it found it.
            let came = until_marker(&text, printed);
            ensure!(printed.ends_with(came), "the end did not arrive whole");
        }
        Ok(Outcome { replaced })
    }

    /// The same by the offsets alone, for many at once.
    pub(super) fn counted(&self, bytes: u64, begin: u64) -> Result<Outcome> {
        let (mut at, mut replaced) = (begin, 0);
        for message in &self.messages {
            let next = seq(message).unwrap_or(at);
            ensure!(next >= at, "a message goes back from {at} to {next}");
            if is(message, "lagged") {
                replaced += next - at;
            }
            at = next;
        }
        ensure!(at - begin >= bytes, "it ends after {} of {bytes} bytes", at - begin);
        Ok(Outcome { replaced })
    }
}

/// How long the word is that closes what is printed.
pub(super) const MARKER: usize = 16;

/// What came up to the word that closes it: a program goes on after that.
fn until_marker<'a>(text: &'a [u8], printed: &[u8]) -> &'a [u8] {
    let marker = &printed[printed.len().saturating_sub(MARKER)..];
    memmem::rfind(text, marker).map_or(text, |at| &text[..at + marker.len()])
}

/// Whether a text is what was printed, with nothing before it but the end of a line.
fn compare(text: &[u8], printed: &[u8]) -> Result<()> {
    let (text, printed) = (until_marker(text, printed).trim_ascii(), printed.trim_ascii());
    ensure!(text.len() == printed.len(), "{} of {} bytes came", text.len(), printed.len());
    let wrong = text.iter().zip(printed).position(|(came, was)| came != was);
    ensure!(wrong.is_none(), "byte {wrong:?} is another one");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(messages: &[&str]) -> Seen {
        Seen { messages: messages.iter().map(|it| Bytes::from((*it).to_owned())).collect() }
    }

    #[test]
    fn every_byte_counts() {
        let whole = seen(&[
            r#"{"type":"output","data":"\r\nab","session_id":"u","seq":14}"#,
            r#"{"type":"output","data":"c END\r\n","session_id":"u","seq":21}"#,
        ]);
        assert_eq!(whole.of_ours(b"abc END", 10).unwrap().replaced, 0);
        assert!(whole.of_ours(b"abX END", 10).is_err());
        assert!(whole.of_ours(b"abc more END", 10).is_err());
        assert!(seen(&["a\r\n", "b"]).of_relay(b"a\r\nb").is_ok());
        assert!(seen(&["a\r\n"]).of_relay(b"a\r\nb").is_err());
    }

    #[test]
    fn a_redraw_is_counted_and_what_follows_compared() {
        let lagged = |end: &str| {
            seen(&[
                r#"{"type":"lagged","session_id":"u","seq":60}"#,
                r#"{"type":"history","data":"x","session_id":"u","seq":60}"#,
                end,
            ])
        };
        let end = r#"{"type":"output","data":"y END","session_id":"u","seq":65}"#;
        let printed = [b"x".repeat(60), b"y END".to_vec()].concat();
        assert_eq!(lagged(end).of_ours(&printed, 0).unwrap().replaced, 60);
        let wrong = r#"{"type":"output","data":"z END","session_id":"u","seq":65}"#;
        assert!(lagged(wrong).of_ours(&printed, 0).is_err());
        assert_eq!(lagged(end).counted(65, 0).unwrap().replaced, 60);
        assert!(lagged(end).counted(66, 0).is_err());
    }
}
