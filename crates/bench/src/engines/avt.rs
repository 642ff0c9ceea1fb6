//! `avt`: takes text, so bytes are checked and cut at whole characters first.
//!
//! Its cells hold one code point each; a combining mark takes a cell of its own.

use greenroom_model::Size;

use super::Engine;

pub(super) struct Avt {
    terminal: ::avt::Terminal,
    /// The start of a character whose end has not come yet.
    begun: Vec<u8>,
}

impl Avt {
    pub(super) fn new(size: Size, history: usize) -> Avt {
        let (cols, rows) = (size.cols().into(), size.rows().into());
        let terminal = match ::avt::Terminal::with_scrollback(cols, rows, Some(history)) {
            Ok(terminal) => terminal,
            Err(_) => unreachable!("a `Size` has no empty side"),
        };
        Avt { terminal, begun: Vec::new() }
    }

    /// Feeds what is whole and returns how many bytes that was. Broken text is skipped: our
    /// inputs have none.
    fn feed_whole(&mut self, bytes: &[u8]) -> usize {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.terminal.feed(text);
                bytes.len()
            }
            Err(error) => {
                let whole = error.valid_up_to();
                if let Ok(text) = std::str::from_utf8(&bytes[..whole]) {
                    self.terminal.feed(text);
                }
                whole + error.error_len().unwrap_or(0)
            }
        }
    }
}

impl Engine for Avt {
    fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [first, after @ ..] = rest
            && !self.begun.is_empty()
        {
            self.begun.push(*first);
            rest = after;
            let begun = std::mem::take(&mut self.begun);
            if self.feed_whole(&begun) == 0 {
                self.begun = begun;
            }
        }
        while !rest.is_empty() {
            let taken = self.feed_whole(rest);
            if taken == 0 {
                break;
            }
            rest = &rest[taken..];
        }
        self.begun.extend_from_slice(rest);
    }

    fn rows(&self) -> Vec<String> {
        let screen = self.terminal.screen();
        screen.visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }
}
