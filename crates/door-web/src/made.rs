//! Sessions made by the WebSocket contract: how they are found again, and when they go.
//!
//! What the contract knows of a session is in the session's notes, which its holder keeps: the UUID its
//! client gave it, and the provider. So they are found again by the next daemon, too. A session of
//! another door is called by its own UUID, and lives by that door's rules.

use std::sync::Arc;
use std::time::Duration;

use greenroom_engine::{Caller, ClientId, Engine, HouseEvent, Info, Rights, State};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::Door;

/// The note with the UUID of the contract.
pub(crate) const ID: &str = "web.id";

/// The note with the provider.
pub(crate) const PROVIDER: &str = "web.provider";

/// How long somebody has to come at first, or back to a daemon that has just started.
const COMING: Duration = Duration::from_secs(10);

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

/// The session of an id of the contract's; one that lives rather than one that has ended, and of those
/// the last.
pub(crate) fn find(engine: &Engine, id: &str) -> Option<Info> {
    let all = engine.list().into_iter().filter(|info| contract_id(info) == id);
    all.max_by_key(|info| (info.state == State::Running, info.id))
}

/// The living sessions that were made here.
fn ours(engine: &Engine) -> Vec<Info> {
    let mut all = engine.list();
    all.retain(|info| info.state == State::Running && note(info, ID).is_some());
    all
}

/// Makes room for one more: if there are as many as there may be, the one goes that nobody looks at and
/// in which nothing happened for longest. False if all are in use.
pub(crate) async fn make_room(door: &Door, caller: &Caller) -> bool {
    let ours = ours(&door.engine);
    if ours.len() < door.options().max_sessions {
        return true;
    }
    let mut idle = Vec::new();
    for info in ours.iter().filter(|info| info.viewers.is_empty()) {
        if let Ok(quiet) = door.engine.scene(info.id, |scene| scene.quiet).await {
            idle.push((quiet, info.id));
        }
    }
    let Some((_, id)) = idle.into_iter().max() else { return false };
    tracing::info!(session = %id, "nobody used it, and another needs its place");
    door.engine.kill(caller, id, None).await.is_ok()
}

/// Ends sessions made here with nobody there and nothing happening for long enough. Nothing wakes up while
/// there is none of that kind.
pub(crate) async fn tend(door: &Arc<Door>) {
    let mut events = door.engine.events();
    let caller = Caller { id: ClientId(0), rights: Rights::ALL, name: "web".into() };
    let begin = Instant::now();
    loop {
        let due = sweep(door, &caller, begin).await;
        let asleep = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let changed = async {
            loop {
                match events.recv().await {
                    Ok(HouseEvent::Created(_) | HouseEvent::Detached(..))
                    | Err(RecvError::Lagged(_)) => return true,
                    Ok(_) => {}
                    Err(RecvError::Closed) => return false,
                }
            }
        };
        tokio::select! {
            () = asleep => {}
            more = changed => if !more { return },
            () = door.around.shutdown.begun() => return,
        }
    }
}

/// Ends those whose time is up; gives when the next one's is.
async fn sweep(door: &Arc<Door>, caller: &Caller, begin: Instant) -> Option<Instant> {
    let ttl = door.options().idle_ttl;
    let mut due: Option<Instant> = None;
    for info in ours(&door.engine).iter().filter(|info| info.viewers.is_empty()) {
        let Ok(quiet) = door.engine.scene(info.id, |scene| scene.quiet).await else { continue };
        // Who is about to come, or to come back, must find it.
        let patience = if info.attached_ms == 0 { ttl.max(COMING) } else { ttl };
        let now = Instant::now();
        let until = (now + patience.saturating_sub(quiet)).max(begin + COMING.min(patience));
        if until > now {
            due = Some(due.map_or(until, |due| due.min(until)));
            continue;
        }
        tracing::info!(session = %info.id, "nobody used it for long enough");
        let (door, caller, id) = (Arc::clone(door), caller.clone(), info.id);
        tokio::spawn(async move { door.engine.kill(&caller, id, None).await });
    }
    due
}
