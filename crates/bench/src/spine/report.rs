//! A run of the spine as markdown for people and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::row::Row;
use crate::machine::Machine;
use crate::report::table;

/// Everything one run found out.
pub struct Report {
    /// Where and when.
    pub machine: Machine,
    /// The system and the contenders, by name and version.
    pub versions: Vec<(&'static str, String)>,
    /// Whether less was printed and fewer repetitions made.
    pub quick: bool,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What could not be measured, and why.
    pub failures: Vec<(&'static str, String)>,
}

/// The peers' columns.
const PEERS: [&str; 3] = ["tmux", "screen", "dtach"];

impl Report {
    /// Renders the report for people.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let Machine { date, cpu, threads, rustc } = &self.machine;
        let versions: Vec<String> =
            self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let how = if self.quick { "a quick run, for a look only" } else { "a full run" };
        let mut out = format!(
            "# Sessions beside those of its peers\n\n\
             Made by `cargo xtask bench spine` on {date}: {cpu}, {threads} threads, {rustc}; {}. \
             This is {how}. Contenders took turns; numbers are medians unless they say p99. \
             Compare within one run only. What each row means is told by the first lines of its \
             file in `crates/bench/src/spine/`.\n\n",
            versions.join(", "),
        );
        let header = ["what", "greenroom", "tmux", "screen", "dtach", "bare", "ratio", "bar", ""];
        let rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        out.push_str(&table(&header, &rows));
        if !self.failures.is_empty() {
            out.push_str("\nNot measured:\n\n");
        }
        for (what, why) in &self.failures {
            let _ = writeln!(out, "- {what}: {why}");
        }
        out
    }

    /// Renders the report for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Machine { date, cpu, threads, rustc } = &self.machine;
        let versions: serde_json::Map<String, Value> = self
            .versions
            .iter()
            .map(|(name, version)| ((*name).to_owned(), version.as_str().into()))
            .collect();
        let failure = |(what, why): &(&str, String)| json!({"what": what, "why": why});
        json!({
            "date": date,
            "cpu": cpu,
            "threads": threads,
            "rustc": rustc,
            "versions": versions,
            "quick": self.quick,
            "rows": self.rows.iter().map(Row::to_json).collect::<Vec<_>>(),
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
        })
    }
}

fn cells(row: &Row) -> Vec<String> {
    let shown = |number: Option<f64>| number.map_or_else(String::new, |it| row.unit.show(it));
    let mut cells = vec![row.what.clone(), row.unit.show(row.ours)];
    cells.extend(PEERS.map(|name| shown(row.peer(name))));
    let ratio = row.ratio().map_or_else(String::new, |it| format!("{it:.2}"));
    let met = if row.met() { "met" } else { "**missed**" };
    cells.extend([shown(row.limit), ratio, row.bar(), met.to_owned()]);
    cells
}

#[cfg(test)]
mod tests {
    use super::super::row::{Bar, Unit};
    use super::*;

    #[test]
    fn a_row_is_shown_with_its_verdict() {
        let row = Row {
            what: "reading".to_owned(),
            unit: Unit::Seconds,
            ours: 80e-6,
            peers: vec![("dtach", 40e-6)],
            limit: None,
            bar: Bar::AtMost(100e-6),
        };
        let expected = ["reading", "80 µs", "", "", "40 µs", "", "0.80", "≤ 100 µs", "met"];
        assert_eq!(cells(&row), expected);
    }
}
