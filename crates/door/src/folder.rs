//! Folders only their owner can enter. Anything else is refused, never repaired silently.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Why a folder is not fit to put a socket into.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is a link, a file, or something else.
    #[error("`{0}` is not a folder of its own (a link, or a file): remove it")]
    NotAFolder(PathBuf),
    /// It belongs to somebody else.
    #[error("`{path}` belongs to user {owner}, not to us: choose another place")]
    Owner {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others may enter.
    #[error(
        "`{path}` has mode {mode:04o}, others may enter: chmod 700 it, or choose another place"
    )]
    Mode {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Others may put another in its place.
    #[error(
        "`{path}` has mode {mode:04o}, others may change what is in it: chmod go-w it, or choose another place"
    )]
    Around {
        /// The folder that it is in.
        path: PathBuf,
        /// The mode of that.
        mode: u32,
    },
    /// The system said no.
    #[error("`{path}`: {error}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Makes a folder for us alone, or makes sure that it is one.
///
/// # Errors
/// It is somebody else's, open to others, in a folder that everybody may change, or no folder. Links are not followed.
pub fn own_folder(path: &Path) -> Result<(), FolderError> {
    let mode = made(path)?;
    if mode & 0o077 != 0 {
        return Err(FolderError::Mode { path: path.to_owned(), mode });
    }
    match path.parent().map(|parent| (parent, fs::metadata(parent))) {
        Some((parent, Ok(around))) if is_open(around.mode()) => {
            let mode = around.mode() & 0o7777;
            Err(FolderError::Around { path: parent.to_owned(), mode })
        }
        _ => Ok(()),
    }
}

/// Whether everybody may rename what is in a folder: not where only owners may, as in `/tmp`.
fn is_open(mode: u32) -> bool {
    mode & 0o002 != 0 && mode & 0o1000 == 0
}

/// Makes a folder in one that is ours alone, or makes sure that it is a folder of ours. Its mode does
/// not matter: nobody else comes that far.
///
/// # Errors
/// It is somebody else's, or no folder. Links are not followed.
pub fn inner_folder(path: &Path) -> Result<(), FolderError> {
    made(path).map(drop)
}

/// Makes a folder if there is none, and gives its mode.
fn made(path: &Path) -> Result<u32, FolderError> {
    let io = |error| FolderError::Io { path: path.to_owned(), error };
    if let Some(parent) = path.parent()
        && !parent.exists()
    {
        // What we make on the way is as private: it may be somebody's base folder.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(io)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(io(error)),
        _ => {}
    }
    // Not `metadata`, and not an open folder: both follow links.
    let found = fs::symlink_metadata(path).map_err(io)?;
    if !found.is_dir() {
        return Err(FolderError::NotAFolder(path.to_owned()));
    }
    let owner = found.uid();
    if owner != rustix::process::getuid().as_raw() {
        return Err(FolderError::Owner { path: path.to_owned(), owner });
    }
    Ok(found.mode() & 0o7777)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_new_folder_is_ours_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run");
        own_folder(&path).unwrap();
        own_folder(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o700);
    }

    #[test]
    fn what_others_can_reach_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (open, link, file) =
            (home.path().join("open"), home.path().join("link"), home.path().join("file"));
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::symlink(home.path(), &link).unwrap();
        fs::write(&file, "").unwrap();
        assert!(matches!(own_folder(&open), Err(FolderError::Mode { mode: 0o777, .. })));
        inner_folder(&open).unwrap();
        assert!(matches!(own_folder(&open.join("in")), Err(FolderError::Around { .. })));
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        own_folder(&open.join("in")).unwrap();
        assert!(matches!(inner_folder(&link), Err(FolderError::NotAFolder(_))));
        assert!(matches!(own_folder(&link), Err(FolderError::NotAFolder(_))));
        assert!(matches!(own_folder(&file), Err(FolderError::NotAFolder(_))));
    }
}
