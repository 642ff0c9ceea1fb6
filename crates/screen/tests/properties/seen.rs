//! All that can be seen of a screen from outside, as text that shows where two differ.

use greenroom_screen::{CellText, Line, Screen};

/// Everything: rows, cursor, modes, names, marks.
pub(crate) fn seen(screen: &Screen) -> String {
    let mut out = String::new();
    let end = screen.top_row() + u64::from(screen.size().rows());
    for line in (screen.first_row()..end).filter_map(|number| screen.line(number)) {
        let edge = if line.number() == screen.top_row() { "--\n" } else { "" };
        out += &format!("{edge}{}\n", row(screen, &line));
    }
    out += &format!("{:?} {:?}\n", screen.cursor(), screen.modes());
    out += &format!("{:?} {:?} {:?}\n", screen.title(), screen.cwd(), screen.key_modes());
    // Marks made out of order come back in the order of their places.
    let mut marks: Vec<_> = screen.marks().collect();
    marks.sort_by_key(|mark| (mark.row, mark.col, format!("{:?}", mark.kind)));
    for mark in marks {
        // Past the text there is nothing to tell one column from the next. Offsets belong to a
        // stream, and a dump is another one.
        let col = screen.line(mark.row).map_or(0, |line| used(&line)).min(mark.col);
        out += &format!("{:?} {} {col}\n", mark.kind, mark.row - screen.first_row());
    }
    out
}

/// How many cells of a row show something.
fn used(line: &Line<'_>) -> u16 {
    let shown = line
        .cells()
        .filter(|cell| cell.text() != CellText::Char(' ') || cell.style != Default::default());
    shown.map(|cell| cell.col + u16::from(cell.width)).max().unwrap_or(0)
}

/// A row with its styles and links, without blanks at its end.
pub(crate) fn row(screen: &Screen, line: &Line<'_>) -> String {
    let mut out = line.text();
    if line.is_wrapped() {
        out.push('⏎');
    }
    for run in line.runs().filter(|run| run.style != Default::default()) {
        let mut style = run.style;
        let link = style.link.take().and_then(|link| screen.link(link));
        out += &format!(" [{}+{} {style:?} {link:?}]", run.col, run.len);
    }
    out
}

/// What must hold of any screen.
pub(crate) fn check(screen: &Screen) {
    let (size, cursor) = (screen.size(), screen.cursor());
    assert!(cursor.row < size.rows() && cursor.col < size.cols().max(2), "{cursor:?} in {size}");
    for line in screen.snapshot().rows() {
        let cells: u16 = line.cells().map(|cell| u16::from(cell.width)).sum();
        assert_eq!(cells, size.cols().max(2), "row {}", line.number());
    }
}
