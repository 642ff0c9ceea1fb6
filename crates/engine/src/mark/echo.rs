//! What of the output is the echo of what was typed.
//!
//! A line is shown once where it is typed, by the terminal or by a program's line editor. It is shown a
//! second time if it was typed before the program was ready to read it: the terminal shows it at once,
//! and the line editor again, behind its prompt. A program that answers with what it was told,
//! `Hello, Bob` or `item # 42`, shows no echo by that: what stands before it is no prompt of a line editor.

use std::borrow::Cow;

use super::MAX_PROMPT;
use super::keyed::FILLED;

/// How much text is searched for lines that are not there, each of which costs all of it: the lines of a paste that
/// have scrolled away. It takes about a millisecond, and a hundred where every letter of the text may begin such a line.
const MAX_SEARCHED: usize = 4 << 20;

/// What is shown of a line that is too long for a screen is longer than this, or than half of a smaller screen, and
/// than what a program would say in just the words of a long line.
const PART: usize = 64;

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
    /// What stood behind it on its line, into which it was typed.
    pub(super) behind: &'a str,
    /// The lines, without controls; Enter was pressed behind all but the last.
    pub(super) lines: &'a [String],
    /// What has stood before what was typed into a line editor, at other times, without the blanks behind it.
    pub(super) prompts: &'a [String],
    /// Lines that were typed before, which a shell may show again: it was not ready for them, or is asked for one of
    /// them by a key.
    pub(super) earlier: &'a [String],
    /// A line editor reads, or has begun to, which may show a line again.
    pub(super) is_edited: bool,
    pub(super) at: At,
    pub(super) room: Room,
}

/// Where a line is shown: line editors wrap it by themselves, and show a part of it if it is too long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// In which column what was printed begins.
    pub(super) col: usize,
    pub(super) cols: usize,
    pub(super) rows: usize,
}

impl Room {
    /// Whether a line may be too long for the screen.
    fn is_too_long(self, line: &str) -> bool {
        line.len() > self.cols * self.rows.saturating_sub(1)
    }

    /// Whether a row that has this text from a column on is full: the next one may go on with it.
    fn is_full(self, col: usize, row: &str) -> bool {
        let letters = row.chars().count();
        let wide = row.chars().filter(|letter| !letter.is_ascii()).count();
        // A wide letter that does not fit leaves a blank.
        (self.cols - 1..=self.cols)
            .any(|cols| (col + letters..=col + letters + wide).contains(&cols))
    }
}

