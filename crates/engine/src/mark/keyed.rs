//! What was typed at a mark, as lines.

/// How much of what was typed is remembered. A longer echo is recognised by its beginning.
pub(super) const MAX_TYPED: usize = 4096;

/// What goes before and behind text that is pasted, where a program asked for that: no echo shows it.
const PASTE: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";

/// What was typed at a mark.
#[derive(Debug, Clone, Default)]
pub(super) struct Keyed {
    /// Its lines, without controls.
    pub(super) lines: Vec<String>,
    /// How many of them were ended by Enter. Those behind are still being edited: several, if they were pasted.
    pub(super) ended: usize,
}

impl From<&[u8]> for Keyed {
    fn from(bytes: &[u8]) -> Keyed {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TYPED)]);
        let (mut lines, mut line, mut ended) = (Vec::new(), String::new(), 0);
        let (mut rest, mut is_pasted) = (&*text, false);
        while let Some(char) = rest.chars().next() {
            let bracket = if is_pasted { PASTE_END } else { PASTE };
            if let Some(behind) = rest.strip_prefix(bracket) {
                (rest, is_pasted) = (behind, !is_pasted);
                continue;
            }
            rest = &rest[char.len_utf8()..];
            match char {
                '\r' | '\n' => {
                    lines.push(std::mem::take(&mut line));
                    ended = if is_pasted { ended } else { lines.len() };
                }
                // What was taken back is not shown.
                '\x7f' | '\x08' => drop(line.pop()),
                _ if char.is_control() => {}
                _ => line.push(char),
            }
        }
        lines.push(line);
        Keyed { lines, ended }
    }
}

impl Keyed {
    /// More was typed. What is too much to be an echo that somebody waits behind is not remembered.
    pub(super) fn extend(&mut self, more: Keyed) {
        if size(&self.lines) > MAX_TYPED {
            return;
        }
        if more.ended > 0 {
            self.ended = self.lines.len().saturating_sub(1) + more.ended;
        }
        join(&mut self.lines, more.lines.into_iter());
    }
}

/// The lines that were ended, without the empty ones.
pub(super) fn ended(edited: &[String], typed: &Keyed) -> Vec<String> {
    let mut lines = edited.to_vec();
    join(&mut lines, typed.lines.iter().cloned());
    lines.pop();
    lines.retain(|line| !line.trim().is_empty());
    lines
}

/// Appends lines to lines: the first goes on where the last ended.
pub(super) fn join(lines: &mut Vec<String>, mut more: impl Iterator<Item = String>) {
    if let Some(last) = lines.last_mut() {
        last.extend(more.next());
    }
    lines.extend(more);
}

/// How many bytes lines take.
pub(super) fn size(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}
