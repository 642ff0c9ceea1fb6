//! What `/proc` tells of processes: the memory that is theirs, and how often they ran.

use std::fs;

use anyhow::{Context as _, Result};

/// The memory of processes in KiB, what they share divided among all who share it.
pub(crate) fn memory(pids: &[u32]) -> Result<f64> {
    pids.iter().map(|pid| field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")).sum()
}

/// How often the threads of processes were put on a processor and taken off it.
///
/// Who sleeps through has none; a timer that fires, a byte that comes and a poll that times out
/// each are one at least.
pub(crate) fn switches(pids: &[u32]) -> Result<f64> {
    let mut sum = 0.0;
    for pid in pids {
        let folder = format!("/proc/{pid}/task");
        for task in fs::read_dir(&folder).with_context(|| format!("reading `{folder}`"))? {
            let status = task?.path().join("status").to_string_lossy().into_owned();
            sum += field(&status, "voluntary_ctxt_switches:")?;
            sum += field(&status, "nonvoluntary_ctxt_switches:")?;
        }
    }
    Ok(sum)
}

fn field(path: &str, name: &str) -> Result<f64> {
    let text = fs::read_to_string(path).with_context(|| format!("reading `{path}`"))?;
    parse(&text, name).with_context(|| format!("`{path}` has no `{name}`"))
}

fn parse(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "nonvoluntary_ctxt_switches:\t3\nvoluntary_ctxt_switches:\t41\nPss:   7 kB\n";
        assert_eq!(parse(text, "voluntary_ctxt_switches:"), Some(41.0));
        assert_eq!(parse(text, "Pss:"), Some(7.0));
        assert_eq!(parse(text, "Rss:"), None);
    }

    #[test]
    fn this_process_has_memory_and_has_run() {
        let own = [std::process::id()];
        assert!(memory(&own).unwrap() > 0.0 && switches(&own).unwrap() > 0.0);
    }
}
