//! Sessions made by the WebSocket contract: how they are found again, and when they go.
//!
//! What the contract knows of a session is in the session's notes, which its holder keeps: the UUID its
//! client gave it, and the provider. So they are found again by the next daemon, too. A session of
//! another door is called by its own UUID.

use greenroom_engine::{Engine, Info, State};

/// The note with the UUID of the contract.
pub(crate) const ID: &str = "web.id";

/// The note with the provider.
pub(crate) const PROVIDER: &str = "web.provider";

fn note<'a>(info: &'a Info, name: &str) -> Option<&'a str> {
    info.notes.iter().find(|note| note.0 == name).map(|note| note.1.as_str())
}

/// What the contract calls a session.
pub(crate) fn contract_id(info: &Info) -> String {
    note(info, ID).map_or_else(|| info.uuid(), str::to_owned)
}

/// The provider of a session that was made here.
pub(crate) fn provider(info: &Info) -> Option<&str> {
    note(info, PROVIDER)
}

/// Whether a session was made here.
pub(crate) fn is_ours(info: &Info) -> bool {
    note(info, ID).is_some()
}

/// The session of an id of the contract's; one that lives rather than one that has ended, and of those
/// the last.
pub(crate) fn find(engine: &Engine, id: &str) -> Option<Info> {
    let all = engine.list().into_iter().filter(|info| contract_id(info) == id);
    all.max_by_key(|info| (info.state == State::Running, info.id))
}
