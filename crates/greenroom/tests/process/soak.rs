//! Everything at once, for as long as it is asked to: daemons killed and stopped in the midst of a stream,
//! clients that do not read, bad frames, clients that vanish, sessions that come and go (R7: K1, B1 and N1
//! mixed). Nothing is lost, nothing comes twice, nothing grows.
//!
//! The suite has a few rounds; `GREENROOM_SOAK_MINUTES=1440` is a day.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use greenroom_testkit::{
    Daemon, Home, LINE, PTYWRIGHT, Signal, Wire, create, eventually_ok, process, session_list, soak,
};
use serde_json::json;

use crate::family::cycle;
use crate::malformed::valid;
use crate::reader::Reader;
use crate::support::{Random, call, enter, home, mutated, pid, wait_for_text};

/// How many lines are printed in a round: a megabyte.
const LINES: u64 = 20_000;

/// How many rounds a daemon lives, in the suite and when it is asked for more: it is killed in the first of the
/// next one, and again.
const LIFE: (usize, usize) = (4, 1000);

/// How many daemons are killed in such a round.
const KILLS: u64 = 3;

/// How many daemons live to the end of their rounds in the suite.
const LIVES: usize = 3;

/// Bad frames at each door, and sessions that come and go, in each round.
const FRAMES: usize = 60;
const CYCLES: usize = 4;

/// How much a daemon may grow in the second half of its life beside two hundredths, in KiB: by so much its memory
/// goes up and down from round to round. A leak of a hundred bytes a frame is more than this in a long life.
const SLACK: u64 = 4096;

/// What a holder has at most, in KiB: what it keeps of the output by its contract, and itself.
const HOLDER: u64 = 18 << 10;

fn is_flat(now: u64, before: u64) -> bool {
    now <= before + before / 50 + SLACK
}

/// What is disturbed, and who looks whether it is whole.
struct Stage<'a> {
    home: &'a Home,
    daemon: Daemon,
    reader: Reader<'a>,
    /// The holder of what is printed.
    holder: u32,
    random: Random,
    rounds: usize,
}

