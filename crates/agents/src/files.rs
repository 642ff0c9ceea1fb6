//! Small files written whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Reads a file of at most that many bytes; nothing if there is none.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(bytes))
}

/// Puts a new file in the place of the old one, which keeps its mode; `mode` is for the first one.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    // A file that is kept elsewhere and linked to stays so.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let beside = beside(&path)?;
    let written = write(&beside, bytes, &path, mode).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        fs::remove_file(&beside).unwrap_or_default();
    }
    written
}

fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let name = format!(".{}.{}", name.to_string_lossy(), uuid::Uuid::new_v4().simple());
    Ok(path.with_file_name(name))
}

fn write(beside: &Path, bytes: &[u8], path: &Path, mode: u32) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(mode).open(beside)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(Permissions::from_mode(old.permissions().mode() & 0o777))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}
