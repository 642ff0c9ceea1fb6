//! Rows of cells as aligned columns.

use crate::output::{Output, Style};
use crate::plain::{cut, plain, width};

/// The space between two columns.
const GAP: &str = "  ";

/// One cell: text of whomever, and how it is shown.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell; control characters are taken out.
    pub(crate) fn new(text: impl AsRef<str>, style: Style) -> Cell {
        Cell { text: plain(text.as_ref()), style }
    }
}

/// The rows under their header, columns aligned, at most `bound` columns wide.
///
/// Only the last column is cut to fit: the others are short by nature.
pub(crate) fn table(
    output: &Output,
    header: &[&str],
    rows: &[Vec<Cell>],
    bound: Option<usize>,
) -> String {
    let mut widths: Vec<usize> = header.iter().map(|it| width(it)).collect();
    for row in rows {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = (*column).max(width(&cell.text));
        }
    }
    let header = header.iter().map(|it| Cell { text: (*it).to_owned(), style: Style::Faint });
    let header: Vec<Cell> = header.collect();
    let mut text = String::new();
    for row in std::iter::once(&header).chain(rows) {
        text.push_str(&line(output, row, &widths, bound));
        text.push('\n');
    }
    text
}

fn line(output: &Output, row: &[Cell], widths: &[usize], bound: Option<usize>) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (index, (cell, column)) in row.iter().zip(widths).enumerate() {
        let is_last = index + 1 == row.len();
        let room = bound.map_or(usize::MAX, |it| it.saturating_sub(used).max(1));
        let shown = if is_last { cut(&cell.text, room) } else { cell.text.clone() };
        line.push_str(&output.styled(cell.style, &shown));
        if !is_last {
            line.push_str(&" ".repeat(column - width(&shown)));
            line.push_str(GAP);
        }
        used += column + GAP.len();
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<Cell> {
        texts.iter().map(|it| Cell::new(it, Style::Plain)).collect()
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let output = Output::new(true, true);
        let rows = [cells(&["1", "日本", "vim a"]), cells(&["12", "x\x1b[2J", ""])];
        let text = table(&output, &["#", "name", "command"], &rows, None);
        assert_eq!(text, "#   name  command\n1   日本  vim a\n12  x[2J\n");
    }

    #[test]
    fn only_the_last_column_is_cut() {
        let output = Output::new(true, true);
        let rows = [cells(&["a long name", "a long command"])];
        let text = table(&output, &["name", "command"], &rows, Some(20));
        assert_eq!(text, "name         command\na long name  a long…\n");
    }
}
