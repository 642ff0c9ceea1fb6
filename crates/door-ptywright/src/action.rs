//! What can be done to a session: actions, as clients and plugins spell them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use greenroom_engine::{Error, Typed};
use greenroom_model::{Key, KeyEvent, Mods, SessionId, Size};
use greenroom_screen::keys::encode_paste;
use rustix::process::Signal;
use serde::Deserialize;
use tokio::time::Instant;

use crate::Door;
use crate::error::RpcError;
use crate::sessions::check_label;
use crate::typing::{PATIENCE, Typist};

/// How many characters of streamed text are typed at once at most.
const MAX_CHUNK: usize = 1024;

/// The longest pause between two pieces of streamed text.
const MAX_DELAY_MS: u64 = 100;

/// How long streaming a text may take in all: others wait for it.
const MAX_STREAM_MS: u64 = 30_000;

/// An action.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
#[serde(expecting = "an action, an object with `type` and mostly `value`")]
pub(crate) enum Action {
    /// Types text as it is.
    Text(String),
    /// Types text as it is, too; the name says what is meant.
    Paste(String),
    /// Pastes text in brackets, whether the program asked for them or not.
    BracketedPaste(String),
    /// Presses a key.
    Key(String),
    Resize(Dimensions),
    Interrupt,
    Eof,
    Kill,
    /// Sends a signal by its name.
    Signal(String),
    /// Remembers where the transcript ends, by a label.
    MarkTranscript(Label),
    /// Types text in pieces, as a person would.
    StreamText(Streamed),
}

/// A size in cells and pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object with `rows`, `cols`, `pixel_width` and `pixel_height`")]
pub(crate) struct Dimensions {
    pub(crate) rows: u16,
    pub(crate) cols: u16,
    pub(crate) pixel_width: u16,
    pub(crate) pixel_height: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object with `label`")]
pub(crate) struct Label {
    label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object with `text`")]
pub(crate) struct Streamed {
    text: String,
    #[serde(default = "Streamed::chunk")]
    chunk_chars: usize,
    #[serde(default = "Streamed::delay")]
    delay_ms: u64,
}

impl Streamed {
    fn chunk() -> usize {
        64
    }

    fn delay() -> u64 {
        2
    }

    fn check(&self) -> Result<(), RpcError> {
        let Streamed { text, chunk_chars, delay_ms } = self;
        if !(1..=MAX_CHUNK).contains(chunk_chars) || *delay_ms > MAX_DELAY_MS {
            let why = format!("chunk_chars is 1 to {MAX_CHUNK}, delay_ms at most {MAX_DELAY_MS}");
            return Err(RpcError::params(why));
        }
        let pieces = text.chars().count().div_ceil(*chunk_chars) as u64;
        if pieces.saturating_mul(*delay_ms) > MAX_STREAM_MS {
            let why = format!("streaming this text would take more than {MAX_STREAM_MS} ms");
            return Err(RpcError::params(why));
        }
        Ok(())
    }
}

impl Dimensions {
    pub(crate) fn size(self) -> Result<Size, RpcError> {
        let size = Size::new(self.cols, self.rows);
        size.ok_or_else(|| {
            RpcError::params(format!(
                "no size: {} rows, {} cols; there are 1 to {} rows and 1 to {} cols",
                self.rows,
                self.cols,
                Size::MAX_ROWS,
                Size::MAX_COLS
            ))
        })
    }
}

impl Action {
    /// An action as a plugin's plan has it, or why it is none: that is known before anything of the plan is typed.
    pub(crate) fn from_plan(value: &serde_json::Value) -> Result<Action, String> {
        let action = Action::deserialize(value).map_err(|error| error.to_string())?;
        action.check().map_err(|error| error.to_string())?;
        Ok(action)
    }

    /// Whether it can be done, for all that can be said without a session.
    fn check(&self) -> Result<(), RpcError> {
        match self {
            Action::Key(name) => key(name).map(drop),
            Action::Signal(name) if name == "int" => Ok(()),
            Action::Signal(name) => signal(name).map(drop),
            Action::Resize(dimensions) => dimensions.size().map(drop),
            Action::StreamText(streamed) => streamed.check(),
            Action::MarkTranscript(Label { label }) => check_label(label),
            Action::Text(_)
            | Action::Paste(_)
            | Action::BracketedPaste(_)
            | Action::Interrupt
            | Action::Eof
            | Action::Kill => Ok(()),
        }
    }

    /// The label it sets, if it does.
    pub(crate) fn label(&self) -> Option<&str> {
        let Action::MarkTranscript(Label { label }) = self else { return None };
        Some(label)
    }

    /// Whether it puts text before the program that Enter would submit.
    pub(crate) fn fills_composer(&self) -> bool {
        matches!(self, Action::Paste(_) | Action::BracketedPaste(_) | Action::StreamText(_))
    }

    /// Whether it is Enter.
    pub(crate) fn is_enter(&self) -> bool {
        matches!(self, Action::Key(name) if name == "enter")
    }

