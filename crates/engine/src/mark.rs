//! Where a session stood when something was typed, and what its echo looks like.
//!
//! A wait after a mark looks only at what was printed since, and not at the echo: the text typed,
//! as the terminal or the shell's line editor shows it again.

mod echo;
mod keyed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use greenroom_model::Offset;
use greenroom_screen::{Pos, Position, Screen, Wrap};

pub(crate) use self::echo::Echo;
use self::echo::{At, Typed};
use self::keyed::{Keyed, MAX_TYPED, ended, join, size};

/// How many marks a session remembers; a wait asks for one of the last few.
const MAX_MARKS: usize = 64;

/// How many prompts a session remembers: a shell's, and those of a few programs in it.
const MAX_PROMPTS: usize = 8;

/// How many marks back what was typed may be shown again.
const MAX_EARLIER: usize = 16;

/// The longest text that is taken for a prompt.
const MAX_PROMPT: usize = 256;

/// Where a session stood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// How much was printed before.
    pub(crate) offset: Offset,
    pos: Pos,
    position: Position,
}

/// A moment at which something was typed.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// How much was printed before.
    pub(crate) offset: Offset,
    pos: Pos,
    /// What the screen looked like; not known of a mark that an earlier daemon made.
    position: Option<Position>,
    /// What stood before it in its row, without the blanks behind that; not known if that row is gone.
    before: Option<String>,
    /// What was typed at it, and behind it.
    typed: Keyed,
    /// The lines that were being edited before: what was typed goes on in the last of them.
    edited: Vec<String>,
    echo: Echo,
    /// What stood before what was typed, at other times.
    prompts: Arc<[String]>,
    /// The last lines that were typed before.
    earlier: Vec<String>,
    /// It is the beginning of everything: who asks for that wants to see what was typed, too.
    is_beginning: bool,
    /// What was typed is not known, only that the rest of the line it was typed on is its echo.
    is_remembered: bool,
}

/// The marks of a session, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
    prompts: Arc<[String]>,
}

impl Standing {
    pub(crate) fn now(screen: &Screen) -> Standing {
        Standing { offset: screen.offset(), pos: screen.cursor_pos(), position: screen.position() }
    }
}

impl Mark {
    /// Everything there is counts as printed after it.
    pub(crate) fn beginning() -> Mark {
        let mut mark = Mark::new(Offset::START, Pos { row: 0, col: 0 });
        (mark.position, mark.is_beginning) = (Some(Position::default()), true);
        mark
    }

    /// Nothing was typed there, as far as is known.
    fn new(offset: Offset, pos: Pos) -> Mark {
        Mark {
            offset,
            pos,
            position: None,
            before: None,
            typed: Keyed::default(),
            edited: Vec::new(),
            echo: Echo::Nobody,
            prompts: Arc::default(),
            earlier: Vec::new(),
            is_beginning: false,
            is_remembered: false,
        }
    }

    /// Now, before `bytes` are typed.
    pub(crate) fn now(screen: &Screen, bytes: &[u8], echo: Echo) -> Mark {
        Mark::at(Standing::now(screen), bytes, echo)
    }

    /// Then, before `bytes` were typed.
    pub(crate) fn at(standing: Standing, bytes: &[u8], echo: Echo) -> Mark {
        let Standing { offset, pos, position } = standing;
        let typed = if echo == Echo::Nobody { Keyed::default() } else { Keyed::from(bytes) };
        Mark { position: Some(position), typed, echo, ..Mark::new(offset, pos) }
    }

    /// What the next daemon is to know of it: where it is and whether there is an echo, not what was typed.
    pub(crate) fn to_note(&self) -> String {
        let echoes = self.is_remembered || !self.typed.lines.is_empty();
        format!("{} {} {} {}", self.offset.0, self.pos.row, self.pos.col, u8::from(echoes))
    }

    /// The mark that an earlier daemon noted.
    pub(crate) fn from_note(note: &str) -> Option<Mark> {
        let numbers: Option<Vec<u64>> = note.split(' ').map(|it| it.parse().ok()).collect();
        let &[offset, row, col, echoes] = numbers?.as_slice() else { return None };
        let pos = Pos { row, col: u16::try_from(col).ok()? };
        Some(Mark { is_remembered: echoes != 0, ..Mark::new(Offset(offset), pos) })
    }

