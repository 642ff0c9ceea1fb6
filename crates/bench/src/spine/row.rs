//! One line of the table: what was measured, and whether it is good enough.

use serde_json::{Map, Value, json};

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Millions of bytes a second; more is better. The others: less is better.
    Rate,
    /// Seconds.
    Seconds,
    /// 1024 bytes.
    Kib,
    /// How many.
    Count,
}

impl Unit {
    /// Shows a number in the unit people would say it in.
    #[must_use]
    pub fn show(self, number: f64) -> String {
        match self {
            Unit::Rate => format!("{number:.1} MB/s"),
            Unit::Seconds if number.abs() < 1e-3 => format!("{:.0} µs", number * 1e6),
            Unit::Seconds if number.abs() < 1.0 => format!("{:.2} ms", number * 1e3),
            Unit::Seconds => format!("{number:.2} s"),
            Unit::Kib if number < 1024.0 => format!("{number:.0} KiB"),
            Unit::Kib => format!("{:.2} MiB", number / 1024.0),
            Unit::Count => format!("{number:.0}"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Rate => "MB/s",
            Unit::Seconds => "s",
            Unit::Kib => "KiB",
            Unit::Count => "count",
        }
    }
}

/// What is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// At least this share of the bare reader.
    OfLimit(f64),
    /// At most this many times what a peer has in the same run.
    OfPeer(f64, &'static str),
    /// At most this.
    AtMost(f64),
}

/// One line of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// What the numbers count.
    pub unit: Unit,
    /// Ours.
    pub ours: f64,
    /// The peers' by name.
    pub peers: Vec<(&'static str, f64)>,
    /// What a bare reader has, which nobody can beat.
    pub limit: Option<f64>,
    /// What is good enough.
    pub bar: Bar,
}

impl Row {
    /// The number of a peer.
    #[must_use]
    pub fn peer(&self, name: &str) -> Option<f64> {
        self.peers.iter().find(|peer| peer.0 == name).map(|peer| peer.1)
    }

    /// Ours by what the bar compares it with.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let other = match self.bar {
            Bar::OfLimit(_) => self.limit?,
            Bar::OfPeer(_, name) => self.peer(name)?,
            Bar::AtMost(bound) => bound,
        };
        (other != 0.0).then(|| self.ours / other)
    }

    /// Whether it is good enough.
    #[must_use]
    pub fn met(&self) -> bool {
        match self.bar {
            Bar::OfLimit(share) => self.ratio().is_some_and(|ratio| ratio >= share),
            Bar::OfPeer(times, _) => self.ratio().is_some_and(|ratio| ratio <= times),
            Bar::AtMost(bound) => self.ours <= bound,
        }
    }

    /// The bar in words.
    #[must_use]
    pub fn bar(&self) -> String {
        match self.bar {
            Bar::OfLimit(share) => format!("≥ {share} of bare"),
            Bar::OfPeer(times, name) => format!("≤ {times} of {name}"),
            Bar::AtMost(bound) => format!("≤ {}", self.unit.show(bound)),
        }
    }

    /// The row for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let peers: Map<String, Value> =
            self.peers.iter().map(|(name, number)| ((*name).to_owned(), json!(number))).collect();
        json!({
            "what": self.what,
            "unit": self.unit.name(),
            "ours": self.ours,
            "peers": peers,
            "limit": self.limit,
            "ratio": self.ratio(),
            "bar": self.bar(),
            "met": self.met(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, bar: Bar) -> Row {
        let peers = vec![("tmux", 4.0)];
        Row { what: "x".into(), unit: Unit::Seconds, ours, peers, limit: Some(10.0), bar }
    }

    #[test]
    fn a_bar_compares_with_what_it_names() {
        assert!(row(9.0, Bar::OfLimit(0.9)).met() && !row(8.9, Bar::OfLimit(0.9)).met());
        assert!(row(3.0, Bar::OfPeer(0.75, "tmux")).met());
        assert!(!row(3.1, Bar::OfPeer(0.75, "tmux")).met());
        assert!(!row(3.0, Bar::OfPeer(0.75, "dtach")).met());
        assert!(row(0.0, Bar::AtMost(0.0)).met() && !row(1.0, Bar::AtMost(0.0)).met());
    }

    #[test]
    fn numbers_are_shown_as_people_say_them() {
        let shown = |unit: Unit, number| unit.show(number);
        assert_eq!(shown(Unit::Seconds, 0.000_165), "165 µs");
        assert_eq!(shown(Unit::Seconds, 0.0042), "4.20 ms");
        assert_eq!(shown(Unit::Kib, 1_638.4), "1.60 MiB");
        assert_eq!(row(0.0, Bar::AtMost(1.0)).bar(), "≤ 1.00 s");
    }
}
