//! Output that scrolls by: logs, coloured listings, text of the world, long lines.

use std::fmt::Write as _;

use super::Random;
use super::words::{
    CJK, CODE, CYRILLIC, EMOJI, FILES, LATIN, MODULES, PLAIN, THEME, push_exactly, push_words,
};

/// Calls `line` for one line after the other until there are `bytes` of them.
fn fill(bytes: usize, seed: u64, line: impl Fn(&mut String, &mut Random)) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = String::with_capacity(bytes + bytes / 64);
    while out.len() < bytes {
        line(&mut out, &mut random);
        out.push_str("\r\n");
    }
    out.into_bytes()
}

/// A server's log, about 70 bytes a line, no escape sequence.
pub(super) fn log(bytes: usize) -> Vec<u8> {
    fill(bytes, 1, log_line)
}

/// What `ls --color`, cargo, `git diff` and a highlighter write: a colour every word or two.
pub(super) fn coloured(bytes: usize) -> Vec<u8> {
    fill(bytes, 2, coloured_line)
}

/// Prose in many scripts with emoji and tables.
pub(super) fn unicode(bytes: usize) -> Vec<u8> {
    fill(bytes, 3, unicode_line)
}

/// Lines of 2,000 columns and more, as minified files and long JSON records are.
pub(super) fn long(bytes: usize) -> Vec<u8> {
    fill(bytes, 4, |out, random| {
        let columns = random.between(2_000, 6_000);
        push_words(out, random, PLAIN, columns);
    })
}

/// Log text and coloured text in turn, for the small writes.
pub(super) fn mixed(bytes: usize) -> Vec<u8> {
    fill(bytes, 5, |out, random| {
        if random.one_in(2) { log_line(out, random) } else { coloured_line(out, random) }
    })
}

/// `yes`: the shortest lines there are, all cost is in the line feed.
pub(super) fn yes(bytes: usize) -> Vec<u8> {
    fill(bytes, 6, |out, _| out.push('y'))
}

pub(super) fn log_line(out: &mut String, random: &mut Random) {
    let level = random.pick(&["INFO ", "INFO ", "INFO ", "DEBUG", "WARN ", "ERROR"]);
    let (minute, second, milli) = (random.below(60), random.below(60), random.below(1_000));
    let module = random.pick(MODULES);
    let _ = write!(out, "12:{minute:02}:{second:02}.{milli:03} {level} {module}: ");
    let longest = if random.one_in(8) { 120 } else { 44 };
    let columns = random.between(4, longest);
    push_words(out, random, PLAIN, columns);
    if random.one_in(2) {
        let _ = write!(out, "id={} took={}us", random.below(1 << 20), random.below(90_000));
    }
}

fn coloured_line(out: &mut String, random: &mut Random) {
    match random.below(100) {
        0..20 => listing_line(out, random),
        20..40 => cargo_line(out, random),
        40..65 => diff_line(out, random),
        65..85 => highlighted_line(out, random),
        85..99 => indexed_line(out, random),
        _ => gradient_line(out, random),
    }
}

/// `ls --color`: names in columns, each with its class's colour.
fn listing_line(out: &mut String, random: &mut Random) {
    for _ in 0..random.between(3, 6) {
        let class = random.pick(&["01;34", "01;32", "01;31", "01;36", "01;35", "00"]);
        let name = random.pick(FILES);
        let _ = write!(out, "\x1b[0m\x1b[{class}m{name}\x1b[0m  ");
    }
}

/// Cargo: a bold coloured verb, then plain text.
fn cargo_line(out: &mut String, random: &mut Random) {
    let verb = random.pick(&["Compiling", "Checking", "Downloaded", "Fresh"]);
    let _ = write!(out, "\x1b[1m\x1b[92m{verb:>12}\x1b[0m {}", random.pick(PLAIN));
    let _ = write!(out, "-{} v{}.{}", random.pick(PLAIN), random.below(9), random.below(40));
    if random.one_in(4) {
        let text = random.pick(PLAIN);
        let _ = write!(out, " \x1b[1m\x1b[33mwarning\x1b[0m\x1b[1m: unused `{text}`\x1b[0m");
    }
}