    /// What was printed since, without the echo.
    pub(crate) fn output(&self, screen: &Screen) -> String {
        let mut text = self.changed_above(screen);
        let end = Pos { row: screen.top_row() + u64::from(screen.size().rows()), col: 0 };
        let mut start = Pos { row: self.pos.row.max(screen.first_row()), ..self.pos };
        if self.is_remembered {
            let printed = screen.text_between(start, end, Wrap::Joined);
            return printed.split_once('\n').map_or(String::new(), |it| it.1.to_owned());
        }
        let is_redrawn = self.is_redrawn(screen);
        if is_redrawn {
            start.col = 0;
        }
        let printed = screen.text_between(start, end, Wrap::Joined);
        if text.is_empty() && self.typed.lines.is_empty() && !is_redrawn {
            return printed;
        }
        let mut whole = Vec::new();
        let (echo, prompts, earlier) = (self.echo, &*self.prompts, &*self.earlier);
        let typed = if is_redrawn {
            whole.clone_from(&self.edited);
            join(&mut whole, self.typed.lines.iter().cloned());
            Typed { begun: "", lines: &whole, echo, prompts, earlier, at: At::Line }
        } else {
            let begun = self.edited.last().map_or("", String::as_str);
            let at = if self.stands_behind(begun) { At::Prompt } else { At::Mark };
            Typed { begun, lines: &self.typed.lines, echo, prompts, earlier, at }
        };
        text.push_str(&typed.without_echo(&printed));
        text
    }

    /// Whether what stood before it in its row is not there any more: a program drew that row anew.
    fn is_redrawn(&self, screen: &Screen) -> bool {
        let is_kept = self.pos.row >= screen.first_row();
        let before = self.before.as_ref().filter(|_| is_kept && self.pos.col > 0);
        before.is_some_and(|before| *before != standing_before(screen, self.pos))
    }

    /// Whether something stood in its row before what was typed there: whoever drew it was ready.
    fn stands_behind(&self, begun: &str) -> bool {
        let Some(before) = self.before.as_deref() else { return false };
        !before.strip_suffix(begun.trim_end()).unwrap_or(before).trim_end().is_empty()
    }

    /// Something else was typed behind it.
    pub(crate) fn also_typed(&mut self, other: &Mark) {
        if other.offset >= self.offset && !other.is_remembered && !self.is_beginning {
            self.typed.extend(other.typed.clone());
        }
    }

    /// Where it is.
    pub(crate) fn pos(&self) -> Pos {
        self.pos
    }

    /// The screen has another size, and its place is here: nothing was printed by that.
    pub(crate) fn moved(&mut self, pos: Pos, screen: &Screen) {
        self.pos = pos;
        self.position = self.position.map(|_| screen.position());
        self.before = self.before.as_ref().map(|_| standing_before(screen, pos));
    }

    /// The lines that are being edited behind it, if that is not too much to be an echo.
    fn unended(&self) -> Vec<String> {
        let mut lines = if self.typed.ended == 0 { self.edited.clone() } else { Vec::new() };
        join(&mut lines, self.typed.lines.iter().skip(self.typed.ended).cloned());
        if size(&lines) > MAX_TYPED { Vec::new() } else { lines }
    }

    /// Goes on to what the screen shows: the rows above it were looked at and do not change.
    pub(crate) fn advance(&mut self, screen: &Screen) {
        if self.pos.row < screen.top_row() {
            self.pos = Pos { row: screen.top_row(), col: 0 };
            (self.is_remembered, self.before) = (false, None);
        }
    }

