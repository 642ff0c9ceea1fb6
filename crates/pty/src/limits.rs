//! Where control groups can be made, and what they limit.
//!
//! A group is made below the one this process is in, so whatever limits us limits it as well. Groups of
//! the second version need that one to be ours (systemd's `Delegate=yes`), and nobody to be in it: who is
//! moves to a group of its own beside the others. Groups of the first version have a tree for each kind
//! of limit. A system can have both.
//!
//! Not here: who is in a group and how they end (`group`).

mod found;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::found::Found;
use crate::descendants;
use crate::group::{Groups, MEMBERS, members};

/// What those in a group may use together; nothing is as much as there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many processes and threads there may be.
    pub processes: Option<u64>,
    /// How many bytes of memory they may take.
    pub memory: Option<u64>,
}

/// Why there can be no group.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// There is no tree of groups with that controller.
    #[error("this system has no control groups with `{0}`")]
    Missing(&'static str),
    /// The group we are in was not given it.
    #[error("the control group `{group}` was not given `{controller}`")]
    Withheld {
        /// The group.
        group: PathBuf,
        /// What it lacks.
        controller: &'static str,
    },
    /// The group we are in is another's.
    #[error("the control group `{group}` is not ours to divide: {error}")]
    Denied {
        /// The group.
        group: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The group we are in has others in it, who are not ours to move.
    #[error("other programs, such as process {pid}, are in the control group `{group}`")]
    Shared {
        /// The group.
        group: PathBuf,
        /// One of them.
        pid: u32,
    },
    /// The group we are in is a service's: with others below it, it could not be started again.
    #[error("the service of the control group `{group}` has no subgroup for its daemon")]
    Service {
        /// The group.
        group: PathBuf,
    },
    /// A group was made, and the limit was not taken.
    #[error("cannot write `{file}`: {error}")]
    Refused {
        /// The file.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl GroupError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            GroupError::Missing(_) => "use a kernel that has them, or ask for no limit",
            GroupError::Withheld { .. } | GroupError::Denied { .. } | GroupError::Shared { .. } => {
                "run the daemon as contrib/greenroom.service does, or by `systemd-run --user --scope \
                 -p Delegate=yes greenroom daemon start`, or ask for no limit"
            }
            GroupError::Service { .. } => {
                "add `DelegateSubgroup=greenroom-daemon` to it (systemd 254), or start the daemon by \
                 `systemd-run --user --scope -p Delegate=yes greenroom daemon start`"
            }
            GroupError::Refused { .. } => "ask for another limit, or for none",
        }
    }
}

/// The controllers, by their names in either version.
const PROCESSES: &str = "pids";
const MEMORY: &str = "memory";

/// How the names of sessions' groups begin; 32 hexadecimal digits follow.
pub const PREFIX: &str = "greenroom-";

/// The group that those move to who are in a group that is to be divided; a service says it by
/// `DelegateSubgroup`.
const OURS: &str = "greenroom-daemon";

/// Which controllers the groups below one have.
const GIVEN: &str = "cgroup.subtree_control";

/// How often those in a group are moved: some may start others meanwhile.
const MOVES: u32 = 10;

impl Limits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Limits::default()
    }

    fn controllers(self) -> Vec<&'static str> {
        let processes = self.processes.map(|_| PROCESSES);
        processes.into_iter().chain(self.memory.map(|_| MEMORY)).collect()
    }
}

