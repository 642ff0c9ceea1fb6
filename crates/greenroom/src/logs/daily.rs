//! A file a day, `ptywright.YYYY-MM-DD.log`, of which those of the last days are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::writer::Sink;

/// Around the date in a file's name.
const BEGIN: &str = "ptywright.";
const END: &str = ".log";

/// Only the owner: what people run is theirs.
const MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// The log of today.
pub(super) struct DailyFile {
    folder: PathBuf,
    /// For how many days a file is kept.
    days: u16,
    /// None until the first line, and after an error.
    open: Option<(File, Date)>,
}

impl DailyFile {
    /// Nothing is made before the first line.
    pub(super) fn new(folder: PathBuf, days: u16) -> DailyFile {
        DailyFile { folder, days, open: None }
    }

    fn open(&self, today: Date) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.folder)?;
        self.prune(today);
        let path = self.folder.join(format!("{BEGIN}{today}{END}"));
        // A link could lead anywhere.
        if fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        OpenOptions::new().append(true).create(true).mode(MODE).open(path)
    }

    /// Removes the files of days long past.
    fn prune(&self, today: Date) {
        let oldest = today.saturating_sub(i32::from(self.days).days());
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let date = name.to_str().and_then(date);
            if date.is_some_and(|date| date < oldest) {
                let _gone = fs::remove_file(entry.path());
            }
        }
    }
}

/// The date in a file's name, if it is one of ours.
fn date(name: &str) -> Option<Date> {
    let rest = name.strip_prefix(BEGIN)?;
    rest.strip_suffix(END).unwrap_or(rest).parse().ok()
}

impl Sink for DailyFile {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let mut file = match self.open.take() {
            Some((file, date)) if date == today => file,
            _ => self.open(today)?,
        };
        // Whole lines in one write: other servers write to the same file.
        file.write_all(line.as_bytes())?;
        self.open = Some((file, today));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_of_ours_go_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["ptywright.2001-01-01.log", "ptywright.2001-01-02", "other.2001-01-01.log"];
        for name in names {
            fs::write(folder.path().join(name), "old").unwrap();
        }
        let mut file = DailyFile::new(folder.path().to_owned(), 14);
        file.write("one\n").unwrap();
        file.write("two\n").unwrap();
        let all = fs::read_dir(folder.path()).unwrap().flatten();
        let mut left: Vec<String> = all.map(|it| it.file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!((left.len(), left[0].as_str()), (2, names[2]), "{left:?}");
        let text = fs::read_to_string(folder.path().join(&left[1])).unwrap();
        assert_eq!(text, "one\ntwo\n");
    }
}
