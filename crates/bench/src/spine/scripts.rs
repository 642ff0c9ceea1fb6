//! What runs inside the sessions: short shell scripts, the same for every contender.
//!
//! A script that prints ends with a question to its terminal (DSR). A terminal answers in order, so
//! the answer proves that it has processed everything before: with that, a peer that nobody is
//! attached to can tell when it is done, without being asked over and over.

use super::fifo::Fifo;
use super::place::words;

/// What a script says when it can be given the word: attached clients show it.
pub(crate) const READY: &str = "READY-TO-PRINT";

/// Keys reach the script at once and unechoed, but its output is cooked as ever.
const UNECHOED: &str = "stty -icanon -echo min 1";

/// Asks the terminal for its state and takes the four bytes of the answer.
const ASK: &str = r"printf '\033[5n'; head -c 4 >/dev/null";

/// Lives on, so that the session does.
const STAY: &str = "exec sleep 86400";

fn sh(script: &str) -> Vec<String> {
    words(&["/bin/sh", "-c", script])
}

/// Waits for a word, prints a file and the word, and tells when the terminal has processed it.
pub(crate) fn print_when_told(file: &str, go: &Fifo, done: &Fifo) -> Vec<String> {
    let (go, done) = (go.name(), done.name());
    sh(&format!(
        "{UNECHOED}; echo {READY}; echo >{done}; read word <{go}; cat {file}; \
         printf '%s\\n' \"$word\"; {ASK}; echo >{done}; {STAY}"
    ))
}

/// Prints a file, and tells when the terminal has processed it.
pub(crate) fn print(file: &str, done: &Fifo) -> Vec<String> {
    sh(&format!("{UNECHOED}; cat {file}; {ASK}; echo >{}; {STAY}", done.name()))
}

/// Prints a line at once and does nothing more.
pub(crate) fn idle(line: &str) -> Vec<String> {
    sh(&format!("printf '%s' '{line}'; {STAY}"))
}

/// Prints every line it is sent.
pub(crate) fn repeat(lines: &Fifo) -> Vec<String> {
    sh(&format!("while read line; do echo \"$line\"; done <{}", lines.name()))
}

/// Prints every line it is sent, whatever is in it.
pub(crate) fn repeat_exactly(lines: &Fifo) -> Vec<String> {
    sh(&format!("while read -r line; do printf '%s\\n' \"$line\"; done <{}", lines.name()))
}

/// Sends back every key, as a program in raw mode does; says that it is there first.
pub(crate) fn echo() -> Vec<String> {
    sh(&format!("stty raw -echo; echo {READY}; exec cat"))
}

/// Tells that it runs, and ends.
pub(crate) fn tell(done: &Fifo) -> Vec<String> {
    sh(&format!("echo >{}", done.name()))
}
