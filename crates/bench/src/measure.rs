//! Bytes per second: every contender fed every input, taking turns.
//!
//! They take turns within one input, so that a machine that slows down for a second slows all
//! of them; the median of the repetitions drops what still stands out. Each repetition has a new
//! engine whose history is full before the clock starts: that is the state a session is in for
//! nearly all of its life, and growing the history is paid once.

use std::time::Instant;

use greenroom_model::Size;

use crate::engines::Contender;
use crate::inputs::{self, Input, Random};

/// A rate for each contender, in the order of [`Contender::ALL`].
pub type Rates = [f64; Contender::ALL.len()];

/// More bytes than a line of log text has on average, so that [`warm_up`] fills a history for
/// certain.
const WARM_BYTES_PER_LINE: usize = 80;

/// The rates of all contenders at one size.
#[derive(Debug, Clone)]
pub struct Throughput {
    /// The terminals' size.
    pub size: Size,
    /// One line an input.
    pub lines: Vec<Line>,
}

/// The rates of all contenders for one input.
#[derive(Debug, Clone)]
pub struct Line {
    /// Which input.
    pub input: &'static str,
    /// Millions of bytes a second.
    pub rates: Rates,
}

impl Throughput {
    /// The geometric mean over the inputs, for each contender.
    #[must_use]
    pub fn means(&self) -> Rates {
        std::array::from_fn(|number| {
            let rates: Vec<f64> = self.lines.iter().map(|line| line.rates[number]).collect();
            geometric_mean(&rates)
        })
    }

    /// How many times faster we are than a peer, in the mean and on the worst input.
    #[must_use]
    pub fn lead_over(&self, peer: Contender) -> Lead {
        let ratio = |rates: &Rates| rates[Contender::Ours as usize] / rates[peer as usize];
        let worst = self.lines.iter().map(|line| (ratio(&line.rates), line.input));
        let worst = worst.min_by(|one, other| one.0.total_cmp(&other.0));
        Lead { mean: ratio(&self.means()), worst: worst.unwrap_or((f64::NAN, "no input")) }
    }
}

/// How many times faster we are than a peer.
#[derive(Debug, Clone, Copy)]
pub struct Lead {
    /// In the geometric mean.
    pub mean: f64,
    /// On the input where the peer does best, and which that is.
    pub worst: (f64, &'static str),
}

/// Makes log text that certainly fills a history.
#[must_use]
pub fn warm_up(history: usize) -> Vec<u8> {
    inputs::log(history * WARM_BYTES_PER_LINE).bytes
}

/// Times one input with all contenders.
#[must_use]
pub fn input(input: &Input, size: Size, history: usize, repetitions: usize) -> Line {
    let warm = warm_up(history);
    let mut samples = [const { Vec::new() }; Contender::ALL.len()];
    let mut random = Random::new(0);
    for _ in 0..repetitions {
        let mut turns = Contender::ALL;
        // Nobody always follows the same neighbour, who leaves caches and heap in its own way.
        random.shuffle(&mut turns);
        for contender in turns {
            let mut engine = contender.start(size, history);
            engine.feed(&warm);
            let start = Instant::now();
            for piece in input.pieces() {
                engine.feed(piece);
            }
            let seconds = start.elapsed().as_secs_f64();
            samples[contender as usize].push(input.bytes.len() as f64 / seconds / 1e6);
            // Also for the scan, whose result nobody else wants.
            engine.rows();
        }
    }
    Line { input: input.name, rates: samples.map(|mut rates| median(&mut rates)) }
}

/// The middle one of some numbers, the upper of two; not a number if there are none.
pub fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The mean for ratios: no single fast input can carry it.
#[must_use]
pub fn geometric_mean(numbers: &[f64]) -> f64 {
    let logarithms: f64 = numbers.iter().map(|number| number.ln()).sum();
    (logarithms / numbers.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use greenroom_model::Size;

    use super::{Line, Throughput, geometric_mean, median, warm_up};
    use crate::engines::Contender;

    #[test]
    fn geometric_mean_weighs_ratios_alike() {
        assert!((geometric_mean(&[1.0, 4.0]) - 2.0).abs() < 1e-9);
        assert!((geometric_mean(&[10.0, 10.0, 10.0]) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn median_ignores_one_outlier() {
        assert_eq!(median(&mut [5.0, 1.0, 900.0]), 5.0);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn the_lead_names_the_input_where_the_peer_is_best() {
        let line = |input, ours, rio| Line { input, rates: [ours, 1.0, rio, 1.0, 1.0, 1.0] };
        let size = Size::DEFAULT;
        let lines = vec![line("log", 400.0, 100.0), line("yes", 90.0, 90.0)];
        let lead = Throughput { size, lines }.lead_over(Contender::Rio);
        assert!((lead.mean - 2.0).abs() < 1e-9);
        assert_eq!(lead.worst, (1.0, "yes"));
    }

    #[test]
    fn the_warm_up_fills_the_history() {
        let lines = warm_up(10_000).iter().filter(|byte| **byte == b'\n').count();
        assert!(lines > 10_000, "{lines} lines");
    }
}
