//! Makes random inputs from the part of the language in which xterm.js can be trusted.
//!
//! The numbers come from a seed, so a failure can be run again by its name. Not here: characters
//! whose width is disputed, sequences xterm.js lacks, resizes, and states in which it differs from
//! the terminal it is named after: a cursor saved while a wrap is pending or restored after lines went
//! into history, margins kept per screen, leaving an alternate screen that was not entered. Those are
//! chosen by hand in `inputs.txt`.

use std::iter;

use greenroom_model::Size;

use crate::case::{Case, Step};

/// Small, so that margins, scrolling and wrapping happen all the time.
const SIZES: &[(u16, u16)] = &[(10, 4), (16, 6), (7, 3), (24, 8)];
/// Pieces per input: enough to meet in odd states, few enough to understand a failure.
const PIECES: usize = 24;

/// Makes `count` inputs, always the same ones.
pub(crate) fn cases(count: u64) -> Vec<Case> {
    (0..count).map(case).collect()
}

fn case(seed: u64) -> Case {
    // Any odd constant spreads small seeds; this is the golden ratio's, as in splitmix64.
    let mut dice = Dice(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (cols, rows) = *dice.pick(SIZES);
    let size = Size::new(cols, rows).expect("within bounds");
    let mut alternate = false;
    let pieces = iter::repeat_with(|| piece(&mut dice, size, &mut alternate));
    let text: String = pieces.take(PIECES).collect();
    Case { name: format!("generated_{seed}"), steps: vec![Step { size, bytes: text.into_bytes() }] }
}

fn piece(dice: &mut Dice, size: Size, alternate: &mut bool) -> String {
    match dice.below(20) {
        0..8 => printed(dice, size),
        8..12 => control(dice),
        12..19 => sequence(dice, size),
        _ => {
            *alternate = !*alternate;
            format!("\x1b[r\x1b[?1049{}", if *alternate { 'h' } else { 'l' })
        }
    }
}

/// Letters and wide characters, now and then past the end of a row.
fn printed(dice: &mut Dice, size: Size) -> String {
    let count = 1 + dice.below(u32::from(size.cols()) + 2);
    let wide = dice.below(3) == 0;
    let next = || {
        let set = if wide && dice.below(2) == 0 { "漢字語。" } else { "abcdefXYZ 019" };
        let index = dice.below(set.chars().count() as u32) as usize;
        set.chars().nth(index).expect("below the count")
    };
    iter::repeat_with(next).take(count as usize).collect()
}

fn control(dice: &mut Dice) -> String {
    let controls = ["\n", "\n", "\r", "\r\n", "\x08", "\t", "\x1bM", "\x1bD", "\x1bE"];
    (*dice.pick(&controls)).to_owned()
}

fn sequence(dice: &mut Dice, size: Size) -> String {
    // One more than fits, so that clamping is met as well.
    let row = dice.below(u32::from(size.rows()) + 2);
    let col = dice.below(u32::from(size.cols()) + 2);
    let few = dice.below(4);
    match dice.below(23) {
        0..4 => format!("\x1b[{row};{col}H"),
        4 => format!("\x1b[{few}A"),
        5 => format!("\x1b[{few}B"),
        6 => format!("\x1b[{few}C"),
        7 => format!("\x1b[{few}D"),
        8 | 9 => format!("\x1b[{}K", dice.below(3)),
        // The return, because xterm.js 6.0 throws on ED 1 at the very end of the screen.
        10 => format!("\r\x1b[{}J", dice.below(3)),
        11 => format!("\x1b[{few}@"),
        12 => format!("\x1b[{few}P"),
        13 => format!("\x1b[{few}X"),
        14 => format!("\x1b[{few}L"),
        15 => format!("\x1b[{few}M"),
        16 => format!("\x1b[{few}S"),
        17 => format!("\x1b[{few}T"),
        18 => format!("\x1b[{row};{}r", row + few),
        19 => "\x1b[r".to_owned(),
        20 => format!("\r\x1b7\x1b[{row};{col}Hx\x1b[7m\x1b8"),
        _ => format!("\x1b[{}m", dice.pick(&["", "1", "7", "31", "44", "38;5;99", "4"])),
    }
}

/// A deterministic source of numbers (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        (high % u64::from(bound)) as u32
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len() as u32) as usize]
    }
}
