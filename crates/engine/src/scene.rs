//! What can be seen of a session at one moment.

use std::cell::OnceCell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use greenroom_screen::{Screen, Snapshot};

use crate::redact::{Excerpt, Faded, part_of_secret};
use crate::{End, Transcript};

/// How much of what has scrolled away is looked at, to know a secret that goes on below: as long as command lines
/// and keys get.
const ABOVE: usize = 16 << 10;

/// What can be seen of a session between two of its turns.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What it shows.
    pub screen: &'a Screen,
    /// The last of what it printed, if that is kept.
    pub transcript: Option<&'a Transcript>,
    /// Grows whenever something is printed or the size changes.
    pub sequence: u64,
    /// How long nothing was printed or typed.
    pub quiet: Duration,
    /// How it ended, if it has.
    pub end: Option<End>,
    /// What it shows, as far as somebody wanted that.
    pub texts: &'a Texts,
}

/// What is to be seen at one moment, made when the first wants it and shared by all.
#[derive(Debug, Default)]
pub struct Texts {
    text: OnceCell<Arc<str>>,
    contents: OnceCell<Excerpt>,
    snapshot: OnceCell<Arc<Snapshot>>,
}

/// What was last given out of a session to somebody who still has it: who comes next gets the same, if
/// nothing has changed, and not a copy of its own.
#[derive(Debug, Default)]
pub(crate) struct GivenOut {
    sequence: u64,
    text: Option<Weak<str>>,
    contents: Option<Faded>,
    snapshot: Weak<Snapshot>,
}

impl GivenOut {
    /// What is to be seen at a moment, as far as it is the same.
    pub(crate) fn texts(&self, sequence: u64) -> Texts {
        let texts = Texts::default();
        if sequence != self.sequence {
            return texts;
        }
        // Nothing is in there yet.
        let text = self.text.as_ref().and_then(Weak::upgrade);
        let _text = text.map(|it| texts.text.set(it));
        let contents = self.contents.as_ref().and_then(Faded::again);
        let _contents = contents.map(|it| texts.contents.set(it));
        let _snapshot = self.snapshot.upgrade().map(|it| texts.snapshot.set(it));
        texts
    }
}

impl Texts {
    /// What of it somebody else has as well.
    pub(crate) fn given_out(&self, sequence: u64) -> GivenOut {
        let text = self.text.get().filter(|it| Arc::strong_count(it) > 1);
        GivenOut {
            sequence,
            text: text.map(Arc::downgrade),
            contents: self.contents.get().and_then(Excerpt::fade),
            snapshot: self.snapshot.get().map(Arc::downgrade).unwrap_or_default(),
        }
    }
}

impl<'a> Scene<'a> {
    /// What the screen shows, one line a row.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.shared_text()
    }

    /// The same, for who keeps it.
    #[must_use]
    pub fn shared_text(self) -> &'a Arc<str> {
        self.texts.text.get_or_init(|| self.screen.text().into())
    }

    /// What the screen shows, as the program wrote it.
    #[must_use]
    pub fn contents(self) -> &'a str {
        self.excerpt().text()
    }

    /// The same, with the beginning of its first line if that has scrolled away.
    #[must_use]
    pub fn excerpt(self) -> &'a Excerpt {
        self.texts.contents.get_or_init(|| {
            let cols = self.screen.size().cols();
            let (text, from) = self.screen.contents_in_context(ABOVE, part_of_secret(cols));
            Excerpt::of_screen(text, from, cols)
        })
    }

    /// At most so many lines of what has scrolled away, with what is around them.
    #[must_use]
    pub fn history(self, lines: u64) -> Excerpt {
        let (screen, top) = (self.screen, self.screen.top_row());
        let first = top.saturating_sub(lines).max(screen.first_row());
        let cols = screen.size().cols();
        let (text, part) = screen.history_in_context(first..top, ABOVE, part_of_secret(cols));
        Excerpt::of_screen(text, part.start, cols).until(part.end)
    }

    /// The last characters it printed, with what came before them; nothing, if that is not kept.
    #[must_use]
    pub fn printed(self, chars: usize) -> Excerpt {
        let (text, from) = self.transcript.map_or(("", 0), |it| it.tail_in_context(chars));
        Excerpt::of_screen(text, from, self.screen.size().cols())
    }

    /// Its cells.
    #[must_use]
    pub fn snapshot(self) -> Arc<Snapshot> {
        Arc::clone(self.texts.snapshot.get_or_init(|| Arc::new(self.screen.snapshot())))
    }
}

#[cfg(test)]
mod tests {
    use greenroom_screen::Options;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::redact::Redaction;

    /// What is shown of what a program printed on a screen of a size, and of its history.
    fn both(size: &str, printed: &str) -> [String; 2] {
        let mut screen = Screen::new(size.parse().unwrap(), Options::default());
        screen.feed(printed.as_bytes());
        let texts = Texts::default();
        let quiet = Duration::ZERO;
        let scene = Scene {
            screen: &screen,
            transcript: None,
            sequence: 0,
            quiet,
            end: None,
            texts: &texts,
        };
        let policy = Some(Redaction::standard());
        [scene.excerpt().clone(), scene.history(u64::MAX)].map(|it| it.shown(policy).into_owned())
    }

    fn shown(size: &str, printed: &str) -> String {
        both(size, printed)[0].clone()
    }

