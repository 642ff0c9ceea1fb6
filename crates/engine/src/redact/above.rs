//! Which of the lines above a text its first secret may begin in: a screen shows the rest of what has scrolled away.
//!
//! Not here: what a secret is. A line too many costs a look; one too few shows a secret.

use greenroom_screen::Belongs;

use super::block::part_of_block;
use super::keyed::GAP_MAX;
use super::lanes::is_full;

/// What a line above would be a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A value, which may have its name in the line above.
    Value,
    /// The line that ends in that name.
    Name,
    Nothing,
}

/// Whether lines belong to a secret that may go on below them, asked from below, of a screen with so many columns.
pub(crate) fn part_of_secret(cols: u16) -> impl FnMut(&str) -> Belongs {
    let cols = cols.into();
    let mut block = part_of_block(cols);
    let (mut part, mut gap) = (Part::Value, 0);
    move |line| {
        let in_block = block(line);
        let is_blank = line.trim().is_empty();
        gap = if is_blank { gap + line.len() + 1 } else { 0 };
        let belongs;
        (part, belongs) = match part {
            // A program that broke a line at the margin left full rows.
            Part::Value | Part::Name if is_full(line, cols) => (part, Belongs::Yes),
            Part::Value if is_blank && gap <= GAP_MAX => (part, Belongs::IfAbove),
            Part::Value if awaits_value(line) => (Part::Name, Belongs::Yes),
            Part::Value | Part::Name | Part::Nothing => (Part::Nothing, Belongs::No),
        };
        in_block.max(belongs)
    }
}

/// Whether the value of a name at the end of a line is in the next.
fn awaits_value(line: &str) -> bool {
    line.trim_end().ends_with([':', '=', '>'])
}
