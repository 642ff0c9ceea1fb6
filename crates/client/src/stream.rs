//! One attached session, over as many connections as it takes.
//!
//! A [`Stream`] is told every event and knows the offset reached. When the connection is lost, it
//! is resumed over a new one: the daemon goes on exactly there, or redraws. Not here: waiting, and
//! how often to try (the caller's loop).

use std::num::NonZeroU64;

use greenroom_frame::binary::kind;
use greenroom_frame::binary::stream::Typed;
use greenroom_model::{Offset, Size};
use rustix::rand::GetRandomFlags;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::error::Error;
use crate::event::{Ended, Event};
use crate::session::Session;

/// How to attach.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// The size of the client's terminal, if it has one that counts.
    pub size: Option<Size>,
    /// Whether it only watches: it may not type and never sizes.
    pub read_only: bool,
    /// Whether it is no terminal: it gets every byte as it was printed, and has no size.
    pub raw: bool,
    /// What happens when the client does not read.
    pub lag: Lag,
    /// How many lines above the screen are drawn first, so that one can scroll back to them.
    pub history: u32,
    /// Go on at this offset instead of drawing the screen.
    pub from: Option<Offset>,
    /// Whom it is for, if for another program.
    pub behalf: Option<Behalf>,
    /// Whether more output than anybody can see may come as pictures, and the lines it missed behind it.
    pub pictures: bool,
    /// Whether to be told how much of what is typed the terminal takes: what it did not can be sent again
    /// when the stream was resumed.
    pub counts: bool,
}

/// The program a stream is for, if it is not this one.
#[derive(Debug, Clone, Default)]
pub struct Behalf {
    /// Its process.
    pub pid: u32,
    /// What it said of itself to the daemon, once the daemon has told: its type and its name.
    pub said: Option<(String, String)>,
    /// When it was the one to size the session last, in milliseconds since 1970.
    pub sized_ms: Option<u64>,
    /// Its size is only to be known: it was said to another daemon, and is no news.
    pub quiet: bool,
}

/// What happens when a client does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lag {
    /// Bytes are left out and the screen drawn anew.
    #[default]
    Skip,
    /// The program waits.
    Block,
    /// As [`Lag::Skip`]; but what is missed while there is no connection is kept, for a while.
    Keep,
}

/// One attached session.
#[derive(Debug, Clone)]
pub struct Stream {
    id: String,
    /// The session's id, as frames about it carry it.
    session_id: String,
    target: String,
    session: Session,
    options: AttachOptions,
    offset: Offset,
    /// Up to where the daemon told; the offset is past it while something was seen before.
    told: Offset,
    /// How many bytes were typed over this connection.
    typed: u64,
    /// What the client calls itself to who counts what it types.
    typist: Option<NonZeroU64>,
    /// Whether something was typed under that name.
    counted: bool,
    /// Whether this daemon counts.
    counts: bool,
    /// Whether something was typed under that name when it was asked to.
    awaits: bool,
    ended: Option<Ended>,
}

impl Stream {
    /// Attaches to a session.
    ///
    /// # Errors
    /// The daemon's no, a lost connection.
    pub fn attach(
        connection: &mut Connection,
        target: &str,
        options: AttachOptions,
    ) -> Result<Stream, Error> {
        let from = options.from;
        let typist = options.counts.then(new_typist).flatten();
        let counted = typist.map(|it| (it, false));
        let answer = connection.call("session.attach", &params(target, &options, from, counted))?;
        let session = Session::from_wire(&answer["session"]);
        let mut options = options;
        options.told(&answer);
        let offset = from.or_else(|| answer["offset"].as_u64().map(Offset)).unwrap_or_default();
        Ok(Stream {
            id: text(&answer, "streamId")?,
            session_id: text(&answer, "sessionId")?,
            target: session.exact(),
            session,
            options,
            offset,
            told: offset,
            typed: 0,
            typist,
            counted: false,
            counts: counts(&answer),
            awaits: false,
            ended: None,
        })
    }

    /// Attaches again over a new connection, where the lost one broke.
    ///
    /// # Errors
    /// The daemon's no, a lost connection.
    pub fn resume(&mut self, connection: &mut Connection) -> Result<(), Error> {
        let params = params(&self.target, &self.options, Some(self.offset), self.counted());
        let answer = connection.call("session.attach", &params)?;
        self.session = Session::from_wire(&answer["session"]);
        self.options.told(&answer);
        (self.told, self.typed) = (self.offset, 0);
        self.id = text(&answer, "streamId")?;
        self.session_id = text(&answer, "sessionId")?;
        self.set_counts(&answer);
        Ok(())
    }

