//! A collector on this machine: takes requests, answers that all is well, and keeps what it heard.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use greenroom_testkit::BOUND;

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
    head: Vec<(String, String)>,
}

impl Heard {
    /// A header, by its name in small letters.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }
}

#[derive(Default)]
struct Shared {
    heard: Mutex<Vec<Heard>>,
    connections: AtomicUsize,
    over: AtomicBool,
}

/// A collector. It ends when it is dropped.
pub(super) struct Collector {
    shared: Arc<Shared>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    pub(super) fn start() -> Collector {
        Collector::with(true)
    }

    /// One that takes connections and says nothing.
    pub(super) fn silent() -> Collector {
        Collector::with(false)
    }

    fn with(answers: bool) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                if ours.over.load(Ordering::SeqCst) {
                    return;
                }
                ours.connections.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&ours);
                match answers {
                    // It ends with its connection, and that with the daemon.
                    true => drop(thread::spawn(move || serve(&stream, &shared))),
                    false => kept.push(stream),
                }
            }
        });
        Collector { shared, port, thread: Some(thread) }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything so far.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        TcpStream::connect(("127.0.0.1", self.port)).map(drop).unwrap_or_default();
        self.thread.take().map(JoinHandle::join);
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    stream.set_read_timeout(Some(BOUND)).unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(heard) = read(&mut reader) {
        shared.heard.lock().unwrap().push(heard);
        let mut writer = stream;
        if writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

/// The next request; none when the connection ends.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<Heard> {
    let line = |reader: &mut BufReader<&TcpStream>| {
        let mut text = String::new();
        reader.read_line(&mut text).ok().filter(|read| *read > 0)?;
        Some(text.trim_end().to_owned())
    };
    let first = line(reader)?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut head = Vec::new();
    loop {
        let text = line(reader)?;
        let Some((name, value)) = text.split_once(": ") else { break };
        head.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = head.iter().find(|it| it.0 == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Heard { path, body, head })
}
