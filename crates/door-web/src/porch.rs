//! The porch: who takes connections while somebody says too many wrong secrets.
//!
//! A crowd of strangers is to cost the daemon's thread nothing. So from the moment one comes from a source
//! that said too much (`strangers`), connections are taken by a thread of their own, which comes after
//! whoever answers people. Of those from such sources it looks at the head (`look`); who says a wrong
//! secret is answered here as the daemon would, late and for the last time. Everybody else is handed over
//! untouched, and the daemon looks at them as it does at all. Once no source is over its budget the
//! thread ends, and until then only a timer for that moment is set: in a house without strangers there is
//! no porch, and nobody goes a longer way.
//!
//! TLS is not spoken here: what is said behind it only the daemon knows.
//!
//! **Invariant:** the porch refuses, it never admits.

use std::convert::Infallible;
use std::io;
use std::net::{self, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use axum::http::{Method, Response};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{sleep, sleep_until, timeout};

use crate::arrivals::{Arrival, Queue};
use crate::listen::{HEAD_TIME, PAUSE, Site};
use crate::look::{self, Seen, Wrong, look};
use crate::metrics::Counted;
use crate::strangers::Source;
use crate::{Served, routes};

/// How nice the thread is: beside another that wants the processor it has a third of what that has, and
/// who is met there waits a little longer.
const NICE: i32 = 5;

/// How many are met in a row before those who wait have their turn: a few milliseconds of work.
const ROW: usize = 64;

/// How long to rest after some were met. Several at a time cost half of what each costs alone, also those
/// who connect; more at a time would be in a keystroke's way.
const REST: Duration = Duration::from_millis(1);

/// How many connections wait for the daemon to take them; the others wait in the system's queue.
const MAX_HANDED: usize = 16;

/// A connection between two threads, and where it comes from.
type Handed = (net::TcpStream, SocketAddr);

/// The porch, as the daemon sees it. When it is dropped, the porch closes soon.
pub(crate) struct Porch {
    handed: mpsc::Receiver<Handed>,
    open: oneshot::Sender<Infallible>,
}

impl Porch {
    /// Takes a listener's connections from now on, beside the daemon's thread.
    ///
    /// # Errors
    /// The system is out of descriptors or threads.
    pub(crate) fn open(listener: &TcpListener, site: &Arc<Site>) -> io::Result<Porch> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (hand, handed) = mpsc::channel(MAX_HANDED);
        let (open, closed) = oneshot::channel();
        let listener = listener.try_clone()?;
        let keeper = Keeper { site: Arc::clone(site), hand, waiting: JoinSet::new() };
        let name = thread::Builder::new().name("porch".to_owned());
        name.spawn(move || run(runtime, listener, keeper, closed))?;
        tracing::info!("too many wrong secrets: strangers are met on the porch");
        Ok(Porch { handed, open })
    }

    /// The next one who may go on; none when the porch is closed. It may be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Arrival>> {
        let (stream, peer) = self.handed.recv().await?;
        Some(awaited(stream).map(|stream| (stream, peer)))
    }

    /// Closes it; its thread has let go of the listener when this is done.
    pub(crate) async fn close(self) {
        let Porch { mut handed, open } = self;
        drop(open);
        while handed.recv().await.is_some() {}
    }
}

fn run(
    runtime: Runtime,
    listener: TcpListener,
    mut keeper: Keeper,
    closed: oneshot::Receiver<Infallible>,
) {
    greenroom_pty::take_long_turns(NICE);
    // The daemon takes connections again when nobody can hand it any: that comes last.
    let last = keeper.hand.clone();
    runtime.block_on(keeper.attend(&listener, closed));
    drop(listener);
    drop(keeper);
    drop(runtime);
    drop(last);
}

/// Who is on the porch.
struct Keeper {
    site: Arc<Site>,
    hand: mpsc::Sender<Handed>,
    /// Those whose head is not there yet, and those whose answer is to be late.
    waiting: JoinSet<()>,
}

impl Keeper {
    /// Meets those who come until there is no crowd, and nobody is left to be answered.
    async fn attend(&mut self, listener: &TcpListener, mut closed: oneshot::Receiver<Infallible>) {
        let site = Arc::clone(&self.site);
        let (mut calm, mut is_calm) = (pin!(calm(&site)), false);
        // How many were met last, and when to look for more.
        let mut met = (0, tokio::time::Instant::now());
        while !(is_calm && self.waiting.is_empty()) {
            tokio::select! {
                came = come(listener, met) => match came {
                    Ok(first) => {
                        let count = self.meet_all(first, listener).await;
                        met = (count, tokio::time::Instant::now() + REST);
                    }
                    Err(_) => sleep(PAUSE).await,
                },
                () = &mut calm, if !is_calm => is_calm = true,
                Some(_) = self.waiting.join_next() => {}
                _ = &mut closed => return,
            }
        }
    }