    /// Attaches anew over the same connection, to have the screen drawn once more.
    ///
    /// # Errors
    /// The daemon's no, a lost connection.
    pub fn redraw(&mut self, connection: &mut Connection) -> Result<(), Error> {
        // Who types under a name of its own leaves the old stream by coming again.
        if !self.counts {
            connection.tell("session.detach", &json!({"streamId": self.id}))?;
        }
        let params = params(&self.target, &self.options, None, self.counted());
        let answer = connection.call("session.attach", &params)?;
        self.id = text(&answer, "streamId")?;
        self.typed = 0;
        self.set_counts(&answer);
        Ok(())
    }

    fn counted(&self) -> Option<(NonZeroU64, bool)> {
        self.typist.map(|it| (it, self.counted))
    }

    fn set_counts(&mut self, answer: &Value) {
        (self.counts, self.awaits) = (counts(answer), self.counted);
        if !self.counts {
            self.count_anew();
        }
    }

    /// Whether the daemon tells how much of what is typed the terminal takes.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// Whether it does so first of all, because something was typed before.
    #[must_use]
    pub fn awaits_count(&self) -> bool {
        self.counts && self.awaits
    }

    /// Nobody knows how much was typed; who counts later begins at zero.
    pub fn count_anew(&mut self) {
        (self.counts, self.counted) = (false, false);
        self.typist = self.typist.and_then(|_| new_typist());
    }

    /// Takes note of an event; true if it is one of this stream.
    pub fn note(&mut self, event: &Event) -> bool {
        match event {
            Event::Output { stream, end, .. } if *stream == self.id => {
                self.told = *end;
                self.offset = self.offset.max(*end);
                true
            }
            Event::Redraw { stream, offset, .. } if *stream == self.id => {
                (self.told, self.offset) = (*offset, *offset);
                true
            }
            Event::Ended { stream, how } if *stream == self.id => {
                self.ended = Some(how.clone());
                true
            }
            Event::Output { .. }
            | Event::Redraw { .. }
            | Event::Ended { .. }
            | Event::SizeWanted { .. }
            | Event::Taken { .. }
            | Event::Notification { .. }
            | Event::Answer { .. } => false,
        }
    }

    /// How many of the first bytes of an event that is not noted yet were seen before it came.
    #[must_use]
    pub fn seen(&self, event: &Event) -> usize {
        match event {
            Event::Output { stream, bytes, .. } if *stream == self.id => {
                let seen = usize::try_from(self.offset - self.told).unwrap_or(usize::MAX);
                seen.min(bytes.len())
            }
            _ => 0,
        }
    }

    /// Output was seen up to there, before the daemon told of it: bytes that it will pass as they are.
    pub(crate) fn saw(&mut self, end: Offset) {
        self.offset = self.offset.max(end);
    }

    /// How many bytes were typed over this connection.
    pub(crate) fn typed(&self) -> u64 {
        self.typed
    }

    /// The session as it was when attached.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What names exactly this session in other calls.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Where the next byte is.
    #[must_use]
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// How the session ended, once it did.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Types bytes.
    ///
    /// # Errors
    /// A lost connection.
    pub fn send_input(&mut self, connection: &mut Connection, bytes: &[u8]) -> Result<(), Error> {
        self.typed += bytes.len() as u64;
        self.counted |= self.counts;
        connection.send(kind::INPUT, &self.id, bytes)
    }

    /// Tells of bytes that were typed into the session's terminal when it had been seen up to there.
    ///
    /// # Errors
    /// A lost connection.
    pub fn tell_typed(
        &self,
        connection: &mut Connection,
        at: Offset,
        bytes: &[u8],
    ) -> Result<(), Error> {
        connection.send(kind::TYPED, &self.id, &Typed::to_payload(at.0, bytes))
    }

    /// Says the size of the client's terminal, now and whenever the stream is resumed.
    ///
    /// # Errors
    /// A lost connection.
    pub fn resize(&mut self, connection: &mut Connection, size: Size) -> Result<(), Error> {
        self.keep_size(size);
        let payload = json!({"cols": size.cols(), "rows": size.rows()}).to_string();
        connection.send(kind::RESIZE, &self.session_id, payload.as_bytes())
    }

    /// Keeps the size for when the stream is resumed.
    pub fn keep_size(&mut self, size: Size) {
        self.options.size = Some(size);
    }

    /// The size it was told, if it has one.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        self.options.size
    }

    /// Whom it is for, to be said whenever the stream is resumed.
    pub fn behalf_mut(&mut self) -> Option<&mut Behalf> {
        self.options.behalf.as_mut()
    }

    /// Its id on this connection.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Leaves the session; nothing of this stream comes afterwards.
    ///
    /// # Errors
    /// The daemon's no, a lost connection.
    pub fn detach(self, connection: &mut Connection) -> Result<(), Error> {
        connection.call("session.detach", &json!({"streamId": self.id})).map(drop)
    }
}

