//! Adapters: programs that a plugin drives.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use greenroom_engine::redact::Redaction;
use greenroom_engine::{New, Program, Scene, State as Life};
use greenroom_plugin::Permission;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::WaitName;
use super::session::variables;
use crate::action::Dimensions;
use crate::adapters::{Adapters, COMPLETED_MS, Live, permits};
use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Params;
use crate::error::RpcError;
use crate::matcher::Goal;
use crate::sessions::name;
use crate::snapshot::{Shot, Wanted};
use crate::typing::{Typing, Typist};
use crate::waits::{MAX_WAIT, split_status};
use crate::{Door, Pixels, TRANSCRIPT_CHARS};

/// The size of an adapter's terminal when neither its caller nor its manifest says one.
const ROWS: u16 = 40;
const COLS: u16 = 120;

/// How long a wait takes at most, unless its client says otherwise.
const TIMEOUT_MS: u64 = 120_000;

/// How often a plugin that calls a still screen work is asked again: as often as a turn that is over by
/// stillness alone is told a little late.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The matcher that a wait asks its plugin for, unless its client says otherwise.
const TURN_MATCHER: &str = "wait_turn_matcher";

/// How much of the transcript an inspection shows, in bytes.
const TAIL_BYTES: usize = 4096;

pub(super) async fn list(it: &Arc<Connection>, _: &Params) -> Result<Answer, RpcError> {
    Ok(json!({ "plugins": it.door.plugins.manifests() }).into())
}

