//! What we promised, and whether a run kept it.

use crate::engines::Contender;
use crate::measure::Throughput;
use crate::memory::Held;
use crate::reads::{Push, Read};
use crate::report::{Report, time};

/// How many times faster than each peer we want to be in the geometric mean, and ahead of it on
/// every input.
const LEADS: [(Contender, f64); 2] = [(Contender::Alacritty, 3.5), (Contender::Rio, 1.7)];

/// The most an empty screen may hold: a hundred idle sessions are then nothing.
const EMPTY_KIB: f64 = 16.0;
/// The most a history full of log text may hold: little more than its text.
const LOG_MIB: f64 = 0.9;
/// The most a history full of coloured text may hold.
const COLOURED_MIB: f64 = 1.5;
/// How much dearer a pushed line may be with the longest history than with the shortest. One
/// step a line would be 1; the rest is for caches, which a longer history does not fit.
const PUSH_GROWTH: f64 = 2.0;

/// One promise and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What was promised.
    pub target: String,
    /// The bound.
    pub wanted: String,
    /// What was measured.
    pub got: String,
    /// Whether it was kept.
    pub met: bool,
}

/// Judges everything a report has numbers for.
#[must_use]
pub fn verdicts(report: &Report) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = report.throughput.iter().flat_map(leads).collect();
    verdicts.extend(
        report.held.iter().filter(|held| held.contender == Contender::Ours).flat_map(memory),
    );
    verdicts.extend(report.reads.iter().map(read));
    verdicts.extend(pushes(&report.pushes));
    verdicts
}

fn leads(throughput: &Throughput) -> Vec<Verdict> {
    let size = throughput.size;
    let judge = |(peer, wanted): (Contender, f64)| {
        let lead = throughput.lead_over(peer);
        let (ratio, input) = lead.worst;
        let name = peer.name();
        [
            Verdict {
                target: format!("{name}, mean, {size}"),
                wanted: format!("≥ {wanted:.1}×"),
                got: format!("{:.2}×", lead.mean),
                met: lead.mean >= wanted,
            },
            Verdict {
                target: format!("{name}, every input, {size}"),
                wanted: "> 1×".to_owned(),
                got: format!("{ratio:.2}× ({input})"),
                met: ratio > 1.0,
            },
        ]
    };
    LEADS.into_iter().flat_map(judge).collect()
}

fn memory(held: &Held) -> [Verdict; 3] {
    let most = |target: &str, bytes: usize, limit: f64, unit: &str, unit_bytes: f64| {
        let got = bytes as f64 / unit_bytes;
        Verdict {
            target: target.to_owned(),
            wanted: format!("≤ {limit} {unit}"),
            got: format!("{got:.2} {unit}"),
            met: got <= limit,
        }
    };
    let (kib, mib) = (1024.0, 1024.0 * 1024.0);
    [
        most("memory, empty screen", held.empty, EMPTY_KIB, "KiB", kib),
        most("memory, history of log text", held.log, LOG_MIB, "MiB", mib),
        most("memory, history of coloured text", held.coloured, COLOURED_MIB, "MiB", mib),
    ]
}

fn read(read: &Read) -> Verdict {
    Verdict {
        target: read.name.to_owned(),
        wanted: format!("≤ {}", time(read.at_most)),
        got: read.took.map_or_else(|| "not what it should read".to_owned(), time),
        met: read.took.is_some_and(|took| took <= read.at_most),
    }
}

/// Whether pushing a line costs the same whatever the history's length.
fn pushes(pushes: &[Push]) -> Option<Verdict> {
    let (first, last) = (pushes.first()?, pushes.last()?);
    let growth = last.ns / first.ns;
    Some(Verdict {
        target: format!("line pushed, history {} to {}", first.history, last.history),
        wanted: format!("≤ {PUSH_GROWTH:.1}× dearer"),
        got: format!("{growth:.2}×"),
        met: growth <= PUSH_GROWTH,
    })
}
