//! What a plugin is shown of a session.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use mlua::{Lua, Table};

use crate::limits::TRANSCRIPT_MAX;

/// When the clock of plugins began. It says how long it is between two calls, and nothing else: Lua has no clock.
static CLOCK: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A session as a plugin sees it, at one moment. Cheap to clone: its texts are shared.
#[derive(Debug, Clone)]
pub struct Sight {
    /// The screen as text.
    pub screen: Arc<str>,
    /// The screen without its status lines.
    pub body_text: Arc<str>,
    /// Its status lines.
    pub status_text: Arc<str>,
    /// What was printed; a plugin sees the last [`TRANSCRIPT_MAX`] bytes.
    pub transcript: Arc<str>,
    /// Grows with every change of the session.
    pub sequence: u64,
    /// Whether the program has ended.
    pub process_exited: bool,
    /// What it ended with, if by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// For how long nothing has changed, where that is known.
    pub stable_ms: Option<u64>,
    /// Where in the transcript the labels are.
    pub markers: BTreeMap<String, u64>,
    /// Where the transcript ends.
    pub cursor: u64,
}

impl Default for Sight {
    fn default() -> Self {
        let nothing: Arc<str> = Arc::from("");
        Self {
            screen: Arc::clone(&nothing),
            body_text: Arc::clone(&nothing),
            status_text: Arc::clone(&nothing),
            transcript: nothing,
            sequence: 0,
            process_exited: false,
            exit_code: None,
            signal: None,
            stable_ms: None,
            markers: BTreeMap::new(),
            cursor: 0,
        }
    }
}

impl Sight {
    /// The table that every kind of call gets; each adds what is its own.
    pub(crate) fn to_lua(&self, lua: &Lua) -> mlua::Result<Table> {
        let markers = lua.create_table_with_capacity(0, self.markers.len())?;
        for (label, at) in &self.markers {
            markers.raw_set(label.as_str(), *at)?;
        }
        // Room for these and for what the call adds: the table is never grown.
        let table = lua.create_table_with_capacity(0, 15)?;
        let clock_ms = u64::try_from(CLOCK.elapsed().as_millis()).unwrap_or(u64::MAX);
        table.raw_set("screen", &*self.screen)?;
        table.raw_set("body_text", &*self.body_text)?;
        table.raw_set("status_text", &*self.status_text)?;
        table.raw_set("transcript", tail(&self.transcript))?;
        table.raw_set("sequence", self.sequence)?;
        table.raw_set("process_exited", self.process_exited)?;
        table.raw_set("exit_code", self.exit_code)?;
        table.raw_set("signal", self.signal)?;
        table.raw_set("stable_ms", self.stable_ms)?;
        table.raw_set("markers", markers)?;
        table.raw_set("cursor", self.cursor)?;
        table.raw_set("clock_ms", clock_ms)?;
        Ok(table)
    }
}

/// The end of a text, cut between characters.
fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TRANSCRIPT_MAX))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_clock_goes_forward() {
        let lua = Lua::new();
        let clock = || Sight::default().to_lua(&lua).unwrap().get::<u64>("clock_ms").unwrap();
        let before = clock();
        let begun = Instant::now();
        while clock() == before {
            assert!(begun.elapsed().as_secs() < 10, "it stands still");
        }
        assert!(clock() > before);
    }

    #[test]
    fn a_long_transcript_is_cut_between_characters() {
        let text = "é".repeat(TRANSCRIPT_MAX);
        assert_eq!(tail(&text).len(), TRANSCRIPT_MAX);
        let odd = format!("{text}x");
        assert_eq!(tail(&odd).len(), TRANSCRIPT_MAX - 1);
        assert_eq!(tail("short"), "short");
    }
}