/// Groups that can be made, as far as can be told without making them.
#[derive(Debug)]
pub struct Plan {
    /// To be made with these settings: a file, what is written to it, whether it must be taken.
    groups: Vec<(PathBuf, Vec<Setting>)>,
    /// The group that must have these controllers for those below it.
    divided: Option<(PathBuf, Vec<&'static str>)>,
    /// A group that has no limit, and is done without if it cannot be made.
    unlimited: Option<PathBuf>,
}

type Setting = (&'static str, String, bool);

impl Plan {
    /// Finds where groups of this name can be made below the group of a process.
    ///
    /// # Errors
    /// Says what is missing. Nothing was changed, whatever was found.
    pub fn find(limits: Limits, name: &str, process: u32) -> Result<Plan, GroupError> {
        Plan::of(&Found::read(process), limits, name, process)
    }

    fn of(found: &Found, limits: Limits, name: &str, process: u32) -> Result<Plan, GroupError> {
        let mut plan = Plan { groups: Vec::new(), divided: None, unlimited: None };
        let mut second = Vec::new();
        for controller in limits.controllers() {
            match found.first(controller) {
                Some(own) => {
                    may_divide(&own)?;
                    plan.groups.push((own.join(name), first_settings(controller, limits)));
                }
                None => second.push(controller),
            }
        }
        let base = found.second().map(|own| match own.parent() {
            Some(parent) if own.ends_with(OURS) => parent.to_owned(),
            _ => own,
        });
        let Some(base) = base else {
            return second.first().map_or(Ok(plan), |it| Err(GroupError::Missing(it)));
        };
        if second.is_empty() {
            plan.unlimited = Some(base.join(name));
            return Ok(plan);
        }
        let given = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
        let has = |name: &str| given.split_ascii_whitespace().any(|it| it == name);
        if let Some(&controller) = second.iter().find(|it| !has(it)) {
            return Err(GroupError::Withheld { group: base, controller });
        }
        may_divide(&base)?;
        if !missing(&base, &second).is_empty() {
            may_move(&base, process)?;
        }
        let settings = second.iter().flat_map(|it| second_settings(it, limits)).collect();
        plan.groups.push((base.join(name), settings));
        plan.divided = Some((base, second));
        Ok(plan)
    }

    /// The groups it will make.
    #[must_use]
    pub fn groups(&self) -> Groups {
        let limited = self.groups.iter().map(|group| group.0.clone());
        Groups::new(limited.chain(self.unlimited.clone()))
    }

    /// Makes them, and gives those that were made.
    ///
    /// # Errors
    /// Says what is missing. Nothing is left behind then.
    pub fn make(&self) -> Result<Groups, GroupError> {
        let made = self.try_make();
        if made.is_err() {
            self.groups().remove();
        }
        made
    }

    fn try_make(&self) -> Result<Groups, GroupError> {
        if let Some((base, controllers)) = &self.divided {
            divide(base, controllers)?;
        }
        for (path, settings) in &self.groups {
            fs::create_dir(path).map_err(|error| {
                let group = path.parent().unwrap_or(path).to_owned();
                GroupError::Denied { group, error }
            })?;
            for (file, value, needed) in settings {
                let file = path.join(file);
                match fs::write(&file, value) {
                    Err(error) if *needed => return Err(GroupError::Refused { file, error }),
                    _ => {}
                }
            }
        }
        let unlimited = self.unlimited.clone().filter(|path| fs::create_dir(path).is_ok());
        let limited = self.groups.iter().map(|group| group.0.clone());
        Ok(Groups::new(limited.chain(unlimited)))
    }
}

/// Leaves the groups of the session that a daemon was started in, if it was: it and what it makes are not
/// to share that session's limits. Gives the groups that could not be left.
#[must_use]
pub fn leave_session() -> Vec<PathBuf> {
    let found = Found::read(std::process::id());
    let groups = [found.first(PROCESSES), found.first(MEMORY), found.second()];
    groups.into_iter().flatten().filter(|group| !leave(group)).collect()
}

/// Moves this process to where the sessions' groups are. Says whether it is in no session's group.
fn leave(group: &Path) -> bool {
    let Some(outer) = group.ancestors().filter(|it| is_session(it)).last() else { return true };
    let Some(base) = outer.parent() else { return false };
    // A divided group of the second version takes nobody; who divided it has a place below it.
    let places = [base.join(OURS), base.to_owned()];
    places.iter().any(|place| fs::write(place.join(MEMBERS), "0").is_ok())
}

/// Whether a group was made for a session.
fn is_session(group: &Path) -> bool {
    let name = group.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let id = name.strip_prefix(PREFIX).unwrap_or_default();
    id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit())
}

fn first_settings(controller: &str, limits: Limits) -> Vec<Setting> {
    let text = |limit: Option<u64>| limit.map(|it| it.to_string()).unwrap_or_default();
    match controller {
        PROCESSES => vec![("pids.max", text(limits.processes), true)],
        _ => vec![
            ("memory.limit_in_bytes", text(limits.memory), true),
            // Not every kernel counts what was swapped out.
            ("memory.memsw.limit_in_bytes", text(limits.memory), false),
        ],
    }
}

fn second_settings(controller: &str, limits: Limits) -> Vec<Setting> {
    let text = |limit: Option<u64>| limit.map(|it| it.to_string()).unwrap_or_default();
    match controller {
        PROCESSES => vec![("pids.max", text(limits.processes), true)],
        _ => vec![
            ("memory.max", text(limits.memory), true),
            // What is swapped out would not count.
            ("memory.swap.max", "0".to_owned(), false),
        ],
    }
}

/// Whether groups can be made below one.
fn may_divide(group: &Path) -> Result<(), GroupError> {
    use rustix::fs::Access;
    for (path, access) in [
        (group.to_owned(), Access::WRITE_OK | Access::EXEC_OK),
        (group.join(MEMBERS), Access::WRITE_OK),
    ] {
        rustix::fs::access(path, access)
            .map_err(|error| GroupError::Denied { group: group.to_owned(), error: error.into() })?;
    }
    Ok(())
}

/// What is to be written so that the groups below one have the controllers.
fn missing(base: &Path, controllers: &[&str]) -> Vec<String> {
    let given = fs::read_to_string(base.join(GIVEN)).unwrap_or_default();
    let has = |name: &str| given.split_ascii_whitespace().any(|given| given == name);
    controllers.iter().filter(|it| !has(it)).map(|it| format!("+{it}")).collect()
}

/// Gives the groups below one the controllers, if they have not got them.
fn divide(base: &Path, controllers: &[&str]) -> Result<(), GroupError> {
    let missing = missing(base, controllers);
    if missing.is_empty() {
        return Ok(());
    }
    for _ in 0..MOVES {
        match fs::write(base.join(GIVEN), missing.join(" ")) {
            // Somebody is in it: a group has members or divides what it has, never both.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => move_aside(base)?,
            Err(error) => return Err(GroupError::Denied { group: base.to_owned(), error }),
            Ok(()) => return Ok(()),
        }
    }
    let error = io::ErrorKind::ResourceBusy.into();
    Err(GroupError::Denied { group: base.to_owned(), error })
}

/// Whether those in a group can be moved out of it: they all are ours, and whoever made it does not
/// want to put somebody there again.
fn may_move(base: &Path, process: u32) -> Result<Vec<u32>, GroupError> {
    let (group, members) = (base.to_owned(), members(base));
    // The root of all divides what it has though it has members.
    if members.is_empty() || !base.join("cgroup.type").exists() {
        return Ok(Vec::new());
    }
    if base.extension().is_some_and(|it| it == "service") {
        return Err(GroupError::Service { group });
    }
    let mut ours: Vec<u32> = vec![process];
    ours.extend(members.iter().filter(|&&pid| is_greenroom(pid)));
    let family: Vec<u32> = ours.iter().flat_map(|&pid| descendants(pid)).collect();
    match members.iter().find(|pid| !ours.contains(pid) && !family.contains(pid)) {
        Some(&pid) => Err(GroupError::Shared { group, pid }),
        None => Ok(members),
    }
}

/// Moves those in a group to one of their own below it.
fn move_aside(base: &Path) -> Result<(), GroupError> {
    let members = may_move(base, std::process::id())?;
    let denied = |error| GroupError::Denied { group: base.to_owned(), error };
    let aside = base.join(OURS);
    match fs::create_dir(&aside) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(denied(error)),
        _ => {}
    }
    for pid in members {
        match fs::write(aside.join(MEMBERS), pid.to_string()) {
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            moved => moved.map_err(denied)?,
        }
    }
    Ok(())
}

/// Whether a process runs a program that lies beside ours: a holder, or a relay.
fn is_greenroom(pid: u32) -> bool {
    let folder = |pid: &str| {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        program.parent().map(Path::to_owned)
    };
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.starts_with("greenroom") && folder(&pid.to_string()) == folder("self")
}