    /// Whether it is Escape.
    pub(crate) fn is_escape(&self) -> bool {
        matches!(self, Action::Key(name) if name == "escape")
    }

    /// Does it. A session that is closed meanwhile is closed, and not one that never was.
    pub(crate) async fn perform(
        self,
        door: &Door,
        typist: Typist<'_>,
        id: SessionId,
    ) -> Result<(), RpcError> {
        let done = self.perform_on(door, typist, id).await;
        done.map_err(|error| door.closed_if_gone(id, error))
    }

    async fn perform_on(
        self,
        door: &Door,
        typist: Typist<'_>,
        id: SessionId,
    ) -> Result<(), RpcError> {
        let (engine, caller) = (&door.engine, typist.caller);
        let typed = match self {
            Action::Text(text) | Action::Paste(text) => {
                return type_all(door, typist, id, Bytes::from(text)).await;
            }
            Action::BracketedPaste(text) => {
                let bytes = Bytes::from(encode_paste(&text, true));
                return type_all(door, typist, id, bytes).await;
            }
            Action::Key(name) => Typed::Keys(vec![key(&name)?]),
            Action::Interrupt => Typed::Bytes(Bytes::from_static(b"\x03")),
            Action::Eof => Typed::Bytes(Bytes::from_static(b"\x04")),
            Action::Resize(dimensions) => return door.resize(caller, id, dimensions).await,
            Action::Kill => return door.kill(caller, id).await,
            Action::Signal(name) if name == "int" => Typed::Bytes(Bytes::from_static(b"\x03")),
            Action::Signal(name) => {
                let signal = signal(&name)?;
                return Ok(engine.signal(caller, id, signal.as_raw()).await?);
            }
            Action::MarkTranscript(Label { label }) => return door.mark(id, label).await,
            Action::StreamText(streamed) => return stream(door, typist, id, streamed).await,
        };
        let typing = engine.type_patiently(caller, id, typed, PATIENCE);
        typist.follow(door, id, typing, || true).await?;
        Ok(())
    }
}

/// Types a text.
async fn type_all(
    door: &Door,
    typist: Typist<'_>,
    id: SessionId,
    text: Bytes,
) -> Result<(), RpcError> {
    let is_queued = Arc::new(AtomicBool::new(false));
    let queued = {
        let is_queued = Arc::clone(&is_queued);
        move || is_queued.store(true, Ordering::Relaxed)
    };
    let (engine, caller, place) =
        (door.engine.clone(), typist.caller.clone(), typist.typing.place());
    let typing = async move {
        let _place = place;
        engine.type_text(&caller, id, text, (PATIENCE, queued)).await
    };
    // On its own: half a text is worse than one whose typist is gone.
    let typing = tokio::spawn(typing);
    let typed = async { typing.await.unwrap_or(Err(Error::Stopping)) };
    Ok(typist.follow(door, id, typed, || is_queued.load(Ordering::Relaxed)).await?)
}

async fn stream(
    door: &Door,
    typist: Typist<'_>,
    id: SessionId,
    streamed: Streamed,
) -> Result<(), RpcError> {
    streamed.check()?;
    let Streamed { text, chunk_chars, delay_ms } = streamed;
    let (mut rest, began) = (text.as_str(), Instant::now());
    while !rest.is_empty() {
        let end = rest.char_indices().nth(chunk_chars).map_or(rest.len(), |it| it.0);
        let (piece, after) = rest.split_at(end);
        let typed = Typed::Bytes(Bytes::copy_from_slice(piece.as_bytes()));
        let typist = Typist { last: typist.last && after.is_empty(), ..typist };
        let typing = door.engine.type_patiently(typist.caller, id, typed, PATIENCE);
        typist.follow(door, id, typing, || true).await?;
        rest = after;
        if !rest.is_empty() {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            typist.typing.linger(began);
        }
    }
    Ok(())
}

fn signal(name: &str) -> Result<Signal, RpcError> {
    Ok(match name {
        "term" => Signal::TERM,
        "hup" => Signal::HUP,
        "quit" => Signal::QUIT,
        "kill" => Signal::KILL,
        "user1" => Signal::USR1,
        "user2" => Signal::USR2,
        other => return Err(RpcError::params(format!("unknown signal: {other}"))),
    })
}

/// The keys of the contract that have a name of their own.
const KEYS: &[(&str, Key)] = &[
    ("enter", Key::Enter),
    ("escape", Key::Escape),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("space", Key::Char(' ')),
    ("up", Key::Up),
    ("down", Key::Down),
    ("right", Key::Right),
    ("left", Key::Left),
    ("home", Key::Home),
    ("end", Key::End),
    ("page_up", Key::PageUp),
    ("page_down", Key::PageDown),
    ("insert", Key::Insert),
];

/// Letters that are other keys with ctrl held.
const NOT_WITH_CTRL: &str = "hijm";

/// How many function keys there are.
const FUNCTION_KEYS: u8 = 12;

fn key(name: &str) -> Result<KeyEvent, RpcError> {
    let unknown = || RpcError::params(format!("unknown key: {name}"));
    if let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name) {
        return Ok(KeyEvent::new(*key, Mods::default()));
    }
    if name == "shift_tab" {
        return Ok(KeyEvent::new(Key::Tab, Mods::SHIFT));
    }
    if let Some(letter) = name.strip_prefix("ctrl_") {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(letter @ 'a'..='z'), None) if !NOT_WITH_CTRL.contains(letter) => {
                Ok(KeyEvent::new(Key::Char(letter), Mods::CTRL))
            }
            _ => Err(unknown()),
        };
    }
    let number = name.strip_prefix('f').filter(|number| !number.starts_with(['0', '+']));
    let number = number.and_then(|number| number.parse::<u8>().ok());
    let number = number.filter(|&number| number <= FUNCTION_KEYS);
    let key = number.and_then(Key::f).ok_or_else(unknown)?;
    Ok(KeyEvent::new(key, Mods::default()))
}

