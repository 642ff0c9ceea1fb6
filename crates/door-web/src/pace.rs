//! How often somebody may try to log in: each source a little, all together a little more.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::strangers::Source;

/// How many failed tries a source has before it must wait: more than a person mistypes.
const TRIES: u32 = 10;

/// How many failed tries all sources have together.
const ALL_TRIES: u32 = 100;

/// How long a failed try counts.
const COUNTS_FOR: Duration = Duration::from_secs(60);

/// How many sources are told apart; who comes after them shares what all have.
const MAX_SOURCES: usize = 1024;

/// Failed tries, by source.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<Tries>);

#[derive(Debug, Default)]
struct Tries {
    sources: BTreeMap<Source, (u32, Instant)>,
    all: Option<(u32, Instant)>,
}

impl Pace {
    /// How long a source has to wait before its next try; nothing if it need not.
    pub(crate) fn wait(&self, source: Source, now: Instant) -> Option<Duration> {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.forget(now);
        let over = |it: &(u32, Instant), most: u32| {
            (it.0 >= most).then(|| (it.1 + COUNTS_FOR).saturating_duration_since(now))
        };
        let own = tries.sources.get(&source).and_then(|it| over(it, TRIES));
        own.or_else(|| tries.all.as_ref().and_then(|it| over(it, ALL_TRIES)))
    }

    /// Somebody failed.
    pub(crate) fn failed(&self, source: Source, now: Instant) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.forget(now);
        let full = tries.sources.len() >= MAX_SOURCES && !tries.sources.contains_key(&source);
        if !full {
            tries.sources.entry(source).or_insert((0, now)).0 += 1;
        }
        tries.all.get_or_insert((0, now)).0 += 1;
    }

    /// Somebody did not fail.
    pub(crate) fn succeeded(&self, source: Source) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.sources.remove(&source);
    }
}

impl Tries {
    fn forget(&mut self, now: Instant) {
        let old = |since: Instant| now.saturating_duration_since(since) >= COUNTS_FOR;
        self.sources.retain(|_, it| !old(it.1));
        self.all = self.all.filter(|it| !old(it.1));
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn who_fails_too_often_waits_and_others_do_not() {
        let pace = Pace::default();
        let now = Instant::now();
        let [one, other] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(|it| Source::of(IpAddr::from(it)));
        (0..TRIES).for_each(|_| {
            assert_eq!(pace.wait(one, now), None);
            pace.failed(one, now);
        });
        assert_eq!(pace.wait(one, now), Some(COUNTS_FOR));
        assert_eq!(pace.wait(other, now), None);
        assert_eq!(pace.wait(one, now + COUNTS_FOR), None);
    }

    #[test]
    fn many_sources_together_wait_as_well() {
        let pace = Pace::default();
        let now = Instant::now();
        for number in 0..ALL_TRIES {
            pace.failed(Source::of(IpAddr::from(number.to_be_bytes())), now);
        }
        let other = Source::of(IpAddr::from([10, 0, 0, 9]));
        assert!(pace.wait(other, now).is_some());
        assert!(pace.wait(other, now + COUNTS_FOR).is_none());
    }
}
