//! Terminals in a browser: `/ws/pty` beside a server that does nothing but carry bytes (`relay`).
//!
//! The clock of a flood runs from the word that lets the program print until its last line has come to
//! the client, that of an echo from a key to its coming back. The client is the same for both (`browser`).
//!
//! A flood counts only if all of it came: every byte is compared afterwards (`seen`). A browser that is
//! too slow for ours gets a redraw instead of what it missed: that is not counted as printed to it, and
//! how much it was is said in the row.

use std::cell::Cell;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use bytes::Bytes;
use serde_json::json;
use tungstenite::Message;

use super::Spine;
use super::browser::{Client, Site, seq};
use super::fifo::Fifo;
use super::relay;
use super::row::{Bar, Row, Unit};
use super::scripts::{READY, echo, print_when_told};
use super::seen::{Outcome, Seen};
use super::turns::{self, Turn};
use super::wait::{PATIENCE, REST};
use crate::inputs;

/// How much is printed for one browser.
const BYTES: usize = 100_000_000;
const QUICK_BYTES: usize = 20_000_000;

/// How much is printed for many.
const CROWD_BYTES: usize = 5_000_000;

/// How many browsers look at one session.
const CROWD: usize = 100;

/// How long all of them may take to see its end.
const CROWD_TIME: f64 = 10.0;

/// Keys in a turn.
const KEYS: usize = 50;

/// Letters that are in no word of a message.
const LETTERS: &[u8] = b"jvwxz";

