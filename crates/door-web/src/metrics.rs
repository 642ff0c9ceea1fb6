//! What is counted, and shown at `/metrics` in the Prometheus text form if that is wanted.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of one door.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) requests: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) sockets: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) lagged: AtomicU64,
    pub(crate) logins: AtomicU64,
    pub(crate) failed_logins: AtomicU64,
}

/// Counts one up while it lives.
#[derive(Debug)]
pub(crate) struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    pub(crate) fn new(counter: &'a AtomicU64) -> Counted<'a> {
        counter.fetch_add(1, Relaxed);
        Counted(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Relaxed);
}

impl Metrics {
    /// Everything as text. `sessions` are those that live, of all doors.
    pub(crate) fn text(&self, sessions: usize) -> String {
        let mut text = String::new();
        let mut row = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing to a `String` does not fail.
            write!(
                text,
                "# HELP greenroom_{name} {help}\n# TYPE greenroom_{name} {kind}\ngreenroom_{name} {value}\n"
            )
            .ok();
        };
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        row("sessions", "gauge", "Sessions that live.", sessions as u64);
        row("web_connections", "gauge", "Connections of browsers.", of(&self.connections));
        row("web_sockets", "gauge", "Open WebSockets.", of(&self.sockets));
        row("web_requests_total", "counter", "Requests.", of(&self.requests));
        row("web_refused_total", "counter", "Requests turned away.", of(&self.turned_away));
        row("web_received_bytes_total", "counter", "Bytes typed.", of(&self.bytes_in));
        row("web_sent_bytes_total", "counter", "Bytes shown.", of(&self.bytes_out));
        row("web_lagged_total", "counter", "Times a browser was too slow.", of(&self.lagged));
        row("web_logins_total", "counter", "Logins.", of(&self.logins));
        row("web_failed_logins_total", "counter", "Failed logins.", of(&self.failed_logins));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_name_a_type_and_help() {
        let text = Metrics::default().text(3);
        assert!(text.contains("# TYPE greenroom_sessions gauge\ngreenroom_sessions 3\n"));
        let lines = text.lines().count();
        assert_eq!(lines % 3, 0);
        assert_eq!(text.lines().filter(|line| line.starts_with("# HELP")).count(), lines / 3);
    }
}
