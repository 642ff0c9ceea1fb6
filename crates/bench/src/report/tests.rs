//! Tables and targets, rendered.

use std::time::Duration;

use greenroom_model::Size;

use super::{Report, table, time};
use crate::engines::Contender;
use crate::guard::Difference;
use crate::machine::Machine;
use crate::measure::{Line, Throughput};
use crate::memory::Held;
use crate::reads::{Push, Read};

fn report() -> Report {
    let line = |input, ours| Line { input, rates: [ours, 100.0, 200.0, 50.0, 40.0, 9_000.0] };
    let (size, millis) = (Size::DEFAULT, Duration::from_millis);
    Report {
        machine: Machine {
            date: "2026-01-02".to_owned(),
            cpu: "a cpu".to_owned(),
            threads: 2,
            rustc: "rustc 1".to_owned(),
        },
        repetitions: 7,
        throughput: vec![Throughput { size, lines: vec![line("log", 800.0), line("yes", 180.0)] }],
        differences: vec![Difference { size, input: "log", contender: Contender::Avt, rows: 3 }],
        held: vec![Held {
            contender: Contender::Ours,
            empty: 17 << 10,
            log: 900_000,
            coloured: 1 << 20,
        }],
        reads: vec![Read { name: "restore", took: Some(millis(2)), at_most: millis(3) }],
        pushes: vec![Push { history: 10, ns: 50.0 }, Push { history: 1_000, ns: 150.0 }],
    }
}

#[test]
fn tables_are_aligned_by_characters() {
    let rows = [vec!["µs".to_owned(), "1".to_owned()], vec!["long".to_owned(), "23456".to_owned()]];
    assert_eq!(
        table(&["a", "b"], &rows),
        "| a    | b     |\n\
         | ---- | ----- |\n\
         | µs   | 1     |\n\
         | long | 23456 |\n",
    );
}

#[test]
fn times_are_in_the_unit_people_say() {
    assert_eq!(time(Duration::from_nanos(1_500)), "1.50 µs");
    assert_eq!(time(Duration::from_micros(2_340)), "2.34 ms");
}

#[test]
fn a_report_judges_every_target() {
    let text = report().to_markdown();
    for row in [
        "| alacritty_terminal 0.26, mean, 80x24        | ≥ 3.5×       | 3.79×       | pass     |",
        "| rio-vt 0.5, every input, 80x24              | > 1×         | 0.90× (yes) | **miss** |",
        "| memory, empty screen                        | ≤ 16 KiB     | 17.00 KiB   | **miss** |",
        "| restore                                     | ≤ 3.00 ms    | 2.00 ms     | pass     |",
        "| line pushed, history 10 to 1000             | ≤ 2.0× dearer | 3.00×      | **miss** |",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&text).contains(&squeezed(row)), "{row}\nnot in\n{text}");
    }
    assert!(text.contains("- log at 80x24: avt 0.19 3 of 24\n"), "{text}");
    assert!(text.contains("| geometric mean | 379 "), "{text}");
}
