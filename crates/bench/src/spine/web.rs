//! Terminals in a browser: `/ws/pty` beside a server that does nothing but carry bytes (`relay`).
//!
//! The clock of a flood runs from the word that lets the program print until its last line has come to
//! the client, that of an echo from a key to its coming back. The client is the same for both, and as
//! little as a client can be; what a browser does with it is the browser's.

use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use memchr::memmem::Finder;
use serde_json::json;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use super::Spine;
use super::fifo::Fifo;
use super::ours::Ours;
use super::relay;
use super::row::{Bar, Row, Unit};
use super::scripts::{READY, echo, print_when_told};
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

/// A client of either.
struct Client(WebSocket<TcpStream>);

/// Where ours is.
struct Site {
    port: u16,
    token: String,
}

/// What is printed, and the pipes to the program.
struct Job {
    bytes: usize,
    go: Fifo,
    done: Fifo,
    argv: Vec<String>,
}

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let ours = spine.ours("web")?;
    let flood = Job::new(spine, "web", spine.choose(BYTES, QUICK_BYTES))?;
    let crowd = Job::new(spine, "web-crowd", CROWD_BYTES)?;
    let programs = [("flood", flood.argv.clone()), ("crowd", crowd.argv.clone()), ("echo", echo())];
    let site = Site::open(&ours, &programs)?;
    let address = relay::serve(programs.to_vec(), &spine.place.environment())?;
    let (job, site) = (&flood, &site);
    let of_relay = |path: &str| Client::open(address.port(), &format!("/{path}"), "");
    let rounds = spine.choose(5, 3);
    let [bare, one, stopped] = turns::take(
        rounds,
        [
            ("the relay", Box::new(|| job.printed(|_| of_relay("flood"), 1, 0)) as Turn<'_>),
            ("greenroom", Box::new(|| job.printed(|id| site.join("flood", id), 1, 0))),
            ("greenroom, one stopped", Box::new(|| job.printed(|id| site.join("flood", id), 1, 1))),
        ],
    )?
    .map(|samples| samples.p50());
    let (mut bare_echo, mut our_echo) = (of_relay("echo")?, site.join("echo", &new_id())?);
    bare_echo.read_until(READY)?;
    our_echo.read_until(READY)?;
    let [bare_key, our_key] = turns::take(
        spine.choose(40, 10),
        [
            (
                "the relay",
                Box::new(|| (0..KEYS).map(|it| bare_echo.key(it, false)).collect()) as Turn<'_>,
            ),
            ("greenroom", Box::new(|| (0..KEYS).map(|it| our_echo.key(it, true)).collect())),
        ],
    )?
    .map(|samples| samples.p50());
    let [many] = turns::take(
        spine.choose(3, 1),
        [("a hundred", Box::new(|| crowd.seen(|id| site.join("crowd", id))) as Turn<'_>)],
    )?
    .map(|samples| samples.p50());
    let megabytes = job.bytes / 1_000_000;
    let rate = |what: &str, ours: f64| Row {
        what: format!("{megabytes} MB of log text printed to a browser's terminal{what}"),
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
        rate("", one),
        rate(", another one stopped", stopped),
        seconds(
            "key to echo in a browser's terminal, p50".to_owned(),
            our_key,
            vec![("relay", bare_key)],
            Bar::OfPeer(1.5, "relay"),
        ),
        seconds(
            format!(
                "{CROWD} browsers at one session see the end of {} MB",
                CROWD_BYTES / 1_000_000
            ),
            many,
            Vec::new(),
            Bar::AtMost(CROWD_TIME),
        ),
    ])
}

impl Site {
    /// Opens the door of a daemon for browsers, with these programs to run.
    fn open(ours: &Ours<'_>, programs: &[(&str, Vec<String>)]) -> Result<Site> {
        let sections = programs.iter().map(|(name, argv)| {
            // A list of texts is written in JSON as in TOML.
            format!("[websocket.providers.{name}]\ncommand = {}\n", json!(argv))
        });
        let text: String = sections.collect();
        fs::write(ours.home().join("config.toml"), text).context("writing the configuration")?;
        let mut connection = ours.connect()?;
        connection.call("config.reload", &json!({}))?;
        let opened = connection.call("web.open", &json!({"port": 0}))?;
        let port = opened["port"].as_u64().and_then(|it| u16::try_from(it).ok());
        let token = opened["open"].as_str().and_then(|it| it.split_once("#token="));
        let token = token.context("no token")?.1.to_owned();
        Ok(Site { port: port.context("no port")?, token })
    }

    fn join(&self, provider: &str, id: &str) -> Result<Client> {
        let path = format!("/ws/pty?provider={provider}&session_id={id}");
        Client::open(self.port, &path, &self.token)
    }
}

impl Job {
    fn new(spine: &Spine<'_>, name: &str, bytes: usize) -> Result<Job> {
        let mut text = inputs::log(bytes.min(QUICK_BYTES)).bytes;
        text.retain(|byte| *byte != b'\r');
        let text: Vec<u8> = text.into_iter().cycle().take(bytes).collect();
        let file = spine.place.write(&format!("{name}.log"), &text)?;
        let go = spine.place.fifo(&format!("{name}.go"))?;
        let done = spine.place.fifo(&format!("{name}.done"))?;
        let argv = print_when_told(&file.to_string_lossy(), &go, &done);
        Ok(Job { bytes, go, done, argv })
    }

    /// Megabytes a second until the first client has seen the end.
    fn printed(
        &self,
        open: impl Fn(&str) -> Result<Client>,
        looking: usize,
        stopped: usize,
    ) -> Result<Vec<f64>> {
        let (seconds, _) = self.print(open, looking, stopped)?;
        Ok(vec![self.bytes as f64 / seconds / 1e6])
    }

    /// Seconds until all of a crowd have seen the end.
    fn seen(&self, open: impl Fn(&str) -> Result<Client>) -> Result<Vec<f64>> {
        Ok(vec![self.print(open, CROWD, 0)?.0])
    }

    fn print(
        &self,
        open: impl Fn(&str) -> Result<Client>,
        looking: usize,
        stopped: usize,
    ) -> Result<(f64, usize)> {
        let id = new_id();
        let mut clients = Vec::new();
        for number in 0..looking + stopped {
            let mut client = open(&id)?;
            if number == 0 {
                self.done.hear(PATIENCE)?;
            }
            client.read_until(READY)?;
            clients.push(client);
        }
        let stopped = clients.split_off(looking);
        let marker = format!("THE-END-{}", &id[..8]);
        let begin = Instant::now();
        self.go.tell(&marker)?;
        let readers: Vec<_> = clients
            .into_iter()
            .map(|mut client| {
                let marker = marker.clone();
                thread::spawn(move || client.read_until(&marker).map(|at| (at, client)))
            })
            .collect();
        let mut end = begin;
        let mut clients = Vec::new();
        for reader in readers {
            let (at, client) = reader.join().map_err(|_| anyhow!("a reader panicked"))??;
            end = end.max(at);
            clients.push(client);
        }
        // A bare terminal has nobody who answers the question behind the text.
        if let Some(client) = clients.first_mut() {
            client.0.send(Message::binary(b"\x1b[0n".to_vec()))?;
        }
        self.done.hear(PATIENCE)?;
        drop(stopped);
        Ok((end.duration_since(begin).as_secs_f64(), clients.len()))
    }
}

impl Client {
    fn open(port: u16, path: &str, token: &str) -> Result<Client> {
        let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request()?;
        if !token.is_empty() {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
        }
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (socket, _) = tungstenite::client(request, stream).context("opening a WebSocket")?;
        Ok(Client(socket))
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        loop {
            match self.0.read()? {
                Message::Text(text) => return Ok(text.as_bytes().to_vec()),
                Message::Binary(bytes) => return Ok(bytes.to_vec()),
                Message::Close(frame) => bail!("it was closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// Reads until some text has come, and says when.
    fn read_until(&mut self, text: &str) -> Result<Instant> {
        let finder = Finder::new(text.as_bytes());
        // The relay cuts anywhere: the end of a message and the beginning of the next are one text.
        let mut kept: Vec<u8> = Vec::new();
        loop {
            let bytes = self.read()?;
            let head = &bytes[..bytes.len().min(text.len())];
            if finder.find(&bytes).is_some() || finder.find(&[&kept[..], head].concat()).is_some() {
                return Ok(Instant::now());
            }
            kept = bytes[bytes.len() - bytes.len().min(text.len())..].to_vec();
        }
    }

    /// Types a key and waits for its echo; seconds.
    fn key(&mut self, number: usize, in_words: bool) -> Result<f64> {
        let letter = LETTERS[number % LETTERS.len()];
        thread::sleep(REST);
        let message = match in_words {
            true => Message::text(
                json!({"type": "input", "data": char::from(letter).to_string()}).to_string(),
            ),
            false => Message::binary(vec![letter]),
        };
        let begin = Instant::now();
        self.0.send(message)?;
        loop {
            let bytes = self.read()?;
            if bytes.contains(&letter) {
                let taken = begin.elapsed();
                ensure!(taken < PATIENCE, "it took too long");
                return Ok(taken.as_secs_f64());
            }
        }
    }
}

/// An id that no session has.
fn new_id() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |it| it.as_nanos());
    format!("{:08x}-0000-4000-8000-{:012x}", now as u32, (now >> 32) as u64 & 0xffff_ffff_ffff)
}
