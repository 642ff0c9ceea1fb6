//! A dump draws the same screen on real terminals: xterm.js and tmux.
//!
//! Every chosen and generated input and the end of every recording is fed to our screen, dumped,
//! and the dump shown by the others. Where they cannot draw it is listed by name and reason.

use std::fs;
use std::path::Path;

use greenroom_screen::{Depth, Options, Screen};

use crate::case::{Case, Shown, Step};
use crate::{generated, inputs, tmux, xterm};

/// What xterm.js cannot be made to show, and why.
const XTERM: &[(&str, &[&str])] = &[(
    "Tells a wrap to be pending even while autowrap is off.",
    &["awm_off_overwrites_last", "awm_off_wide_at_margin", "awm_off_combining"],
)];

/// What tmux cannot be made to show, and why.
const TMUX: &[(&str, &[&str])] = &[
    (
        "Tells a wrap to be pending even while autowrap is off.",
        &["awm_off_overwrites_last", "awm_off_wide_at_margin", "awm_off_combining"],
    ),
    (
        "Has one column where we have two at least.",
        &["one_column", "one_column_wide", "resize_to_one_column"],
    ),
    ("Shows no noncharacters.", &["utf8_noncharacter"]),
    (
        "Cuts clusters short, and drops a joiner with nothing to join.",
        &["zwj_alone", "zwj_at_end", "tag_flag"],
    ),
];

#[test]
fn a_dump_looks_the_same_in_xterm() {
    let (screens, dumps) = dumps();
    let answers = xterm::show(&dumps);
    let shown = answers.iter().map(|it| it.shown.clone()).collect();
    compare("xterm.js", &screens, &dumps, shown, XTERM);
}

#[test]
fn a_dump_looks_the_same_in_tmux() {
    let (screens, dumps) = dumps();
    let shown = tmux::show(&dumps);
    compare("tmux", &screens, &dumps, shown, TMUX);
}

/// Screens after all inputs, and what draws them again.
fn dumps() -> (Vec<Screen>, Vec<Case>) {
    let mut cases = inputs::live();
    cases.extend(generated::cases(100));
    cases.extend(recordings());
    let screens: Vec<Screen> = cases.iter().map(Case::ours).collect();
    let dumps = cases.iter().zip(&screens).map(|(case, screen)| Case {
        name: case.name.clone(),
        steps: vec![Step { size: screen.size(), bytes: screen.dump(Depth::Lines(100)) }],
    });
    let dumps = dumps.collect();
    (screens, dumps)
}

/// The recordings, each as far as its middle, where programs are at work.
fn recordings() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let entries = fs::read_dir(folder).expect("the folder of recordings");
    let mut cases = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let Ok(mut bytes) = fs::read(path.join("bytes")) else { continue };
        bytes.truncate(bytes.len() / 2);
        let size = fs::read_to_string(path.join("size")).expect("a size");
        let size = size.trim().parse().expect("a size");
        // Not the bare name: `top` is a place to tmux.
        let name = path.file_name().expect("a name").to_string_lossy();
        let name = format!("recording_{name}");
        // Up to the last whole sequence: half of one would swallow what the references are asked.
        let mut screen = Screen::new(size, Options::default());
        screen.feed(&bytes);
        while !screen.is_between_sequences() {
            bytes.pop();
            screen = Screen::new(size, Options::default());
            screen.feed(&bytes);
        }
        cases.push(Case { name, steps: vec![Step { size, bytes }] });
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

#[track_caller]
fn compare(
    who: &str,
    screens: &[Screen],
    dumps: &[Case],
    shown: Vec<Shown>,
    known: &[(&str, &[&str])],
) {
    let is_known = |name: &str| known.iter().any(|(_, names)| names.contains(&name));
    let mut found = Vec::new();
    for ((screen, dump), theirs) in screens.iter().zip(dumps).zip(shown) {
        let ours = Shown::of(screen);
        match (ours == theirs, is_known(&dump.name)) {
            (false, false) => {
                let bytes = dump.steps[0].bytes.escape_ascii();
                found.push(format!("{}: {bytes}\n  ours   {ours}\n  theirs {theirs}", dump.name));
            }
            (true, true) => found.push(format!("{} no longer differs", dump.name)),
            (true, false) | (false, true) => {}
        }
    }
    assert!(found.is_empty(), "{} differ in {who}:\n{}", found.len(), found.join("\n"));
}
