//! `bench screen` and `bench spine`: measure ours and its peers, print a report.
//!
//! Run it through `cargo xtask bench`, which builds it and what it measures optimised. Only here is the
//! allocator replaced by one that counts; its two additions per allocation are paid by every
//! contender alike.

#![expect(clippy::print_stdout, reason = "the report is this program's output")]
#![expect(clippy::print_stderr, reason = "progress and complaints go beside the report")]

use std::alloc::System;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use greenroom_bench::{screen, spine};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const USAGE: &str = "usage: bench screen [--quick] [--save FILE]
       bench spine --greenroom PROGRAM [--quick] [--save FILE] [MEASUREMENT...]";

#[derive(Default)]
struct Arguments {
    what: String,
    quick: bool,
    save: Option<PathBuf>,
    greenroom: Option<PathBuf>,
    only: Vec<String>,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut parsed = Arguments { what: arguments.next()?, ..Arguments::default() };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => parsed.quick = true,
            "--save" => parsed.save = Some(arguments.next()?.into()),
            "--greenroom" => parsed.greenroom = Some(arguments.next()?.into()),
            flag if flag.starts_with('-') => return None,
            _ => parsed.only.push(argument),
        }
    }
    Some(parsed)
}

fn live_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

fn progress(what: &str) {
    eprintln!("measuring {what}");
}

fn main() -> ExitCode {
    let done = match parse(env::args().skip(1)) {
        Some(arguments) if arguments.what == "screen" && arguments.only.is_empty() => {
            measure_screen(&arguments)
        }
        Some(Arguments { what, quick, save, greenroom: Some(greenroom), only })
            if what == "spine" =>
        {
            let options = spine::Options { greenroom, quick, only, progress };
            measure_spine(&options, save)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure_screen(arguments: &Arguments) -> Result<()> {
    let options = screen::Options { quick: arguments.quick, live: live_bytes, progress };
    let report = screen::run(&options).to_markdown();
    print!("{report}");
    arguments.save.as_deref().map_or(Ok(()), |file| save(file, &report))
}

fn measure_spine(options: &spine::Options, file: Option<PathBuf>) -> Result<()> {
    let report = spine::run(options)?;
    print!("{}", report.to_markdown());
    if let Some(file) = file {
        save(&file, &report.to_markdown())?;
        save(&file.with_extension("json"), &format!("{:#}\n", report.to_json()))?;
    }
    ensure!(report.failures.is_empty(), "not everything could be measured");
    Ok(())
}

fn save(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("writing `{}`", file.display()))
}
