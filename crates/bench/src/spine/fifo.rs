//! A named pipe between a run and the programs it starts: "go", and "it is done".
//!
//! Opened both ways here, so that neither side waits for the other to open it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::event::PollFlags;
use rustix::fs::{FileType, Mode};

use super::wait::ready_within;

/// Far more than a word that is sent through one.
const WORD: usize = 512;

/// A named pipe.
pub(crate) struct Fifo {
    file: File,
    path: PathBuf,
}

impl Fifo {
    pub(crate) fn make(path: &Path) -> Result<Fifo> {
        let make = || {
            let mode = Mode::RUSR | Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, mode, 0)?;
            OpenOptions::new().read(true).write(true).open(path)
        };
        let file = make().with_context(|| format!("making the pipe `{}`", path.display()))?;
        Ok(Fifo { file, path: path.to_owned() })
    }

    /// Its path, for a shell.
    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Sends a line.
    pub(crate) fn tell(&self, line: &str) -> Result<()> {
        let mut file = &self.file;
        file.write_all(format!("{line}\n").as_bytes()).context("writing to a pipe")
    }

    /// Waits until somebody wrote, and takes it.
    pub(crate) fn hear(&self, patience: Duration) -> Result<()> {
        let came = ready_within(&self.file, PollFlags::IN, patience)?;
        ensure!(came, "nothing came through `{}` in {patience:?}", self.path.display());
        let mut file = &self.file;
        file.read(&mut [0; WORD]).context("reading from a pipe")?;
        Ok(())
    }
}
