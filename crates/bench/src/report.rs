//! A run as markdown: for the terminal, and for `docs/` so that the next run has a past.

use std::fmt::Write as _;
use std::time::Duration;

use crate::engines::Contender;
use crate::guard::Difference;
use crate::machine::Machine;
use crate::measure::{Rates, Throughput};
use crate::memory::Held;
use crate::reads::{Push, Read};
use crate::targets::verdicts;

/// Everything one run found out.
pub struct Report {
    /// Where and when.
    pub machine: Machine,
    /// Of how many repetitions a rate is the median.
    pub repetitions: usize,
    /// Rates, one table a size.
    pub throughput: Vec<Throughput>,
    /// Whose screen was not ours after which input.
    pub differences: Vec<Difference>,
    /// Memory.
    pub held: Vec<Held>,
    /// Our reads.
    pub reads: Vec<Read>,
    /// What a line costs by length of history.
    pub pushes: Vec<Push>,
}

impl Report {
    /// Renders the whole report.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let Machine { date, cpu, threads, rustc } = &self.machine;
        let mut out = format!(
            "# Our screen beside its peers\n\n\
             Made by `cargo xtask bench screen` on {date}: {cpu}, {threads} threads, {rustc}; \
             medians of {} interleaved repetitions. Compare within one run only.\n\n",
            self.repetitions,
        );
        out.push_str(&self.targets());
        for throughput in &self.throughput {
            out.push_str(&rates(throughput));
        }
        out.push_str(&self.screens());
        out.push_str(&memory(&self.held));
        out.push_str(&pushes(&self.pushes));
        out
    }

    fn targets(&self) -> String {
        let row = |verdict: crate::targets::Verdict| {
            let met = if verdict.met { "pass" } else { "**miss**" };
            vec![verdict.target, verdict.wanted, verdict.got, met.to_owned()]
        };
        let rows: Vec<_> = verdicts(self).into_iter().map(row).collect();
        let table = table(&["target", "wanted", "got", ""], &rows);
        format!("## Targets\n\n{table}\n")
    }

    /// The footnote to the rates: who did not draw what we drew.
    fn screens(&self) -> String {
        let mut out = "Before timing, the visible text of every terminal after every input was \
                       compared with ours. "
            .to_owned();
        if self.differences.is_empty() {
            return out + "All were the same.\n\n";
        }
        out.push_str("Rows that differed:\n\n");
        for Difference { size, input, contender, rows } in &self.differences {
            let _ = writeln!(
                out,
                "- {input} at {size}: {} {rows} of {}",
                contender.name(),
                size.rows()
            );
        }
        out + "\n"
    }
}

fn rates(throughput: &Throughput) -> String {
    let names = Contender::ALL.map(Contender::name);
    let header: Vec<&str> =
        ["MB/s"].into_iter().chain(names).chain(["× alacritty", "× rio"]).collect();
    let row = |name: &str, rates: &Rates| -> Vec<String> {
        let ours = rates[Contender::Ours as usize];
        let ratio = |peer: Contender| format!("{:.2}", ours / rates[peer as usize]);
        let rates = rates.iter().map(|rate| format!("{rate:.0}"));
        let ratios = [ratio(Contender::Alacritty), ratio(Contender::Rio)];
        [name.to_owned()].into_iter().chain(rates).chain(ratios).collect()
    };
    let mut rows: Vec<_> =
        throughput.lines.iter().map(|line| row(line.input, &line.rates)).collect();
    rows.push(row("geometric mean", &throughput.means()));
    format!("## Throughput at {}\n\n{}\n", throughput.size, table(&header, &rows))
}

fn memory(held: &[Held]) -> String {
    let kib = |bytes: usize| format!("{:.1} KiB", bytes as f64 / 1024.0);
    let mib = |bytes: usize| format!("{:.2} MiB", bytes as f64 / 1024.0 / 1024.0);
    let row = |held: &Held| {
        vec![held.contender.name().to_owned(), kib(held.empty), mib(held.log), mib(held.coloured)]
    };
    let rows: Vec<_> = held.iter().map(row).collect();
    let header = ["held by one session", "empty", "10,000 lines of log text", "of coloured text"];
    format!("## Memory at 80x24\n\n{}\n", table(&header, &rows))
}

fn pushes(pushes: &[Push]) -> String {
    let row = |push: &Push| vec![push.history.to_string(), format!("{:.0}", push.ns)];
    let rows: Vec<_> = pushes.iter().map(row).collect();
    let table = table(&["lines of history, full", "ns per line pushed"], &rows);
    format!("## Trimming\n\n{table}")
}

/// Renders a markdown table, its columns as wide as their widest cell.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&header]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut out = String::new();
    for row in [&header, &rule].into_iter().chain(rows) {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(out, "| {cell:<width$} ");
        }
        out.push_str("|\n");
    }
    out
}

/// Shows a time in the unit people would say it in.
pub(crate) fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.2} µs") } else { format!("{:.2} ms", micros / 1e3) }
}

#[cfg(test)]
mod tests;
