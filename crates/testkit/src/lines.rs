//! A numbered stream, and whether it is whole.

/// How `printf`, `seq -f` and [`line()`] write a numbered line; 50 bytes with its end.
pub const LINE: &str = "line %09.0f abcdefghijklmnopqrstuvwxyz-0123456";

/// A numbered line without its end.
#[must_use]
pub fn line(number: u64) -> String {
    format!("line {number:09} abcdefghijklmnopqrstuvwxyz-0123456")
}

/// Checks that numbered lines come once each, in order and whole, however they are cut.
#[derive(Debug)]
pub struct Lines {
    next: u64,
    begun: Vec<u8>,
    /// How many bytes came.
    bytes: u64,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { next: 1, begun: Vec::new(), bytes: 0 }
    }
}

impl Lines {
    /// Takes the next bytes.
    ///
    /// # Panics
    /// A line is missing, comes twice, or is not what it was.
    #[track_caller]
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.begun.extend_from_slice(bytes);
        let mut from = 0;
        while let Some(length) = self.begun[from..].iter().position(|&byte| byte == b'\n') {
            let got = &self.begun[from..from + length];
            let got = got.strip_suffix(b"\r").unwrap_or(got);
            let expected = line(self.next);
            assert_eq!(String::from_utf8_lossy(got), expected, "line {}", self.next);
            self.next += 1;
            from += length + 1;
        }
        self.begun.drain(..from);
    }

    /// How many whole lines came.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.next - 1
    }

    /// How many bytes came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What came of a line that is not whole.
    #[must_use]
    pub fn begun(&self) -> &[u8] {
        &self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_do_not_matter() {
        let text = format!("{}\r\n{}\nli", line(1), line(2));
        for cut in 0..=text.len() {
            let mut lines = Lines::default();
            lines.feed(&text.as_bytes()[..cut]);
            lines.feed(&text.as_bytes()[cut..]);
            assert_eq!((lines.count(), lines.begun()), (2, &b"li"[..]));
        }
    }

    #[test]
    #[should_panic(expected = "line 2")]
    fn a_gap_is_noticed() {
        Lines::default().feed(format!("{}\n{}\n", line(1), line(3)).as_bytes());
    }
}