    /// Rows above the mark that changed since: programs that draw the whole screen print there. So do
    /// line editors that draw the lines being edited once more, which is an echo.
    fn changed_above(&self, screen: &Screen) -> String {
        let mut text = String::new();
        let Some(position) = self.position.filter(|_| self.pos.row > screen.top_row()) else {
            return text;
        };
        let changed = screen.diff(position);
        let rows = changed.rows().map(|row| row.number()).take_while(|row| *row < self.pos.row);
        let rows: Vec<u64> = rows.collect();
        let mut edited = self.edited.split_last().map_or(&[][..], |it| it.1);
        for run in rows.chunk_by(|row, next| row + 1 == *next) {
            let (Some(&first), Some(&last)) = (run.first(), run.last()) else { continue };
            let mut lines = screen.text_of(first..last + 1, Wrap::Joined);
            if last + 1 == self.pos.row && !lines.ends_with('\n') {
                // The line that was being edited at the mark begins above it.
                lines = screen.text_between(Pos { row: first, col: 0 }, self.pos, Wrap::Joined);
                edited = &self.edited;
            }
            text.push_str(lines.trim_end_matches('\n'));
            text.push('\n');
        }
        if text.is_empty() || edited.is_empty() {
            return text;
        }
        let (echo, prompts) = (Echo::Program, &*self.prompts);
        Typed { begun: "", lines: edited, echo, prompts, earlier: &[], at: At::Line }
            .without_echo(&text)
    }
}

impl Marks {
    pub(crate) fn add(&mut self, mut mark: Mark, screen: &Screen) {
        // One that is told late has its place before others.
        let place = self.marks.partition_point(|it| it.offset <= mark.offset);
        // Keys typed one after the other before anything was printed are one line to the echo.
        if let Some(last) = place.checked_sub(1).and_then(|it| self.marks.get_mut(it))
            && last.offset == mark.offset
            && !last.is_remembered
        {
            last.typed.extend(mark.typed);
            return;
        }
        let before = place.checked_sub(1).and_then(|it| self.marks.get(it));
        // One that is told late stood there before what the screen shows now.
        if mark.offset == screen.offset() {
            mark.before = Some(standing_before(screen, mark.pos));
        }
        if mark.echo != Echo::Nobody {
            mark.edited = before.map_or(Vec::new(), Mark::unended);
            self.learn_prompt(&mark, screen);
        }
        self.marks.insert(place, mark);
        if self.marks.len() > MAX_MARKS {
            self.marks.remove(0);
        }
    }

    /// Remembers what stands before the place where a line begins to be typed.
    fn learn_prompt(&mut self, mark: &Mark, screen: &Screen) {
        if mark.edited.iter().any(|line| !line.is_empty()) {
            return;
        }
        let prompt = standing_before(screen, mark.pos);
        let known = self.prompts.last().is_some_and(|it| *it == prompt);
        if known || prompt.is_empty() || prompt.len() > MAX_PROMPT {
            return;
        }
        let others = self.prompts.iter().filter(|it| **it != prompt);
        let surplus = others.clone().count().saturating_sub(MAX_PROMPTS - 1);
        self.prompts = others.skip(surplus).cloned().chain([prompt.clone()]).collect();
    }

    /// The last, for the next daemon.
    pub(crate) fn last(&self) -> Option<&Mark> {
        self.marks.last()
    }

    /// The mark a wait begins at: the last one, or the last not after an offset. What was typed behind it is an
    /// echo as well.
    pub(crate) fn find(&self, after: Option<Offset>) -> Mark {
        let behind = match after {
            None => self.marks.len(),
            Some(offset) => self.marks.partition_point(|mark| mark.offset <= offset),
        };
        let (before, later) = self.marks.split_at(behind);
        let mut mark = before.last().cloned().unwrap_or_else(Mark::beginning);
        later.iter().for_each(|it| mark.also_typed(it));
        let earlier = before.iter().rev().skip(1).take(MAX_EARLIER);
        mark.earlier = earlier.flat_map(|it| ended(&it.edited, &it.typed)).collect();
        mark.prompts = Arc::clone(&self.prompts);
        mark
    }

    /// All of them, to be moved.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mark> {
        self.marks.iter_mut()
    }
}

/// What stands before a place in its row, without the blanks behind that.
fn standing_before(screen: &Screen, pos: Pos) -> String {
    let text = screen.text_between(Pos { col: 0, ..pos }, pos, Wrap::Rows);
    text.trim_end().to_owned()
}
