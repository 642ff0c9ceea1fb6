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
use greenroom_screen::{MarkKind, Pos, Position, Screen, Wrap};

pub(crate) use self::echo::Echo;
use self::echo::{At, Room, Typed};
use self::keyed::{Draft, Keyed, MAX_TYPED};

/// How many marks a session remembers; a wait asks for one of the last few.
const MAX_MARKS: usize = 64;

/// How many prompts a session remembers: a shell's, and those of a few programs in it.
const MAX_PROMPTS: usize = 8;

/// How many marks back what was typed may be shown again.
const MAX_EARLIER: usize = 16;

/// The longest text that is taken for a prompt.
const MAX_PROMPT: usize = 256;

/// How much of what was typed a session remembers, at all its marks: the last few scripts that were pasted.
const MAX_REMEMBERED: usize = 4 * MAX_TYPED;

/// How many rows a line that is being edited may have, for what stands behind the cursor to be known.
const MAX_EDITED_ROWS: u64 = 16;

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
    /// What stood behind it in its line: the cursor was in the middle of that.
    behind: String,
    /// What was typed at it, and behind it.
    typed: Keyed,
    /// The lines that were being edited before: what was typed goes on in the last of them.
    edited: Draft,
    echo: Echo,
    /// What stood before what was typed into a line editor, at other times.
    prompts: Arc<[String]>,
    /// Lines that were typed before, and that may be shown again.
    earlier: Vec<String>,
    /// A line editor reads what was typed, or has begun since to read and shows again what was typed too early.
    is_edited: bool,
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
    /// Keys were typed to a program that reads them itself.
    reads_keys: bool,
    /// Line editors here say when they begin to read.
    is_told: bool,
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
            behind: String::new(),
            typed: Keyed::default(),
            edited: Draft::default(),
            echo: Echo::Nobody,
            prompts: Arc::default(),
            earlier: Vec::new(),
            is_edited: false,
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
        let echoes = self.is_remembered || !self.typed.draft().lines.is_empty();
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
        let mut start = Pos { row: self.pos.row.max(screen.first_row()), ..self.pos };
        if self.is_remembered {
            let printed = screen.text_between(start, end_of(screen), Wrap::Joined);
            return printed.split_once('\n').map_or(String::new(), |it| it.1.to_owned());
        }
        let marked = self.output_of_command(screen).or_else(|| self.output_of_edit(screen));
        if let Some(output) = marked {
            return output;
        }
        let mut text = self.changed_above(screen, self.pos.row);
        let is_redrawn = self.is_redrawn(screen);
        if is_redrawn {
            start.col = 0;
        }
        let printed = screen.text_between(start, end_of(screen), Wrap::Joined);
        let draft = self.typed.draft();
        if text.is_empty() && draft.lines.is_empty() && !is_redrawn {
            return printed;
        }
        if is_redrawn {
            let whole = self.edited.with(&self.typed);
            text.push_str(&self.typed(screen, &whole.lines, At::Line).without_echo(&printed));
            return text;
        }
        let begun = self.edited.lines.last().map_or("", String::as_str);
        let at = if self.stands_behind(begun) { At::Prompt } else { At::Mark };
        let typed = Typed { begun, behind: &self.behind, ..self.typed(screen, &draft.lines, at) };
        text.push_str(&typed.without_echo(&printed));
        text
    }

    /// What was printed since, if a shell marked where the output of the command begins that was entered. Until it
    /// does, what it shows is known as that of any program.
    fn output_of_command(&self, screen: &Screen) -> Option<String> {
        let lines = &self.typed.draft().lines;
        if lines.len() < 2 {
            return None;
        }
        let mut marks = screen.marks().rev().peekable();
        let mut first = None;
        while let Some(mark) = marks.next_if(|mark| mark.start >= self.offset) {
            first = Some(mark);
        }
        let at_prompt = marks.next()?.kind == MarkKind::CommandStart;
        // What is drawn elsewhere is seen elsewhere.
        let is_kept = self.before.is_some() && !self.is_redrawn(screen);
        if !is_kept || !self.changed_above(screen, self.pos.row).is_empty() {
            return None;
        }
        let first = first.filter(|it| at_prompt && it.kind == MarkKind::OutputStart)?;
        let begin = self.pos.max(Pos { row: first.row, col: first.col });
        let printed = screen.text_between(begin, end_of(screen), Wrap::Joined);
        Some(self.typed(screen, &lines[1..], At::Line).without_echo(&printed))
    }

    /// What was printed since, if keys went back in the line: its echo begins somewhere before the mark.
    fn output_of_edit(&self, screen: &Screen) -> Option<String> {
        if self.edited.is_at_end() && self.typed.adds() || self.pos.row < screen.first_row() {
            return None;
        }
        let whole = self.edited.with(&self.typed);
        let start = line_of(screen, self.pos);
        let printed = screen.text_between(start, end_of(screen), Wrap::Joined);
        let output = self.typed(screen, &whole.lines, At::Line).behind_echo(&printed)?;
        Some(self.changed_above(screen, start.row) + &output)
    }

    /// Lines that were typed, as they may be shown.
    fn typed<'a>(&'a self, screen: &Screen, lines: &'a [String], at: At) -> Typed<'a> {
        let (prompts, earlier) = (&*self.prompts, &*self.earlier);
        let is_edited = self.is_edited;
        let col = if at == At::Line { 0 } else { usize::from(self.pos.col) };
        let (cols, rows) = (screen.size().cols().into(), screen.size().rows().into());
        let room = Room { col, cols, rows };
        Typed { begun: "", behind: "", lines, prompts, earlier, is_edited, at, room }
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

    /// Whether it was typed before anybody was ready for it.
    fn is_early(&self) -> bool {
        self.echo == Echo::Terminal && !self.stands_behind("")
    }

    /// A line editor has begun to read since.
    pub(crate) fn edited(&mut self) {
        self.is_edited = true;
    }

    /// A prompt may have come to be known since.
    pub(crate) fn learn(&mut self, marks: &Marks) {
        self.prompts = Arc::clone(&marks.prompts);
    }

    /// Something else was typed behind it.
    pub(crate) fn also_typed(&mut self, other: &Mark) {
        if other.offset >= self.offset && !other.is_remembered && !self.is_beginning {
            self.typed.extend(&other.typed);
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

    /// How much of what was typed it remembers.
    fn size(&self) -> usize {
        self.typed.len() + self.edited.size()
    }

    /// The lines that are being edited behind it.
    fn unended(&self) -> Draft {
        self.edited.with(&self.typed).unended()
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
    fn changed_above(&self, screen: &Screen, end: u64) -> String {
        let mut text = String::new();
        let Some(position) = self.position.filter(|_| end > screen.top_row()) else {
            return text;
        };
        let changed = screen.diff(position);
        let rows = changed.rows().map(|row| row.number()).take_while(|row| *row < end);
        let rows: Vec<u64> = rows.collect();
        let mut edited = &self.edited.lines[..];
        // The last of them is at the mark, unless it fills its rows and the cursor went on to the next.
        if self.pos.col > 0 {
            edited = edited.split_last().map_or(&[], |it| it.1);
        }
        // What is drawn again of a line may be only the end of it.
        let mut whole = String::new();
        for run in rows.chunk_by(|row, next| row + 1 == *next) {
            let (Some(&first), Some(&last)) = (run.first(), run.last()) else { continue };
            let mut end = Pos { row: last + 1, col: 0 };
            let first = Pos { row: first, col: 0 };
            if end.row == self.pos.row
                && !screen.text_between(first, end, Wrap::Joined).ends_with('\n')
            {
                // The line that was being edited at the mark begins above it.
                (end, edited) = (self.pos, &self.edited.lines);
            }
            let push = |text: &mut String, from: Pos| {
                text.push_str(screen.text_between(from, end, Wrap::Joined).trim_end_matches('\n'));
                text.push('\n');
            };
            push(&mut text, first);
            push(&mut whole, line_of(screen, first));
        }
        if text.is_empty() || edited.is_empty() {
            return text;
        }
        let typed = Typed { earlier: &[], ..self.typed(screen, edited, At::Line) };
        let behind = typed.behind_echo(&whole).filter(|_| whole.len() > text.len());
        behind.unwrap_or_else(|| typed.without_echo(&text))
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
            last.typed.extend(&mark.typed);
            return;
        }
        let before = place.checked_sub(1).and_then(|it| self.marks.get(it));
        // One that is told late stood there before what the screen shows now.
        if mark.offset == screen.offset() {
            mark.before = Some(standing_before(screen, mark.pos));
            mark.behind = standing_behind(screen, mark.pos);
        }
        mark.is_edited = mark.echo == Echo::Program;
        self.reads_keys |= mark.is_edited;
        if mark.echo != Echo::Nobody {
            mark.edited = before.map_or(Draft::default(), Mark::unended);
        }
        // Who asks a question and reads the answer as a line shows nothing again.
        if mark.echo == Echo::Program {
            self.learn_prompt(&mark, screen);
        }
        self.marks.insert(place, mark);
        let mut remembered: usize = self.marks.iter().map(Mark::size).sum();
        let surplus = self.marks.len().saturating_sub(MAX_MARKS);
        let forgotten = self.marks.iter().enumerate().take_while(|(index, mark)| {
            let is_surplus = *index < surplus || remembered > MAX_REMEMBERED;
            remembered -= mark.size();
            is_surplus
        });
        // Never the last.
        let forgotten = forgotten.count().min(self.marks.len() - 1);
        self.marks.drain(..forgotten);
    }

    /// Remembers what stands before the place where a line begins to be typed.
    fn learn_prompt(&mut self, mark: &Mark, screen: &Screen) {
        if !mark.edited.lines.is_empty() {
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
        // Nobody asked for the beginning: nothing had been typed yet.
        mark.is_beginning &= after.is_some();
        later.iter().for_each(|it| mark.also_typed(it));
        let mut earlier = before.iter().rev().skip(1).take(MAX_EARLIER);
        let lines = |it: &Mark| it.edited.with(&it.typed).ended();
        // A line that was typed when something stood there was read, and all before it; unless it is asked for.
        mark.earlier = match mark.typed.asks_for_other_line() || mark.edited.is_other_line() {
            true => earlier.flat_map(lines).collect(),
            false => earlier.by_ref().take_while(|it| it.is_early()).flat_map(lines).collect(),
        };
        mark.prompts = Arc::clone(&self.prompts);
        mark.is_edited |= self.reads_keys && !self.is_told;
        mark
    }

    /// A line editor begins to read: it asked for brackets around what is pasted.
    pub(crate) fn edited(&mut self) {
        self.is_told = true;
        self.marks.iter_mut().for_each(Mark::edited);
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

/// What stands behind a place in its line, without what stands apart from it at the right margin.
fn standing_behind(screen: &Screen, pos: Pos) -> String {
    let end = Pos { row: pos.row + MAX_EDITED_ROWS, col: 0 };
    let mut text = screen.text_between(pos, end, Wrap::Joined);
    text.truncate(text.find('\n').unwrap_or(text.len()));
    text.truncate(text.trim_end().len());
    text.truncate(text.rfind("  ").unwrap_or(text.len()));
    text.truncate(text.trim_end().len());
    text
}

/// Where the line begins that a place is in: further up, if that is wrapped.
fn line_of(screen: &Screen, pos: Pos) -> Pos {
    let above = (screen.first_row()..pos.row).rev().take(MAX_EDITED_ROWS as usize);
    let wrapped = above.take_while(|&row| {
        let (from, to) = (Pos { row, col: 0 }, Pos { row: row + 1, col: 0 });
        !screen.text_between(from, to, Wrap::Joined).ends_with('\n')
    });
    Pos { row: wrapped.last().unwrap_or(pos.row), col: 0 }
}

fn end_of(screen: &Screen) -> Pos {
    Pos { row: screen.top_row() + u64::from(screen.size().rows()), col: 0 }
}
