//! Those who come: in which turn they are taken, and how many may be here before they have proved who they are.
//!
//! Not here: what becomes of a connection (`listen`), and who has said something wrong (`strangers`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::strangers::Source;

/// How many connections may not have proved yet who they are. Who is slow to do so makes room, first those
/// from where most are.
const MAX_NEWCOMERS: usize = 64;

/// How many connections are taken in a row before everything else has its turn: a keystroke waits
/// behind them for a fraction of a millisecond, and each of them is looked at before it could have to make
/// room for another.
const ROW: u32 = 2;

/// Takes connections, so many in a row. There is no pause beyond that: the owner may be one of those who
/// wait in the system's queue, and when that is full they try again only after a second.
#[derive(Debug, Default)]
pub(crate) struct Turn(u32);

impl Turn {
    /// Takes the next one. It may be dropped and called again.
    pub(crate) async fn take(
        &mut self,
        listener: &TcpListener,
    ) -> io::Result<(TcpStream, SocketAddr)> {
        if self.0 >= ROW {
            tokio::task::yield_now().await;
            self.0 = 0;
        }
        let accepted = listener.accept().await;
        self.0 += 1;
        accepted
    }
}

/// Those who have not proved yet who they are.
#[derive(Default)]
pub(crate) struct Newcomers {
    all: Mutex<BTreeMap<u64, (Source, AbortHandle)>>,
    next: AtomicU64,
}

impl Newcomers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, (Source, AbortHandle)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Somebody came, and may have to go.
    pub(crate) fn add(&self, number: u64, source: Source, task: AbortHandle) {
        let mut all = self.all();
        if all.len() >= MAX_NEWCOMERS
            && let Some((_, oldest)) = crowded(&all).and_then(|number| all.remove(&number))
        {
            oldest.abort();
        }
        all.insert(number, (source, task));
    }

    /// Somebody is none any more.
    pub(crate) fn remove(&self, number: u64) {
        self.all().remove(&number);
    }
}

/// The oldest of the source with the most: who comes alone is not pushed out by a crowd.
fn crowded<T>(all: &BTreeMap<u64, (Source, T)>) -> Option<u64> {
    let mut sources: BTreeMap<Source, (usize, Reverse<u64>)> = BTreeMap::new();
    for (number, (source, _)) in all {
        sources.entry(*source).or_insert((0, Reverse(*number))).0 += 1;
    }
    sources.into_values().max().map(|(_, oldest)| oldest.0)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_crowd_makes_room_for_who_comes_alone() {
        let from = |number: u8| Source::of(IpAddr::from([10, 0, 0, number]));
        let mut all = BTreeMap::from([(0, (from(1), ())), (1, (from(2), ())), (2, (from(2), ()))]);
        assert_eq!(crowded(&all), Some(1));
        all.remove(&1);
        assert_eq!(crowded(&all), Some(0));
        assert_eq!(crowded::<()>(&BTreeMap::new()), None);
    }
}
