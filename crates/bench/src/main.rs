//! `bench screen [--quick] [--save FILE]`: measures our screen and its peers, prints a report.
//!
//! Run it through `cargo xtask bench screen`, which builds it optimised. Only here is the
//! allocator replaced by one that counts; its two additions per allocation are paid by every
//! contender alike.

#![expect(clippy::print_stdout, reason = "the report is this program's output")]
#![expect(clippy::print_stderr, reason = "progress and complaints go beside the report")]

use std::alloc::System;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use greenroom_bench::screen;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const USAGE: &str = "usage: bench screen [--quick] [--save FILE]";

struct Arguments {
    quick: bool,
    save: Option<PathBuf>,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Arguments> {
    if arguments.next()? != "screen" {
        return None;
    }
    let mut parsed = Arguments { quick: false, save: None };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => parsed.quick = true,
            "--save" => parsed.save = Some(arguments.next()?.into()),
            _ => return None,
        }
    }
    Some(parsed)
}

fn live_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

fn main() -> ExitCode {
    let Some(arguments) = parse(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let progress = |what: &str| eprintln!("measuring {what}");
    let options = screen::Options { quick: arguments.quick, live: live_bytes, progress };
    let report = screen::run(&options).to_markdown();
    print!("{report}");
    if let Some(file) = arguments.save
        && let Err(error) = fs::write(&file, report)
    {
        eprintln!("cannot write `{}`: {error}", file.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
