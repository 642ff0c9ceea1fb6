//! Any bytes, cut anywhere, with resizes in between: no panic, and every invariant holds.
//!
//! The input is a list of steps. `0xff cols rows` resizes (up to 1000x1000), `0xfe len` feeds the
//! next `len` bytes in one piece; everything else is fed as it comes. UTF-8 never has these bytes,
//! so text and sequences found elsewhere are useful seeds as they are.

#![no_main]

use greenroom_model::Size;
use greenroom_screen::{Depth, Filter, Options, Policy, Screen};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = Options {
        history_lines: 100,
        graphics: true,
        checksums: true,
        ..Options::default()
    };
    let mut screen = Screen::new(Size::clamped(20, 5), options);
    let mut filter = Filter::new(Policy::default());
    let mut rest = data;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (0xff, [cols, rows, more @ ..]) => {
                // Mostly small, where the edges are; now and then as large as it gets.
                let side = |byte: u8| if byte < 240 { u16::from(byte) % 60 } else { (u16::from(byte) - 240) * 66 };
                screen.resize(Size::clamped(side(*cols), side(*rows)));
                rest = more;
            }
            (0xfe, [len, more @ ..]) => {
                let (now, later) = more.split_at((*len as usize).min(more.len()));
                screen.feed(now);
                let _passed = filter.feed(now);
                rest = later;
            }
            _ => {
                screen.feed(&rest[..1]);
                let _passed = filter.feed(&rest[..1]);
                rest = tail;
            }
        }
    }
    check(&screen);
});

fn check(screen: &Screen) {
    let (size, cursor) = (screen.size(), screen.cursor());
    let cols = size.cols().max(2);
    assert!(cursor.row < size.rows() && cursor.col < cols);
    for line in screen.snapshot().rows() {
        let cells: u32 = line.cells().map(|cell| u32::from(cell.width)).sum();
        assert_eq!(cells, u32::from(cols));
    }
    let checkpoint = screen.checkpoint();
    let copy = Screen::restore(&checkpoint).expect("a checkpoint restores");
    assert_eq!(copy.checkpoint(), checkpoint);
    let mut drawn = Screen::new(size, screen.options());
    drawn.feed(&screen.dump(Depth::All));
    assert_eq!(drawn.text(), screen.text());
}
