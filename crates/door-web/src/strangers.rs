//! What it costs to say a wrong secret: a source that does so too often is answered late, and told
//! when to come again.
//!
//! On loopback the owner and whoever guesses have one address. So a source is never refused as such:
//! each request is looked at first, and only what was wrong has to wait. Only so many wait; who comes
//! beyond them is answered at once, which costs least.
//!
//! Not here: passwords, of which there are fewer than secrets (`pace`), and how many connections are
//! taken at all (`listen`).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// How many wrong secrets a source may say at once: a person's programs with an old token have fewer.
const BUDGET: u32 = 20;

/// How long each of them counts. A page that keeps asking with an old cookie asks less often.
const EACH: Duration = Duration::from_secs(1);

/// How much may add up: who stops is as good as new within a minute.
const MOST: u32 = 40;

/// How long an answer waits. Who asks one after the other gets nowhere, and a person does not give up.
const LATE: Duration = Duration::from_secs(1);

/// How many answers wait at once: each holds a connection.
const MAX_LATE: usize = 64;

/// How many sources are told apart. Who comes after them takes the place of who is forgiven first.
const MAX_SOURCES: usize = 1024;

/// Where somebody comes from, as far as it says who they are: of an address of version 6 the network,
/// within which one machine has as many addresses as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source(IpAddr);

impl Source {
    pub(crate) fn of(peer: IpAddr) -> Source {
        let network = |it: Ipv6Addr| Ipv6Addr::from_bits(it.to_bits() & !u128::from(u64::MAX));
        Source(match peer.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(network(address)),
            IpAddr::V4(address) => IpAddr::V4(address),
        })
    }
}

/// Who said something wrong, and how many answers may still wait.
#[derive(Debug)]
pub(crate) struct Strangers {
    /// When all that a source said is forgiven.
    forgiven: Mutex<BTreeMap<Source, Instant>>,
    places: Semaphore,
}

impl Default for Strangers {
    fn default() -> Strangers {
        Strangers { forgiven: Mutex::default(), places: Semaphore::new(MAX_LATE) }
    }
}

impl Strangers {
    /// Somebody said something wrong. Gives how long they are to stay away, if that was too much.
    pub(crate) fn wrong(&self, source: Source, now: Instant) -> Option<Duration> {
        let mut all = self.forgiven.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SOURCES && !all.contains_key(&source) {
            make_room(&mut all, now);
        }
        let until = all.entry(source).or_insert(now);
        *until = (now.max(*until) + EACH).min(now + MOST * EACH);
        let over = until.saturating_duration_since(now + BUDGET * EACH);
        (!over.is_zero()).then_some(over)
    }

    /// Whether a source has said too much already that was wrong.
    pub(crate) fn is_over(&self, source: Source, now: Instant) -> bool {
        let all = self.forgiven.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&source).is_some_and(|until| *until > now + BUDGET * EACH)
    }

    /// How long it takes at least until there is no such source; none if there is none.
    pub(crate) fn crowded_for(&self, now: Instant) -> Option<Duration> {
        let all = self.forgiven.lock().unwrap_or_else(PoisonError::into_inner);
        let over = all.values().max()?.saturating_duration_since(now + BUDGET * EACH);
        (!over.is_zero()).then_some(over)
    }

    /// Whether there is a place to wait now.
    pub(crate) fn has_place(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// Waits with an answer, if there is a place to wait.
    pub(crate) async fn wait(&self) {
        if let Ok(_place) = self.places.try_acquire() {
            tokio::time::sleep(LATE).await;
        }
    }
}

fn make_room(all: &mut BTreeMap<Source, Instant>, now: Instant) {
    all.retain(|_, until| *until > now);
    if all.len() >= MAX_SOURCES {
        let first = all.iter().min_by_key(|it| *it.1).map(|it| *it.0);
        first.and_then(|source| all.remove(&source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u32) -> Source {
        Source::of(IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn who_is_wrong_too_often_is_told_to_stay_away_and_others_are_not() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for _ in 0..BUDGET {
            assert_eq!(strangers.wrong(source(1), now), None);
        }
        assert_eq!(strangers.wrong(source(1), now), Some(EACH));
        assert_eq!(strangers.wrong(source(2), now), None);
        assert_eq!(strangers.wrong(source(1), now + 2 * EACH), None);
        for _ in 0..10 * MOST {
            strangers.wrong(source(1), now);
        }
        assert_eq!(strangers.wrong(source(1), now), Some((MOST - BUDGET) * EACH));
        assert_eq!(strangers.wrong(source(1), now + MOST * EACH), None);
    }

    #[test]
    fn it_is_known_who_is_over_and_for_how_long() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for _ in 0..BUDGET {
            assert_eq!(strangers.wrong(source(1), now), None);
            assert!(!strangers.is_over(source(1), now));
        }
        assert_eq!(strangers.crowded_for(now), None);
        assert_eq!(strangers.wrong(source(1), now), Some(EACH));
        assert_eq!(strangers.wrong(source(2), now), None);
        assert!(strangers.is_over(source(1), now));
        assert!(!strangers.is_over(source(2), now));
        assert_eq!(strangers.crowded_for(now), Some(EACH));
        assert!(!strangers.is_over(source(1), now + EACH));
        assert_eq!(strangers.crowded_for(now + EACH), None);
    }

    #[test]
    fn there_are_only_so_many_sources_and_the_mildest_makes_room() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for _ in 0..=BUDGET {
            strangers.wrong(source(0), now);
        }
        for number in 1..10_000 {
            strangers.wrong(source(number), now);
        }
        assert_eq!(strangers.forgiven.lock().unwrap().len(), MAX_SOURCES);
        assert!(strangers.wrong(source(0), now).is_some());
    }

    #[test]
    fn a_network_of_version_6_is_one_source() {
        let of = |text: &str| Source::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_wait_and_the_others_are_answered() {
        let strangers = Strangers::default();
        let begin = tokio::time::Instant::now();
        let waiting = (0..2 * MAX_LATE).map(|_| async {
            strangers.wait().await;
            begin.elapsed()
        });
        let took = futures_util::future::join_all(waiting).await;
        let (late, early) = took.split_at(MAX_LATE);
        assert!(late.iter().all(|it| *it >= LATE), "{late:?}");
        assert!(early.iter().all(Duration::is_zero), "{early:?}");
    }

    #[tokio::test]
    async fn who_hangs_up_waits_no_more() {
        let strangers = Strangers::default();
        let waiting = tokio::time::timeout(Duration::ZERO, strangers.wait());
        assert!(waiting.await.is_err());
        assert_eq!(strangers.places.available_permits(), MAX_LATE);
    }
}
