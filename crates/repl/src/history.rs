//! What was typed, kept in a file for its owner alone.
//!
//! Whatever is wrong with that file is told once, and is no reason to stop.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::interactive::{Lines, tell_person};

/// Only the owner: what people type may be secret.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// What a file that cannot be read is called behind its own name.
const ASIDE: &str = ".unreadable";

/// A file of what was typed.
pub(crate) struct History<'a> {
    path: &'a Path,
}

impl<'a> History<'a> {
    /// Reads what was typed before; none if nothing can be kept.
    pub(crate) fn open(path: &'a Path, lines: &mut Lines) -> Option<History<'a>> {
        let opened = keep_private(path).and_then(|()| match lines.load_history(path) {
            Ok(()) => Ok(()),
            Err(_) => {
                // A part of it may have been read.
                lines.clear_history().unwrap_or_default();
                let aside = put_aside(path)?;
                let (path, aside) = (path.display(), aside.display());
                tell_person(&format!("`{path}` cannot be read; it is now `{aside}`"));
                Ok(())
            }
        });
        opened.map_err(|error| not_kept(path, &error)).ok().map(|()| History { path })
    }

    /// Adds what was typed last; false if that does not work.
    pub(crate) fn add(&self, lines: &mut Lines) -> bool {
        let added = lines.append_history(self.path);
        added.map_err(|error| not_kept(self.path, &io::Error::other(error))).is_ok()
    }
}

fn not_kept(path: &Path, why: &io::Error) {
    tell_person(&format!("what you type is not kept in `{}`: {why}", path.display()));
}

/// Makes the file, for its owner alone.
fn keep_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    }
    let file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))
}

/// Gives a file another name and makes a new one; gives that name.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let mut aside = OsString::from(path);
    aside.push(ASIDE);
    let aside = PathBuf::from(aside);
    fs::rename(path, &aside)?;
    keep_private(path)?;
    Ok(aside)
}
