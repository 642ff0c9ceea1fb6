//! Wrong tokens, one after the other and very many at once (N5): who says them waits, and nobody else.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use greenroom_testkit::{count, eventually, process};

use super::{Answer, SOON, Site, Socket, answer};

/// How many connections a second a flood offers.
const RATE: usize = 5_000;

/// How many threads make them.
const FLOODERS: usize = 4;

/// How nice they are. A flood comes from elsewhere, and to make it takes more of these processors than to
/// meet it: what is measured is who meets it.
const FLOODER_NICE: i32 = 19;

/// How long a flooder leaves a connection alone before it reads the answer: it does not wait for one
/// before it makes the next, and has only so many descriptors itself.
const UNREAD: Duration = Duration::from_millis(100);

/// How long a flooder waits at the end: longer than an answer is put off.
const LEFT: Duration = Duration::from_secs(2);

/// How many wrong tokens are answered at once, and how many more a second.
const BUDGET: usize = 20;

/// How many descriptors there may be more meanwhile: 64 who have said nothing yet, 64 who wait for
/// their answer, and those who just got it.
const MORE_FDS: usize = 64 + 64 + 32;

/// How many of these remain for a while: those of the thread that meets a crowd.
const PORCH_FDS: usize = 8;

const WRONG: (&str, &str) = ("Authorization", "Bearer wrong");

/// Guesses until that has to wait; gives how many guesses did not, and the answer to the one that did.
fn guess(site: &Site) -> (usize, Answer, Duration) {
    for number in 0.. {
        let begin = Instant::now();
        let answer = site.ask("GET /api/me", &[WRONG], "");
        if answer.status != 401 {
            return (number, answer, begin.elapsed());
        }
        assert!(number < 100 * BUDGET, "nobody minds");
    }
    unreachable!("there is no last number")
}

#[test]
fn who_guesses_is_put_off_and_the_owner_is_not() {
    let site = Site::with("metrics = true\n");
    let (at_once, answer, took) = guess(&site);
    assert!(at_once >= BUDGET, "{at_once}");
    assert_eq!((answer.status, answer.header("connection")), (429, Some("close")));
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..60).contains(&seconds), "{answer:?}");
    // As long as it is said to, give or take how clocks are read.
    assert!(took > Duration::from_millis(900), "{took:?}");
    // From the same address, and by whatever way a secret is said.
    assert_eq!(site.owner("GET /api/me").status, 200);
    let login = site.ask("POST /login", &[], &format!("token={}", site.token));
    assert_eq!(login.status, 204);
    let cookie = login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(site.ask("GET /api/me", &[("Cookie", &cookie)], "").status, 200);
    assert!(site.try_socket(&format!("/ws/native?token={}", site.token), &[]).is_ok());
    // Who says nothing has not guessed: this is how our page finds out that it must ask for a token.
    assert_eq!(site.ask("GET /api/me", &[], "").status, 401);
    assert_eq!(site.ask("GET /", &[], "").status, 200);
    let numbers = site.owner("GET /metrics").body;
    assert!(numbers.contains("\ngreenroom_web_put_off_total 1\n"), "{numbers}");
}

/// What a flood came to.
#[derive(Debug, Default)]
struct Flood {
    offered: usize,
    /// Turned away at once.
    refused: usize,
    /// Put off, and told for how long.
    put_off: usize,
    /// Closed without an answer.
    cut: usize,
    /// Neither answered nor closed by the end.
    unheard: usize,
}

impl Flood {
    fn note(&mut self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        // Who is cut hears nothing, or that the other end is gone.
        stream.read_to_end(&mut bytes).map(drop).unwrap_or_default();
        let answer = answer(&bytes);
        match (answer.status, answer.header("retry-after")) {
            (401, None) => self.refused += 1,
            (429, Some(_)) => self.put_off += 1,
            (0, None) => self.cut += 1,
            _ => panic!("{answer:?}"),
        }
    }

    fn add(&mut self, other: &Flood) {
        self.offered += other.offered;
        self.refused += other.refused;
        self.put_off += other.put_off;
        self.cut += other.cut;
        self.unheard += other.unheard;
    }
}

