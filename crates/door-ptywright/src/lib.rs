//! The ptywright protocol: JSON-RPC for driving terminal programs, with evidence.
//!
//! The contract is docs/protocol/ptywright.md. `connection` takes messages and keeps them in order,
//! `methods` is the table of what can be asked, `notes` tells who asked for it what happens,
//! `adapters` has the programs that a plugin drives. Everything a method does is a verb of the
//! engine or a call of a plugin; here it is renamed, reshaped and framed.
//!
//! Not here: sockets and peers (`door`), sessions and redaction (`engine`), Lua (`plugin`).
//!
//! **Invariant:** an answer comes before the notifications of what the request caused.

mod action;
mod adapters;
mod answer;
mod aside;
mod cancels;
mod connection;
mod deeds;
mod envelope;
mod error;
mod evidence;
mod framing;
mod json;
mod looks;
mod matcher;
mod methods;
mod notes;
mod order;
mod recording;
mod redaction;
mod sessions;
mod snapshot;
mod submit;
mod typing;
mod veil;
mod waits;

use std::convert::Infallible;

use greenroom_engine::{Engine, HouseEvent, State};
use greenroom_plugin::Registry;
use tokio::sync::broadcast::error::RecvError;

pub use connection::{Client, serve};
pub use framing::{Framing, MAX_MESSAGE};
pub use methods::names as method_names;

use crate::adapters::Adapters;
use crate::aside::Aside;
use crate::cancels::Cancels;
use crate::looks::Looks;
use crate::recording::Recordings;
use crate::sessions::Sessions;
use crate::typing::Desks;

/// How many characters of what a session prints are kept, unless its maker says otherwise.
pub const TRANSCRIPT_CHARS: usize = 128 << 10;

/// A terminal's size in pixels, as clients say it. Nothing here draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: u16,
    pub(crate) height: u16,
}

/// How a door is set up.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether clients may load and unload plugins.
    pub allow_plugin_load: bool,
    /// Whether all sessions are this door's: a private server.
    pub private: bool,
    /// The program's version.
    pub version: &'static str,
}

/// The door: what all its connections share.
pub struct Door {
    engine: Engine,
    plugins: Registry,
    options: Options,
    sessions: Sessions,
    adapters: Adapters,
    aside: Aside,
    cancels: Cancels,
    desks: Desks,
    looks: Looks,
    recordings: Recordings,
}

impl Door {
    /// Makes a door, and takes up what an earlier daemon's door left running.
    #[must_use]
    pub fn new(engine: Engine, plugins: Registry, options: Options) -> Door {
        Door {
            engine,
            plugins,
            options,
            sessions: Sessions::default(),
            adapters: Adapters::default(),
            aside: Aside::default(),
            cancels: Cancels::default(),
            desks: Desks::default(),
            looks: Looks::default(),
            recordings: Recordings::default(),
        }
    }

    /// Goes on with the raw transcripts and adapters of sessions that an earlier daemon's door made.
    pub async fn take_up(&self) {
        self.adapters.pass(self.engine.last_number());
        let infos = self.engine.list();
        for info in &infos {
            self.take_up_labels(info);
            let goes_on = recording::take_up_flaw(&self.recordings, info);
            // One that ended before this daemon came is whole, and where its file was may be another.
            if goes_on && (info.state == State::Running || self.engine.has_encore(info.id)) {
                recording::take_up(&self.engine, &self.recordings, info);
            }
        }
        adapters::take_up_all(self, &infos).await;
    }

    /// Lets go of what belongs to sessions that are no more, whoever forgot them.
    pub async fn follow(&self) -> Infallible {
        let mut house = self.engine.events();
        // What was forgotten before is not told.
        self.let_go();
        loop {
            match house.recv().await {
                // All that are gone: of some we may have learned only behind that.
                Ok(HouseEvent::Forgotten(_)) | Err(RecvError::Lagged(_)) => self.let_go(),
                Ok(_) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }

    fn let_go(&self) {
        let is_there = |id| !self.engine.is_gone(id);
        self.adapters.retain(is_there);
        self.sessions.retain(is_there);
    }

    /// Waits until the raw transcripts of sessions that have ended are whole, for a while: with a private
    /// server ends everything it writes.
    pub async fn transcripts_whole(&self) {
        self.recordings.all_whole(&self.engine).await;
    }
}

#[cfg(test)]
#[path = "../tests/support/idle.rs"]
mod idle;

#[cfg(test)]
mod tests {
    use greenroom_model::SessionId;

    use super::*;

    fn door() -> Door {
        let options = Options { allow_plugin_load: false, private: true, version: "0" };
        Door::new(idle::engine(), Registry::new(Vec::new()).unwrap(), options)
    }

    #[tokio::test]
    async fn what_was_forgotten_before_it_is_followed_is_let_go_of() {
        let (door, id) = (door(), SessionId(7));
        let pixels = Pixels { width: 3, height: 4 };
        door.sessions.made(id, pixels);
        assert_eq!(door.sessions.pixels(id), pixels);
        tokio::select! {
            biased;
            never = door.follow() => match never {},
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(door.sessions.pixels(id), Pixels::default());
    }
}
