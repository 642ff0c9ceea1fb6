//! `config`: the configuration file.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use greenroom_client::ErrorKind;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::plain::plain;

/// Checks the configuration, tells where it is, has the daemon read it again.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Names every mistake in the configuration file.
    Check {
        /// The file; without one, the one that is used.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Prints every key with its default and what it means instead.
        #[arg(long, conflicts_with = "file")]
        print_default: bool,
    },
    /// Prints where the configuration file is.
    Path,
    /// Has the daemon read the configuration file again.
    Reload,
}

impl Config {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.what {
            What::Check { print_default: true, .. } => {
                let reference = context.host.config_reference();
                match context.output.is_json() {
                    true => context.output.value(&json!({"default": reference}))?,
                    false => context.output.line(reference.trim_end())?,
                }
                Ok(Exit::OK)
            }
            What::Check { file, .. } => check(context, file),
            What::Path => {
                let path = context.paths()?.config;
                match context.output.is_json() {
                    true => context.output.value(&json!({"path": path}))?,
                    false => context.output.line(&path.display().to_string())?,
                }
                Ok(Exit::OK)
            }
            What::Reload => reload(context),
        }
    }
}

fn reload(context: &Context<'_>) -> Result<Exit> {
    let answer = context.connect_to_running()?.call("config.reload", &json!({}));
    let answer = match answer {
        // The request has no parameters: it is the file that makes no sense, as `check` would say.
        Err(error) if error.kind() == ErrorKind::Invalid => {
            return Err(told(context, &error.to_string())?);
        }
        answer => answer?,
    };
    if context.output.is_json() {
        context.output.value(&answer)?;
    }
    Ok(Exit::OK)
}

/// What the daemon says is wrong, a mistake a line.
fn told(context: &Context<'_>, text: &str) -> Result<Failure> {
    let count = text.lines().count();
    if context.output.is_json() || count < 2 {
        return Ok(mistaken(text.to_owned()));
    }
    for mistake in text.lines() {
        context.output.line(&plain(mistake.trim_start()))?;
    }
    Ok(mistaken(format!("the configuration has {count} mistakes")))
}

/// A configuration with mistakes, whoever found them.
fn mistaken(message: String) -> Failure {
    Failure::new(FailureKind::System, message)
        .hint("a running daemon keeps the last configuration without mistakes")
}

fn check(context: &Context<'_>, file: Option<PathBuf>) -> Result<Exit> {
    let is_named = file.is_some();
    let path = match file {
        Some(file) => file,
        None => context.paths()?.config,
    };
    let is_there = path.try_exists().unwrap_or(true);
    if is_named && !is_there {
        let message = format!("there is no file `{}`", path.display());
        return Err(Failure::new(FailureKind::System, message));
    }
    let problems = context.host.check_config(&path)?;
    if context.output.is_json() {
        let ok = problems.is_empty();
        context.output.value(&json!({"ok": ok, "path": path, "problems": problems}))?;
        return Ok(if ok { Exit::OK } else { Exit::FAILED });
    }
    if problems.is_empty() {
        let found =
            if is_there { "no mistakes" } else { "not there, so every key has its default" };
        context.output.line(&format!("{}: {found}", path.display()))?;
        return Ok(Exit::OK);
    }
    for problem in &problems {
        context.output.line(&plain(problem))?;
    }
    let count = match problems.len() {
        1 => "a mistake".to_owned(),
        count => format!("{count} mistakes"),
    };
    Err(mistaken(format!("`{}` has {count}", path.display())))
}

/// Fails if a new daemon would not start with the configuration as it is.
pub(super) fn refuse_mistakes(context: &Context<'_>) -> Result<()> {
    let path = context.paths()?.config;
    let problems = context.host.check_config(&path)?;
    let Some(first) = problems.first() else { return Ok(()) };
    let message = format!("`{}`: {}; the daemon was left as it is", path.display(), plain(first));
    Err(Failure::new(FailureKind::System, message)
        .hint("`greenroom config check` names all mistakes"))
}
