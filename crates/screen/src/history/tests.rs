//! Lines in, lines out, and what is kept.

use super::History;
use crate::row::Row;
use crate::style::Packed;

fn row(text: &str, wrapped: bool) -> Row {
    let mut row = Row::default();
    row.put_ascii(0, text.as_bytes(), 0);
    row.wrapped = wrapped;
    row
}

#[test]
fn numbers_stay_as_old_lines_go() {
    let mut history = History::new(100);
    for n in 0..5000 {
        history.push(&row(&format!("line {n}"), false), &[Packed::DEFAULT]);
    }
    assert_eq!((history.first(), history.end(), history.len()), (4900, 5000, 100));
    assert_eq!(history.line(4899).map(|line| line.number), None);
    assert_eq!(history.line(4900).map(|line| line.text), Some(&b"line 4900"[..]));
    assert_eq!(history.line(4999).map(|line| line.text), Some(&b"line 4999"[..]));
    let some: Vec<u64> = history.lines(4950, 4953).map(|line| line.number).collect();
    assert_eq!(some, [4950, 4951, 4952]);
}

#[test]
fn what_is_held_is_bounded_by_the_limit_and_a_page() {
    let mut history = History::new(1000);
    for n in 0..200_000 {
        history.push_ascii(format!("{n:070}").as_bytes(), false);
    }
    let text = 1000 * 71;
    assert!(history.heap() < text + 1000 * 8 + 64 * 1024, "{}", history.heap());
}

#[test]
fn lines_come_back_in_reverse_order() {
    let mut history = History::new(10);
    for n in 0..20 {
        history.push(&row(&n.to_string(), n % 2 == 0), &[Packed::DEFAULT]);
    }
    let mut back = Row::default();
    for n in (10..20).rev() {
        assert!(history.pop(&mut back).is_some());
        assert_eq!((back.as_ascii(), back.wrapped), (Some(n.to_string().as_bytes()), n % 2 == 0));
    }
    assert_eq!(history.pop(&mut back), None);
    assert_eq!((history.len(), history.first()), (0, 10));
}

#[test]
fn a_line_that_never_ends_is_cut_into_pages() {
    let mut history = History::new(1_000_000);
    for _ in 0..20_000 {
        history.push_ascii(&[b'x'; 80], true);
    }
    assert!(history.pages().count() > 1);
    assert!(history.is_open());
    history.close();
    assert!(!history.is_open());
}

#[test]
fn without_a_history_lines_only_count() {
    let mut history = History::new(0);
    history.push(&row("gone", false), &[Packed::DEFAULT]);
    assert_eq!((history.len(), history.end()), (0, 1));
}

#[test]
fn lines_that_cost_too_much_go_early() {
    let mut history = History::new(1000);
    let mut wide = Row::default();
    for x in 0..80 {
        wide.put_cluster(x, &format!("e{}", "\u{301}".repeat(30)), 1, 0);
    }
    for _ in 0..2000 {
        history.push(&wide, &[Packed::DEFAULT]);
    }
    assert!(history.heap() < 3 * 1024 * 1024, "{}", history.heap());
    assert!(history.len() > 300, "{}", history.len());
    assert_eq!(history.end(), 2000);
}
