//! What is counted: shown at `/metrics` in the Prometheus text form if that is wanted, and given to
//! whoever sends it elsewhere.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of one door.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) requests: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    pub(crate) put_off: AtomicU64,
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

/// How a number behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It goes up and down.
    Gauge,
    /// It only goes up, until the daemon ends.
    Counter,
}

/// A number that this door counts.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// Its name, in words with dots between them.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// Whether it counts bytes.
    pub bytes: bool,
    /// What it says.
    pub help: &'static str,
    of: fn(&Metrics) -> &AtomicU64,
}

impl Number {
    pub(crate) fn value(&self, metrics: &Metrics) -> u64 {
        (self.of)(metrics).load(Relaxed)
    }

    /// Its name as Prometheus has it.
    fn prometheus(&self) -> String {
        let bytes = if self.bytes { "_bytes" } else { "" };
        let total = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("{}{bytes}{total}", self.name.replace('.', "_"))
    }
}

const fn number(
    name: &'static str,
    kind: Kind,
    help: &'static str,
    of: fn(&Metrics) -> &AtomicU64,
) -> Number {
    Number { name, kind, bytes: false, help, of }
}

const fn bytes(name: &'static str, help: &'static str, of: fn(&Metrics) -> &AtomicU64) -> Number {
    Number { name, kind: Kind::Counter, bytes: true, help, of }
}

/// All of them.
pub const NUMBERS: &[Number] = &[
    number("web.connections", Kind::Gauge, "Connections of browsers.", |it| &it.connections),
    number("web.sockets", Kind::Gauge, "Open WebSockets.", |it| &it.sockets),
    number("web.requests", Kind::Counter, "Requests.", |it| &it.requests),
    number("web.refused", Kind::Counter, "Requests turned away.", |it| &it.turned_away),
    number("web.put_off", Kind::Counter, "Wrong secrets of who says too many.", |it| &it.put_off),
    bytes("web.received", "Bytes typed.", |it| &it.bytes_in),
    bytes("web.sent", "Bytes shown.", |it| &it.bytes_out),
    number("web.lagged", Kind::Counter, "Times a browser was too slow.", |it| &it.lagged),
    number("web.logins", Kind::Counter, "Logins.", |it| &it.logins),
    number("web.failed_logins", Kind::Counter, "Failed logins.", |it| &it.failed_logins),
];

impl Metrics {
    /// Everything as text. `sessions` are those that live, of all doors.
    pub(crate) fn text(&self, sessions: usize) -> String {
        let mut text = String::new();
        let mut row = |name: &str, kind: Kind, help: &str, value: u64| {
            let kind = match kind {
                Kind::Gauge => "gauge",
                Kind::Counter => "counter",
            };
            // Writing to a `String` does not fail.
            write!(
                text,
                "# HELP greenroom_{name} {help}\n# TYPE greenroom_{name} {kind}\ngreenroom_{name} {value}\n"
            )
            .ok();
        };
        row("sessions", Kind::Gauge, "Sessions that live.", sessions as u64);
        for number in NUMBERS {
            row(&number.prometheus(), number.kind, number.help, number.value(self));
        }
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
        assert!(text.contains("\ngreenroom_web_received_bytes_total 0\n"));
        assert!(text.contains("\ngreenroom_web_failed_logins_total 0\n"));
        assert_eq!(lines, 3 * (NUMBERS.len() + 1));
        assert_eq!(text.lines().filter(|line| line.starts_with("# HELP")).count(), lines / 3);
    }
}
