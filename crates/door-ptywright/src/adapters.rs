//! Adapters: sessions that a plugin drives.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use greenroom_engine::redact::Redaction;
use greenroom_engine::{Info, State as Life};
use greenroom_model::SessionId;
use greenroom_plugin::{Adapter, Permission, PluginError, State};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::error::RpcError;
use crate::veil::Veil;
use crate::waits::Seen;
use crate::{Door, TRANSCRIPT_CHARS};

/// The note of a session that an adapter drives: the adapter's number, a blank, the plugin.
const NOTE: &str = "ptywright.adapter";

/// The note of what was last sent to it.
pub(crate) const INTENT: &str = "ptywright.intent";

/// How many adapters that have ended are taken up from an earlier daemon, the latest first: each has a
/// VM of its own, of which there are 256 at most, and those that live come before.
const MAX_ENDED: usize = 32;

/// How long a screen is still before a turn counts as completed, as plugins are told.
pub(crate) const COMPLETED_MS: u64 = 300;

/// The adapters there are.
#[derive(Debug, Default)]
pub(crate) struct Adapters {
    live: Mutex<BTreeMap<u64, Arc<Live>>>,
    last: AtomicU64,
    /// Told when there is another.
    changes: watch::Sender<()>,
}

/// An adapter that lives.
#[derive(Debug)]
pub(crate) struct Live {
    /// As clients call it.
    pub(crate) name: String,
    pub(crate) plugin: Adapter,
    pub(crate) session: SessionId,
    last_intent: Mutex<Option<String>>,
    /// Held by whoever sends, and by a turn from its first key to the end of its wait.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Live {
    pub(crate) fn last_intent(&self) -> Option<String> {
        self.last_intent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers an intent; an empty one forgets it.
    pub(crate) fn set_last_intent(&self, intent: String) {
        let mut last = self.last_intent.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(intent).filter(|intent| !intent.is_empty());
    }

    /// An error as who drives this may see it: of the screen only what its manifest grants.
    pub(crate) fn hides(&self, error: RpcError) -> RpcError {
        match self.plugin.manifest().grants(Permission::ScreenRead) {
            true => error,
            false => error.unseen(),
        }
    }

    /// What the plugin's manifest must grant for a method.
    pub(crate) fn permits(&self, method: &str, permission: Permission) -> Result<(), RpcError> {
        permits(self.plugin.manifest(), method, permission)
    }
}

/// Whether a manifest grants what a method needs.
pub(crate) fn permits(
    manifest: &greenroom_plugin::Manifest,
    method: &str,
    permission: Permission,
) -> Result<(), RpcError> {
    if manifest.grants(permission) {
        return Ok(());
    }
    let message = format!("permission denied: {method} requires {permission}");
    let data = json!({ "method": method, "required_permission": permission });
    Err(RpcError::denied(&message, data))
}

impl Adapters {
    fn live(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told whenever there is another adapter.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// A number for a new adapter.
    pub(crate) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// No number up to a session's is given out any more: an adapter that an earlier daemon had never has
    /// a larger one, and its name must not come to mean another program.
    pub(crate) fn pass(&self, id: SessionId) {
        self.last.fetch_max(id.0, Ordering::Relaxed);
    }

    /// A number that was not used after all, unless a later one was given out already.
    pub(crate) fn give_back(&self, number: u64) {
        let free = number.saturating_sub(1);
        let _later = self.last.compare_exchange(number, free, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// What a session is to remember of its adapter.
    pub(crate) fn note(number: u64, plugin: &str) -> (String, String) {
        (NOTE.to_owned(), format!("{number} {plugin}"))
    }

    pub(crate) fn add(&self, number: u64, plugin: Adapter, session: SessionId) -> Arc<Live> {
        let live = Arc::new(Live {
            name: format!("e{number}"),
            plugin,
            session,
            last_intent: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        });
        self.last.fetch_max(number, Ordering::Relaxed);
        self.live().insert(number, Arc::clone(&live));
        self.changes.send_replace(());
        live
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<Live>, RpcError> {
        let live = self.live();
        let found = live.values().find(|live| live.name == name).cloned();
        found.ok_or_else(|| RpcError::params(format!("unknown adapter: {name}")))
    }

    pub(crate) fn remove(&self, name: &str) {
        self.live().retain(|_, live| live.name != name);
    }

    /// Keeps those of such sessions.
    pub(crate) fn retain(&self, keeps: impl Fn(SessionId) -> bool) {
        self.live().retain(|_, live| keeps(live.session));
    }

    /// All of them, sorted by name as texts are.
    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        let mut all: Vec<Arc<Live>> = self.live().values().cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// The adapter that drives a session.
    pub(crate) fn owner(&self, session: SessionId) -> Option<String> {
        let live = self.live();
        let found = live.values().find(|live| live.session == session);
        found.map(|live| live.name.clone())
    }
}

/// Goes on with the adapters that an earlier daemon's door made. Those that have ended stay listed
/// until they are closed, as they do while a daemon lives.
pub(crate) async fn take_up_all(door: &Door, infos: &[Info]) {
    let (living, ended): (Vec<&Info>, Vec<&Info>) = infos
        .iter()
        .filter(|info| info.notes.iter().any(|note| note.0 == NOTE))
        .partition(|info| info.state == Life::Running);
    for info in living.into_iter().chain(ended.into_iter().rev().take(MAX_ENDED)) {
        take_up(door, info).await;
    }
}

async fn take_up(door: &Door, info: &Info) {
    let Some((_, note)) = info.notes.iter().find(|note| note.0 == NOTE) else { return };
    let Some((number, plugin)) = note.split_once(' ') else { return };
    let Ok(number) = number.parse() else { return };
    match door.plugins.start(plugin).await {
        Ok(adapter) => {
            let live = door.adapters.add(number, adapter, info.id);
            if let Some((_, intent)) = info.notes.iter().find(|note| note.0 == INTENT) {
                live.set_last_intent(intent.clone());
            }
            tracing::info!(session = %info.id, plugin, "an adapter was taken up");
        }
        Err(error) => {
            tracing::warn!(session = %info.id, plugin, %error, "an adapter was not taken up");
        }
    }
}

impl Door {
    /// The states in which an adapter's program works, by its own description: no wait for the end of a
    /// turn ends in one of them.
    pub(crate) async fn working(&self, live: &Live) -> Vec<String> {
        let catalog = match self.plugins.describe(&live.plugin.manifest().name).await {
            Ok(catalog) => catalog,
            Err(error) => {
                tracing::info!(adapter = %live.name, %error, "an adapter does not describe itself");
                return Vec::new();
            }
        };
        let working = catalog.states.iter().filter(|state| state["working"] == true);
        working.filter_map(|state| state["name"].as_str().map(str::to_owned)).collect()
    }

    /// What an adapter makes of what its session shows.
    pub(crate) async fn classify(
        &self,
        live: &Live,
        stable_ms: Option<u64>,
    ) -> Result<Classified, RpcError> {
        let (seen, state) = self.ask(live, stable_ms).await?;
        let state = state?;
        for mark in &state.host_marks {
            if let Err(error) = self.mark(live.session, mark.label.clone()).await {
                tracing::info!(adapter = %live.name, label = mark.label, %error, "a mark was not set");
            }
        }
        Ok(Classified { state, seen })
    }

    /// The same, but a plugin that fails gives a state that says so.
    pub(crate) async fn classify_anyhow(&self, live: &Live) -> Result<Classified, RpcError> {
        let (seen, state) = self.ask(live, None).await?;
        let failed = |error: PluginError| State::plugin_error(&error, seen.sight.sequence);
        Ok(Classified { state: state.unwrap_or_else(failed), seen })
    }

    async fn ask(
        &self,
        live: &Live,
        stable_ms: Option<u64>,
    ) -> Result<(Seen, Result<State, PluginError>), RpcError> {
        // A session that an earlier daemon made may not have one yet.
        self.engine.transcribe(live.session, TRANSCRIPT_CHARS).await?;
        let seen = self.see(live.session).await?;
        let last_intent = live.last_intent();
        let state =
            live.plugin.classify(&seen.sight, last_intent.as_deref(), stable_ms, COMPLETED_MS);
        let state = state.await;
        Ok((seen, state))
    }
}

/// What an adapter makes of its session, and what it saw of that.
#[derive(Debug)]
pub(crate) struct Classified {
    pub(crate) state: State,
    pub(crate) seen: Seen,
}

impl Classified {
    /// The state as clients get it: what a plugin says of a screen hides what the screen hides.
    pub(crate) fn to_wire(&self, policy: Option<&Redaction>) -> Value {
        let Seen { screen, printed, .. } = &self.seen;
        Veil::new(policy, || [screen.clone(), printed.clone()]).state(&self.state)
    }
}