pub(super) async fn live(it: &Arc<Connection>, _: &Params) -> Result<Answer, RpcError> {
    let infos = it.door.engine.list();
    let adapters = it.door.adapters.all().into_iter().map(|live| {
        let info = infos.iter().find(|info| info.id == live.session);
        json!({
            "adapter": live.name,
            "plugin": live.plugin.manifest().name,
            "session": name(live.session),
            "sequence": it.door.engine.changes(live.session).map_or(0, |it| *it.borrow()),
            "finished": info.is_none_or(|info| info.state != Life::Running),
        })
    });
    Ok(json!({ "adapters": adapters.collect::<Vec<_>>() }).into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Start {
    plugin: String,
    #[serde(default)]
    program: Option<String>,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    rows: Option<u16>,
    #[serde(default)]
    cols: Option<u16>,
    #[serde(default)]
    pixel_width: u16,
    #[serde(default)]
    pixel_height: u16,
    #[serde(default)]
    prior_adapter: Option<String>,
}

pub(super) async fn start(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    begin(it, params, "adapter.start").await
}

pub(super) async fn resume(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    begin(it, params, "adapter.resume").await
}

async fn begin(it: &Connection, params: &Params, method: &str) -> Result<Answer, RpcError> {
    let (start, policy) = (params.read::<Start>()?, it.door.policy(params).await?);
    let door = &it.door;
    let unknown = || RpcError::params(format!("unknown plugin: {}", start.plugin));
    let manifest = door.plugins.manifest(&start.plugin).ok_or_else(unknown)?;
    permits(&manifest, method, Permission::SessionSpawn)?;
    let target = manifest.default_target.clone().unwrap_or_default();
    let program = start.program.unwrap_or(target.program);
    if program.is_empty() {
        let name = &start.plugin;
        let why = format!("plugin `{name}` has no default target: pass `program` explicitly");
        return Err(RpcError::params(why));
    }
    let dimensions = Dimensions {
        rows: start.rows.or(target.rows).unwrap_or(ROWS),
        cols: start.cols.or(target.cols).unwrap_or(COLS),
        pixel_width: start.pixel_width,
        pixel_height: start.pixel_height,
    };
    let size = dimensions.size()?;
    // What the caller says goes before the manifest, but for what the manifest requires.
    let env = target.env.into_iter().chain(start.env).chain(target.required_env).collect();
    let args = start.args.unwrap_or(target.args);
    let mut new = New {
        program: Program::Command([program].into_iter().chain(args).collect()),
        cwd: start.cwd,
        env: variables(env),
        size: Some(size),
        transcript: Some(TRANSCRIPT_CHARS),
        ..New::default()
    };
    new.check()?;
    let plugin = door.plugins.start(&start.plugin).await?;
    // First, and once nothing can be wrong with what was asked for.
    if method == "adapter.resume"
        && let Some(prior) = &start.prior_adapter
        && let Ok(prior) = door.adapters.find(prior)
    {
        end(it, &prior).await?;
    }
    let number = door.adapters.next();
    new.notes = vec![Adapters::note(number, &start.plugin)];
    let info = door.engine.create(&it.caller, new).await;
    let info = info.inspect_err(|_| door.adapters.give_back(number))?;
    let pixels = Pixels { width: start.pixel_width, height: start.pixel_height };
    door.sessions.made(info.id, pixels);
    let live = door.adapters.add(number, plugin, info.id);
    let state = on(it, &live, door.classify_anyhow(&live)).await?;
    Ok(json!({
        "adapter": live.name,
        "plugin": start.plugin,
        "session": name(info.id),
        "state": it.door.told(state, policy.as_ref()).await?,
    })
    .into())
}

/// A request that names an adapter and nothing else.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Named {
    adapter: String,
}

/// The adapter a request names, if its plugin may do what the request needs.
fn adapter(
    it: &Connection,
    params: &Params,
    method: &str,
    permission: Permission,
) -> Result<Arc<Live>, RpcError> {
    let live = it.door.adapters.find(&params.read::<Named>()?.adapter)?;
    live.permits(method, permission)?;
    Ok(live)
}

/// Does something with an adapter's session. If somebody closes it meanwhile it is closed, and not one that never was,
/// by a name that nobody used.
async fn on<T>(
    it: &Connection,
    live: &Live,
    done: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, RpcError> {
    done.await.map_err(|error| it.door.closed_if_gone(live.session, error))
}

pub(super) async fn state(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.state", Permission::ScreenRead)?;
    let policy = it.door.policy(params).await?;
    let state = on(it, &live, it.door.classify_anyhow(&live)).await?;
    Ok(json!({ "state": it.door.told(state, policy.as_ref()).await? }).into())
}

/// An intent and what it needs.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Intent {
    intent: String,
    #[serde(default)]
    params: Value,
}

impl Intent {
    async fn send(
        self,
        it: &Connection,
        live: &Live,
        (typing, until): (&Typing, Option<Instant>),
    ) -> Result<(), RpcError> {
        let params = Value::Object(members(&self.params)?);
        // A plugin plans by what it saw last, and that may be a dialog that is gone by now. One that
        // cannot classify says so behind its intent.
        it.door.classify_anyhow(live).await?;
        let plan = live.plugin.intent(&self.intent, params).await?;
        let typist = Typist { caller: &it.caller, typing, last: false };
        let until = until.map(tokio::time::Instant::from_std);
        it.door.carry_out(typist, live, (&self.intent, plan), until).await
    }
}

pub(super) async fn send(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.send", Permission::InputWrite)?;
    let policy = it.door.policy(params).await?;
    let intent: Intent = params.read()?;
    let sent = async {
        let turn = live.turn.lock().await;
        intent.send(it, &live, (&params.typing, None)).await?;
        drop(turn);
        it.door.classify(&live, None).await
    };
    let state = on(it, &live, sent).await?;
    Ok(json!({ "state": it.door.told(state, policy.as_ref()).await? }).into())
}

/// What a plugin's function is given; it may be left out.
fn members(params: &Value) -> Result<Map<String, Value>, RpcError> {
    match params {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members.clone()),
        _ => Err(RpcError::params("invalid params: `params` is not an object")),
    }
}

/// What is waited for, and how long.
#[derive(Deserialize, Default)]
#[serde(expecting = "an object")]
struct Waiting {
    #[serde(default)]
    intent: Option<String>,
    #[serde(default)]
    params: Value,
    /// A matcher of the caller's own, instead of the plugin's.
    #[serde(default)]
    matcher: Option<Value>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default, rename = "wait_id")]
    _name: Option<WaitName>,
}

