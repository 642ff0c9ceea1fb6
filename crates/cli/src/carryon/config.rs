//! `carryon config`: the settings of carryOn's own file. The daemon keeps them.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::served;
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::plain::plain;

/// The file, in the folder of carryOn.
const FILE: &str = "config.json";

/// Reads and changes settings.
#[derive(Debug, Args)]
pub(super) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Prints a setting.
    Get {
        /// The setting, such as default.shell.
        #[arg(value_name = "key")]
        key: String,
    },
    /// Changes a setting.
    Set {
        /// The setting, such as default.shell.
        #[arg(value_name = "key")]
        key: String,
        /// Its new value.
        #[arg(value_name = "value", allow_hyphen_values = true)]
        value: String,
    },
    /// Has the daemon read the file again.
    Reload,
    /// Prints where the file is.
    Path,
}

impl Config {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.what {
            What::Get { key } => get(context, &key)?,
            What::Set { key, value } => set(context, &key, &value)?,
            What::Reload => {
                served::call(context, "config.reload", &json!({}))?;
                context.output.line("Config reloaded")?;
            }
            What::Path => {
                context.output.line(&served::file(context, FILE)?.display().to_string())?;
            }
        }
        Ok(Exit::OK)
    }
}

fn get(context: &Context<'_>, key: &str) -> Result<()> {
    match served::call(context, "config.get", &json!({"key": key}))? {
        Value::Null => Err(Failure::usage(format!("unknown config key: {}", plain(key)))),
        Value::String(text) => Ok(context.output.line(&plain(&text))?),
        other => Ok(context.output.value(&other)?),
    }
}

fn set(context: &Context<'_>, key: &str, value: &str) -> Result<()> {
    let answer = served::call(context, "config.set", &json!({"key": key, "value": value}))?;
    context.output.line(&format!("{} = {}", plain(key), shown(key, value)))?;
    if let Some(warning) = answer["warning"].as_str() {
        context.output.remark(&format!("Warning: {}", plain(warning)));
    }
    if let Some(password) = answer["generated_password"].as_str() {
        context.output.line(&format!("Generated password: {}", plain(password)))?;
    }
    Ok(())
}

/// A value as it may be shown: a password is not repeated to whoever looks over a shoulder.
fn shown(key: &str, value: &str) -> String {
    if key.ends_with("password") { "(set)".to_owned() } else { plain(value) }
}
