//! Showing a session to a client.

use std::num::NonZeroU64;
use std::sync::Arc;

use greenroom_engine::{Attach, Caller, Counted, Error, Info, Lag, SubscriptionId};
use greenroom_screen::Depth;
use serde_json::json;

use super::{Answer, ok};
use crate::connection::Connection;
use crate::error::RpcError;
use crate::holders::{self, Behalf};
use crate::params::Params;
use crate::streams::{self, Stream, stream_id};
use crate::{tmux, wire};

/// How many sessions one connection may be attached to.
const MAX_STREAMS: usize = 256;

/// How many lines above the screen a client may ask for.
const MAX_HISTORY: u64 = 1_000_000;

pub(super) async fn attach(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let behalf = Behalf::from_wire(params.0.get("for"));
    let stands_in =
        behalf.as_ref().and_then(|behalf| Some((behalf, behalf.stand_in(&it.door, &it.caller)?)));
    let mut answer = attach_as(&it, &params, stands_in.as_ref()).await?;
    if stands_in.is_some() {
        answer.value["client"] = wire::client_of(&it.door, it.caller.id);
    }
    Ok(answer)
}

async fn attach_as(
    it: &Arc<Connection>,
    params: &Params,
    stands_in: Option<&(&Behalf, Caller)>,
) -> Result<Answer, RpcError> {
    let read_only = params.flag("readOnly") || params.flag("observer");
    if let Some(name) = params.of_tmux(&it.door.engine) {
        let (size, offsets) = (params.size()?, params.flag("stream"));
        let attach = tmux::Attach { size, read_only, offsets };
        if stands_in.is_some() {
            tmux::come(&it.door, name, it.caller.id);
        }
        return tmux::attach(Arc::clone(it), name, attach).await;
    }
    let info = params.session(&it.door.engine)?;
    if it.streams.count() >= MAX_STREAMS {
        return Err(RpcError::invalid(format!("too many streams: at most {MAX_STREAMS}")));
    }
    let offsets = params.flag("stream");
    let lag = match params.text("lag") {
        None | Some("skip") => Lag::Skip,
        Some("block") => Lag::Block,
        Some("keep") => Lag::Keep,
        Some(other) => {
            let text = format!("`lag` is `skip`, `block` or `keep`, not `{other}`");
            return Err(RpcError::invalid(text));
        }
    };
    let (size, raw) = (params.size()?, params.flag("raw") && offsets);
    let attach = Attach {
        // A client that does not say its size is taken to have the session's; one that is no terminal has none.
        terminal: (!raw).then(|| size.unwrap_or(info.size)),
        follows: size.is_none(),
        read_only,
        from: params.offset("from"),
        lag,
        history: params.number("history").unwrap_or(0).min(MAX_HISTORY) as usize,
        quiet: stands_in.is_some_and(|it| it.0.quiet),
        pictures: params.flag("pictures") && lag == Lag::Skip,
        counted: counted(params)?.filter(|_| offsets && !read_only),
    };
    let native = info.native_id();
    if !offsets {
        // Nothing in its frames tells two streams of a session apart: the new one is in place of the old.
        leave(it, it.streams.plain(&native)).await;
    }
    // Ours have no use for a socket of its own, and ask for the end by other means.
    let foreign = !offsets && it.is_foreign();
    let caller = stands_in.map_or(&it.caller, |it| &it.1);
    let subscription = match it.door.engine.attach(caller, info.id, attach).await {
        Err(Error::Ended(_)) if foreign => return ended(it, &info, Shown::Plain).await,
        Err(Error::Ended(_)) if stands_in.is_some() => {
            return ended(it, &info, Shown::Offsets(attach.history)).await;
        }
        attached => attached?,
    };
    if let Some(at_ms) = stands_in.and_then(|it| it.0.sized_ms) {
        it.door.sizers.sized_before(info.id, it.caller.id, at_ms);
    }
    let mut value = json!({
        "sessionId": native,
        "streamId": stream_id(subscription.id),
        "offset": subscription.start.0,
        "session": wire::session(&it.door, &subscription.info),
    });
    if attach.counted.is_some() {
        value["counts"] = true.into();
    }
    if foreign && let Some(path) = holders::offer(&it.door, &subscription.info) {
        value["holderSocket"] = path.display().to_string().into();
    }
    let connection = Arc::clone(it);
    let then: Box<dyn FnOnce() + Send> =
        Box::new(move || streams::start(&connection, subscription, native, offsets));
    Ok(Answer { value, then: Some(then) })
}

/// The client whose typing is counted.
fn counted(params: &Params) -> Result<Option<Counted>, RpcError> {
    let Some(typist) = params.0.get("typist").filter(|it| !it.is_null()) else { return Ok(None) };
    let digits = typist.as_str().filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
    let token = digits.filter(|it| it.len() <= 16).and_then(|it| u64::from_str_radix(it, 16).ok());
    let token = token.and_then(NonZeroU64::new);
    let wrong = || RpcError::invalid("`typist` is a number of up to 16 hexadecimal digits, not 0");
    let token = token.ok_or_else(wrong)?;
    Ok(Some(Counted { token, before: params.flag("typedBefore") }))
}

/// How what is left of a session is shown.
enum Shown {
    /// In frames without offsets.
    Plain,
    /// In frames with them, and so many lines above the screen.
    Offsets(usize),
}

/// Shows what is left of a session that ended before somebody came: its last screen, and the end.
async fn ended(it: &Arc<Connection>, info: &Info, shown: Shown) -> Result<Answer, RpcError> {
    let native = info.native_id();
    let depth = match shown {
        Shown::Plain => Depth::Screen,
        Shown::Offsets(history) => Depth::Lines(history),
    };
    let screen = it.door.engine.look(info.id, move |screen| screen.redraw(depth)).await?;
    let mut value = json!({
        "sessionId": native,
        "streamId": stream_id(SubscriptionId::default()),
        "session": wire::session(&it.door, info),
    });
    let frames = match shown {
        Shown::Plain => {
            if let Some(path) = holders::offer(&it.door, info) {
                value["holderSocket"] = path.display().to_string().into();
            }
            streams::last_screen(&native, screen)
        }
        Shown::Offsets(_) => streams::last_redraw(info, screen),
    };
    let connection = Arc::clone(it);
    let then: Box<dyn FnOnce() + Send> = Box::new(move || connection.out.push(frames));
    Ok(Answer { value, then: Some(then) })
}

pub(super) async fn detach(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    // What was typed before the word of farewell is still for the session.
    it.caught_up(params.1.came).await;
    let id = params.text("streamId").or_else(|| params.text("sessionId"));
    if id.is_some_and(|id| tmux::detach(&it, id)) {
        return Ok(ok());
    }
    let stream = match params.text("streamId") {
        Some(id) => it.streams.by_stream(id),
        None => it.streams.by_session(&params.session(&it.door.engine)?.native_id()),
    };
    leave(&it, stream).await;
    Ok(ok())
}

async fn leave(it: &Connection, stream: Option<Stream>) {
    if let Some(stream) = stream {
        // First the word, then the silence: it is not cut off, it leaves.
        it.door.engine.detach(stream.session, stream.subscription).await;
        it.streams.remove(&stream_id(stream.subscription));
    }
}
