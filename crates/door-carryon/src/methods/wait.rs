//! Waiting for something to happen in a session.

use std::sync::Arc;
use std::time::Duration;

use greenroom_engine::{Area, Matcher, Pattern, Scene, Waited};
use greenroom_model::ExitStatus;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Answer;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;

/// How deep matchers may be nested.
const MAX_DEPTH: usize = 8;

pub(super) async fn wait(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let wanted = params.0.get("for").ok_or_else(|| RpcError::missing("for"))?;
    let matcher = from_wire(wanted, 0)?;
    let timeout = params.number("timeoutMs").map(Duration::from_millis);
    let after = params.offset("after");
    let shows = params.0.get("screen").is_none_or(|it| it != false);
    // Not kept by a wait that nobody waits for any more.
    let (connection, asked) = (Arc::downgrade(&it), params.1);
    let answer_now = move |waited: &Waited, scene: Scene<'_>| {
        let matched = Matched::of(waited, scene, shows);
        let told = connection.upgrade().is_some_and(|it| it.answer_now(&asked, &matched));
        if told { Ok(Value::Null) } else { serde_json::to_value(&matched) }
    };
    let answer = it.door.engine.wait(info.id, matcher, timeout, after, answer_now).await?;
    Ok(answer.unwrap_or_default().into())
}

/// What is told of a wait that holds. Written as it is: somebody waits for it.
#[derive(Serialize)]
struct Matched<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    matched: bool,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> Matched<'a> {
    fn of(waited: &'a Waited, scene: Scene<'a>, shows: bool) -> Matched<'a> {
        let (code, signal) = match waited.ended {
            Some(ExitStatus::Code(code)) => (Some(code), None),
            Some(ExitStatus::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        Matched {
            code,
            index: waited.outcome.index(),
            matched: true,
            offset: waited.offset.0,
            screen: shows.then(|| scene.text()),
            signal,
            text: waited.outcome.text(),
        }
    }
}

fn from_wire(value: &Value, depth: usize) -> Result<Matcher, RpcError> {
    let object = value.as_object().ok_or_else(|| RpcError::invalid("a matcher is an object"))?;
    if depth > MAX_DEPTH {
        return Err(RpcError::invalid("matchers are nested too deeply"));
    }
    let fold = object.get("ignoreCase").and_then(Value::as_bool).unwrap_or(false);
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let parts = |value: &Value| -> Result<Vec<Matcher>, RpcError> {
        let list = value.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| RpcError::invalid("a list of matchers is empty"))?;
        list.iter().map(|part| from_wire(part, depth + 1)).collect()
    };
    let wrong = |error: greenroom_engine::PatternError| RpcError::invalid(error.to_string());
    if let Some(text) = text("text") {
        Ok(Matcher::Text(Pattern::literal(text, fold).map_err(wrong)?, area(object)?))
    } else if let Some(pattern) = text("regex") {
        Ok(Matcher::Text(Pattern::regex(pattern, fold).map_err(wrong)?, area(object)?))
    } else if let Some(quiet) = object.get("idle") {
        let quiet = quiet.as_u64().ok_or_else(|| RpcError::invalid("`idle` is milliseconds"))?;
        Ok(Matcher::Idle(Duration::from_millis(quiet)))
    } else if object.get("exit").is_some_and(|it| it == true) {
        Ok(Matcher::Exit)
    } else if let Some(place) = object.get("cursor") {
        let side = |name: &str| place.get(name)?.as_u64().and_then(|it| u16::try_from(it).ok());
        let (row, col) = (side("row"), side("col"));
        let place =
            row.zip(col).ok_or_else(|| RpcError::invalid("`cursor` has `row` and `col`"))?;
        Ok(Matcher::Cursor(place.0, place.1))
    } else if let Some(list) = object.get("any") {
        Ok(Matcher::Any(parts(list)?))
    } else if let Some(list) = object.get("all") {
        Ok(Matcher::All(parts(list)?))
    } else if let Some(part) = object.get("not") {
        Ok(Matcher::Not(Box::new(from_wire(part, depth + 1)?)))
    } else {
        Err(RpcError::invalid(
            "a matcher has `text`, `regex`, `idle`, `exit`, `cursor`, `any`, `all` or `not`",
        ))
    }
}

fn area(object: &Map<String, Value>) -> Result<Area, RpcError> {
    match object.get("in").and_then(Value::as_str) {
        None | Some("output") => Ok(Area::Output),
        Some("screen") => Ok(Area::Screen),
        Some(other) => {
            Err(RpcError::invalid(format!("`in` is `output` or `screen`, not `{other}`")))
        }
    }
}
