//! What xterm.js shows: `references/xterm/run.mjs` in one node process for a whole batch.
//!
//! The npm packages are installed once per lock file, under `target/`, behind a file lock, since
//! nextest runs every test in a process of its own. Not here: the bytes and the comparison.
//!
//! Invariant: nothing is written outside `target/`.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::{Case, Shown};
use crate::deadline::{self, Killed, Lines};
use crate::styles::Run;

/// For one case. Far more than one ever takes, since two cores run many tests at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// For `npm ci` of two packages from a registry that may be slow.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(180);
/// Where the script, its manifest and its lock file are.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/references/xterm");

/// What xterm.js answers for a case.
pub(crate) struct Answer {
    pub(crate) shown: Shown,
    /// The runs of every row that are not in the default style.
    pub(crate) styles: Vec<Vec<Run>>,
}

/// Runs all cases in one node process, with grapheme clusters on, and answers in their order.
pub(crate) fn show(cases: &[Case]) -> Vec<Answer> {
    let mut command = Command::new("node");
    command.arg(Path::new(SOURCE).join("run.mjs")).arg(installed());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = Killed(deadline::spawn(&mut command, "install Node.js 20 or later"));
    let lines = Lines::of(node.0.stdout.take().expect("piped"), ANSWER_TIMEOUT);
    let mut input = node.0.stdin.take().expect("piped");
    let questions: String = cases.iter().map(|case| question(case) + "\n").collect();
    // On a thread: node answers while it still reads, and both pipes are finite.
    let writer = thread::spawn(move || input.write_all(questions.as_bytes()));
    let answers = cases.iter().map(|case| {
        let line = lines.next(&format!("xterm.js to show `{}`", case.name));
        answer(&serde_json::from_str(&line).expect("run.mjs answers in JSON"))
    });
    let answers = answers.collect();
    writer.join().expect("the writer does not panic").expect("node read every case");
    answers
}

fn question(case: &Case) -> String {
    let steps: Vec<Value> = case
        .steps
        .iter()
        .map(|step| {
            let hex: String = step.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"cols": step.size.cols(), "rows": step.size.rows(), "hex": hex})
        })
        .collect();
    json!({"name": case.name, "steps": steps, "graphemes": true}).to_string()
}

fn answer(value: &Value) -> Answer {
    let rows = list(&value["rows"]).iter().map(text);
    let cursor = (number(&value["cursor"][0]), number(&value["cursor"][1]));
    let styles = list(&value["styles"]).iter().map(|row| list(row).iter().map(run).collect());
    Answer { shown: Shown::new(rows, cursor), styles: styles.collect() }
}

fn run(value: &Value) -> Run {
    Run {
        col: number(&value[0]),
        len: number(&value[1]),
        fg: text(&value[2]).to_owned(),
        bg: text(&value[3]).to_owned(),
        attrs: list(&value[4]).iter().map(|attr| text(attr).to_owned()).collect(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> u16 {
    value.as_u64().and_then(|number| u16::try_from(number).ok()).expect("a small number")
}

/// Finds the folder with the installed packages, installing them if this lock file is new.
fn installed() -> PathBuf {
    let lock = fs::read(Path::new(SOURCE).join("package-lock.json")).expect("the lock file");
    let mut hasher = DefaultHasher::new();
    lock.hash(&mut hasher);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = target.join(format!("xterm-{:016x}", hasher.finish()));
    fs::create_dir_all(&folder).expect("a folder under target/");
    let guard = File::create(folder.join("lock")).expect("a file under target/");
    guard.lock().expect("waiting for another test to install xterm.js");
    let done = folder.join("installed");
    if !done.exists() {
        for name in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(Path::new(SOURCE).join(name), folder.join(name)).expect("a copy in target/");
        }
        install(&folder);
        File::create(done).expect("a file under target/");
    }
    folder
}

fn install(folder: &Path) {
    let mut command = Command::new("npm");
    // Ends with a line of its own, so that the end of the install can be waited for by name.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut npm = Killed(deadline::spawn(&mut command, "install npm"));
    let lines = Lines::of(npm.0.stdout.take().expect("piped"), INSTALL_TIMEOUT);
    while !lines.next("`npm ci` to say that it added packages").starts_with("added ") {}
    let status = npm.0.wait().expect("npm is our child");
    assert!(status.success(), "`npm ci` in {} ended with {status}", folder.display());
}
