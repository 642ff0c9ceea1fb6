//! The settings' file: flat JSON with dotted keys, for its owner alone, never half written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The largest file that is read: all settings take a thousandth of it. What is larger is some
/// other file.
const MAX_FILE: u64 = 1 << 20;

/// How many corrupt files are kept: somebody who breaks it that often knows.
const MAX_ASIDE: u32 = 100;

/// What a file said.
#[derive(Debug)]
pub(super) enum Read {
    /// These values.
    Values(Map<String, Value>),
    /// There is none.
    Absent,
    /// It is no such file.
    Corrupt,
}

/// Reads a file.
///
/// # Errors
/// It is there and cannot be read.
pub(super) fn read(path: &Path) -> io::Result<Read> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Absent),
        Err(error) => return Err(error),
        // Asked before opening: to open a pipe would wait for somebody to write to it.
        Ok(found) if !found.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Ok(Read::Corrupt);
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(Value::Object(values)) => Read::Values(values),
        _ => Read::Corrupt,
    })
}

/// Puts a file that is none out of the way, so that nothing in it is lost.
pub(super) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let numbered = (1..MAX_ASIDE).map(|number| beside(path, &format!(".corrupt.{number}")));
    let mut places = std::iter::once(beside(path, ".corrupt")).chain(numbered);
    let aside = places.find(|place| !place.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Writes a file whole: whoever reads it sees the old one or the new one.
pub(super) fn write(path: &Path, values: &Map<String, Value>) -> io::Result<()> {
    let text = serde_json::to_string_pretty(values)? + "\n";
    write_whole(path, text.as_bytes())
}

/// Writes a file for its owner alone: whoever reads it sees the old one or the new one, whole.
///
/// # Errors
/// The disk says no; the old one stays.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path, ".new");
    // Left by a daemon that was killed in between; with another mode it would keep it.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // What is half written is of no use; the error says more than this one would.
        fs::remove_file(&new).unwrap_or_default();
    }
    written
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
