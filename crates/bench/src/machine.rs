//! What a run was made on: without it the numbers in the repository could not be compared.

use std::process::Command;
use std::{env, fs, thread};

/// The machine, the compiler and the day of a run.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The day, in UTC.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// How many threads it runs at once.
    pub threads: usize,
    /// What `rustc --version` says.
    pub rustc: String,
}

impl Machine {
    /// Asks the system; what it does not tell is called unknown.
    #[must_use]
    pub fn this() -> Machine {
        Machine {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            cpu: cpu().unwrap_or_else(|| format!("unknown {}", env::consts::ARCH)),
            threads: thread::available_parallelism().map_or(1, usize::from),
            rustc: rustc().unwrap_or_else(|| "unknown rustc".to_owned()),
        }
    }
}

fn cpu() -> Option<String> {
    let description = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = description.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn rustc() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
