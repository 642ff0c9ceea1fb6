//! Sessions: making them, typing, looking, waiting, ending.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use greenroom_engine::redact::Redaction;
use greenroom_engine::{New, Program, Scene};
use greenroom_model::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::WaitName;
use crate::action::{Action, Dimensions};
use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Params;
use crate::error::RpcError;
use crate::evidence::Tail;
use crate::json::push_text;
use crate::notes::Ended;
use crate::recording::{Recording, Recordings};
use crate::sessions::{made_here, name};
use crate::snapshot::{Shot, Wanted};
use crate::typing::Typist;
use crate::waits::Caught;
use crate::{Pixels, TRANSCRIPT_CHARS};

/// The most characters a transcript may keep: what a message can carry.
const MAX_TRANSCRIPT: usize = 4 << 20;

/// How long a wait takes at most, unless its client says otherwise.
const TIMEOUT_MS: u64 = 30_000;

/// What a session is made of.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Create {
    program: String,
    #[serde(default)]
    args: Vec<String>,
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
    transcript_max_chars: Option<usize>,
    #[serde(default)]
    raw_transcript_path: Option<PathBuf>,
    #[serde(default)]
    raw_transcript_append: bool,
    /// What people call it; beyond the contract.
    #[serde(default)]
    name: Option<String>,
}

pub(super) async fn create(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let create: Create = params.read()?;
    let dimensions = Dimensions {
        rows: create.rows.unwrap_or(24),
        cols: create.cols.unwrap_or(80),
        pixel_width: create.pixel_width,
        pixel_height: create.pixel_height,
    };
    let chars = create.transcript_max_chars.unwrap_or(TRANSCRIPT_CHARS);
    if chars > MAX_TRANSCRIPT {
        return Err(RpcError::params(format!("transcript_max_chars is at most {MAX_TRANSCRIPT}")));
    }
    let size = dimensions.size()?;
    if create.program.is_empty() {
        return Err(RpcError::params("program is empty"));
    }
    let recording = match (create.raw_transcript_path, create.raw_transcript_append) {
        (Some(path), append) => Some(Recording::open(&it.door, path, append).await?),
        (None, true) => {
            return Err(RpcError::params("raw_transcript_append requires raw_transcript_path"));
        }
        (None, false) => None,
    };
    let command = [create.program].into_iter().chain(create.args).collect();
    let new = New {
        name: create.name,
        program: Program::Command(command),
        cwd: create.cwd,
        env: variables(create.env),
        size: Some(size),
        expect: recording.is_some(),
        transcript: Some(chars),
        notes: recording.iter().map(Recording::note).chain([made_here()]).collect(),
        ..New::default()
    };
    let created = it.door.engine.create(&it.caller, new).await;
    let info = match created {
        Ok(info) => info,
        Err(error) => {
            if let Some(recording) = recording {
                recording.abandon();
            }
            return Err(error.into());
        }
    };
    let pixels = Pixels { width: create.pixel_width, height: create.pixel_height };
    it.door.sessions.made(info.id, pixels);
    if let Some(recording) = recording {
        recording.begin(&it.door, &it.caller, info.id).await;
    }
    Ok(json!({ "session": name(info.id) }).into())
}

/// Variables as the engine takes them.
pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<(Vec<u8>, Vec<u8>)> {
    env.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes())).collect()
}

pub(super) async fn list(it: &Arc<Connection>, _: &Params) -> Result<Answer, RpcError> {
    let door = &it.door;
    let direct =
        door.registered().into_iter().filter(|info| door.adapters.owner(info.id).is_none());
    let mut sessions: Vec<String> = direct.map(|info| name(info.id)).collect();
    // As texts, so that `s10` is before `s2`: clients may look for the last by its place.
    sessions.sort_unstable();
    Ok(json!({ "sessions": sessions }).into())
}

/// A request that names a session and nothing else.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Named {
    session: String,
}

pub(super) async fn kill(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let id = it.door.session(&params.read::<Named>()?.session)?;
    it.door.kill(&it.caller, id).await?;
    Ok(ended(it, id, "killed"))
}