/// Offers connections at a rate for a while, whatever becomes of those before.
fn flood(site: &Site, rate: usize, lasts: Duration) -> Flood {
    greenroom_pty::take_long_turns(FLOODER_NICE);
    let request = format!(
        "GET /api/me HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer wrong\r\n\
         Connection: close\r\n\r\n",
        site.port
    );
    let (begin, mut done) = (Instant::now(), Flood::default());
    let mut open: VecDeque<(Instant, TcpStream)> = VecDeque::new();
    while begin.elapsed() < lasts {
        let due = begin.elapsed().as_secs_f64() * rate as f64;
        while (done.offered as f64) < due {
            let mut stream = site.connect();
            stream.write_all(request.as_bytes()).unwrap_or_default();
            open.push_back((Instant::now(), stream));
            done.offered += 1;
        }
        while let Some((_, stream)) = open.pop_front_if(|it| it.0.elapsed() > UNREAD) {
            match is_answered(&stream) {
                true => done.note(stream),
                false => open.push_back((Instant::now(), stream)),
            }
        }
        // Nothing is waited for: this is the rate.
        thread::sleep(Duration::from_millis(1));
    }
    // A connection the system had no room for is made when it tries again, which may take long.
    let end = Instant::now();
    while let Some((_, stream)) = open.pop_front() {
        match is_answered(&stream) {
            true => done.note(stream),
            false if end.elapsed() < LEFT => {
                open.push_back((end, stream));
                thread::sleep(Duration::from_millis(1));
            }
            false => done.unheard += 1,
        }
    }
    done
}

/// Whether there is something to read, or the end.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let looked = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    looked.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
}

/// What the owner saw meanwhile.
#[derive(Debug, Default)]
struct Seen {
    answers: Vec<Duration>,
    most_fds: usize,
}

fn look(site: &Site, over: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    while !over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        assert_eq!(site.owner("GET /api/me").status, 200);
        seen.answers.push(begin.elapsed());
        seen.most_fds = seen.most_fds.max(process::fds(site.daemon.pid()).len());
        // Looking all the time would be a flood as well.
        thread::sleep(Duration::from_millis(20));
    }
    seen
}

/// N5: nothing runs out, who floods is put off, and who is known is served.
#[test]
fn a_flood_of_wrong_tokens_is_put_off() {
    let site = Site::new();
    let (mut known, _) = site.pty("");
    known.type_in("stty -echo; echo re''ady\n");
    known.until("ready");
    let before = process::fds(site.daemon.pid()).len();
    let keys = count(50, 20_000);
    let mut alone = echoes(&mut known, 0..keys);
    let lasts = Duration::from_secs(count(2, 10) as u64);
    let (begin, over) = (Instant::now(), AtomicBool::new(false));
    let ticks = process::cpu_ticks(site.daemon.pid());
    let (flood, meanwhile, seen) = thread::scope(|scope| {
        let flooders: Vec<_> =
            (0..FLOODERS).map(|_| scope.spawn(|| flood(&site, RATE / FLOODERS, lasts))).collect();
        let owner = scope.spawn(|| look(&site, &over));
        let typist = scope.spawn(|| {
            let mut taken = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let number = alone.len() + taken.len();
                taken.extend(echoes(&mut known, number..number + 1));
            }
            taken
        });
        let mut all = Flood::default();
        flooders.into_iter().for_each(|it| all.add(&it.join().unwrap()));
        over.store(true, Ordering::Relaxed);
        (all, typist.join().unwrap(), owner.join().unwrap())
    });
    let seconds = begin.elapsed().as_secs_f64();
    let ticks = process::cpu_ticks(site.daemon.pid()) - ticks;
    // Once more, as the machine may have become slower or faster.
    let number = keys + meanwhile.len();
    alone.extend(echoes(&mut known, number..number + keys));
    eprintln!(
        "{flood:?} in {seconds:.1} s, {:.0} a second; echo p99 {:?} alone, {:?} meanwhile ({}); \
         the owner was answered {} times, p99 {:?}, last {:?}; {} descriptors more; \
         the daemon took {ticks} ticks",
        flood.offered as f64 / seconds,
        percentile(&alone, 99),
        percentile(&meanwhile, 99),
        meanwhile.len(),
        seen.answers.len(),
        percentile(&seen.answers, 99),
        percentile(&seen.answers, 100),
        seen.most_fds.saturating_sub(before),
    );
    assert!(flood.put_off > 0, "{flood:?}");
    // One more a second is forgiven, and one before the first second is over.
    assert!(flood.refused <= BUDGET + 1 + seconds.ceil() as usize, "{flood:?}");
    assert!(percentile(&meanwhile, 100) < SOON, "{meanwhile:?}");
    assert!(percentile(&seen.answers, 100) < SOON, "{seen:?}");
    assert!(seen.most_fds <= before + MORE_FDS, "{} of {before}", seen.most_fds);
    eventually("the descriptors are free", || {
        process::fds(site.daemon.pid()).len() <= before + PORCH_FDS
    });
}

/// How long it takes a shell to answer what is typed, each time.
fn echoes(socket: &mut Socket, numbers: Range<usize>) -> Vec<Duration> {
    let one = |number: usize| {
        let begin = Instant::now();
        socket.type_in(&format!("echo {number}-e''nd\n"));
        socket.until(&format!("{number}-end"));
        begin.elapsed()
    };
    numbers.map(one).collect()
}

fn percentile(taken: &[Duration], percent: usize) -> Duration {
    let mut sorted = taken.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * percent / 100).min(last)).copied().unwrap_or_default()
}