impl Typed<'_> {
    /// What was printed, without the echo of each line: up to the line's end, if Enter was pressed.
    pub(super) fn without_echo(self, printed: &str) -> String {
        let mut out = String::with_capacity(printed.len());
        let mut rest = printed;
        let mut at_mark = self.at != At::Line;
        let mut searched = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let entered = index + 1 < self.lines.len();
            let whole = self.whole(index, line);
            if whole.trim_matches(' ').is_empty() {
                continue;
            }
            // Only the end of it may have been typed now, or nothing but Enter.
            let shown = match line.trim().is_empty() && at_mark {
                true => Some((0, self.shown_behind(rest))),
                false => self.find(rest, line, entered, at_mark),
            };
            let Some((at, length)) = shown else {
                searched += rest.len();
                if searched > MAX_SEARCHED {
                    break;
                }
                continue;
            };
            let begins_line = match at == 0 && at_mark {
                true => self.at == At::Mark,
                false => line_before(rest, at).is_empty(),
            };
            take(&mut out, &mut rest, at, length);
            at_mark = false;
            // It was typed before it was wanted; who was to show it may have changed while it was on its way.
            if self.is_edited
                && begins_line
                && let Some((at, length)) = self.find_again(rest, &whole, entered)
            {
                take(&mut out, &mut rest, at, length);
            }
        }
        out.push_str(rest);
        if self.earlier.is_empty() || !self.is_edited { out } else { self.without_earlier(&out) }
    }

    /// What was printed, without the echo and what stands before it on its line, if the first line begins with it.
    pub(super) fn behind_echo(self, printed: &str) -> Option<String> {
        let (line, more) = self.lines.split_first()?;
        if line.trim().is_empty() {
            return None;
        }
        let (at, length) = self.find(printed, line, !more.is_empty(), false)?;
        if printed[..at].contains('\n') {
            return None;
        }
        let rest = Typed { lines: more, ..self };
        Some(rest.without_echo(&printed[at + length..]))
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
                false => self.is_prompt_of_editor(before),
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
        if at_mark && let Some(length) = self.shown_at_mark(text, line, entered) {
            return Some((0, length));
        }
        // What stands behind it is seen at once, what stands before it is not.
        let is_echo = |&(at, length): &(usize, usize)| {
            let (ends, apart) =
                (ends_line(text, at + length), text[at + length..].starts_with("  "));
            let before = if ends || apart { line_before(text, at) } else { return false };
            (ends && before.is_empty()) || (!before.is_empty() && self.is_prompt(before))
        };
        let found = self.places(text, line, entered).find(is_echo);
        let found = found.or_else(|| self.find_recalled(text, line, entered));
        let found = found.or_else(|| self.find_begun(text, line, true));
        found.or_else(|| self.find_part(text, line))
    }

    /// Where a line is shown that was looked for and entered: in the first row, which the line editor draws anew.
    fn find_recalled(&self, text: &str, line: &str, entered: bool) -> Option<(usize, usize)> {
        let row = text.split('\n').next().filter(|_| entered && line.starts_with(FILLED))?;
        let mut behind = self.prompts.iter().filter_map(|prompt| row.strip_prefix(&**prompt));
        let at = row.len() - behind.next()?.trim_start().len();
        Some((at, self.shown(at, &text[at..], line, entered)?))
    }

    /// How much of it is shown at the mark.
    fn shown_at_mark(&self, text: &str, line: &str, entered: bool) -> Option<usize> {
        let length = self.shown(self.room.col, text, line, entered)?;
        let length = length + self.shown_behind(&text[length..]);
        // A prompt may have a part at the right margin.
        let apart = text[length..].starts_with("  ");
        (!entered || apart || ends_line(text, length)).then_some(length)
    }

    /// How much of a text is what stood behind the mark.
    fn shown_behind(&self, text: &str) -> usize {
        let length = self.behind.len();
        let is_shown = text.starts_with(self.behind)
            && (ends_line(text, length) || text[length..].starts_with("  "));
        if is_shown { length } else { 0 }
    }

    /// Where it is shown again.
    fn find_again(&self, text: &str, line: &str, entered: bool) -> Option<(usize, usize)> {
        let is_echo = |&(at, length): &(usize, usize)| {
            let apart = text[at + length..].starts_with("  ");
            (ends_line(text, at + length) || apart)
                && self.is_prompt_of_editor(line_before(text, at))
        };
        let found = self.places(text, line, entered).find(is_echo);
        found.or_else(|| self.find_begun(text, line, false))
    }

    /// Where a line is being shown, with the rest of it still to come, on the last line there is: behind a prompt, or
    /// alone if it was not shown yet.
    fn find_begun(&self, text: &str, line: &str, is_first: bool) -> Option<(usize, usize)> {
        let text = text.trim_end();
        let last = text.rfind('\n').map_or(0, |newline| newline + 1);
        let places = text[last..].char_indices().map(|it| last + it.0);
        let is_begun = |&at: &usize| {
            let before = &text[last..at];
            let is_prompt = || match (before.is_empty(), is_first) {
                (true, _) => is_first,
                (false, true) => self.is_prompt(before),
                (false, false) => self.is_prompt_of_editor(before),
            };
            self.shows_beginning(before.chars().count(), &text[at..], line) && is_prompt()
        };
        places.take(MAX_PROMPT).find(is_begun).map(|at| (at, text.len() - at))
    }

    /// Where a line is shown in a text, and how much of that it takes.
    fn places<'t>(
        &'t self,
        text: &'t str,
        line: &'t str,
        entered: bool,
    ) -> impl Iterator<Item = (usize, usize)> + 't {
        // What was typed and is shown as it is.
        let is_certain = |char: char| char.is_ascii() && char != FILLED;
        // The text of a row has no blanks at its end.
        let begin = line.trim_end_matches(' ');
        let uncertain = begin.char_indices().skip(1).find(|it| !is_certain(it.1));
        let certain = uncertain.map_or(begin, |it| &begin[..it.0]);
        // And what is in one row for certain.
        let least = certain.chars().next().map_or(0, char::len_utf8);
        let most = certain.floor_char_boundary(self.room.cols.div_ceil(2));
        let certain = &certain[..most.max(least)];
        let begins = text.match_indices(certain).map(|found| found.0);
        begins.filter_map(move |at| {
            if text[at..].starts_with(line) {
                return Some((at, line.len()));
            }
            let col = line_before(text, at).chars().count();
            Some((at, self.shown(col, &text[at..], line, entered)?))
        })
    }

    /// How much of the beginning of a text, which is in this column, shows a line.
    fn shown(&self, col: usize, text: &str, line: &str, entered: bool) -> Option<usize> {
        let mut pieces = line.split(FILLED).peekable();
        let first = pieces.next()?;
        // The text of a row has no blanks at its end.
        let certain = if pieces.peek().is_some() { first } else { first.trim_end_matches(' ') };
        let (mut length, agreed) = self.agree(col, text, certain);
        if agreed < certain.len() {
            return None;
        }
        let blanks = text[length..].bytes().take(first.len() - agreed);
        length += blanks.take_while(|it| *it == b' ').count();
        while let Some(piece) = pieces.next() {
            let row = text[length..].split('\n').next().unwrap_or_default();
            // What is filled in at the end of a line was entered with it.
            length += match entered && pieces.peek().is_none() {
                true => row.trim_end().strip_suffix(piece.trim_end()).map(|_| row.len())?,
                false => row.find(piece)? + piece.len(),
            };
        }
        Some(length)
    }

    /// Whether a text in this column is the beginning of what shows a line.
    fn shows_beginning(&self, col: usize, text: &str, line: &str) -> bool {
        let first = line.split(FILLED).next().unwrap_or_default();
        let (length, agreed) = self.agree(col, text, first);
        length == text.len() || (agreed > 0 && agreed == first.len() && first.len() < line.len())
    }

    /// How far a text in this column and what was typed are the same: how much of each that is.
    ///
    /// A line editor does not leave it to the terminal to wrap a wide character at the margin: it puts a blank there.
    /// Some do not leave it to the terminal to wrap at all.
    fn agree(&self, mut col: usize, text: &str, typed: &str) -> (usize, usize) {
        if text.starts_with(typed) {
            return (typed.len(), typed.len());
        }
        let (mut rest, mut row, mut agreed) = (text, text, 0);
        for char in typed.chars() {
            let shown = &row[..row.len() - rest.len()];
            if let Some(next) = rest.strip_prefix('\n')
                && self.room.is_full(col, shown)
            {
                (rest, row, col) = (next, next, 0);
            }
            let wrapped = rest.strip_prefix(' ').filter(|_| !char.is_ascii());
            let behind = rest.strip_prefix(char).or_else(|| wrapped?.strip_prefix(char));
            let Some(behind) = behind else { break };
            (rest, agreed) = (behind, agreed + char.len_utf8());
        }
        (text.len() - rest.len(), agreed)
    }

    /// Where a part of a line is shown that is too long for the screen, as far as it is drawn: in rows, which need not be
    /// wrapped.
    fn find_part(&self, text: &str, line: &str) -> Option<(usize, usize)> {
        if !self.room.is_too_long(line) {
            return None;
        }
        let least = PART.min(self.room.cols * self.room.rows / 2);
        let (mut begin, mut end, mut at) = (0, 0, 0);
        let mut part = String::new();
        for shown in text.split_inclusive('\n') {
            let row = shown.trim_end_matches('\n');
            // The text of a row has no blanks at its end.
            let mut longer = ["", " "].map(|blank| format!("{part}{blank}{row}")).into_iter();
            let longer = longer.find(|it| it.len() >= least && line.contains(it.as_str()));
            if longer.is_none() && end > begin {
                break;
            }
            match longer {
                Some(longer) => (part, end) = (longer, at + row.len()),
                None => begin = at + shown.len(),
            }
            at += shown.len();
        }
        (end > begin).then(|| (begin, end - begin))
    }

    /// Whether a text may be a prompt, of this line editor or of any other.
    fn is_prompt(&self, text: &str) -> bool {
        self.is_prompt_of_editor(text)
            || looks_like_prompt(text)
            || CONTINUES.contains(&text.trim_end())
    }

    /// Whether a text is the prompt of the line editor that shows lines again: as before, or with another folder or time
    /// in it. A program that answers `cost in $ 42` has no such one.
    fn is_prompt_of_editor(&self, text: &str) -> bool {
        let is_known = |known: &String| {
            known == text.trim_end()
                || (looks_like_prompt(text) && is_alike(known, text.trim_end()))
        };
        self.prompts.iter().any(is_known)
            || (self.prompts.is_empty() && looks_like_prompt(text))
            || SEARCHES.iter().any(|it| text.starts_with(it))
    }
}

