//! What a session may use: control groups for those with a limit, and none left behind.
//!
//! A session without one has no group and costs nothing. A file beside the holder's socket says which
//! groups there are: it is there before they are and goes after them, so whoever is killed when, the next
//! daemon finds what to remove.
//!
//! Not here: where groups can be made (`pty`), who enters and ends them (the holder).

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_model::SessionId;
use greenroom_pty::{GROUP_PREFIX, GroupError, Groups, Limits, Plan};

use crate::options::Options;
use crate::{Engine, Error};

/// How the files begin that say which groups a session has; its number follows.
const RECORD: &str = "groups-";

/// How often groups are tried that somebody is still in, and the pause between. What was hung up takes a
/// moment to end.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// How long the pause is at most for groups of what goes on without its session. It may be there for days;
/// nobody waits for its group.
const LONG_PAUSE: Duration = Duration::from_secs(600);

/// The groups of a session that is being made. They go with this, unless it is kept.
#[derive(Debug)]
pub(crate) struct Limited {
    groups: Groups,
    record: PathBuf,
    kept: bool,
}

impl Limited {
    /// Makes the groups a session needs; none for one without limits.
    pub(crate) fn make(
        options: &Options,
        id: SessionId,
        uuid: [u8; 16],
        limits: Limits,
    ) -> Result<Option<Limited>, Error> {
        if limits.is_none() {
            return Ok(None);
        }
        let name = format!("{GROUP_PREFIX}{}", uuid::Uuid::from_bytes(uuid).simple());
        let plan = Plan::find(limits, &name, std::process::id())?;
        let record = record(&options.holders, id);
        let noted = write(&record, &plan.groups());
        noted.map_err(|error| GroupError::Refused { file: record.clone(), error })?;
        let mut limited = Limited { groups: plan.groups(), record, kept: false };
        limited.groups = plan.make()?;
        Ok(Some(limited))
    }

    /// The folders, as the holder is told them.
    pub(crate) fn paths(&self) -> Vec<Vec<u8>> {
        self.groups.paths().iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect()
    }

    /// The session was made: its groups stay until its end.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        if !self.kept && !remove_once(&self.record) {
            tokio::spawn(removed(self.record.clone()));
        }
    }
}

impl Engine {
    /// Removes the groups of sessions that are gone.
    pub(crate) fn remove_groups(&self, still: impl Fn(SessionId) -> bool) {
        let folder = self.house.options().holders.clone();
        let number = |entry: &fs::DirEntry| {
            entry.file_name().to_str()?.strip_prefix(RECORD)?.parse().ok().map(SessionId)
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if number(&entry).is_some_and(|id| !self.house.lives(id) && !still(id)) {
                remove_once(&entry.path());
            }
        }
    }
}

/// Removes the groups of a session that has ended, if it has any.
pub(crate) async fn remove(options: &Options, id: SessionId) {
    removed(record(&options.holders, id)).await;
}

async fn removed(record: PathBuf) {
    for _ in 0..TRIES {
        if remove_once(&record) {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
    tracing::warn!(groups = %record.display(), "somebody is left in a session's control group");
    tokio::spawn(removed_later(record));
}

/// Looks again and again, though ever more seldom.
async fn removed_later(record: PathBuf) {
    let mut pause = PAUSE * TRIES;
    while !remove_once(&record) {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONG_PAUSE);
    }
}

/// Removes what a file says, and the file with the last of it. Says whether nothing is left.
fn remove_once(record: &Path) -> bool {
    let text = match fs::read(record) {
        Ok(text) => text,
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    let paths = text.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())));
    Groups::new(paths).remove() && fs::remove_file(record).is_ok()
}

fn record(holders: &Path, id: SessionId) -> PathBuf {
    holders.join(format!("{RECORD}{id}"))
}

fn write(record: &Path, groups: &Groups) -> io::Result<()> {
    let paths: Vec<&[u8]> = groups.paths().iter().map(|path| path.as_os_str().as_bytes()).collect();
    fs::write(record, paths.join(&0))
}
