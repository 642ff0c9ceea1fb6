//! `man`: the manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;
use serde_json::json;

use crate::args::Arguments;
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};

/// Prints the manual page, or writes one for each verb into a folder.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder, such as ~/.local/share/man/man1.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let command = Arguments::command();
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            Page::new(command).render(&mut page)?;
            match context.output.is_json() {
                true => context.output.value(&json!({"page": String::from_utf8_lossy(&page)}))?,
                false => context.output.bytes(&page)?,
            }
            return Ok(Exit::OK);
        };
        let doing = format!("writing manual pages to `{}`", folder.display());
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(command, &folder));
        written.map_err(|error| Failure::system(&doing, &error))?;
        if context.output.is_json() {
            context.output.value(&json!({"ok": true, "folder": folder}))?;
        }
        Ok(Exit::OK)
    }
}