/// Takes an echo out of what is left.
fn take(out: &mut String, rest: &mut &str, at: usize, length: usize) {
    out.push_str(&rest[..at]);
    *rest = &rest[at + length..];
}

fn ends_line(text: &str, at: usize) -> bool {
    let behind = &text[at..];
    behind.is_empty() || behind.starts_with('\n')
}

/// What stands before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    &text[begin..at]
}

/// What prompts end with, and sentences do not.
const ENDS: &[char] = &['$', '#', '%', '>', '❯', '»', '➜', 'λ'];

/// What stands before the further lines of a command, alone.
const CONTINUES: &[&str] = &["...", "...."];

/// How many letters two prompts share at their beginning or end, for one to be the other a little later.
const ALIKE: usize = 3;

/// What stands before a line that is looked for among earlier ones.
const SEARCHES: &[&str] = &["(reverse-i-search)`", "(i-search)`", "bck-i-search: "];

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

/// Whether two prompts are one, of which a part changes.
fn is_alike(one: &str, two: &str) -> bool {
    let begin = one.chars().zip(two.chars()).take_while(|(a, b)| a == b).count();
    let end = one.chars().rev().zip(two.chars().rev()).take_while(|(a, b)| a == b).count();
    begin.max(end) >= ALIKE && end > 0
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
