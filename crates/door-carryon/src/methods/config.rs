//! Settings: reading and setting them, and what they do at once.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, ok, random};
use crate::connection::Connection;
use crate::error::RpcError;
use crate::local::Page;
use crate::params::Params;
use crate::settings::{Key, Refused, find};
use crate::{Door, settings};

/// The shortest password, in characters.
const MIN_PASSWORD: usize = 8;

/// What bcrypt reads of a password, in bytes. More would be ignored without a word.
const MAX_PASSWORD: usize = 72;

/// How many rounds a hash takes, as a power of two: carryOn's, a tenth of a second.
const COST: u32 = 10;

/// How long a password is that is made up.
const MADE_UP: usize = 16;

/// What it is made of: 32 letters and digits nobody takes for one another, so that every byte
/// chooses evenly.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

const EXPOSED: &str =
    "Exposing the web server lets other machines reach your sessions; they need the password.";

const NO_ACCOUNT: &str = "there is no account: other machines are not reached this way";

pub(super) async fn get(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    Ok(it.door.settings.get(params.required("key")?).into())
}

pub(super) async fn path(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    Ok(json!({"path": it.door.settings.path().display().to_string()}).into())
}

pub(super) async fn schema(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    Ok(it.door.settings.schema().into())
}

pub(super) async fn set(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let (name, text) = (params.required("key")?, params.required("value")?);
    let key = find(name).ok_or_else(|| Refused::Unknown(name.to_owned()))?;
    let mut value = key.parse(text).map_err(RpcError::invalid)?;
    let mut answer = json!({"ok": true});
    let mut warnings = Vec::new();
    if key.key == "local.password" && !is_hash(text) {
        value = hash(text.to_owned()).await?.into();
    }
    if key.key == "local.expose" && value == true {
        warnings.push(EXPOSED.to_owned());
        if it.door.settings.text("local.password").is_empty() {
            answer["generated_password"] = make_password(&it.door).await?.into();
        }
    }
    keep(&it.door, key, value).await?;
    warnings.extend(put_in_force(&it.door, &[key]).await);
    if !warnings.is_empty() {
        answer["warning"] = warnings.join("; ").into();
    }
    Ok(answer.into())
}

/// Makes up a password, keeps its hash, and gives it this once.
async fn make_password(door: &Arc<Door>) -> Result<String, RpcError> {
    let bytes = random::<MADE_UP>();
    let bytes = bytes.ok_or_else(|| RpcError::invalid("the system has no random numbers"))?;
    let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let password: String = letters.collect();
    let key = find("local.password").ok_or_else(|| RpcError::invalid("no password is kept"))?;
    keep(door, key, hash(password.clone()).await?.into()).await?;
    Ok(password)
}

pub(super) async fn set_password(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let password = params.required("password")?.to_owned();
    let key = find("local.password").ok_or_else(|| RpcError::invalid("no password is kept"))?;
    let hash = hash(password).await?;
    keep(&it.door, key, hash.into()).await?;
    put_in_force(&it.door, &[key]).await;
    Ok(ok())
}

pub(super) async fn reload(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    it.door.daemon.reload().map_err(RpcError::invalid)?;
    let door = Arc::clone(&it.door);
    let changed = off_thread(move || door.settings.reload()).await??;
    for warning in put_in_force(&it.door, &changed).await {
        tracing::warn!(%warning, "a setting that was read again is not in force");
    }
    // The daemon's own file has a level, too; what is set here is set for good.
    if let Some(Value::String(level)) = it.door.settings.given("logs.level") {
        it.door.daemon.set_log_level(&level);
    }
    Ok(ok())
}

/// Sets a key, and tells everybody.
async fn keep(door: &Arc<Door>, key: &'static Key, value: Value) -> Result<(), RpcError> {
    let (ours, new) = (Arc::clone(door), value.clone());
    let changed = off_thread(move || ours.settings.set(key, new)).await??;
    door.announce("config.changed", &json!({"key": key.key, "value": value}));
    if key.key == "local.enabled" && changed {
        door.announce("local.statusChanged", &json!({"enabled": value}));
    }
    Ok(())
}

/// Does at once what settings that changed ask for; what could not be done is said.
pub(crate) async fn put_in_force(door: &Arc<Door>, changed: &[&'static Key]) -> Vec<String> {
    let (mut warnings, settings) = (Vec::new(), &door.settings);
    let mut page = false;
    for key in changed {
        match key.key {
            "logs.level" => door.daemon.set_log_level(&settings.text(key.key)),
            "logs.maxFiles" => {
                let files = usize::try_from(settings.number(key.key)).unwrap_or(1);
                door.daemon.set_log_files(files);
            }
            "local.password" => {
                door.local.log_out();
                page = true;
            }
            "remote.enabled" if settings.flag(key.key) => warnings.push(NO_ACCOUNT.to_owned()),
            other => page |= other.starts_with("local."),
        }
    }
    if page && let Err(text) = door.local.apply(wanted_page(door)).await {
        warnings.push(text);
    }
    warnings
}

/// Serves the page from the start, if that is set.
pub(crate) async fn begin(door: &Arc<Door>) {
    let page = wanted_page(door);
    if page.enabled
        && let Err(warning) = door.local.apply(page).await
    {
        tracing::warn!(%warning, "the page is not served");
    }
}

fn wanted_page(door: &Door) -> Page {
    let settings = &door.settings;
    Page {
        enabled: settings.flag("local.enabled"),
        port: u16::try_from(settings.number("local.port")).unwrap_or(0),
        expose: settings.flag("local.expose"),
        password: settings.text("local.password"),
    }
}

/// The page, as `daemon.status` has it.
pub(super) fn local(door: &Door) -> Value {
    let page = wanted_page(door);
    let (scheme, host) = if page.expose { ("https", "0.0.0.0") } else { ("http", "127.0.0.1") };
    let mut local = json!({
        "enabled": page.enabled,
        "running": door.local.is_running(),
        "port": page.port,
        "expose": page.expose,
        "password_set": !page.password.is_empty(),
        "url": format!("{scheme}://{host}:{}", page.port),
    });
    if door.local.is_running() {
        local["tls"] = page.expose.into();
        local["connections"] = door.local.connections().into();
    }
    local
}

/// Whether a text is a hash already: somebody brings one along.
fn is_hash(text: &str) -> bool {
    text.parse::<bcrypt::HashParts>().is_ok()
}

/// The hash of a password, made where it keeps nobody waiting.
async fn hash(password: String) -> Result<String, RpcError> {
    if password.chars().count() < MIN_PASSWORD {
        let text = format!("password must be at least {MIN_PASSWORD} characters");
        return Err(RpcError::invalid(text));
    }
    if password.len() > MAX_PASSWORD {
        return Err(RpcError::invalid(format!("password must be at most {MAX_PASSWORD} bytes")));
    }
    let hashed = off_thread(move || bcrypt::hash(password, COST)).await?;
    hashed.map_err(|error| RpcError::invalid(error.to_string()))
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| RpcError::invalid("the daemon is stopping"))
}

impl From<settings::Refused> for RpcError {
    fn from(refused: settings::Refused) -> RpcError {
        RpcError::invalid(refused.to_string())
    }
}