impl<'a> Stage<'a> {
    fn set(home: &'a Home) -> Stage<'a> {
        // The log keeps its last 10,000 entries in memory, of every bad frame one: it would grow for days.
        home.configure("[logs]\nlevel = \"error\"\n");
        let daemon = home.start();
        let mut connection = home.connect();
        // Bad frames are about session 1, and no mistake in one makes that a number so far away.
        create(&mut connection, "target", "stty -echo raw; echo up; exec cat > /dev/null");
        (0..40).for_each(|round| cycle(&mut connection, round));
        let script = format!(
            "stty -echo -onlcr; printf 'ready\\n'; i=0; while read go; do \
             seq -f '{LINE}' $((i+1)) $((i+{LINES})); i=$((i+{LINES})); done"
        );
        let made = create(&mut connection, "printer", &script);
        wait_for_text(&mut connection, "printer", "ready");
        let reader = Reader::attach(home, "printer");
        let holder = pid(&made, "holderPid");
        Stage { home, daemon, reader, holder, random: Random(20_261_118), rounds: 0 }
    }

    /// A megabyte is printed while much else happens.
    fn round(&mut self, kills: u64) {
        let (begin, end) = (self.reader.lines.count(), self.reader.lines.count() + LINES);
        let mut slow = self.slow();
        // Not by the reader's connection: it may not have noticed yet whom it has lost.
        enter(&mut self.home.connect(), "printer");
        let mut killed = 0;
        let mut disturbed = false;
        while self.reader.lines.count() < end {
            let printed = self.reader.lines.count() - begin;
            if killed < kills && printed >= LINES * killed / kills {
                self.daemon.restart(self.home);
                slow = self.slow();
                killed += 1;
            }
            if !disturbed && printed >= LINES / 2 {
                self.disturb();
                disturbed = true;
            }
            if !self.reader.take() {
                self.reader.reconnect();
            }
        }
        drop(slow);
        let mut connection = self.home.connect();
        (0..CYCLES).for_each(|it| cycle(&mut connection, CYCLES * self.rounds + it));
        self.rounds += 1;
    }

    /// A client that is shown the stream and never reads.
    fn slow(&self) -> Wire {
        let mut wire = self.home.wire();
        let attach = json!({"sessionId": "printer", "stream": true, "readOnly": true});
        let (_, bytes) = wire.request("session.attach", &attach);
        wire.send_bytes(&bytes).unwrap();
        wire
    }

    /// Bad frames at two doors, from clients that vanish in the midst of them, and a daemon that stands still.
    fn disturb(&mut self) {
        let good = valid();
        for _ in 0..FRAMES {
            let bytes = mutated(&mut self.random, &good);
            // It may be refused before all of it is sent.
            self.home.wire().send_bytes(&bytes).unwrap_or_default();
            let length = 1 + self.random.below(200);
            let bytes = self.random.bytes(length);
            let mut wright = UnixStream::connect(self.home.path().join(PTYWRIGHT)).unwrap();
            wright.write_all(&bytes).unwrap_or_default();
        }
        self.daemon.signal(Signal::STOP);
        self.daemon.signal(Signal::CONT);
    }

    /// The descriptors, at most so many, and the memory of a daemon once everybody of the round is gone.
    fn settled(&self, most: usize) -> (usize, u64) {
        let daemon = self.daemon.pid();
        let mut connection = self.home.connect();
        let open = eventually_ok("those who came are gone", || {
            let status = call(&mut connection, "daemon.status", json!({}));
            let sessions = session_list(&mut connection, true).len();
            let zombies = process::zombies(daemon).len() + process::zombies(self.holder).len();
            let (clients, open) = (&status["clients"], process::fds(daemon).len());
            // The reader and who asks; the printer and the target.
            if *clients == 2 && sessions == 2 && zombies == 0 && open <= most {
                return Ok(open);
            }
            Err(format!("({clients} clients, {sessions} sessions, {zombies} zombies, {open} open)"))
        });
        (open, process::memory_kib(daemon))
    }
}

#[test]
fn nothing_is_lost_and_nothing_grows_while_everything_is_disturbed() {
    let home = home();
    let begin = Instant::now();
    let mut stage = Stage::set(&home);
    let mut first = None;
    let mut lives = 0;
    while lives < LIVES || begin.elapsed() < soak() {
        let half = if soak().is_zero() { LIFE.0 } else { LIFE.1 } / 2;
        stage.round(KILLS);
        (1..half).for_each(|_| stage.round(0));
        let young = stage.settled(usize::MAX);
        (0..half).for_each(|_| stage.round(0));
        let old = stage.settled(young.0);
        assert!(is_flat(old.1, young.1), "{} KiB became {} in a daemon's life", young.1, old.1);
        let holder = (process::fds(stage.holder).len(), process::memory_kib(stage.holder));
        let (daemon, opened) = *first.get_or_insert((old, holder.0));
        assert!(
            is_flat(old.1, daemon.1),
            "{} KiB became {} from daemon to daemon",
            daemon.1,
            old.1
        );
        assert!(holder.1 <= HOLDER, "a holder has {} KiB", holder.1);
        assert!(holder.0 <= opened, "{opened} descriptors became {} in a holder", holder.0);
        lives += 1;
        let said =
            format!("{} rounds, {lives} lives: daemon {old:?}, holder {holder:?}", stage.rounds);
        println!("{said} after {:?}", begin.elapsed());
    }
    assert_eq!(stage.reader.lines.count(), LINES * stage.rounds as u64);
    assert_eq!(stage.reader.redraws, 1, "a stream that goes on has no need of a redraw");
    assert_eq!(process::state(stage.holder).map(|it| it == 'Z'), Some(false));
}
