//! A file that is renamed when it is full: `daemon.log`, then `daemon.log.1` and so on, the oldest
//! of which goes.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use super::Keep;
use super::writer::Sink;

/// Only the owner: what people run is theirs.
const MODE: u32 = 0o600;

/// The most files there can be; what an earlier configuration left behind is looked for up to here.
const FILES_MAX: usize = 100;

/// The file being written and how much is in it.
#[derive(Debug)]
pub(super) struct RotatingFile {
    path: PathBuf,
    keep: Keep,
    /// None until the first line, and after an error.
    open: Option<(File, u64)>,
}

impl RotatingFile {
    /// Nothing is opened before the first line.
    pub(super) fn new(path: PathBuf, keep: Keep) -> RotatingFile {
        RotatingFile { path, keep, open: None }
    }

    fn take_open(&mut self) -> io::Result<(File, u64)> {
        match self.open.take() {
            Some(open) => Ok(open),
            None => self.open(),
        }
    }

    /// Opens the file, which must be a file: a link could lead anywhere.
    fn open(&self) -> io::Result<(File, u64)> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if !found.is_file() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().append(true).create(true).mode(MODE).open(&self.path)?;
        let found = file.metadata()?;
        if found.permissions().mode() & 0o777 != MODE {
            file.set_permissions(Permissions::from_mode(MODE))?;
        }
        Ok((file, found.len()))
    }

    /// Moves every file one number up. The last one goes, with all beyond it.
    fn rotate(&self) -> io::Result<()> {
        for number in self.keep.files.max(1)..=FILES_MAX {
            remove(self.numbered(number))?;
        }
        for number in (1..self.keep.files).rev() {
            match fs::rename(self.numbered(number - 1), self.numbered(number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // Still there only if it is the one file that is kept.
        remove(self.path.clone())
    }

    fn numbered(&self, number: usize) -> PathBuf {
        let mut name = OsString::from(&self.path);
        if number > 0 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    }
}

impl Sink for RotatingFile {
    fn keep(&mut self, files: usize) {
        self.keep.files = files;
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let (mut file, mut length) = self.take_open()?;
        if length > 0 && length + line.len() as u64 > self.keep.bytes {
            self.rotate()?;
            (file, length) = self.open()?;
        }
        if let Err(error) = file.write_all(line.as_bytes()) {
            // Half a line would spoil the next one.
            file.set_len(length)?;
            return Err(error);
        }
        self.open = Some((file, length + line.len() as u64));
        Ok(())
    }
}

fn remove(path: PathBuf) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
