//! `carryon remote`: other machines by way of an account. There is none here, and each verb says so
//! clearly.

use clap::{Args, Subcommand};
use serde_json::json;

use super::served;
use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::plain::plain;

/// What is said to who wants to log in.
const NO_ACCOUNT: &str =
    "there is no account to log in to: sessions are reached on this machine, or over ssh";

/// Shows what is reached by way of an account: nothing, there is none.
#[derive(Debug, Args)]
pub(super) struct Remote {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Says that there is no account.
    Login,
    /// Says that nobody is logged in.
    Logout,
    /// Shows whether an account is connected.
    Status,
    /// Lists the machines of the account.
    Devices,
}

impl Remote {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.what {
            What::Login => return Err(Failure::new(FailureKind::System, NO_ACCOUNT)),
            What::Logout => context.output.line("Not logged in")?,
            What::Status => status(context)?,
            What::Devices => devices(context)?,
        }
        Ok(Exit::OK)
    }
}

fn status(context: &Context<'_>) -> Result<()> {
    let status = served::call(context, "remote.status", &json!({}))?;
    let line = match status["connected"].as_bool() {
        Some(true) => {
            format!("Connected as {}", plain(status["device_name"].as_str().unwrap_or_default()))
        }
        _ => "Not connected: no account".to_owned(),
    };
    Ok(context.output.line(&line)?)
}

fn devices(context: &Context<'_>) -> Result<()> {
    let devices = served::call(context, "remote.devices", &json!({}))?;
    let devices = devices.as_array().map(Vec::as_slice).unwrap_or_default();
    if devices.is_empty() {
        context.output.remark("no devices");
    }
    for device in devices {
        let text = |key: &str| plain(device[key].as_str().unwrap_or_default());
        let state = if device["online"] == true { "online" } else { "offline" };
        context.output.line(&format!("{:<16} {state:<12} {}", text("name"), text("id")))?;
    }
    Ok(())
}
