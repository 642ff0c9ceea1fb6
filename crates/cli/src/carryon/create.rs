//! `carryon`, `carryon create`: makes a session.

use std::path::{Path, PathBuf};

use clap::Args;
use greenroom_client::Session;
use greenroom_model::Offset;
use serde_json::{Value, json};

use super::{attach, served};
use crate::attached::Watch;
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::plain::plain;
use crate::{environment, terminal};

/// Makes a session and attaches to it.
///
/// It runs in this folder and environment, without the variables that describe the terminal this is
/// typed into. Without a terminal it is not attached to.
#[derive(Debug, Args)]
pub(super) struct Create {
    #[command(flatten)]
    kind: Kind,
    /// What to run instead of a shell.
    #[arg(short, long, value_name = "line")]
    command: Option<String>,
    /// Does not attach to it.
    #[arg(short, long)]
    detach: bool,
    /// The folder it runs in; without it, this one.
    #[arg(long, value_name = "folder")]
    cwd: Option<PathBuf>,
}

/// What kind of session.
#[derive(Debug, Args)]
pub(super) struct Kind {
    /// Its name.
    #[arg(short, long, value_name = "name")]
    name: Option<String>,
    /// What holds it: native or tmux.
    #[arg(short, long, value_name = "backend")]
    backend: Option<String>,
    /// The machine it runs on.
    #[arg(long, value_name = "device")]
    device: Option<String>,
}

impl Create {
    /// A shell in this folder.
    pub(super) fn of(kind: Kind) -> Create {
        Create { kind, command: None, detach: false, cwd: None }
    }

    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let stays = self.detach || !terminal::is_there();
        let mut connection = served::connect(context)?;
        let value = connection.call("session.create", &self.params(context, !stays)?)?;
        let session = Session::from_wire(&value);
        if stays {
            let (name, id) = (plain(&session.name), plain(&session.id));
            context.output.line(&format!("Created session {name} ({id})"))?;
            return Ok(Exit::OK);
        }
        // From its first byte, so that it does not matter how soon it ended.
        let from = (value["backend"] == "native").then_some(Offset::START);
        attach::show(context, connection, &session, Watch { read_only: false, from })
    }

    /// What the daemon is told.
    fn params(&self, context: &Context<'_>, expect: bool) -> Result<Value> {
        let mut params = json!({
            "cwd": folder(self.cwd.as_deref())?,
            "env": environment::for_session(context.host.environment(), &[]),
            "clearEnv": true,
            "expect": expect,
            "backend": "default",
        });
        if let Some(size) = terminal::size() {
            params["cols"] = size.cols().into();
            params["rows"] = size.rows().into();
        }
        let Kind { name, backend, device } = &self.kind;
        let said = [
            ("name", name),
            ("backend", backend),
            ("device_id", device),
            ("command", &self.command),
        ];
        for (key, text) in said {
            if let Some(text) = text {
                params[key] = text.as_str().into();
            }
        }
        Ok(params)
    }
}

/// A folder, from the root: the daemon has another one.
pub(super) fn folder(path: Option<&Path>) -> Result<String> {
    let path = std::path::absolute(path.unwrap_or(Path::new(".")));
    let path = path.map_err(|error| Failure::system("finding out the current folder", &error))?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!("the folder `{}` is not UTF-8", path.to_string_lossy()))
    })
}
