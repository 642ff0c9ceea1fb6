//! Whether every contender did the work: its screen after each input, row by row, beside ours.
//!
//! A difference is no verdict on who is right (libraries disagree about emoji, for one); it
//! shows at a glance an engine that is fast because it skipped something. Run before any clock.

use greenroom_model::Size;

use crate::engines::Contender;
use crate::inputs::Input;

/// A contender whose screen after an input was not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The terminals' size.
    pub size: Size,
    /// After which input.
    pub input: &'static str,
    /// Whose screen.
    pub contender: Contender,
    /// How many rows were not as ours.
    pub rows: usize,
}

/// Feeds one input to all terminals and compares what they show with what we show.
#[must_use]
pub fn compare(input: &Input, size: Size, history: usize) -> Vec<Difference> {
    let expected = show(Contender::Ours, input, size, history);
    let mut differences = Vec::new();
    for contender in Contender::terminals().filter(|it| *it != Contender::Ours) {
        let rows = differing(&expected, &show(contender, input, size, history), size);
        if rows > 0 {
            differences.push(Difference { size, input: input.name, contender, rows });
        }
    }
    differences
}

fn show(contender: Contender, input: &Input, size: Size, history: usize) -> Vec<String> {
    let mut engine = contender.start(size, history);
    for piece in input.pieces() {
        engine.feed(piece);
    }
    engine.rows()
}

/// Counts rows that differ. A row one side does not have counts as empty.
fn differing(expected: &[String], got: &[String], size: Size) -> usize {
    let row = |rows: &[String], number: usize| rows.get(number).cloned().unwrap_or_default();
    (0..usize::from(size.rows())).filter(|it| row(expected, *it) != row(got, *it)).count()
}

#[cfg(test)]
mod tests {
    use greenroom_model::Size;

    use super::differing;

    #[test]
    fn a_missing_row_is_an_empty_one() {
        let rows = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let size = Size::new(80, 3).unwrap();
        assert_eq!(differing(&rows(&["a", "b"]), &rows(&["a", "b", ""]), size), 0);
        assert_eq!(differing(&rows(&["a", "b"]), &rows(&["a", "x", "c"]), size), 2);
    }
}
