//! `compat`: the other names of this program.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::carryon;
use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::ptywright;

/// The programs we are when we are started under their names.
const NAMES: &[&str] = &[ptywright::NAME, carryon::NAME];

/// Makes this program take the place of others that scripts start.
#[derive(Debug, Args)]
pub(crate) struct Compat {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Install(Install),
}

/// Makes a link for each program that this one can be, such as ptywright and carryon.
///
/// Started through such a link, it takes that program's verbs, prints what it prints, and ends with its
/// codes. A file that is no link of ours is left alone.
#[derive(Debug, Args)]
struct Install {
    /// The folder, which should be in the search path.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Compat {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.verb {
            Verb::Install(install) => install.run(context),
        }
    }
}

impl Install {
    fn run(self, context: &Context<'_>) -> Result<Exit> {
        let program = context.host.program()?;
        let failed = |error| {
            Failure::system(&format!("making links in `{}`", self.folder.display()), &error)
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        for name in NAMES {
            let link = self.folder.join(name);
            make_room(&link, &program)?;
            symlink(&program, &link).map_err(failed)?;
            match context.output.is_json() {
                true => context.output.value(&json!({"link": link, "program": program}))?,
                false => {
                    let text = format!("{} -> {}", link.display(), program.display());
                    context.output.line(&text)?;
                }
            }
        }
        Ok(Exit::OK)
    }
}

/// Removes a link we made before; anything else is somebody's.
fn make_room(link: &Path, program: &Path) -> Result<()> {
    match fs::read_link(link) {
        Ok(target) if target.file_name() == program.file_name() => {
            let doing = format!("replacing `{}`", link.display());
            fs::remove_file(link).map_err(|error| Failure::system(&doing, &error))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        _ => {
            let text = format!("`{}` is there already, and no link of ours", link.display());
            Err(Failure::new(FailureKind::System, text).hint("remove it, or name another folder"))
        }
    }
}
