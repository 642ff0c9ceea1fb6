//! What of the output is the echo of what was typed.
//!
//! A line is shown once where it is typed, by the terminal or by a program's line editor. It is shown a
//! second time if it was typed before the program was ready to read it: the terminal shows it at once,
//! and the line editor again, behind its prompt. A program that answers with what it was told,
//! `Hello, Bob`, shows no echo by that: what stands before it is no prompt.

use std::borrow::Cow;

use super::MAX_PROMPT;

/// Who shows again what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// Nobody, as for a password.
    Nobody,
    /// The terminal, which reads lines: perhaps for a program that is not ready yet, and will show it, too.
    Terminal,
    /// The program, which reads keys, if it wants to.
    Program,
}

/// Where what was printed begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Where it was typed, and nothing else stood there.
    Mark,
    /// Where it was typed, behind something that a program drew: it was ready.
    Prompt,
    /// Somewhere before it, at the beginning of a line.
    Line,
}

/// What was typed, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed<'a> {
    /// What was typed of the first line before.
    pub(super) begun: &'a str,
    /// The lines, without controls; Enter was pressed behind all but the last.
    pub(super) lines: &'a [String],
    pub(super) echo: Echo,
    /// What has stood before what was typed, at other times, without the blanks behind it.
    pub(super) prompts: &'a [String],
    /// Lines that were typed before, which a shell may show again: it was not ready for them, or is asked for one of
    /// them by a key.
    pub(super) earlier: &'a [String],
    pub(super) at: At,
}

impl Typed<'_> {
    /// What was printed, without the echo of each line: up to the line's end, if Enter was pressed.
    pub(super) fn without_echo(self, printed: &str) -> String {
        let mut out = String::with_capacity(printed.len());
        let mut rest = printed;
        let mut at_mark = self.at != At::Line;
        for (index, line) in self.lines.iter().enumerate() {
            let entered = index + 1 < self.lines.len();
            let whole = self.whole(index, line);
            if whole.trim().is_empty() {
                continue;
            }
            // Only the end of it may have been typed now, or nothing but Enter.
            let shown = match line.trim().is_empty() && at_mark {
                true => Some((0, 0)),
                false => self.find(rest, line, entered, at_mark),
            };
            let Some((at, length)) = shown else { continue };
            let begins_line = match at == 0 && at_mark {
                true => self.at == At::Mark,
                false => line_before(rest, at).is_empty(),
            };
            take(&mut out, &mut rest, at, length);
            at_mark = false;
            // The lines behind the first were typed before they were wanted.
            let early = index > 0 || self.echo == Echo::Terminal;
            if early
                && begins_line
                && let Some((at, length)) = self.find_again(rest, &whole)
            {
                take(&mut out, &mut rest, at, length);
            }
        }
        out.push_str(rest);
        if self.earlier.is_empty() { out } else { self.without_earlier(&out) }
    }

    /// Without earlier lines that stand behind a prompt.
    fn without_earlier(&self, printed: &str) -> String {
        let mut behind_prompt = self.at == At::Prompt;
        let lines = printed.split('\n').map(|line| {
            let first = std::mem::take(&mut behind_prompt);
            let shown = line.trim_end();
            let mut before = self.earlier.iter().filter_map(|it| shown.strip_suffix(it.as_str()));
            let is_echo = |before: &&str| match before.is_empty() {
                true => first,
                false => self.is_prompt(before),
            };
            before.find(is_echo).unwrap_or(line)
        });
        lines.collect::<Vec<&str>>().join("\n")
    }

    /// A line with what was typed of it before.
    fn whole<'l>(&self, index: usize, line: &'l str) -> Cow<'l, str> {
        match index {
            0 if !self.begun.is_empty() => Cow::Owned(format!("{}{line}", self.begun)),
            _ => Cow::Borrowed(line),
        }
    }

    /// Where a line is shown first, and how much of it: at the mark, at the beginning of a line, or behind a prompt.
    fn find(&self, text: &str, line: &str, entered: bool, at_mark: bool) -> Option<(usize, usize)> {
        let is_echo = |&at: &usize| {
            if at == 0 && at_mark {
                // A prompt may have a part at the right margin.
                let apart = text[line.len()..].starts_with("  ");
                return !entered || apart || ends_line(text, at, line);
            }
            let before = line_before(text, at);
            ends_line(text, at, line) && (before.is_empty() || self.is_prompt(before))
        };
        let found = text.match_indices(line).map(|found| found.0).find(is_echo);
        found.map(|at| (at, line.len())).or_else(|| self.find_begun(text, line, true))
    }

    /// Where it is shown again.
    fn find_again(&self, text: &str, line: &str) -> Option<(usize, usize)> {
        let is_echo =
            |&at: &usize| ends_line(text, at, line) && self.is_prompt(line_before(text, at));
        let found = text.match_indices(line).map(|found| found.0).find(is_echo);
        found.map(|at| (at, line.len())).or_else(|| self.find_begun(text, line, false))
    }

    /// Where a line is being shown, with the rest of it still to come: behind a prompt on the last line there is, or
    /// alone on it if that may be.
    fn find_begun(&self, text: &str, line: &str, alone: bool) -> Option<(usize, usize)> {
        let text = text.trim_end();
        let last = text.rfind('\n').map_or(0, |newline| newline + 1);
        let places = text[last..].char_indices().map(|it| last + it.0);
        let is_begun = |&at: &usize| {
            let before = &text[last..at];
            line.starts_with(&text[at..])
                && (if before.is_empty() { alone } else { self.is_prompt(before) })
        };
        places.take(MAX_PROMPT).find(is_begun).map(|at| (at, text.len() - at))
    }

    fn is_prompt(&self, text: &str) -> bool {
        self.prompts.iter().any(|it| it == text.trim_end()) || looks_like_prompt(text)
    }
}

/// Takes an echo out of what is left.
fn take(out: &mut String, rest: &mut &str, at: usize, length: usize) {
    out.push_str(&rest[..at]);
    *rest = &rest[at + length..];
}

fn ends_line(text: &str, at: usize, line: &str) -> bool {
    let behind = &text[at + line.len()..];
    behind.is_empty() || behind.starts_with('\n')
}

/// What stands before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    &text[begin..at]
}

/// What prompts end with, and sentences do not.
const ENDS: &[char] = &['$', '#', '%', '>', '❯', '»', '➜', 'λ'];

/// What prompts begin with that end with the name of a folder.
const BEGINNINGS: &[char] = &['➜', '❯', 'λ', '»'];

/// Whether a text looks like the prompt of a shell, or of a program like one: `~$ `, `>>> `, `(gdb) `, `In [1]: `.
fn looks_like_prompt(text: &str) -> bool {
    let trimmed = text.trim_end();
    let is_apart = trimmed.len() < text.len() || trimmed.chars().count() == 1;
    let ends = trimmed.ends_with(ENDS) || trimmed.ends_with("]:");
    let named = trimmed.starts_with('(') && trimmed.ends_with(')');
    is_apart && (ends || named || trimmed.starts_with(BEGINNINGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_told_from_sentences() {
        for prompt in
            ["$ ", "# ", "#", "me@host:~$ ", "host% ", ">>> ", "➜  ~ ", "(gdb) ", "In [1]: "]
        {
            assert!(looks_like_prompt(prompt), "{prompt:?}");
        }
        for text in
            ["", "Hello, ", "Name: ", "You chose: ", "got ", "I like (really) ", "a>b", "+ "]
        {
            assert!(!looks_like_prompt(text), "{text:?}");
        }
    }
}
