//! Output that redraws: full-screen programs, scroll regions, synchronized frames.

use std::fmt::Write as _;

use greenroom_model::Size;

use super::Random;
use super::lines::log_line;
use super::words::{CODE, FILES, PLAIN, THEME, push_exactly, push_words};

/// How many frames a full-screen program draws before it is left and started again.
const FRAMES_PER_VISIT: usize = 200;

/// Calls `frame` with one frame's number after the other until there are `bytes` of them.
fn fill(bytes: usize, seed: u64, frame: impl Fn(&mut String, &mut Random, usize)) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = String::with_capacity(bytes + bytes / 64);
    let mut number = 0;
    while out.len() < bytes {
        frame(&mut out, &mut random, number);
        number += 1;
    }
    out.into_bytes()
}

/// An editor and a process viewer in turn: cursor addressing, parts of rows, the alternate
/// screen. Ends inside it, so that what is compared is what was drawn.
pub(super) fn tui(size: Size, bytes: usize) -> Vec<u8> {
    fill(bytes, 11, |out, random, number| {
        if number % FRAMES_PER_VISIT == 0 {
            if number > 0 {
                out.push_str("\x1b[?1l\x1b>\x1b[?1049l$ vim src/main.rs\r\n");
            }
            out.push_str("\x1b[?1049h\x1b[?1h\x1b=\x1b[H\x1b[2J");
        }
        if (number / FRAMES_PER_VISIT).is_multiple_of(2) {
            editor_frame(out, random, size);
        } else {
            process_frame(out, random, size);
        }
    })
}

/// An editor after a keystroke: a few rows anew, the status line, the cursor back.
fn editor_frame(out: &mut String, random: &mut Random, size: Size) {
    let (cols, rows) = (usize::from(size.cols()), usize::from(size.rows()));
    out.push_str("\x1b[?25l");
    for _ in 0..random.between(1, 6) {
        let row = random.between(1, rows - 2);
        let _ = write!(out, "\x1b[{row};1H\x1b[33m{row:>4} \x1b[m");
        let mut column = 5;
        for _ in 0..random.between(2, 8) {
            let word = random.pick(CODE);
            column += word.len() + 1;
            if column < cols {
                let _ = write!(out, "\x1b[{}m{word}\x1b[m ", random.between(31, 36));
            }
        }
        out.push_str("\x1b[K");
    }
    let (line, column) = (random.between(1, 999), random.between(1, cols));
    let name = random.pick(FILES);
    let _ = write!(out, "\x1b[{};1H\x1b[7m {name:<20} {line:>4},{column:<4}\x1b[m\x1b[K", rows - 1);
    let _ = write!(out, "\x1b[{};{column}H\x1b[?25h", random.between(1, rows - 2));
}

/// A process viewer's tick: meters, then numbers changed in place.
fn process_frame(out: &mut String, random: &mut Random, size: Size) {
    let rows = usize::from(size.rows());
    let width = usize::from(size.cols()) / 2 - 8;
    for core in 1..=4 {
        let used = random.below(width);
        let _ = write!(out, "\x1b[{core};1H\x1b[36m{core:>3}\x1b[39m[\x1b[32m{}", "|".repeat(used));
        let _ = write!(out, "\x1b[31m{:<1$}\x1b[90m{used:>2}%\x1b[39m]", "|", width - used);
    }
    let _ = write!(out, "\x1b[6;1H\x1b[30;42m  PID USER      PRI  CPU%  MEM% COMMAND\x1b[K\x1b[m");
    for row in 7..rows {
        let (pid, cpu) = (random.below(60_000), random.below(1_000));
        if random.one_in(4) {
            let name = random.pick(PLAIN);
            let _ = write!(out, "\x1b[{row};1H{pid:>5} \x1b[90mroot\x1b[m       20");
            let _ = write!(out, "\x1b[{row};34H\x1b[1m/usr/bin/{name}\x1b[m --serve\x1b[K");
        }
        let _ = write!(out, "\x1b[{row};22H{:>3}.{}\x1b[1C\x1b[32m 0.4\x1b[m", cpu / 10, cpu % 10);
    }
    let _ = write!(out, "\x1b[{rows};1HF1\x1b[30;46mHelp  \x1b[mF10\x1b[30;46mQuit\x1b[K\x1b[m");
}

/// A status line below (and every other time one above) a region that scrolls both ways.
pub(super) fn scroll_region(size: Size, bytes: usize) -> Vec<u8> {
    let rows = usize::from(size.rows());
    fill(bytes, 12, |out, random, number| {
        let top = 1 + (number / 50) % 2;
        let _ = write!(out, "\x1b[{top};{}r\x1b[{}H", rows - 1, rows - 1);
        for _ in 0..random.between(4, 24) {
            out.push_str("\r\n");
            log_line(out, random);
        }
        let row = random.between(top, rows - 1);
        let count = random.between(1, 3);
        match random.below(4) {
            0 => {
                let _ = write!(out, "\x1b[{top}H");
                for _ in 0..count {
                    out.push_str("\x1bM\r");
                    push_words(out, random, PLAIN, 40);
                    let _ = write!(out, "\x1b[{top}H");
                }
            }
            1 => {
                let _ = write!(out, "\x1b[{row}H\x1b[{count}L");
                push_words(out, random, PLAIN, 40);
            }
            2 => {
                let _ = write!(out, "\x1b[{row}H\x1b[{count}M");
            }
            _ => {}
        }
        let _ = write!(out, "\x1b7\x1b[{rows};1H\x1b[7m line {number:>6}");
        let _ = write!(out, " {:>3}%\x1b[K\x1b[m\x1b8", random.below(100));
    })
}

/// What agents and modern full-screen programs write: every cell anew between the brackets of
/// synchronized output.
pub(super) fn synchronized(size: Size, bytes: usize) -> Vec<u8> {
    let cols = usize::from(size.cols());
    fill(bytes, 13, |out, random, _| {
        out.push_str("\x1b[?2026h\x1b[H");
        for row in 1..=size.rows() {
            let _ = write!(out, "\x1b[{row};1H");
            let mut left = cols;
            while left > 0 {
                let columns = random.between(6, 30).min(left);
                left -= columns;
                match random.below(4) {
                    0 => out.push_str("\x1b[0m"),
                    1 => {
                        let _ = write!(out, "\x1b[0;{}m", random.between(31, 36));
                    }
                    2 => {
                        let _ = write!(out, "\x1b[0;38;2;{}m", random.pick(THEME));
                    }
                    _ => {
                        let _ = write!(out, "\x1b[0;1;48;5;{}m", random.between(232, 250));
                    }
                }
                push_exactly(out, random, PLAIN, columns);
            }
        }
        out.push_str("\x1b[0m\x1b[?2026l");
    })
}
