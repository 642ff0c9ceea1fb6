//! Cuts what was read from a terminal into what passes, what is dropped, and the detach key.
//!
//! What may be the beginning of a sequence is held back, but only for a moment: a lone ESC is the
//! Escape key and passes at once, unless news of the focus may not pass, which begin with one; and what is not
//! continued in [`PATIENCE`] was typed. Between the brackets of a paste nothing is a key. **Invariant:** every byte passes, once and in order,
//! unless it belongs to an answer, to the detach key or to the key that types it.
//!
//! A scanner may look for answers alone: who runs a program in a pipe has nothing to detach from.

use std::time::{Duration, Instant};

use super::answers::is_answer;
use super::chord::{Chord, Encoding};
use super::sequence::{self, Sequence};

/// How long the rest of a sequence is waited for: a terminal sends it in one go, and a person who
/// presses alt with a bracket does not notice.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long that of an answer is, which nobody types: on a slow line it comes in pieces.
const ANSWER_PATIENCE: Duration = Duration::from_millis(250);

/// How answers begin, and no keys.
const ANSWERS: [&[u8]; 3] = [b"\x1b[?", b"\x1b[>", b"\x1bP>"];

const ESC: u8 = 0x1b;

/// What ends a paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Finds the detach key and answers of terminals in what is typed.
pub(crate) struct Scanner {
    detach: Option<Chord>,
    literal: Option<Chord>,
    /// Whether the terminal's news of its focus pass.
    passes_focus: bool,
    /// The beginning of a sequence, held back.
    held: Vec<u8>,
    /// How many bytes of `held` have passed already: a lone ESC.
    passed: usize,
    /// Since when it is held.
    since: Option<Instant>,
    /// How much of [`PASTE_END`] was seen, between the brackets of a paste.
    in_paste: Option<usize>,
}

/// What came of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// They were typed.
    Typed,
    /// The detach key was among them: what was before it passes, what is behind it does not.
    Detach,
}

/// What becomes of one sequence.
enum Verdict {
    Pass,
    Drop,
    Replace(Vec<u8>),
    Detach,
}

impl Scanner {
    /// Looks for this key; `literal` is typed for it, or itself with alt if there is none.
    pub(crate) fn new(detach: Chord, literal: Option<Chord>) -> Scanner {
        let literal = literal.or_else(|| detach.with_alt());
        Scanner { detach: Some(detach), literal, ..Scanner::answers(true) }
    }

    /// Looks for answers only, and for news of the focus unless those pass.
    pub(crate) fn answers(passes_focus: bool) -> Scanner {
        let (held, passed, since, in_paste) = (Vec::new(), 0, None, None);
        Scanner { detach: None, literal: None, passes_focus, held, passed, since, in_paste }
    }

    /// Takes bytes that were read, and adds what passes to `out`.
    pub(crate) fn feed(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<u8>) -> Scanned {
        // Whatever is held too long was typed; what comes now does not continue it.
        if self.since.is_some_and(|it| now >= it + self.patience()) {
            self.give_up(out);
        }
        let is_escape = bytes == [ESC] && self.in_paste.is_none();
        if self.held.is_empty() && is_escape && self.passes_focus {
            out.push(ESC);
            self.hold(bytes, 1, now);
            return Scanned::Typed;
        }
        let mut all = std::mem::take(&mut self.held);
        let passed = std::mem::take(&mut self.passed);
        self.since = None;
        if all.is_empty() {
            return self.scan(bytes, passed, now, out);
        }
        all.extend_from_slice(bytes);
        self.scan(&all, passed, now, out)
    }