impl Waiting {
    /// When it is over, if it begins now.
    fn until(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.timeout_ms.unwrap_or(TIMEOUT_MS)).min(MAX_WAIT)
    }

    /// The function of the plugin that says what is waited for.
    fn function(&self) -> &str {
        self.intent.as_deref().unwrap_or(TURN_MATCHER)
    }

    /// The caller's own matcher, if there is one. It must not show what the plugin may not read.
    async fn own_goal(&self, door: &Door, live: &Live) -> Result<Option<Goal>, RpcError> {
        let Some(matcher) = &self.matcher else { return Ok(None) };
        let goal = door.goal(matcher).await?;
        for permission in goal.reads() {
            live.permits("adapter.wait", permission)?;
        }
        Ok(Some(goal))
    }

    /// Whether it can be waited for, as far as that can be told without asking the plugin: what that says may
    /// depend on what is sent first.
    async fn check(&self, door: &Door, live: &Live) -> Result<(), RpcError> {
        members(&self.params)?;
        if self.own_goal(door, live).await?.is_none() {
            live.plugin.has_matcher(self.function()).await?;
        }
        Ok(())
    }

    async fn goal(&self, door: &Door, live: &Live) -> Result<Goal, RpcError> {
        if let Some(goal) = self.own_goal(door, live).await? {
            return Ok(goal);
        }
        let mut params = members(&self.params)?;
        params.entry("completed_turn_stable_ms").or_insert(COMPLETED_MS.into());
        let matcher = live.plugin.matcher(self.function(), Value::Object(params)).await?;
        // What is wrong with it is the plugin's fault, not the caller's.
        let name = &live.plugin.manifest().name;
        let goal = door.goal(&matcher).await;
        goal.map_err(|error| RpcError::plugin(name, self.function(), &error))
    }

    /// Waits, and says what held and what the adapter makes of it.
    async fn wait(
        self,
        it: &Connection,
        live: &Live,
        (params, policy): (&Params, Option<Redaction>),
        until: Instant,
    ) -> Result<Value, RpcError> {
        let goal = self.goal(&it.door, live).await?;
        it.door.engine.transcribe(live.session, TRANSCRIPT_CHARS).await?;
        let working = if self.matcher.is_none() { it.door.working(live).await } else { Vec::new() };
        let mut changes = it.door.engine.changes(live.session)?;
        let (caught, state) = loop {
            changes.borrow_and_update();
            let left = until.saturating_duration_since(Instant::now());
            let waited = it.door.wait(live.session, &goal, left, move |caught, scene| {
                // One that has ended is still for ever, which is no number of milliseconds.
                let quiet = if scene.end.is_some() { MAX_WAIT } else { scene.quiet };
                (caught.taken(scene), quiet)
            });
            let (caught, quiet) = match waited.await {
                Ok(waited) => waited,
                Err(error) => return Err(it.door.hiding(error, policy.as_ref()).await),
            };
            let stable_ms = u64::try_from(quiet.as_millis()).ok();
            let state = it.door.classify(live, stable_ms).await?;
            // What a matcher saw may be the end of the turn before; the classifier knows better.
            if !working.contains(&state.state.state) {
                break (caught, state);
            }
            // A state may change by what is printed, and by nothing being printed for long enough.
            let again = (Instant::now() + ASK_AGAIN).min(until);
            let changed = tokio::time::timeout_at(again.into(), changes.changed()).await;
            if matches!(changed, Ok(Err(_))) {
                // It has ended, and works no more, whatever it looks like.
                break (caught, state);
            }
            // A program that prints all the time is not asked about all the time.
            let turn = tokio::time::timeout_at(until.into(), live.plugin.turn()).await;
            if turn.is_err() || Instant::now() >= until {
                let late = RpcError::timeout(&state.seen.screen);
                return Err(it.door.hiding(late, policy.as_ref()).await);
            }
        };
        let bytes = state.seen.screen.text().len();
        let told = it.door.aside.hide(policy.as_ref(), bytes, move |policy| {
            json!({ "state": state.to_wire(policy), "matched": caught.shown(policy) })
        });
        let mut answer = told.await?;
        if let Some(wait_id) = params.named.id() {
            answer["wait_id"] = wait_id.into();
        }
        Ok(answer)
    }
}

