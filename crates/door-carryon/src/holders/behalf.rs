//! Whom a relay attaches for: the client at a session's own socket, as lists and notes show it.

use greenroom_engine::{Caller, Rights};
use serde_json::Value;

use crate::Door;

/// What a relay says of the client it carries.
#[derive(Debug)]
pub(crate) struct Behalf {
    pid: u64,
    /// What an earlier daemon told of it: its type and name.
    said: Option<(String, String)>,
    /// When it was the one to size last, by an earlier daemon.
    pub(crate) sized_ms: Option<u64>,
    /// Its size is known from before, and no news.
    pub(crate) quiet: bool,
}

impl Behalf {
    /// Reads what a relay says; none if it is nothing of the kind.
    pub(crate) fn from_wire(value: Option<&Value>) -> Option<Behalf> {
        let value = value?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Some(Behalf {
            pid: value["pid"].as_u64()?,
            said: text("type").zip(text("name")),
            sized_ms: value["sizedMs"].as_u64(),
            quiet: value["quiet"].as_bool().unwrap_or(false),
        })
    }

    /// Has a connection stand for that client from now on; gives who attaches then. Who may not do
    /// everything carries nobody.
    pub(crate) fn stand_in(&self, door: &Door, caller: &Caller) -> Option<Caller> {
        if caller.rights != Rights::ALL {
            return None;
        }
        door.clients.stand_in(caller.id, self.pid, self.said.clone());
        Some(Caller { name: format!("pid {}", self.pid).into(), ..caller.clone() })
    }
}