impl AttachOptions {
    /// Keeps what the daemon knows of whom this is for: the next one will not.
    fn told(&mut self, answer: &Value) {
        let known = |key: &str| answer["client"][key].as_str().map(str::to_owned);
        if let (Some(behalf), Some(said)) = (&mut self.behalf, known("type").zip(known("name"))) {
            behalf.said = Some(said);
        }
    }
}

impl Behalf {
    fn to_wire(&self) -> Value {
        let (kind, name) = self.said.as_ref().map(|it| (&it.0, &it.1)).unzip();
        json!({
            "pid": self.pid, "type": kind, "name": name,
            "sizedMs": self.sized_ms, "quiet": self.quiet,
        })
    }
}

fn text(answer: &Value, field: &'static str) -> Result<String, Error> {
    let text = answer[field].as_str().map(str::to_owned);
    text.ok_or(Error::Answer { method: "session.attach", field })
}

fn counts(answer: &Value) -> bool {
    answer["counts"].as_bool().unwrap_or(false)
}

/// A name that nobody else has; none if the system is out of something.
fn new_typist() -> Option<NonZeroU64> {
    let mut bytes = [0; size_of::<u64>()];
    let count = rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty()).ok()?;
    NonZeroU64::new(u64::from_ne_bytes(bytes)).filter(|_| count == bytes.len())
}

fn params(
    target: &str,
    options: &AttachOptions,
    from: Option<Offset>,
    counted: Option<(NonZeroU64, bool)>,
) -> Value {
    let lag = match options.lag {
        Lag::Skip => "skip",
        Lag::Block => "block",
        Lag::Keep => "keep",
    };
    let mut params = json!({
        "sessionId": target,
        "stream": true,
        "readOnly": options.read_only,
        "raw": options.raw,
        "lag": lag,
        "history": options.history,
        "pictures": options.pictures,
    });
    if let Some(size) = options.size {
        params["cols"] = size.cols().into();
        params["rows"] = size.rows().into();
    }
    if let Some(offset) = from {
        params["from"] = offset.0.into();
    }
    if let Some((typist, before)) = counted {
        params["typist"] = format!("{typist:016x}").into();
        params["typedBefore"] = before.into();
    }
    if let Some(behalf) = &options.behalf {
        params["for"] = behalf.to_wire();
    }
    params
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use greenroom_frame::binary::stream::RedrawReason;

    use super::*;

    fn stream() -> Stream {
        Stream {
            id: "s".into(),
            session_id: String::new(),
            target: String::new(),
            session: Session::from_wire(&Value::Null),
            options: AttachOptions::default(),
            offset: Offset(100),
            told: Offset(100),
            typed: 0,
            typist: None,
            counted: false,
            counts: false,
            awaits: false,
            ended: None,
        }
    }

    fn output(end: u64, bytes: &'static [u8]) -> Event {
        Event::Output { stream: "s".into(), end: Offset(end), bytes: Bytes::from_static(bytes) }
    }

    /// What is drawn of an event, with the stream told of it.
    fn drawn(stream: &mut Stream, event: &Event) -> Vec<u8> {
        let seen = stream.seen(event);
        assert!(stream.note(event));
        let Event::Output { bytes, .. } = event else { return Vec::new() };
        bytes[seen..].to_vec()
    }

    #[test]
    fn what_was_seen_early_is_not_drawn_again_however_it_is_cut() {
        const ALL: &[u8] = b"0123456789";
        for first in 0..=ALL.len() {
            for early in 0..=ALL.len() {
                let mut stream = stream();
                let mut shown = ALL[..early].to_vec();
                stream.saw(Offset(100 + early as u64));
                let (one, two) = ALL.split_at(first);
                shown.extend(drawn(&mut stream, &output(100 + first as u64, one)));
                shown.extend(drawn(&mut stream, &output(110, two)));
                assert_eq!((&shown[..], stream.offset()), (ALL, Offset(110)), "{first} {early}");
            }
        }
    }

    #[test]
    fn what_the_daemon_takes_out_behind_it_does_not_shift_it() {
        // "ab" was seen; the daemon has "ab", a question of eight bytes that it takes out, and "cd".
        let mut stream = stream();
        stream.saw(Offset(102));
        assert_eq!(drawn(&mut stream, &output(112, b"abcd")), b"cd");
        assert_eq!(drawn(&mut stream, &output(113, b"e")), b"e");
    }

    #[test]
    fn a_redraw_begins_anew() {
        let mut stream = stream();
        stream.saw(Offset(105));
        let redraw = Event::Redraw {
            stream: "s".into(),
            offset: Offset(102),
            reason: RedrawReason::Resized,
            bytes: Bytes::new(),
        };
        assert!(stream.note(&redraw));
        assert_eq!(drawn(&mut stream, &output(105, b"234")), b"234");
    }
}