pub(super) async fn wait(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.wait", Permission::MatcherWait)?;
    let policy = it.door.policy(params).await?;
    let waiting: Waiting = params.read()?;
    let until = waiting.until();
    let answer = on(it, &live, waiting.wait(it, &live, (params, policy), until)).await;
    Ok(answer.map_err(|error| live.hides(error))?.into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Turn {
    send: Intent,
    #[serde(default)]
    wait: Option<Waiting>,
}

pub(super) async fn turn(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = it.door.adapters.find(&params.read::<Named>()?.adapter)?;
    live.permits("adapter.send", Permission::InputWrite)?;
    live.permits("adapter.wait", Permission::MatcherWait)?;
    let policy = it.door.policy(params).await?;
    let Turn { send, wait } = params.read()?;
    let waiting = wait.unwrap_or_default();
    let turn = async {
        let _turn = live.turn.lock().await;
        let until = waiting.until();
        // What cannot be waited for is not sent either: its caller would send it again.
        waiting.check(&it.door, &live).await?;
        let too_late = async {
            tokio::time::sleep_until(until.into()).await;
            // A prompt that is typed by half is worse than an answer that is late: only what the
            // terminal does not take at all is given up.
            params.typing.stuck().await;
        };
        tokio::select! {
            sent = send.send(it, &live, (&params.typing, Some(until))) => sent?,
            () = too_late => {
                let seen = it.door.see(live.session).await?;
                let late = RpcError::timeout(&seen.screen);
                return Err(it.door.hiding(late, policy.as_ref()).await);
            }
        }
        params.doing.is_done();
        waiting.wait(it, &live, (params, policy), until).await
    };
    Ok(on(it, &live, turn).await.map_err(|error| live.hides(error))?.into())
}

pub(super) async fn snapshot(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.snapshot", Permission::ScreenRead)?;
    let policy = it.door.policy(params).await?;
    let wanted: Wanted = params.read()?;
    let pixels = it.door.sessions.pixels(live.session);
    let look = move |scene: Scene<'_>| Shot::take(scene, &wanted, pixels);
    let shot = on(it, &live, async { Ok(it.door.engine.scene(live.session, look).await?) }).await?;
    shot.check()?;
    let view = it.door.view(shot, policy).await?;
    Ok(Answer::later(move |envelope, out| view.into_message(envelope, out)))
}

pub(super) async fn transcript(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.transcript", Permission::TranscriptRead)?;
    let policy = it.door.policy(params).await?;
    let text = on(it, &live, it.door.transcript(live.session, policy)).await?;
    Ok(json!({ "text": text }).into())
}

pub(super) async fn inspect(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.inspect", Permission::ScreenRead)?;
    let policy = it.door.policy(params).await?;
    let state = on(it, &live, it.door.classify_anyhow(&live)).await?;
    let bytes = state.seen.screen.text().len();
    let inspected = move |policy: Option<&Redaction>| {
        let seen = &state.seen;
        let text = seen.screen.shown(policy);
        let (body, status) = split_status(&text);
        let tail = seen.printed.shown(policy);
        let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(TAIL_BYTES))..];
        json!({
            "adapter": live.name,
            "plugin": live.plugin.manifest().name,
            "session": name(live.session),
            "state": state.to_wire(policy),
            "plain_text": text,
            "body_text": body,
            "status_text": status,
            "transcript_tail": tail,
            "sequence": seen.sight.sequence,
        })
    };
    Ok(it.door.aside.hide(policy.as_ref(), bytes, inspected).await?.into())
}

pub(super) async fn close(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let live = adapter(it, params, "adapter.close", Permission::SessionKill)?;
    end(it, &live).await?;
    Ok(json!({ "closed": true }).into())
}

/// Ends an adapter and its session. Until that is no more it stays the adapter's: who listens to the adapter hears of
/// the end.
async fn end(it: &Connection, live: &Live) -> Result<(), RpcError> {
    match it.door.close(&it.caller, live.session).await {
        Err(error) if !it.door.engine.is_gone(live.session) => return Err(error),
        // Somebody else may have forgotten it meanwhile.
        Ok(()) | Err(_) => {}
    }
    it.door.adapters.remove(&live.name);
    Ok(())
}