    /// A text as a program prints it that begins a new line at the margin by itself.
    fn broken(text: &str, cols: usize) -> String {
        let lines = text.split("\r\n").map(|line| {
            let rows = line.as_bytes().chunks(cols).map(|row| String::from_utf8_lossy(row));
            rows.collect::<Vec<_>>().join("\r\n")
        });
        lines.collect::<Vec<_>>().join("\r\n")
    }

    fn shown_of_key(size: &str, header: &str, is_numbered: bool) -> String {
        let mut key = format!("-----BEGIN RSA PRIVATE KEY-----\n{header}");
        for line in 0..30 {
            key.push_str(&format!("{line:02}{}\n", "s3Cr+/".repeat(10)));
        }
        key.push_str("s3Cr==\n-----END RSA PRIVATE KEY-----\n");
        let mut printed = String::from("$ cat key\r\n");
        for (number, line) in (1..).zip(key.lines()) {
            let number = if is_numbered { format!("{number:6}\t") } else { String::new() };
            printed.push_str(&format!("{number}{line}\r\n"));
        }
        shown(size, &(printed + "$ "))
    }

    #[test]
    fn a_key_whose_beginning_scrolled_away_is_hidden() {
        for size in ["80x24", "80x30", "80x33", "40x24", "80x4", "11x9"] {
            for header in ["", "Proc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,00\r\n\r\n"] {
                let shown = shown_of_key(size, header, false);
                assert!(!shown.contains("s3Cr"), "{size}: {shown}");
                assert!(shown.contains("END RSA"), "{size}: {shown}");
            }
            let shown = shown_of_key(size, "", true);
            assert!(!shown.contains("s3Cr"), "{size}: {shown}");
        }
    }
    #[test]
    fn a_value_whose_name_scrolled_away_is_hidden() {
        let value = "s3Cr3tS3Cr3tS3Cr3tS3Cr3t";
        for name in ["the token:\r\n", "api_key =\r\n\r\n", "\"password\":  \r\n  "] {
            let shown = shown("40x3", &format!("$ run\r\n{name}{value}\r\n$ \r\n$ "));
            assert!(!shown.contains("s3Cr"), "{name}: {shown}");
            assert!(shown.contains("[REDACTED]\n$ "), "{name}: {shown}");
        }
    }

    #[test]
    fn what_a_tall_screen_hides_a_short_one_hides_as_well() {
        let token = "s3Cr3t".repeat(12);
        let phrase = "s3Cr3t horse battery staple ".repeat(4);
        let cookie = ["a", "b", "c"].map(|name| format!("{name}={}", &token[..30])).join("; ");
        let key = format!("    {}\r\n", "s3Cr+/".repeat(10)).repeat(26);
        let begin = "tls.key: |\r\n    -----BEGIN PRIVATE KEY-----\r\n";
        let key = format!("{begin}{key}    s3Cr==\r\n    -----END PRIVATE KEY-----");
        for (cols, printed) in [
            (20, broken(&format!("export TOKEN={token}"), 20)),
            (40, format!("token:\r\n    {token}")),
            (40, format!("token:\r\n\r\n    {token}")),
            (20, broken(&format!("token:\r\n    {token}"), 20)),
            (20, broken(&format!("password=\"{phrase}\""), 20)),
            (20, broken(&format!("<password>{phrase}</password>"), 20)),
            (20, broken(&format!("Cookie: {cookie}"), 20)),
            // The blank before the value is the last in its row.
            (20, format!("$ run --user --token {token}")),
            (80, key.clone()),
            (30, key.clone()),
            (59, broken(&key, 59)),
            (27, broken(&key, 27)),
            (12, broken(&key, 12)),
        ] {
            let printed = format!("$ run\r\n{printed}\r\n$ ");
            assert!(!shown(&format!("{cols}x900"), &printed).contains("s3Cr"), "{printed}");
            for height in 1..30 {
                for shown in both(&format!("{cols}x{height}"), &printed) {
                    assert!(!shown.contains("s3Cr"), "{cols}x{height}, {printed}:\n{shown}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_a_tall_screen_hides_a_short_one_hides_as_well(
            pieces in proptest::collection::vec(select(PIECES), 2..9),
            cols in 12_usize..32,
            is_broken in any::<bool>(),
        ) {
            let text = pieces.concat() + "\r\n$ ";
            let text = if is_broken { broken(&text, cols) } else { text };
            if shown(&format!("{cols}x400"), &text).contains("s3Cr") {
                return Ok(());
            }
            for height in 1..10 {
                for shown in both(&format!("{cols}x{height}"), &text) {
                    prop_assert!(!shown.contains("s3Cr"), "{}x{}:\n{}", cols, height, shown);
                }
            }
        }
    }

    /// What secrets, and what is around them, are made of.
    const PIECES: &[&str] = &[
        "s3Cr3ts3Cr3ts3Cr3ts3Cr3t",
        "s3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3t",
        "s3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3ts3Cr3t",
        "token",
        "export TOKEN",
        "\"password\"",
        "ghp_",
        "sk-",
        "Authorization: Bearer ",
        "Cookie: a",
        "https://user:",
        "@host/",
        "eyJhbGciOiJIUzI1NiJ9.",
        "--token ",
        "curl -u me:",
        "mysql -p",
        "<password>",
        "</password>",
        ":",
        "=",
        " => ",
        ": ",
        "\r\n",
        "\r\n\r\n",
        "\r\n    ",
        " ",
        "\"",
        "; ",
        "$ ls",
        "hello world",
    ];
}