/// `git diff`: whole lines in one colour, moved words in reverse.
fn diff_line(out: &mut String, random: &mut Random) {
    if random.one_in(10) {
        let _ = write!(out, "\x1b[36m@@ -{0},7 +{0},9 @@\x1b[m ", random.below(900));
        push_words(out, random, CODE, 20);
        return;
    }
    let (colour, sign) = [("31", '-'), ("32", '+'), ("", ' ')][random.below(3)];
    let _ = write!(out, "\x1b[{colour}m{sign}\x1b[m\x1b[{colour}m    ");
    let columns = random.between(10, 50);
    push_words(out, random, CODE, columns);
    if random.one_in(3) {
        let _ = write!(out, "\x1b[7;{}m{}\x1b[27m", random.between(31, 36), random.pick(CODE));
    }
    out.push_str("\x1b[m");
}

/// A highlighter with a theme: direct colours, some words italic or underlined.
fn highlighted_line(out: &mut String, random: &mut Random) {
    let _ = write!(out, "\x1b[38;5;238m{:>4} │\x1b[0m ", random.below(2_000));
    for _ in 0..random.between(4, 10) {
        let attribute = random.pick(&["", "", "", "3;", "1;", "4;"]);
        let (colour, word) = (random.pick(THEME), random.pick(CODE));
        let _ = write!(out, "\x1b[{attribute}38;2;{colour}m{word}\x1b[0m ");
    }
}

/// Indexed colours in front and behind, as test runners and prompts write them.
fn indexed_line(out: &mut String, random: &mut Random) {
    for _ in 0..random.between(3, 7) {
        let (front, back) = (random.below(256), random.below(256));
        if random.one_in(4) {
            let _ = write!(out, "\x1b[48;5;{back}m");
        }
        let _ = write!(out, "\x1b[38;5;{front}m{} {}", random.pick(PLAIN), random.pick(PLAIN));
        out.push_str(random.pick(&["\x1b[39;49m ", "\x1b[m "]));
    }
}

/// A colour for every character (`lolcat`): rare, and the worst a style table can meet.
fn gradient_line(out: &mut String, random: &mut Random) {
    let mut text = String::new();
    push_exactly(&mut text, random, PLAIN, 40);
    let start = random.below(256);
    for (column, letter) in text.chars().enumerate() {
        let hue = (start + column * 3) % 256;
        let _ = write!(out, "\x1b[38;2;{hue};{};{}m{letter}", 255 - hue, (hue * 5) % 256);
    }
    out.push_str("\x1b[39m");
}

fn unicode_line(out: &mut String, random: &mut Random) {
    match random.below(20) {
        0..7 => prose(out, random, CJK, 50),
        7..10 => prose(out, random, LATIN, 100),
        10..13 => prose(out, random, CYRILLIC, 100),
        13..15 => table_line(out, random),
        15..17 => {
            out.push_str(random.pick(EMOJI));
            out.push(' ');
            push_words(out, random, PLAIN, 30);
            prose(out, random, CJK, 8);
        }
        _ => push_words(out, random, PLAIN, 50),
    }
}

/// Adds up to `characters` characters of one script, an emoji or an English word between.
fn prose(out: &mut String, random: &mut Random, script: &[&str], characters: usize) {
    let mut written = 0;
    let end = random.between(characters / 2, characters);
    while written < end {
        let word = match random.below(16) {
            0 => random.pick(EMOJI),
            1 | 2 => random.pick(PLAIN),
            _ => random.pick(script),
        };
        written += word.chars().count() + 1;
        out.push_str(word);
        if word.is_ascii() || !std::ptr::eq(script, CJK) {
            out.push(' ');
        }
    }
}

/// A row of a table drawn with lines and blocks.
fn table_line(out: &mut String, random: &mut Random) {
    if random.one_in(3) {
        let _ = write!(out, "├{}┼{}┤", "─".repeat(24), "─".repeat(30));
        return;
    }
    let filled = random.below(30);
    let _ = write!(
        out,
        "│ {:<22} │{}{}│",
        random.pick(PLAIN),
        "█".repeat(filled),
        "░".repeat(30 - filled)
    );
}
