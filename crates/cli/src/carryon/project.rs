//! `carryon project`: the terminals a folder's `.carryon.json` declares. The daemon reads the file.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::create::folder;
use super::{chosen, served};
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::plain::plain;

/// Makes and shows the terminals that belong to a folder.
#[derive(Debug, Args)]
pub(super) struct Project {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Makes a .carryon.json with an example in it.
    Init(Folder),
    /// Shows the terminals that are declared, and the sessions that run in the folder.
    Terminals {
        /// Starts those that do not run.
        #[arg(long)]
        start: bool,
        #[command(flatten)]
        folder: Folder,
    },
    /// Makes sessions belong to the folder.
    Associate(Association),
    /// Makes sessions no longer belong to the folder.
    Disassociate(Association),
}

/// The folder of a project.
#[derive(Debug, Args)]
struct Folder {
    /// The folder; without it, this one.
    #[arg(value_name = "folder")]
    path: Option<PathBuf>,
}

/// Which sessions belong to which folder.
#[derive(Debug, Args)]
struct Association {
    #[command(flatten)]
    folder: Folder,
    /// The session; without it, those that run in the folder.
    #[arg(long, value_name = "session")]
    session: Option<String>,
}

impl Project {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.what {
            What::Init(it) => {
                let path = folder(it.path.as_deref())?;
                served::call(context, "project.init", &json!({"path": path}))?;
                context.output.line(&format!("Created {}/.carryon.json", plain(&path)))?;
            }
            What::Terminals { start, folder: it } => {
                let path = folder(it.path.as_deref())?;
                let params = json!({"path": path, "start": start});
                let answer = served::call(context, "project.terminals", &params)?;
                for line in lines(&answer) {
                    context.output.line(&line)?;
                }
            }
            What::Associate(it) => it.run(context, "project.associate", "Associated")?,
            What::Disassociate(it) => it.run(context, "project.disassociate", "Disassociated")?,
        }
        Ok(Exit::OK)
    }
}

impl Association {
    fn run(self, context: &Context<'_>, method: &str, done: &str) -> Result<()> {
        let path = folder(self.folder.path.as_deref())?;
        let mut params = json!({"path": path});
        let mut connection = served::connect(context)?;
        if let Some(named) = &self.session {
            let chosen = chosen::session(context, &mut connection, Some(named))?;
            params["sessionId"] = chosen.session.id.into();
        }
        connection.call(method, &params)?;
        Ok(context.output.line(&format!("{done} {}", plain(&path)))?)
    }
}

/// What is declared and what runs, a line each.
fn lines(answer: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for terminal in flat(&answer["declared"]) {
        let text = |key: &str| {
            let nested = terminal.get("declared").and_then(|it| it[key].as_str());
            terminal.get(key).and_then(Value::as_str).or(nested).unwrap_or_default()
        };
        let status = match text("status") {
            "" => "missing",
            status => status,
        };
        lines.push(format!(
            "{:<16} {:<12} {}",
            plain(text("name")),
            plain(status),
            plain(text("command"))
        ));
    }
    if lines.is_empty() {
        lines.push("no terminals are declared".to_owned());
    }
    let matched = flat(&answer["matched"]);
    if !matched.is_empty() {
        lines.push("sessions in this folder:".to_owned());
    }
    for session in matched {
        let text = |key: &str| session.get(key).and_then(Value::as_str).unwrap_or_default();
        lines.push(format!("{:<16} {}", plain(text("name")), plain(text("id"))));
    }
    lines
}

/// The objects of a list, those of groups in it included.
fn flat(list: &Value) -> Vec<&Map<String, Value>> {
    let items = list.as_array().into_iter().flatten();
    let items = items.flat_map(|it| match it {
        Value::Array(group) => group.iter().collect(),
        one => vec![one],
    });
    items.filter_map(Value::as_object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_and_what_runs_are_told_apart() {
        let answer = json!({
            "declared": [
                {"name": "web", "declared": {"name": "web", "command": "make run"}, "status": "running"},
                [{"declared": {"name": "log\u{1b}"}, "status": "missing"}],
            ],
            "matched": [{"id": "native-1", "name": "web"}],
        });
        assert_eq!(
            lines(&answer),
            [
                "web              running      make run",
                "log              missing      ",
                "sessions in this folder:",
                "web              native-1",
            ]
        );
        assert_eq!(lines(&json!({"declared": null, "matched": []})), ["no terminals are declared"]);
    }
}
