//! Feeds one input to our screen over and over, for a profiler to watch.
//!
//! `perf record target/bench/examples/profile "heavy SGR" 50`; without a name, all inputs.

#![expect(clippy::print_stdout, reason = "a report is what it is for")]

use std::time::Instant;

use greenroom_bench::engines::{Contender, Engine};
use greenroom_bench::inputs;
use greenroom_model::Size;

fn main() {
    let mut args = std::env::args().skip(1);
    let only = args.next();
    let rounds: u32 = args.next().and_then(|it| it.parse().ok()).unwrap_or(9);
    for input in inputs::all(Size::DEFAULT, inputs::BYTES) {
        if only.as_ref().is_some_and(|only| *only != input.name) {
            continue;
        }
        let mut screen: Box<dyn Engine> = Contender::Ours.start(Size::DEFAULT, 10_000);
        let mut best = f64::MAX;
        for _ in 0..rounds {
            let start = Instant::now();
            input.pieces().for_each(|piece| screen.feed(piece));
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{:16} {:8.0} MB/s", input.name, input.bytes.len() as f64 / best / 1e6);
    }
}
