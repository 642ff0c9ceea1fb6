//! A script on standard input: lines are run as a person would type them, until one fails.

use std::io::{BufRead as _, Write as _};
use std::sync::mpsc::Receiver;
use std::thread;

use crate::Error;
use crate::console::say;
use crate::lua::{Console, Evaluated, fault_text};
use crate::meta::{self, Next};
use crate::notes::Note;

/// Runs standard input to its end, to `:quit`, or to the first error.
pub(crate) fn run(console: &Console, notes: Receiver<Note>) -> Result<(), Error> {
    let failed = Error::system("starting a thread");
    thread::Builder::new().name("notes".to_owned()).spawn(move || tell(&notes)).map_err(failed)?;
    let mut pending = String::new();
    let mut number = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(Error::system("reading the script"))?;
        number += 1;
        // As for any interpreter, so that a script can be run by its name.
        if number == 1 && line.starts_with("#!") {
            continue;
        }
        pending.push_str(&line);
        match run_text(console, &pending) {
            Ok(Run::Next(Next::GoOn)) => pending.clear(),
            Ok(Run::Next(Next::Quit)) => return Ok(()),
            Ok(Run::Incomplete) => pending.push('\n'),
            Err(text) => return Err(Error::Script { line: number, text }),
        }
    }
    match pending.trim() {
        "" => Ok(()),
        _ => Err(Error::Script { line: number, text: "the script ends too early".to_owned() }),
    }
}

/// What became of some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    Next(Next),
    Incomplete,
}

/// Runs a command or a piece of Lua, and shows what comes of it.
pub(crate) fn run_text(console: &Console, text: &str) -> Result<Run, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(Run::Next(Next::GoOn));
    }
    console.presses.begin();
    console.house.link.catch_up();
    let ran = run_whole(console, text, trimmed);
    console.presses.end();
    ran
}

fn run_whole(console: &Console, text: &str, trimmed: &str) -> Result<Run, String> {
    if trimmed.starts_with(':') && !trimmed.starts_with("::") {
        let done = meta::run(&console.house, trimmed);
        return done.map(Run::Next).map_err(|fault| fault_text(&fault));
    }
    match console.evaluate(text) {
        Evaluated::Done(results) => {
            if !results.is_empty() {
                say(&results.join("\t")).map_err(|fault| fault_text(&fault))?;
            }
            Ok(Run::Next(Next::GoOn))
        }
        Evaluated::Incomplete => Ok(Run::Incomplete),
        Evaluated::Failed(text) => Err(text),
    }
}

/// Notes of a script go where its results do not.
fn tell(notes: &Receiver<Note>) {
    for line in notes.iter().filter_map(|note| note.line()) {
        let line = format!("{line}\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap_or_default();
    }
}
