//! Those who come: in which turn they are taken and by whom, and how many may be here before they have
//! proved who they are.
//!
//! Not here: what becomes of a connection (`listen`), who has said something wrong (`strangers`), and what
//! is done with them beside the daemon's thread (`porch`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use crate::listen::Site;
use crate::porch::Porch;
use crate::strangers::Source;

/// How many connections may not have proved yet who they are. Who is slow to do so makes room, first those
/// from where most are.
const MAX_NEWCOMERS: usize = 64;

/// How many connections are taken in a row before everything else has its turn: a keystroke waits
/// behind them for a fraction of a millisecond, and each of them is looked at before it could have to make
/// room for another.
const ROW: u32 = 2;

/// A connection, and where it comes from.
pub(crate) type Arrival = (TcpStream, SocketAddr);

/// So many in a row, then everybody else. There is no pause beyond that: the owner may be one of those who
/// wait in the system's queue, and when that is full they try again only after a second.
#[derive(Debug, Default)]
struct Turn(u32);

impl Turn {
    async fn begin(&mut self) {
        if self.0 >= ROW {
            tokio::task::yield_now().await;
            self.0 = 0;
        }
    }

    fn taken(&mut self) {
        self.0 += 1;
    }
}

/// The system's queue of connections, as one thread takes from it.
pub(crate) struct Queue {
    listener: tokio::net::TcpListener,
    turn: Turn,
}

impl Queue {
    /// Takes from it from now on, by a descriptor of its own: the listener outlives whoever takes. Only
    /// one does so at a time, or all would be woken.
    ///
    /// # Errors
    /// The system is out of something.
    pub(crate) fn new(listener: &TcpListener) -> io::Result<Queue> {
        let listener = tokio::net::TcpListener::from_std(listener.try_clone()?)?;
        Ok(Queue { listener, turn: Turn::default() })
    }

    /// Takes the next one. It may be dropped and called again.
    pub(crate) async fn take(&mut self) -> io::Result<Arrival> {
        self.turn.begin().await;
        let accepted = self.listener.accept().await;
        self.turn.taken();
        accepted
    }
}

/// Who takes from the queue.
enum Way {
    /// Nobody yet, or not any more.
    Unknown,
    /// The daemon itself.
    Straight(Queue),
    /// The porch, which hands over those who may go on.
    Porch(Porch),
}

/// Where a listener's connections come from: from the system, or while there is a crowd of strangers, by
/// way of the porch.
pub(crate) struct Arrivals {
    listener: TcpListener,
    site: Arc<Site>,
    way: Way,
    turn: Turn,
}

impl Arrivals {
    pub(crate) fn new(listener: TcpListener, site: &Arc<Site>) -> Arrivals {
        let site = Arc::clone(site);
        Arrivals { listener, site, way: Way::Unknown, turn: Turn::default() }
    }

    /// The next one. It may be dropped and called again.
    pub(crate) async fn next(&mut self) -> io::Result<Arrival> {
        loop {
            match &mut self.way {
                Way::Unknown => self.way = Way::Straight(Queue::new(&self.listener)?),
                Way::Straight(queue) => {
                    let arrival = queue.take().await?;
                    self.look_out(&arrival);
                    return Ok(arrival);
                }
                Way::Porch(porch) => {
                    self.turn.begin().await;
                    let arrival = porch.next().await;
                    self.turn.taken();
                    match arrival {
                        Some(arrival) => return arrival,
                        None => self.way = Way::Unknown,
                    }
                }
            }
        }
    }

    /// Opens the porch if somebody comes from where too much was wrong. They themselves go on: it is one.
    fn look_out(&mut self, (_, peer): &Arrival) {
        let source = Source::of(peer.ip());
        if self.site.place.tls || !self.site.door.strangers.is_over(source, Instant::now()) {
            return;
        }
        match Porch::open(&self.listener, &self.site) {
            Ok(porch) => self.way = Way::Porch(porch),
            Err(error) => tracing::debug!(%error, "no porch; strangers come in"),
        }
    }

    /// Nobody takes from the queue any more when this is done.
    pub(crate) async fn close(self) {
        if let Way::Porch(porch) = self.way {
            porch.close().await;
        }
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
