//! Which of the lines above a text its first secret may begin in: a screen shows the rest of what has scrolled away.
//!
//! Not here: what a secret is. A line too many costs a look; one too few shows a secret.

use super::block::part_of_block;
use super::keyed::GAP_MAX;
use super::lanes::is_full;

/// Whether lines belong to a secret that may go on below them, asked from below, of a screen with so many columns.
pub(crate) fn part_of_secret(cols: u16) -> impl FnMut(&str) -> bool {
    let cols = cols.into();
    let mut block = part_of_block(cols);
    // Whether a value below may go on in the next line, and so be called by a name in it.
    let (mut is_open, mut gap) = (true, 0);
    move |line| {
        let in_block = block(line);
        let is_blank = line.trim().is_empty();
        gap = if is_blank { gap + line.len() + 1 } else { 0 };
        let is_broken = is_open && is_full(line, cols);
        let is_name = is_open && awaits_value(line);
        is_open &= is_broken || (is_blank && gap <= GAP_MAX);
        in_block || is_name || is_open
    }
}

/// Whether the value of a name at the end of a line is in the next.
fn awaits_value(line: &str) -> bool {
    line.trim_end().ends_with([':', '=', '>'])
}
