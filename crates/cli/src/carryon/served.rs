//! The way to the daemon, which is made to serve carryOn's folder as well.
//!
//! An editor's extension looks for `daemon.sock` in that folder. What it finds there is our own
//! daemon of this home: sessions are the same, whoever asks.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use greenroom_client::{Connection, Endpoint, Error, ErrorKind, Identity};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, FailureKind, Result};
use crate::host::Host;
use crate::output::Output;
use crate::plain::plain;

/// The file that names the daemon's process.
const PID: &str = "daemon.pid";

/// The method that has a daemon serve the folder.
const SERVE: &str = "compat.serve";

/// How long a daemon that is just starting may take until it can be asked: it may have hundreds of
/// sessions to take up.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it is tried meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Connects; starts a daemon if there is none, and has it serve the folder.
///
/// A folder that is somebody else's, or not the one this daemon serves, is a failure: its sessions
/// are other ones.
pub(super) fn connect(context: &Context<'_>) -> Result<Connection> {
    let mut connection = context.connect()?;
    serve(context, &mut connection)?;
    Ok(connection)
}

/// Connects to the daemon that serves the folder, if one does.
pub(super) fn connect_to_serving(context: &Context<'_>) -> Result<Option<Connection>> {
    let connection = match context.connect_to_running() {
        Err(failure) if is_absent(&failure) => return Ok(None),
        other => other?,
    };
    let noted = fs::read_to_string(file(context, PID)?).ok();
    let pid = connection.hello().pid.map(|it| it.to_string());
    Ok((noted.is_some() && noted == pid).then_some(connection))
}

/// Calls one method over a connection of its own.
pub(super) fn call(context: &Context<'_>, method: &str, params: &Value) -> Result<Value> {
    Ok(connect(context)?.call(method, params)?)
}

/// Has a daemon serve the folder; does nothing if it does.
pub(super) fn serve(context: &Context<'_>, connection: &mut Connection) -> Result<()> {
    ask(connection, &base(context)?)
}

/// What a daemon that we start is told first: while an attached terminal outlives one daemon after
/// the other, the folder does, too.
pub(super) fn greeting(host: &dyn Host) -> Option<(&'static str, Value)> {
    let base = host.carryon_base().ok()?.into_os_string().into_string().ok()?;
    Some((SERVE, params(&base)))
}

fn params(base: &str) -> Value {
    json!({"name": super::NAME, "base": base})
}

fn ask(connection: &mut Connection, base: &str) -> Result<()> {
    let asked = connection.call(SERVE, &params(base)).map(drop);
    asked.map_err(|error| not_served(base, error))
}

fn not_served(base: &str, error: Error) -> Failure {
    let text = format!("`{}` is not served: {error}", plain(base));
    Failure::new(FailureKind::Daemon(error.kind()), text)
}

/// Has the daemon that begins in this very process serve the folder, as soon as it can be asked.
pub(super) fn serve_soon(context: &Context<'_>) -> Result<()> {
    let (endpoint, identity) = (context.endpoint()?, context.identity.clone());
    let base = base(context)?;
    let ask = move || {
        if let Err(failure) = once_it_listens(&endpoint, &identity, &base) {
            // Whoever runs it in the foreground reads its standard error.
            warn(&Output::new(false, true), &failure);
        }
    };
    let beside = thread::Builder::new().name("serve carryon".to_owned()).spawn(ask);
    beside.map(drop).map_err(|error| Failure::system("starting a thread", &error))
}

fn once_it_listens(endpoint: &Endpoint, identity: &Identity, base: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match endpoint.connect(identity) {
            Ok(mut connection) => return ask(&mut connection, base),
            Err(error) if error.kind() == ErrorKind::Unreachable && Instant::now() < deadline => {
                thread::sleep(LOOK_EVERY);
            }
            Err(error) => return Err(not_served(base, error)),
        }
    }
}

fn warn(output: &Output, failure: &Failure) {
    output.remark(&format!("Warning: {}", failure.message()));
}

/// Whether the failure is that no daemon runs.
pub(super) fn is_absent(failure: &Failure) -> bool {
    failure.kind() == FailureKind::Daemon(ErrorKind::Unreachable)
}

/// A file of the folder.
pub(super) fn file(context: &Context<'_>, name: &str) -> Result<PathBuf> {
    Ok(context.host.carryon_base()?.join(name))
}

fn base(context: &Context<'_>) -> Result<String> {
    context.host.carryon_base()?.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!("the folder `{}` is not UTF-8", path.to_string_lossy()))
    })
}
