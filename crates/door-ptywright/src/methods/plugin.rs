//! Plugins: what there is, what they offer, and loading others.

use std::path::PathBuf;
use std::sync::Arc;

use greenroom_plugin::{Manifest, Permission};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Params;
use crate::error::RpcError;

pub(super) async fn capabilities(it: &Arc<Connection>, _: &Params) -> Result<Answer, RpcError> {
    Ok(json!({
        "permissions": Permission::ALL,
        "embedded_lua": true,
        "wasm": false,
        "builtin_plugins": it.door.plugins.builtins(),
    })
    .into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Validate {
    manifest: Manifest,
}

pub(super) async fn validate_manifest(
    _: &Arc<Connection>,
    params: &Params,
) -> Result<Answer, RpcError> {
    params.read::<Validate>()?.manifest.validate()?;
    Ok(json!({ "valid": true }).into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Named {
    plugin: String,
}

pub(super) async fn describe(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let Named { plugin } = params.read()?;
    let manifest = it.door.plugins.manifest(&plugin);
    let catalog = it.door.plugins.describe(&plugin).await?;
    Ok(json!({
        "plugin": plugin,
        "manifest": manifest,
        "intents": catalog.intents,
        "wait_matchers": catalog.wait_matchers,
        "states": catalog.states,
    })
    .into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Load {
    manifest_path: PathBuf,
}

pub(super) async fn load(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    may_load(it, "plugin.load")?;
    let Load { manifest_path } = params.read()?;
    let plugin = it.door.plugins.load(&manifest_path).await?;
    Ok(json!({ "plugin": plugin }).into())
}

pub(super) async fn unload(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    may_load(it, "plugin.unload")?;
    let Named { plugin } = params.read()?;
    it.door.plugins.unload(&plugin)?;
    Ok(json!({ "unloaded": true }).into())
}

fn may_load(it: &Connection, method: &str) -> Result<(), RpcError> {
    if it.door.options.allow_plugin_load {
        return Ok(());
    }
    let data = json!({ "method": method, "reason": "server_did_not_grant_plugin_load" });
    Err(RpcError::denied(
        "permission denied: this server does not load plugins; start it with --allow-plugin-load",
        data,
    ))
}
