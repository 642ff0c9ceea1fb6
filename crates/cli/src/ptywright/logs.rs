//! `ptywright logs`.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::plain::plain;

/// How the log of a day is called: this, the date, and perhaps the end of a log's name.
const BEGIN: &str = "ptywright.";
const END: &str = ".log";

/// What a date looks like, digit by digit.
const DATE: &str = "0000-00-00";

/// Shows the end of the newest log.
#[derive(Debug, Args)]
pub(super) struct Logs {
    /// How many lines.
    #[arg(long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Only lines that contain this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

impl Logs {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let folder = context.host.ptywright_home()?.join("logs");
        let newest = newest(&folder).ok_or_else(|| {
            let text = format!("no ptywright log files in `{}`", folder.display());
            Failure::new(FailureKind::System, text)
        })?;
        context.output.line(&format!("==> tailing {} <==", newest.display()))?;
        let tail = self
            .tail(&newest)
            .map_err(|error| Failure::system(&format!("reading `{}`", newest.display()), &error))?;
        for line in tail {
            context.output.line(&plain(&line))?;
        }
        Ok(Exit::OK)
    }

    /// The last lines that are wanted.
    fn tail(&self, path: &Path) -> std::io::Result<VecDeque<String>> {
        let mut tail = VecDeque::new();
        for line in BufReader::new(File::open(path)?).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if self.filter.as_ref().is_some_and(|it| !line.contains(it.as_str())) {
                continue;
            }
            tail.push_back(line);
            if tail.len() > self.lines {
                tail.pop_front();
            }
        }
        Ok(tail)
    }
}

/// The log of the latest day.
fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let dated =
        entries.filter_map(|entry| Some((date(entry.file_name().to_str()?)?, entry.path())));
    // A date as text sorts as the date does.
    dated.max().map(|(_, path)| path)
}

/// The date in the name of a log, if it is one.
fn date(name: &str) -> Option<String> {
    let rest = name.strip_prefix(BEGIN)?;
    let date = rest.strip_suffix(END).unwrap_or(rest);
    let shape = date.chars().map(|it| if it.is_ascii_digit() { '0' } else { it });
    shape.eq(DATE.chars()).then(|| date.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_date_in_its_name() {
        assert_eq!(date("ptywright.2026-11-16.log").as_deref(), Some("2026-11-16"));
        assert_eq!(date("ptywright.2026-11-16").as_deref(), Some("2026-11-16"));
        for name in ["ptywright.log", "ptywright.2026-11-16.log.gz", "daemon.2026-11-16.log"] {
            assert_eq!(date(name), None, "{name}");
        }
    }
}
