//! The run behind `bench spine`: sessions from the outside, beside those of tmux, screen and dtach.
//!
//! Real processes throughout: the daemon, its holders, `greenroom attach` on a terminal of ours; a
//! bare reader of the same terminal is the limit. One file a measurement, each with what it means.
//! `place`, `family`, `terminal`, `fifo` and `scripts` are what they stand on, `ours`, `tmux`,
//! `control` and `others` the contenders, `turns` and `row` what is made of the numbers.
//!
//! Invariant: everything runs in a folder of its own and nothing is left behind, also on failure.

mod answers;
mod automation;
mod bearer;
mod browser;
mod chat;
mod control;
mod create;
mod crowd;
mod echo;
mod family;
mod fifo;
mod full;
mod looks;
mod others;
mod ours;
mod output;
mod place;
mod plain;
mod plugins;
mod processes;
mod relay;
mod repaint;
mod report;
mod row;
mod scripts;
mod seen;
mod terminal;
mod tmux;
mod turns;
mod wait;
mod web;
mod wright;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use self::family::Family;
use self::ours::Ours;
use self::place::Place;
use self::tmux::Tmux;
use crate::machine::Machine;

pub use self::report::Report;
pub use self::row::{Bar, Row, Unit};

/// How a run is made.
pub struct Options {
    /// Our program, with the holder's beside it.
    pub greenroom: PathBuf,
    /// Less of everything: for a look while working, not for the repository.
    pub quick: bool,
    /// Only the measurements whose names are here; all if it is empty.
    pub only: Vec<String>,
    /// Is told what comes next; a run takes minutes.
    pub progress: fn(&str),
}

/// What a measurement is given.
struct Spine<'a> {
    place: &'a Place,
    options: &'a Options,
}

/// A measurement gives rows of the table.
type Measurement = fn(&Spine<'_>) -> Result<Vec<Row>>;

/// The measurements, in the order of the table.
const MEASUREMENTS: &[(&str, Measurement)] = &[
    ("output", output::measure),
    ("echo", echo::measure),
    ("create", create::measure),
    ("repaint", repaint::measure),
    ("looks", looks::measure),
    ("answers", answers::measure),
    ("automation", automation::measure),
    ("plugins", plugins::measure),
    ("web", web::measure),
    ("chat", chat::measure),
    ("crowd", crowd::measure),
    ("full", full::measure),
];

impl<'a> Spine<'a> {
    /// A daemon of ours in a home of that name.
    fn ours(&self, home: &str) -> Result<Ours<'a>> {
        self.ours_with(home, "")
    }

    /// The same, with a configuration.
    fn ours_with(&self, home: &str, config: &str) -> Result<Ours<'a>> {
        Ours::start(self.place, &self.options.greenroom, home, config)
    }

    /// A server of tmux at a socket of that name.
    fn tmux(&self, socket: &str) -> Result<Tmux<'a>> {
        Tmux::start(self.place, socket).context("starting tmux")
    }

    /// The first of a full run, the second of a quick one.
    fn choose<T>(&self, full: T, quick: T) -> T {
        if self.options.quick { quick } else { full }
    }
}

/// Measures everything. What cannot be measured is told in the report; the rest goes on.
///
/// # Errors
/// There is nowhere to run.
pub fn run(options: &Options) -> Result<Report> {
    // Before the family, which ends first then: nobody makes files in a folder being removed.
    let place = Place::new()?;
    let _family = Family::adopt(place.path(""))?;
    let mut report = Report {
        machine: Machine::this(),
        versions: versions(&place, options),
        quick: options.quick,
        rows: Vec::new(),
        failures: Vec::new(),
    };
    let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|it| it == name);
    for (name, measure) in MEASUREMENTS.iter().filter(|it| wanted(it.0)) {
        (options.progress)(name);
        match measure(&Spine { place: &place, options }) {
            Ok(rows) => report.rows.extend(rows),
            Err(error) => report.failures.push((name, format!("{error:#}"))),
        }
        // Whatever it left would be in the way of the next one.
        family::end_all();
    }
    Ok(report)
}

/// What the contenders and the system say of themselves.
fn versions(place: &Place, options: &Options) -> Vec<(&'static str, String)> {
    let said = |program: &str, flag: &str| {
        let output = place.command(program).arg(flag).stdout(std::process::Stdio::piped()).output();
        let text = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        let text = text.unwrap_or_default();
        let first = text.lines().next().unwrap_or_default();
        // The word that is a version; the rest is the program's name or a date.
        let version = first.split(' ').find(|it| it.starts_with(|it: char| it.is_ascii_digit()));
        version.unwrap_or("of unknown version").trim_end_matches(',').to_owned()
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        ("greenroom", said(&options.greenroom.to_string_lossy(), "--version")),
        ("tmux", said("tmux", "-V")),
        ("screen", said("screen", "--version")),
        ("dtach", said("dtach", "--version")),
        ("Linux", kernel.trim_end().to_owned()),
    ]
}