#[cfg(test)]
mod tests {
    use greenroom_screen::{Options, Screen};
    use serde_json::json;

    use super::*;

    fn bytes(name: &str, screen: &Screen) -> Vec<u8> {
        screen.key(&key(name).unwrap())
    }

    #[test]
    fn keys_send_what_the_contract_says() {
        let mut screen = Screen::new(Size::DEFAULT, Options::default());
        let expected: &[(&str, &[u8])] = &[
            ("enter", b"\r"),
            ("escape", b"\x1b"),
            ("tab", b"\t"),
            ("shift_tab", b"\x1b[Z"),
            ("backspace", b"\x7f"),
            ("delete", b"\x1b[3~"),
            ("space", b" "),
            ("up", b"\x1b[A"),
            ("down", b"\x1b[B"),
            ("right", b"\x1b[C"),
            ("left", b"\x1b[D"),
            ("home", b"\x1b[H"),
            ("end", b"\x1b[F"),
            ("page_up", b"\x1b[5~"),
            ("page_down", b"\x1b[6~"),
            ("insert", b"\x1b[2~"),
            ("ctrl_a", b"\x01"),
            ("ctrl_z", b"\x1a"),
            ("f1", b"\x1bOP"),
            ("f4", b"\x1bOS"),
            ("f5", b"\x1b[15~"),
            ("f10", b"\x1b[21~"),
            ("f12", b"\x1b[24~"),
        ];
        for (name, sent) in expected {
            assert_eq!(bytes(name, &screen), *sent, "{name}");
        }
        screen.feed(b"\x1b[?1h");
        assert_eq!(bytes("up", &screen), b"\x1bOA", "programs that ask for it get it");
    }

    #[test]
    fn other_keys_are_refused() {
        for name in [
            "", "Enter", "page-up", "ctrl_h", "ctrl_m", "ctrl_", "ctrl_aa", "f0", "f13", "f+1",
            "f01", "é",
        ] {
            assert_eq!(key(name).unwrap_err().code, -32602, "{name}");
        }
    }

    #[test]
    fn what_nobody_knows_is_no_part_of_a_plan() {
        for wrong in [
            json!({"type":"dance"}),
            json!({"type":"key","value":"hyper"}),
            json!({"type":"signal","value":"winch"}),
            json!({"type":"stream_text","value":{"text":"x","chunk_chars":0}}),
            json!({"type":"resize","value":{"rows":0,"cols":2,"pixel_width":0,"pixel_height":0}}),
            json!({"type":"mark_transcript","value":{"label":""}}),
            json!({"type":"mark_transcript","value":{"label":"x".repeat(257)}}),
        ] {
            assert!(Action::from_plan(&wrong).is_err(), "{wrong}");
        }
        // Members nobody knows are ignored, as everywhere.
        let more = json!({"type":"key","value":"enter","why":"because"});
        assert!(Action::from_plan(&more).unwrap().is_enter());
        assert!(Action::from_plan(&json!({"type":"signal","value":"int"})).is_ok());
    }

    #[test]
    fn actions_are_read_as_the_contract_spells_them() {
        let read = |value| Action::deserialize(&value);
        assert_eq!(read(json!({"type":"text","value":"x"})).unwrap(), Action::Text("x".into()));
        assert_eq!(read(json!({"type":"interrupt"})).unwrap(), Action::Interrupt);
        assert_eq!(read(json!({"type":"eof","value":null})).unwrap(), Action::Eof);
        let resize =
            json!({"type":"resize","value":{"rows":1,"cols":2,"pixel_width":0,"pixel_height":0}});
        assert!(matches!(read(resize).unwrap(), Action::Resize(_)));
        for wrong in [
            json!({}),
            json!({"type":"text"}),
            json!({"type":"text","value":5}),
            json!({"type":"dance"}),
            json!({"type":"resize","value":{"rows":1,"cols":2}}),
            json!({"type":"resize","value":{"rows":-1,"cols":2,"pixel_width":0,"pixel_height":0}}),
            json!("text"),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
