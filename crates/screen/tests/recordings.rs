//! Recordings of real programs, shown by our screen as xterm.js shows them.
//!
//! A recording is a folder in `recordings/`: all bytes a program wrote, the size of its terminal, the
//! offsets of its shots and what the terminal shows there (`recordings/README.md`). Text, cursor and
//! styles are compared, whatever the pieces in which the bytes come. Not here: single sequences
//! (`references.rs`).

#![expect(clippy::expect_used, reason = "a test that cannot go on says what it missed")]

#[path = "support/styles.rs"]
mod styles;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use greenroom_screen::{Options, Screen};

/// Where the recordings are.
const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings");

/// Recordings in which xterm.js is not followed, and why. What we show is in their `ours.txt`.
const KNOWN: &[(&str, &str)] = &[
    (
        "vttest_charsets",
        "the underscore of the DEC graphics is a blank, and SS2 reaches the British set; xterm.js lacks both",
    ),
    ("vttest_screen", "DECSC saves the underline, as vttest says; xterm.js forgets it"),
];

#[test]
fn recordings_look_as_expected() {
    check(usize::MAX);
}

#[test]
fn recordings_look_the_same_byte_by_byte() {
    check(1);
}

#[test]
fn recordings_look_the_same_in_sevens() {
    check(7);
}

/// A recording with its own grid is a known difference, and the other way round.
#[test]
fn own_grids_have_a_reason() {
    let own: BTreeSet<String> = names()
        .into_iter()
        .filter(|name| Path::new(RECORDINGS).join(name).join("ours.txt").exists())
        .collect();
    let known = KNOWN.iter().map(|(name, reason)| {
        assert!(!reason.is_empty(), "`{name}` has no reason");
        (*name).to_owned()
    });
    assert_eq!(own, known.collect(), "`ours.txt` files, and `KNOWN`");
}

/// Feeds every recording in pieces of at most `piece` bytes and wants each shot as expected.
#[track_caller]
fn check(piece: usize) {
    let mut found = Vec::new();
    let names = names();
    assert!(!names.is_empty(), "no recordings in {RECORDINGS}");
    for name in names {
        let recording = Recording::read(&name);
        let shown = recording.shown(piece);
        found.extend(differences(&name, &recording.expected, &shown));
    }
    let (lines, count) = (found.join("\n"), found.len());
    assert!(found.is_empty(), "{count} lines differ (-expected, +ours):\n\n{lines}\n");
}

fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(RECORDINGS).expect("the folder of recordings");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("bytes").exists())
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect()
}

/// One folder of `recordings/`.
struct Recording {
    size: String,
    bytes: Vec<u8>,
    /// Offsets with their labels, in order.
    shots: Vec<(usize, String)>,
    expected: String,
}

impl Recording {
    fn read(name: &str) -> Recording {
        let folder = PathBuf::from(RECORDINGS).join(name);
        let text = |file: &str| {
            fs::read_to_string(folder.join(file))
                .unwrap_or_else(|error| panic!("`{file}` of recording `{name}`: {error}"))
        };
        let shots = text("shots").lines().map(shot).collect();
        let known = KNOWN.iter().any(|(known, _)| *known == name);
        Recording {
            size: text("size").trim().to_owned(),
            bytes: fs::read(folder.join("bytes")).expect("listed because it exists"),
            shots,
            expected: text(if known { "ours.txt" } else { "expected.txt" }),
        }
    }

    /// What our screen shows at every shot, in the form of `expected.txt`.
    fn shown(&self, piece: usize) -> String {
        let mut screen = Screen::new(self.size.parse().expect("a size"), Options::default());
        let mut fed = 0;
        let mut shots = Vec::new();
        for (offset, label) in &self.shots {
            let bytes = &self.bytes[fed..*offset];
            for piece in bytes.chunks(piece) {
                screen.feed(piece);
            }
            fed = *offset;
            shots.push(described(&screen, label, *offset));
        }
        shots.join("\n")
    }
}

/// A line of `shots`: `OFFSET LABEL`.
fn shot(line: &str) -> (usize, String) {
    let (offset, label) = line.split_once(' ').expect("an offset and a label");
    (offset.parse().expect("an offset"), label.to_owned())
}

/// The screen in the form `record.py` gives that of xterm.js, to the letter.
fn described(screen: &Screen, label: &str, offset: usize) -> String {
    let cursor = screen.cursor();
    let col = cursor.col + u16::from(cursor.pending_wrap);
    let hidden = if cursor.visible { "" } else { " hidden" };
    let mut text = format!("== {label}, after {offset} bytes\n");
    text += &format!("cursor {},{col}{hidden}\n", cursor.row);
    let styles = styles::of(screen);
    let shown = screen.text();
    let rows = shown.split('\n').chain(std::iter::repeat("")).take(styles.len());
    for (index, row) in rows.enumerate() {
        text += &format!("{index:02}|{}\n", row.trim_end_matches(' '));
    }
    for (index, runs) in styles.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
        text += &format!("{index:02}: {}\n", runs.join(", "));
    }
    text
}

/// The lines that differ, under the shot they are in.
///
/// Sorted by their start (`07|` or `07: `), so that what was expected stands above what is shown.
fn differences(name: &str, expected: &str, shown: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (expected, shown) in expected.split("\n\n").zip(shown.split("\n\n")) {
        let label = expected.lines().next().unwrap_or_default();
        let missing = expected.lines().filter(|line| !shown.lines().any(|it| it == *line));
        let added = shown.lines().filter(|line| !expected.lines().any(|it| it == *line));
        let mut lines: Vec<String> = missing.map(|line| format!("  -{line}")).collect();
        lines.extend(added.map(|line| format!("  +{line}")));
        lines.sort_by(|one, other| one[3..].get(..3).cmp(&other[3..].get(..3)));
        if !lines.is_empty() {
            found.push(format!("{name} {label}"));
            found.extend(lines);
        }
    }
    if found.is_empty() && expected != shown {
        found.push(format!("{name}: not the same shots"));
    }
    found
}
