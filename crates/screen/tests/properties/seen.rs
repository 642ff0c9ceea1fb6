//! All that can be seen of a screen from outside, as text that shows where two differ.

use std::fmt::Write as _;

use greenroom_screen::{Line, Screen};

/// Everything: rows, cursor, modes, names, marks.
pub(crate) fn seen(screen: &Screen) -> String {
    let mut out = String::new();
    let end = screen.top_row() + u64::from(screen.size().rows());
    for number in screen.first_row()..end {
        let line = screen.line(number).unwrap();
        writeln!(
            out,
            "{}{}",
            if number == screen.top_row() { "--\n" } else { "" },
            row(screen, &line)
        )
        .unwrap();
    }
    writeln!(out, "{:?} {:?}", screen.cursor(), screen.modes()).unwrap();
    writeln!(out, "{:?} {:?} {:?}", screen.title(), screen.cwd(), screen.key_modes()).unwrap();
    // Marks made out of order come back in the order of their places.
    let mut marks: Vec<_> = screen.marks().collect();
    marks.sort_by_key(|mark| (mark.row, mark.col, format!("{:?}", mark.kind)));
    for mark in marks {
        // Offsets belong to a stream, and a dump is another one.
        writeln!(
            out,
            "{:?} {} {}",
            mark.kind,
            mark.row as i64 - screen.first_row() as i64,
            mark.col
        )
        .unwrap();
    }
    out
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
        write!(out, " [{}+{} {style:?} {link:?}]", run.col, run.len).unwrap();
    }
    out
}

/// The rows of the screen.
pub(crate) fn rows(screen: &Screen) -> Vec<String> {
    screen.snapshot().rows().map(|line| row(screen, &line)).collect()
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
