//! A session as the daemon lists it.

use greenroom_model::{Offset, SessionId, Size};
use serde_json::Value;

use crate::event::Ended;

/// A session as the daemon lists it.
///
/// Names, titles, folders and commands are what programs and people chose: whoever shows them
/// takes control characters out first.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its number.
    pub number: SessionId,
    /// Its long id, such as `native-…`.
    pub id: String,
    /// Its UUID.
    pub uuid: String,
    /// Its name.
    pub name: String,
    /// Whether it lives.
    pub state: State,
    /// How it ended, if it did.
    pub ended: Option<Ended>,
    /// When it ended, in milliseconds since 1970.
    pub ended_at: Option<i64>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// The size of its terminal.
    pub size: Size,
    /// How many clients are attached.
    pub clients: u64,
    /// How many views of it there are; a client that attached in two ways has two.
    pub viewers: u64,
    /// The program's process.
    pub pid: Option<u32>,
    /// The process that holds it.
    pub holder_pid: Option<u32>,
    /// What runs.
    pub command: String,
    /// The folder it runs in.
    pub cwd: String,
    /// The title it set.
    pub title: String,
    /// How much it has printed.
    pub offset: Offset,
}

/// Whether a session lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its program runs.
    Running,
    /// Its program ended.
    Ended,
    /// Its holder is gone.
    Lost,
}

impl State {
    /// Its name, as on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ended => "ended",
            State::Lost => "lost",
        }
    }
}

impl Session {
    /// Reads a session object; what a daemon of another version leaves out is empty.
    #[must_use]
    pub fn from_wire(value: &Value) -> Session {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let side = |key: &str| value[key].as_u64().and_then(|it| u16::try_from(it).ok());
        // A session that ended has none, which carryOn's clients want to read as a number.
        let process = |key: &str| {
            value[key].as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| *it != 0)
        };
        let size = side("cols").zip(side("rows")).and_then(|(cols, rows)| Size::new(cols, rows));
        let state = match value["state"].as_str() {
            Some("ended") => State::Ended,
            Some("lost") => State::Lost,
            _ => State::Running,
        };
        Session {
            number: SessionId(value["number"].as_u64().unwrap_or_default()),
            id: text("id"),
            uuid: text("uuid"),
            name: text("name"),
            state,
            ended: (state != State::Running).then(|| Ended::from_wire(value)),
            ended_at: value["ended"].as_i64(),
            created_at: value["created"].as_i64().unwrap_or_default(),
            size: size.unwrap_or_default(),
            clients: value["attachedClients"].as_u64().unwrap_or_default(),
            viewers: value["viewers"].as_u64().unwrap_or_default(),
            pid: process("pid"),
            holder_pid: process("holderPid"),
            command: text("command"),
            cwd: text("cwd"),
            title: text("title"),
            offset: Offset(value["offset"].as_u64().unwrap_or_default()),
        }
    }

    /// What names exactly this session, whatever is renamed or made meanwhile.
    #[must_use]
    pub fn exact(&self) -> String {
        match (self.uuid.as_str(), self.id.as_str()) {
            ("", "") => self.number.to_string(),
            ("", id) => id.to_owned(),
            (uuid, _) => uuid.to_owned(),
        }
    }
}
