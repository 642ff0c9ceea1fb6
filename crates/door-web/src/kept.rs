//! Files only we can read: the token, and what is kept of logins and links.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::secret::Secret;

/// The token's file.
const TOKEN: &str = "web-token";

/// The largest file that is read: thousands of logins.
const FILE_MAX: u64 = 1 << 20;

/// Reads a file that must be ours alone.
///
/// # Errors
/// It is not there, is a link or no file, others can read it, or it is too large.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let found = fs::symlink_metadata(path)?;
    let wrong = |text: &str| io::Error::new(io::ErrorKind::PermissionDenied, text.to_owned());
    if !found.is_file() {
        return Err(wrong("it is not a regular file"));
    }
    if found.uid() != rustix::process::getuid().as_raw() || found.mode() & 0o077 != 0 {
        return Err(wrong("others may read it: chmod 600 it, or remove it"));
    }
    if found.len() > FILE_MAX {
        return Err(wrong("it is too large"));
    }
    fs::read_to_string(path)
}

/// Writes a file for us alone, whole or not at all.
///
/// # Errors
/// The system said no.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    // What a write that was cut short left is in the way.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// The token, made if there is none.
///
/// # Errors
/// Its file cannot be read or written, or has something else in it.
pub(crate) fn token(state: &Path) -> io::Result<Secret> {
    let path = state.join(TOKEN);
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()));
    match read(&path) {
        Ok(text) => Secret::from_text(text.trim()).ok_or_else(|| {
            named(io::Error::new(io::ErrorKind::InvalidData, "there is no token in it: remove it"))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = Secret::random()?;
            write(&path, &format!("{}\n", token.reveal())).map_err(named)?;
            Ok(token)
        }
        Err(error) => Err(named(error)),
    }
}

/// Where logins and links are kept.
pub(crate) fn logins(state: &Path) -> PathBuf {
    state.join("web-logins.json")
}

/// Where links are kept.
pub(crate) fn shares(state: &Path) -> PathBuf {
    state.join("web-shares.json")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_us_alone() {
        let state = tempfile::tempdir().unwrap();
        let first = token(state.path()).unwrap();
        assert_eq!(token(state.path()).unwrap(), first);
        let path = state.path().join(TOKEN);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(token(state.path()).unwrap_err().to_string().contains("chmod 600"));
    }

    #[test]
    fn a_file_without_a_token_is_not_replaced() {
        let state = tempfile::tempdir().unwrap();
        write(&state.path().join(TOKEN), "mine\n").unwrap();
        assert!(token(state.path()).is_err());
        assert_eq!(read(&state.path().join(TOKEN)).unwrap(), "mine\n");
    }
}
