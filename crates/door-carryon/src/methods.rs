//! What can be asked: one table, one function a method.

mod attach;
pub(crate) mod config;
mod daemon;
mod project;
mod read;
mod remote;
mod session;
mod typing;
mod wait;
mod web;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;

/// What a method gives.
pub(crate) struct Answer {
    pub(crate) value: Value,
    /// What happens once the answer is on its way.
    pub(crate) then: Option<Box<dyn FnOnce() + Send>>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer { value, then: None }
    }
}

type Called = Pin<Box<dyn Future<Output = Result<Answer, RpcError>> + Send>>;

/// A method of this door.
struct Method {
    name: &'static str,
    call: fn(Arc<Connection>, Params) -> Called,
}

/// One row of the table: an `async fn` of the connection and the parameters.
macro_rules! method {
    ($name:expr, $function:path) => {
        Method { name: $name, call: |connection, params| Box::pin($function(connection, params)) }
    };
}

/// The method that may take for ever.
pub(crate) const WAIT: &str = "session.wait";

/// The method that makes a stream.
pub(crate) const ATTACH: &str = "session.attach";

/// The methods, as docs/protocol/native.md and docs/protocol/carryon.md list them.
const METHODS: &[Method] = &[
    method!("greenroom.hello", daemon::hello),
    method!("client.identify", daemon::identify),
    method!("session.create", session::create),
    method!("session.list", session::list),
    method!("session.info", session::info),
    method!("session.attach", attach::attach),
    method!("session.detach", attach::detach),
    method!("session.kill", session::kill),
    method!("session.signal", session::signal),
    method!("session.rename", session::rename),
    method!("session.resize", session::resize),
    method!("session.forget", session::forget),
    method!("session.send", typing::send),
    method!("session.key", typing::key),
    method!("session.read", read::read),
    method!("session.search", read::search),
    method!("session.scrollback", read::scrollback),
    method!("session.wait", wait::wait),
    method!("request.cancel", daemon::cancel),
    method!("daemon.status", daemon::status),
    method!("daemon.stop", daemon::stop),
    method!("daemon.logs", daemon::logs),
    method!("daemon.audit", daemon::audit),
    method!("subscribe.cancel", daemon::unfollow),
    method!("config.get", config::get),
    method!("config.set", config::set),
    method!("config.reload", config::reload),
    method!("config.path", config::path),
    method!("config.schema", config::schema),
    method!("local.set-password", config::set_password),
    method!("project.init", project::init),
    method!("project.terminals", project::terminals),
    method!("project.associate", project::associate),
    method!("project.disassociate", project::disassociate),
    method!("remote.status", remote::status),
    method!("remote.devices", remote::devices),
    method!("compat.serve", daemon::serve_base),
    method!("web.open", web::open),
    method!("web.close", web::close),
    method!("web.status", web::status),
    method!("web.share", web::share),
    method!("web.shares", web::shares),
    method!("web.unshare", web::unshare),
];

/// The names of all methods, for the check of the document.
pub fn names() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.name)
}

/// Calls a method.
pub(crate) async fn call(
    connection: &Arc<Connection>,
    name: &str,
    params: Params,
) -> Result<Answer, RpcError> {
    let method = METHODS.iter().find(|method| method.name == name);
    let method = method.ok_or_else(|| RpcError::no_method(name))?;
    (method.call)(Arc::clone(connection), params).await
}

/// What a method answers that has nothing to say.
fn ok() -> Answer {
    json!({"ok": true}).into()
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Bytes nobody can guess.
pub(crate) fn random<const LENGTH: usize>() -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    (got == Ok(LENGTH)).then_some(bytes)
}