    /// Meets those who are there, though not too many in a row; gives how many they were.
    async fn meet_all(&mut self, first: Option<Handed>, listener: &TcpListener) -> usize {
        // Nothing is left of those who waited but their number.
        while self.waiting.try_join_next().is_some() {}
        let (mut met, mut next) = (0, first);
        while met < ROW {
            let arrival = match next.take().map_or_else(|| listener.accept(), Ok) {
                Ok(arrival) => arrival,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    sleep(PAUSE).await;
                    break;
                }
            };
            self.meet(arrival).await;
            met += 1;
        }
        met
    }

    async fn meet(&mut self, (stream, peer): Handed) {
        let source = Source::of(peer.ip());
        if self.site.door.strangers.is_over(source, Instant::now()) {
            match look(&self.site, &stream) {
                Seen::Half => return self.await_head(stream, peer),
                Seen::Wrong(wrong) => {
                    if let Some(refused) = Refused::new(&self.site, source, wrong) {
                        return self.refuse(stream, refused);
                    }
                }
                Seen::Other => {}
            }
        }
        hand_over(&self.hand, (stream, peer)).await;
    }

    /// Who is slow to say what they want is a newcomer like others: only so many are kept, and not for long.
    fn await_head(&mut self, stream: net::TcpStream, peer: SocketAddr) {
        let source = Source::of(peer.ip());
        let (site, hand) = (Arc::clone(&self.site), self.hand.clone());
        let number = site.newcomers.number();
        let task = self.waiting.spawn(async move {
            let listed = Listed { site: &site, number };
            let Ok(Some((stream, seen))) = timeout(HEAD_TIME, whole_head(&site, stream)).await
            else {
                return;
            };
            let refused = match seen {
                Seen::Wrong(wrong) => Refused::new(&site, source, wrong),
                Seen::Half | Seen::Other => None,
            };
            match refused {
                Some(refused) => {
                    // Those who wait for their answer have bounds of their own.
                    drop(listed);
                    late(&site, stream, refused).await;
                }
                None => hand_over(&hand, (stream, peer)).await,
            }
        });
        self.site.newcomers.add(number, source, task);
    }

    fn refuse(&mut self, stream: net::TcpStream, refused: Refused) {
        if self.site.door.strangers.has_place() {
            let site = Arc::clone(&self.site);
            self.waiting.spawn(async move { late(&site, stream, refused).await });
        } else {
            refused.answer(&self.site, &stream);
        }
    }
}

/// Waits until it is time to look who is there: for the next one, or if some came just now, a moment in
/// which more gather.
async fn come(
    listener: &TcpListener,
    (met, rested): (usize, tokio::time::Instant),
) -> io::Result<Option<Handed>> {
    match met {
        0 => {
            let (stream, peer) = Queue::new(listener)?.take().await?;
            return Ok(Some((stream.into_std()?, peer)));
        }
        ROW.. => yield_now().await,
        _ => sleep_until(rested).await,
    }
    Ok(None)
}

/// A newcomer while this lives.
struct Listed<'a> {
    site: &'a Site,
    number: u64,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.site.newcomers.remove(self.number);
    }
}

/// Ends when no source is over its budget.
async fn calm(site: &Site) {
    while let Some(left) = site.door.strangers.crowded_for(Instant::now()) {
        sleep(left).await;
    }
}

async fn hand_over(hand: &mpsc::Sender<Handed>, arrival: Handed) {
    // Who listens no more takes nobody, and they are hung up on.
    let _taken = hand.send(arrival).await;
}

/// A connection that can be waited for, on this thread.
fn awaited(stream: net::TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

/// Waits for the rest of a head; none if it will not come.
async fn whole_head(site: &Site, stream: net::TcpStream) -> Option<(net::TcpStream, Seen)> {
    let _counted = Counted::new(&site.door.metrics.connections);
    let stream = awaited(stream).ok()?;
    loop {
        let ready = stream.ready(Interest::READABLE).await.ok()?;
        let seen = stream.try_io(Interest::READABLE, || match look(site, &stream) {
            Seen::Half => Err(io::ErrorKind::WouldBlock.into()),
            seen => Ok(seen),
        });
        match seen {
            Ok(seen) => return Some((stream.into_std().ok()?, seen)),
            Err(_) if ready.is_read_closed() => return None,
            Err(_) => {}
        }
    }
}

/// Who is refused, and how.
struct Refused {
    answer: Response<String>,
    method: Method,
    began: SystemTime,
    since: Instant,
}

impl Refused {
    /// Notes it; none if it was not too often.
    fn new(site: &Site, source: Source, wrong: Wrong) -> Option<Refused> {
        let answer = routes::put_off(site, source, &wrong.host)?;
        let (began, since) = (SystemTime::now(), Instant::now());
        Some(Refused { answer, method: wrong.method, began, since })
    }

    fn answer(&self, site: &Site, stream: impl AsFd) {
        look::answer(stream, &self.answer, &self.method);
        if let Some(watch) = &site.door.around.watch {
            watch.served(&Served {
                method: routes::method_name(&self.method),
                // Which one it would have been only the table of routes knows.
                route: None,
                status: self.answer.status().as_u16(),
                began: self.began,
                took: self.since.elapsed(),
            });
        }
    }
}

/// Answers late, unless they hang up before.
async fn late(site: &Site, stream: net::TcpStream, refused: Refused) {
    let _counted = Counted::new(&site.door.metrics.connections);
    let Ok(stream) = awaited(stream) else { return };
    tokio::select! {
        () = site.door.strangers.wait() => refused.answer(site, &stream),
        () = hung_up(&stream) => {}
    }
}

async fn hung_up(stream: &TcpStream) {
    while let Ok(ready) = stream.ready(Interest::READABLE).await {
        if ready.is_read_closed() {
            return;
        }
        // What they say meanwhile is of no interest; there is to be news before this looks again.
        let _cleared =
            stream.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
}