    /// When what is held back is to be given up, if anything is.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        // A lone ESC has passed: nobody need wake up for it.
        self.since.filter(|_| self.held.len() > self.passed).map(|it| it + self.patience())
    }

    /// How long what is held is waited for to go on.
    fn patience(&self) -> Duration {
        let is_answer = ANSWERS.iter().any(|answer| self.held.starts_with(answer));
        // Who is not to hear of the focus hears of alt with a bracket a little later.
        let may_be_focus = !self.passes_focus && self.held == b"\x1b[";
        if is_answer || may_be_focus { ANSWER_PATIENCE } else { PATIENCE }
    }

    /// Passes what is held back: nothing has continued it.
    pub(crate) fn give_up(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.held[self.passed..]);
        self.held.clear();
        (self.passed, self.since) = (0, None);
    }

    fn hold(&mut self, bytes: &[u8], passed: usize, now: Instant) {
        self.held.extend_from_slice(bytes);
        self.passed = passed;
        self.since = Some(now);
    }

    /// Goes through bytes of which the first `passed` have passed already.
    fn scan(
        &mut self,
        bytes: &[u8],
        mut passed: usize,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Scanned {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            if self.in_paste.is_some() {
                at += self.paste(rest, out);
                continue;
            }
            let plain = rest.iter().position(|it| self.is_special(*it)).unwrap_or(rest.len());
            if plain > 0 {
                out.extend_from_slice(&rest[..plain]);
                at += plain;
                continue;
            }
            if control(self.detach.as_ref()) == Some(rest[0]) {
                return Scanned::Detach;
            }
            if rest[0] != ESC {
                out.extend(self.detach_bytes(Encoding::Legacy));
                at += 1;
                continue;
            }
            let Some((length, verdict)) = self.judge(rest, passed > 0) else {
                self.hold(rest, passed, now);
                return Scanned::Typed;
            };
            match verdict {
                Verdict::Pass => out.extend_from_slice(&rest[passed.min(length)..length]),
                Verdict::Drop => {}
                Verdict::Replace(other) => out.extend_from_slice(&other),
                Verdict::Detach => return Scanned::Detach,
            }
            passed = 0;
            at += length;
        }
        Scanned::Typed
    }

    fn is_special(&self, byte: u8) -> bool {
        let is = |chord: &Option<Chord>| control(chord.as_ref()) == Some(byte);
        byte == ESC || is(&self.detach) || is(&self.literal)
    }

    /// The detach key, as a program would get it.
    fn detach_bytes(&self, encoding: Encoding) -> Vec<u8> {
        self.detach.as_ref().map(|it| it.bytes(encoding)).unwrap_or_default()
    }

    /// What the sequence at the beginning of `rest` is and how long; nothing as long as it is not
    /// complete. After a lone ESC that `has_passed`, another key is a key of its own.
    fn judge(&mut self, rest: &[u8], has_passed: bool) -> Option<(usize, Verdict)> {
        let (length, verdict) = match sequence::at(rest) {
            Sequence::Incomplete => return None,
            Sequence::Escape => (1, Verdict::Pass),
            Sequence::String { length } => (length, Verdict::Drop),
            Sequence::Csi { params, intermediates, end, length } => {
                (length, self.judge_control(&rest[..length], params, intermediates, end))
            }
            Sequence::Ss3(_) => (3, self.judge_legacy(&rest[..3])),
            // Only ESC itself: the byte behind it is looked at on its own.
            Sequence::Alt(_) if has_passed => (1, Verdict::Pass),
            Sequence::Alt(_) => match self.judge_legacy(&rest[..2]) {
                Verdict::Pass => (1, Verdict::Pass),
                found => (2, found),
            },
        };
        Some((length, verdict))
    }

    fn judge_control(&mut self, whole: &[u8], params: &[u8], between: &[u8], end: u8) -> Verdict {
        let is_focus = params.is_empty() && between.is_empty() && matches!(end, b'I' | b'O');
        if is_answer(params, between, end) || is_focus && !self.passes_focus {
            return Verdict::Drop;
        }
        if (params, end) == (b"200", b'~') {
            self.in_paste = Some(0);
            return Verdict::Pass;
        }
        if between.is_empty() {
            let detach = self.detach.as_ref().and_then(|it| it.encoding(params, end));
            if let Some(encoding) = detach {
                return match encoding {
                    // The key that brought us here may be let go only now.
                    Encoding::Kitty(greenroom_model::KeyAction::Release) => Verdict::Pass,
                    _ => Verdict::Detach,
                };
            }
            let literal = self.literal.as_ref().and_then(|it| it.encoding(params, end));
            if let Some(encoding) = literal {
                return Verdict::Replace(self.detach_bytes(encoding));
            }
        }
        self.judge_legacy(whole)
    }

    fn judge_legacy(&self, whole: &[u8]) -> Verdict {
        if self.detach.as_ref().is_some_and(|it| it.is_legacy(whole)) {
            return Verdict::Detach;
        }
        match &self.literal {
            Some(literal) if literal.is_legacy(whole) => {
                Verdict::Replace(self.detach_bytes(Encoding::Legacy))
            }
            _ => Verdict::Pass,
        }
    }

    /// Passes what is pasted, up to the end of the paste; how much that was.
    fn paste(&mut self, rest: &[u8], out: &mut Vec<u8>) -> usize {
        let mut seen = self.in_paste.unwrap_or_default();
        for (index, byte) in rest.iter().enumerate() {
            seen = match *byte {
                byte if byte == PASTE_END[seen] => seen + 1,
                ESC => 1,
                _ => 0,
            };
            if seen == PASTE_END.len() {
                self.in_paste = None;
                out.extend_from_slice(&rest[..=index]);
                return index + 1;
            }
        }
        self.in_paste = Some(seen);
        out.extend_from_slice(rest);
        rest.len()
    }
}

/// The control character that a chord is, if it is just that.
fn control(chord: Option<&Chord>) -> Option<u8> {
    chord.and_then(Chord::control)
}