pub(super) async fn close(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let id = it.door.session(&params.read::<Named>()?.session)?;
    it.door.close(&it.caller, id).await?;
    Ok(ended(it, id, "closed"))
}

/// That something was done which ends a session, and whether its raw transcript is not whole.
fn ended(it: &Connection, id: SessionId, done: &str) -> Answer {
    let mut answer = json!({ done: true });
    if let Some(flaw) = it.door.recordings.flaw(id) {
        answer["raw_transcript_error"] = flaw.error.into();
    }
    answer.into()
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Resize {
    session: String,
    rows: u16,
    cols: u16,
    #[serde(default)]
    pixel_width: u16,
    #[serde(default)]
    pixel_height: u16,
}

pub(super) async fn resize(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let Resize { session, rows, cols, pixel_width, pixel_height } = params.read()?;
    let id = it.door.session(&session)?;
    let dimensions = Dimensions { rows, cols, pixel_width, pixel_height };
    it.door.resize(&it.caller, id, dimensions).await?;
    Ok(json!({ "resized": true }).into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Input {
    session: String,
    action: Action,
}

pub(super) async fn input(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let Input { session, action } = params.read()?;
    let id = it.door.session(&session)?;
    let typist = Typist { caller: &it.caller, typing: &params.typing, last: true };
    action.perform(&it.door, typist, id).await?;
    Ok(json!({ "sent": true }).into())
}

pub(super) async fn snapshot(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let policy = it.door.policy(params).await?;
    let wanted: Wanted = params.read()?;
    let id = it.door.session(&params.read::<Named>()?.session)?;
    let pixels = it.door.sessions.pixels(id);
    let look = move |scene: Scene<'_>| Shot::take(scene, &wanted, pixels);
    let shot = it.door.engine.scene(id, look).await?;
    shot.check()?;
    let view = it.door.view(shot, policy).await?;
    Ok(Answer::later(move |envelope, out| view.into_message(envelope, out)))
}

pub(super) async fn transcript(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let policy = it.door.policy(params).await?;
    let id = it.door.session(&params.read::<Named>()?.session)?;
    Ok(json!({ "text": it.door.transcript(id, policy).await? }).into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Wait {
    session: String,
    matcher: Value,
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// Whether the screen and the end of the transcript come with the answer.
    #[serde(default)]
    evidence: Option<bool>,
    #[serde(default, rename = "wait_id")]
    _name: Option<WaitName>,
}

pub(super) async fn wait(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let policy = it.door.policy(params).await?;
    let Wait { session, matcher, timeout_ms, evidence, _name } = params.read()?;
    let (door, began) = (&it.door, Instant::now());
    let id = door.session(&session)?;
    let goal = door.goal(&matcher).await?;
    let wanted: Wanted = params.read()?;
    door.engine.transcribe(id, TRANSCRIPT_CHARS).await?;
    let evidence = match evidence.unwrap_or(true) {
        true => {
            let policy = policy.clone();
            let begin = move |scene: Scene<'_>| {
                Tail::begin(scene.transcript, scene.screen.size().cols(), policy.as_ref())
            };
            Some((wanted, door.engine.scene(id, begin).await?))
        }
        false => None,
    };
    let name = params.named.name();
    let (pixels, recording) = (door.sessions.pixels(id), (door.recordings.clone(), id));
    let told = Told { began, policy: policy.clone(), evidence, pixels, recording };
    let timeout = Duration::from_millis(timeout_ms.unwrap_or(TIMEOUT_MS));
    // Not kept by a wait that nobody waits for any more.
    let (connection, asked) = (Arc::downgrade(it), params.asked.clone());
    let freed = name.clone();
    let waiting = door.wait(id, &goal, timeout, move |caught, scene| {
        let ended = scene.end.is_some();
        let has_expressions = told.policy.as_ref().is_some_and(Redaction::has_expressions);
        let answer = told.answer(caught, name.id(), scene);
        if has_expressions {
            return Over::Aside(Box::new(answer));
        }
        let answer = answer();
        let Some(it) = connection.upgrade() else { return Over::Answer(answer) };
        if !it.takes_answer() || (ended && it.door.recordings.has(id)) {
            return Over::Answer(answer);
        }
        // Who cancelled it was told so.
        if name.free() {
            it.respond_now(&asked, answer);
        }
        Over::Answered
    });
    let whole = async {
        let waited = waiting.await;
        // Whoever hears of the end, by a match or in vain, may read the file.
        door.recordings.whole(&door.engine, id).await;
        waited
    };
    match whole.await {
        Ok(Over::Answer(answer)) => Ok(answer),
        // One that was answered in its turn has nothing left to say.
        Ok(Over::Answered) => Ok(Value::Null.into()),
        Ok(Over::Aside(answer)) => {
            let _slow = it.slow.lock().await;
            let answer = door.aside.look(answer).await?;
            let _turn = it.turn_to_tell().await;
            if freed.free() {
                it.respond_now(&params.asked, answer);
            }
            Ok(Value::Null.into())
        }
        Err(error) => Err(door.hiding(error, policy.as_ref()).await),
    }
}

/// What became of a wait that is over.
enum Over {
    /// It was answered in its turn.
    Answered,
    Answer(Answer),
    /// It is answered by this, which may take long.
    Aside(Box<dyn FnOnce() -> Answer + Send>),
}

/// What is told of a wait that is over.
struct Told {
    began: Instant,
    policy: Option<Redaction>,
    /// What is wanted of the screen, and what was printed last, if any evidence is wanted.
    evidence: Option<(Wanted, Tail)>,
    pixels: Pixels,
    recording: (Recordings, SessionId),
}

/// The first part of an answer. Written as it is: somebody waits for it.
#[derive(Serialize)]
struct Begin {
    matched: bool,
    sequence: u64,
    elapsed_ms: u64,
    outcome: Value,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    end: Option<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_id: Option<String>,
}

impl Told {
    /// Takes what is told, in the turn in which the wait is over; how to tell it is given.
    fn answer(
        self,
        caught: Caught,
        wait_id: Option<&str>,
        scene: Scene<'_>,
    ) -> impl FnOnce() -> Answer + Send + use<> {
        let Told { began, policy, evidence, pixels, recording: (recordings, id) } = self;
        let caught = match policy.as_ref().is_some_and(Redaction::has_expressions) {
            true => Err(caught.taken(scene)),
            // Only here is known what it was caught in.
            false => Ok(caught.shown(policy.as_ref(), scene)),
        };
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (sequence, ended) = (scene.sequence, scene.end);
        let wait_id = wait_id.map(str::to_owned);
        let evidence = evidence.map(|(wanted, tail)| {
            (
                tail.end(scene.transcript, scene.screen.size().cols()),
                Shot::take(scene, &wanted, pixels),
            )
        });
        move || {
            let end = ended.map(Ended::from);
            let outcome = caught.unwrap_or_else(|caught| caught.shown(policy.as_ref()));
            let begin = Begin { matched: true, sequence, elapsed_ms, outcome, end, wait_id };
            // Texts and numbers can always be written.
            let mut written = serde_json::to_vec(&begin).unwrap_or_default();
            // Evidence comes behind all else in the object.
            written.pop();
            let evidence = evidence.map(|(printed, shot)| (printed.into_wire(), shot.view(policy)));
            Answer::later(move |envelope, out| {
                envelope.push(out);
                out.extend_from_slice(&written);
                // By now all is written, or could not be.
                if let Some(flaw) = ended.and_then(|_| recordings.flaw(id)) {
                    out.extend_from_slice(br#","raw_transcript_error":"#);
                    push_text(out, &flaw.error);
                }
                let close = envelope.close.inside();
                let Some((printed, view)) = evidence else {
                    close.push(out);
                    return None;
                };
                out.extend_from_slice(br#","transcript_tail":""#);
                out.extend_from_slice(&printed);
                out.extend_from_slice(br#"","snapshot":"#);
                view.into_wire(close, out)
            })
        }
    }
}