/// What is printed, and the pipes to the program.
struct Job {
    bytes: usize,
    /// What a terminal shows of it.
    shown: Vec<u8>,
    go: Fifo,
    done: Fifo,
    argv: Vec<String>,
}

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let ours = spine.ours("web")?;
    let flood = Job::new(spine, "web", spine.choose(BYTES, QUICK_BYTES))?;
    let crowd = Job::new(spine, "web-crowd", CROWD_BYTES)?;
    let programs = [("flood", flood.argv.clone()), ("crowd", crowd.argv.clone()), ("echo", echo())];
    let site = Site::open(&ours, &providers(&programs))?;
    let address = relay::serve(programs.to_vec(), &spine.place.environment())?;
    let (job, site) = (&flood, &site);
    let of_relay = |path: &str| Client::open(address.port(), &format!("/{path}"), "");
    let rounds = spine.choose(5, 3);
    let [none, one_replaced, stopped_replaced, many_replaced] = [const { Cell::new(0) }; 4];
    let ours = |id: &str| join(site, "flood", id);
    let bare_check = |seen: &Seen, text: &[u8], _: u64| seen.of_relay(text);
    let [bare, one, stopped] = turns::take(
        rounds,
        [
            (
                "the relay",
                Box::new(|| job.printed(|_| of_relay("flood"), 0, bare_check, &none)) as Turn<'_>,
            ),
            ("greenroom", Box::new(|| job.printed(ours, 0, Seen::of_ours, &one_replaced))),
            (
                "greenroom, one stopped",
                Box::new(|| job.printed(ours, 1, Seen::of_ours, &stopped_replaced)),
            ),
        ],
    )?
    .map(|samples| samples.p50());
    let (mut bare_echo, mut our_echo) = (of_relay("echo")?, join(site, "echo", &new_id())?);
    bare_echo.read_until(READY, |_| Ok(()))?;
    our_echo.read_until(READY, |_| Ok(()))?;
    let [bare_key, our_key] = turns::take(
        spine.choose(40, 10),
        [
            (
                "the relay",
                Box::new(|| (0..KEYS).map(|it| key(&mut bare_echo, it, false)).collect())
                    as Turn<'_>,
            ),
            ("greenroom", Box::new(|| (0..KEYS).map(|it| key(&mut our_echo, it, true)).collect())),
        ],
    )?
    .map(|samples| samples.p50());
    let crowds = spine.choose(3, 1);
    let look = |id: &str| join(site, "crowd", id);
    let [many] = turns::take(
        crowds,
        [("a hundred", Box::new(|| crowd.seen(look, &many_replaced)) as Turn<'_>)],
    )?
    .map(|samples| samples.p50());
    let megabytes = job.bytes / 1_000_000;
    let rate = |what: &str, ours: f64, replaced: &Cell<u64>| Row {
        what: format!(
            "{megabytes} MB of log text printed to a browser's terminal{what}, {}",
            arrived(replaced.get(), rounds * job.shown.len(), "every byte")
        ),
        unit: Unit::Rate,
        ours,
        peers: vec![("relay", bare)],
        limit: Some(bare),
        bar: Bar::OfLimit(0.8),
    };
    let seconds = |what: String, ours: f64, peers, bar| Row {
        what,
        unit: Unit::Seconds,
        ours,
        peers,
        limit: None,
        bar,
    };
    Ok(vec![
        rate("", one, &one_replaced),
        rate(", another one stopped", stopped, &stopped_replaced),
        seconds(
            "key to echo in a browser's terminal, p50".to_owned(),
            our_key,
            vec![("relay", bare_key)],
            Bar::OfPeer(1.5, "relay"),
        ),
        seconds(
            format!(
                "{CROWD} browsers at one session see the end of {} MB, {}",
                CROWD_BYTES / 1_000_000,
                arrived(
                    many_replaced.get(),
                    crowds * CROWD * crowd.shown.len(),
                    "every byte by its offset"
                )
            ),
            many,
            Vec::new(),
            Bar::AtMost(CROWD_TIME),
        ),
    ])
}

/// How much of it came, in words.
fn arrived(replaced: u64, bytes: usize, all: &str) -> String {
    match replaced {
        0 => all.to_owned(),
        _ => format!("{:.1} % of it as a redraw", 100.0 * replaced as f64 / bytes as f64),
    }
}

/// What came of one printing.
struct Printed {
    seconds: f64,
    /// What each client got, and the offset it began at.
    seen: Vec<(Seen, u64)>,
    /// The last word.
    marker: String,
}

/// What a daemon's configuration says of programs for terminals.
fn providers(programs: &[(&str, Vec<String>)]) -> String {
    let sections = programs.iter().map(|(name, argv)| {
        // A list of texts is written in JSON as in TOML.
        format!("[websocket.providers.{name}]\ncommand = {}\n", json!(argv))
    });
    sections.collect()
}

fn join(site: &Site, provider: &str, id: &str) -> Result<Client> {
    site.socket(&format!("/ws/pty?provider={provider}&session_id={id}"))
}

impl Job {
    fn new(spine: &Spine<'_>, name: &str, bytes: usize) -> Result<Job> {
        let mut text = inputs::log(bytes.min(QUICK_BYTES)).bytes;
        text.retain(|byte| *byte != b'\r');
        let mut text: Vec<u8> = text.into_iter().cycle().take(bytes).collect();
        // Whole lines: the word that follows them is one of its own.
        text.pop();
        text.push(b'\n');
        let file = spine.place.write(&format!("{name}.log"), &text)?;
        let go = spine.place.fifo(&format!("{name}.go"))?;
        let done = spine.place.fifo(&format!("{name}.done"))?;
        let argv = print_when_told(&file.to_string_lossy(), &go, &done);
        // As a terminal brings it.
        let mut shown = Vec::with_capacity(bytes + bytes / 32);
        for byte in text {
            if byte == b'\n' {
                shown.push(b'\r');
            }
            shown.push(byte);
        }
        Ok(Job { bytes, shown, go, done, argv })
    }

    /// Megabytes a second until a client has seen the end; every byte is compared then.
    fn printed(
        &self,
        open: impl Fn(&str) -> Result<Client>,
        stopped: usize,
        check: impl Fn(&Seen, &[u8], u64) -> Result<Outcome>,
        replaced: &Cell<u64>,
    ) -> Result<Vec<f64>> {
        let printed = self.print(open, 1, stopped, Seen::see)?;
        let text = [&self.shown[..], printed.marker.as_bytes()].concat();
        let mut missed = 0;
        for (seen, begin) in &printed.seen {
            missed += check(seen, &text, *begin).context("what came to the browser")?.replaced;
        }
        replaced.set(replaced.get() + missed);
        // A redraw is no reason to be called faster.
        let came = 1.0 - missed as f64 / self.shown.len() as f64;
        Ok(vec![came * self.bytes as f64 / printed.seconds / 1e6])
    }

    /// Seconds until all of a crowd have seen the end; how much came as a redraw is added up.
    fn seen(
        &self,
        open: impl Fn(&str) -> Result<Client>,
        replaced: &Cell<u64>,
    ) -> Result<Vec<f64>> {
        let printed = self.print(open, CROWD, 0, Seen::glimpse)?;
        let bytes = (self.shown.len() + printed.marker.len()) as u64;
        for (seen, begin) in &printed.seen {
            let outcome = seen.counted(bytes, *begin).context("what came to one of the crowd")?;
            replaced.set(replaced.get() + outcome.replaced);
        }
        Ok(vec![printed.seconds])
    }

    fn print(
        &self,
        open: impl Fn(&str) -> Result<Client>,
        looking: usize,
        stopped: usize,
        keep: fn(&mut Seen, &Bytes),
    ) -> Result<Printed> {
        let id = new_id();
        let mut clients = Vec::new();
        for number in 0..looking + stopped {
            let mut client = open(&id)?;
            if number == 0 {
                self.done.hear(PATIENCE)?;
            }
            let mut begin = 0;
            client.read_until(READY, |message| {
                begin = seq(message).unwrap_or(begin);
                Ok(())
            })?;
            clients.push((client, begin));
        }
        let stopped = clients.split_off(looking);
        let marker = format!("THE-END-{}", &id[..8]);
        let begin = Instant::now();
        self.go.tell(&marker)?;
        let readers: Vec<_> = clients
            .into_iter()
            .map(|(mut client, begin)| {
                let (marker, mut seen) = (marker.clone(), Seen::default());
                thread::spawn(move || {
                    let see = |message: &Bytes| {
                        keep(&mut seen, message);
                        Ok(())
                    };
                    client.read_until(&marker, see).map(|at| (at, client, seen, begin))
                })
            })
            .collect();
        let mut end = begin;
        let (mut clients, mut all) = (Vec::new(), Vec::new());
        for reader in readers {
            let (at, client, seen, begin) =
                reader.join().map_err(|_| anyhow!("a reader panicked"))??;
            end = end.max(at);
            clients.push(client);
            all.push((seen, begin));
        }
        // A bare terminal has nobody who answers the question behind the text.
        if let Some(client) = clients.first_mut() {
            client.0.send(Message::binary(b"\x1b[0n".to_vec()))?;
        }
        self.done.hear(PATIENCE)?;
        drop(stopped);
        Ok(Printed { seconds: end.duration_since(begin).as_secs_f64(), seen: all, marker })
    }
}

/// Types a key and waits for its echo; seconds.
fn key(client: &mut Client, number: usize, in_words: bool) -> Result<f64> {
    let letter = LETTERS[number % LETTERS.len()];
    thread::sleep(REST);
    let message = match in_words {
        true => Message::text(
            json!({"type": "input", "data": char::from(letter).to_string()}).to_string(),
        ),
        false => Message::binary(vec![letter]),
    };
    let begin = Instant::now();
    client.0.send(message)?;
    loop {
        let bytes = client.read()?;
        if bytes.contains(&letter) {
            let taken = begin.elapsed();
            ensure!(taken < PATIENCE, "it took too long");
            return Ok(taken.as_secs_f64());
        }
    }
}

/// An id that no session has.
fn new_id() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |it| it.as_nanos());
    format!("{:08x}-0000-4000-8000-{:012x}", now as u32, (now >> 32) as u64 & 0xffff_ffff_ffff)
}
