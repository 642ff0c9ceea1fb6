//! Starts a program on a terminal.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit};

use crate::{Groups, signals};

/// What to start, and in what surroundings. The child has these and no others.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    /// The program, looked up in the `PATH` of `env` if it has no slash.
    pub program: &'a [u8],
    /// What it sees as its own name.
    pub arg0: &'a [u8],
    /// Its arguments after that.
    pub args: &'a [Vec<u8>],
    /// Its whole environment.
    pub env: &'a [(Vec<u8>, Vec<u8>)],
    /// The folder it starts in.
    pub cwd: &'a [u8],
    /// Its soft limit on open files; none leaves it as it is.
    pub open_files: Option<u64>,
    /// What its new files may not have; none leaves it as it is.
    pub umask: Option<u32>,
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The terminal could not become the child's.
    #[error("cannot give the terminal to the program")]
    Terminal(#[source] io::Error),
    /// The folder is not there, or not to be entered.
    #[error("cannot enter the folder")]
    Cwd(#[source] io::Error),
    /// A control group is not there, or not to be entered.
    #[error("cannot enter the control group")]
    Group(#[source] io::Error),
    /// The program is not there, or not to be run.
    #[error("cannot start the program")]
    Program(#[source] io::Error),
}

/// The child tells its parent an error number and nothing else, so the step that failed is told in
/// the bits above it: real numbers end at 4095.
const STAGE_SHIFT: i32 = 16;
const TERMINAL: i32 = 1;
const CWD: i32 = 2;
const GROUP: i32 = 3;

/// Starts a program as the leader of a new session on this terminal, and gives its pid.
///
/// Signals are all default and none is blocked. The child is to be [reaped](crate::reap).
///
/// # Errors
/// Tells the step that failed. The program did not run then, and there is no child.
pub fn spawn(program: &Program<'_>, slave: &OwnedFd) -> Result<u32, SpawnError> {
    spawn_in(program, slave, &Groups::default())
}

/// The same, in control groups: the program and whatever comes of it.
///
/// # Errors
/// As for [`spawn`].
pub fn spawn_in(
    program: &Program<'_>,
    slave: &OwnedFd,
    groups: &Groups,
) -> Result<u32, SpawnError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let cwd = rustix::fs::open(program.cwd, flags, Mode::empty())
        .map_err(|error| SpawnError::Cwd(error.into()))?;
    let groups = groups.doors().map_err(SpawnError::Group)?;
    let mut command = Command::new(OsStr::from_bytes(program.program));
    command
        .arg0(OsStr::from_bytes(program.arg0))
        .args(program.args.iter().map(|arg| OsStr::from_bytes(arg)))
        .env_clear()
        .envs(
            program
                .env
                .iter()
                .map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value))),
        )
        .stdin(duplicate(slave)?)
        .stdout(duplicate(slave)?)
        .stderr(duplicate(slave)?);
    let (open_files, umask, expendable) = (program.open_files, program.umask, expendable());
    let prepare = move || {
        enter(&groups)?;
        if let Some(score) = &expendable {
            become_expendable(score);
        }
        prepare(cwd.as_fd(), open_files, umask)
    };
    // SAFETY: `prepare` calls nothing but system calls and functions that may follow a fork; it
    // takes no lock and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    match command.spawn() {
        // Dropping the handle neither waits nor kills.
        Ok(child) => Ok(child.id()),
        Err(error) => Err(told(&error)),
    }
}

fn duplicate(slave: &OwnedFd) -> Result<OwnedFd, SpawnError> {
    slave.try_clone().map_err(SpawnError::Terminal)
}

/// How much sooner than us the program is to be ended by a system that is out of memory: what it
/// takes is its own, and who holds its terminal must be there to tell how it ended.
const EXPENDABLE: i32 = 100;

/// The most the system knows.
const MOST_EXPENDABLE: i32 = 1000;

const SCORE: &str = "/proc/self/oom_score_adj";

/// The score the program gets, as the system reads it; none where there are no scores.
fn expendable() -> Option<String> {
    let ours: i32 = std::fs::read_to_string(SCORE).ok()?.trim().parse().ok()?;
    Some((ours + EXPENDABLE).min(MOST_EXPENDABLE).to_string())
}

/// Runs between fork and exec. A system that refuses leaves things as they are.
fn become_expendable(score: &str) {
    if let Ok(file) = rustix::fs::open(SCORE, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _refused = rustix::io::write(&file, score.as_bytes());
    }
}

/// First of all, so that whatever comes of the child is in the groups as well.
fn enter(groups: &[OwnedFd]) -> io::Result<()> {
    for group in groups {
        rustix::io::write(group, b"0").map_err(|error| at(GROUP, error))?;
    }
    Ok(())
}

/// What the child does before it becomes the program. Its stdio is the terminal already.
fn prepare(cwd: BorrowedFd<'_>, open_files: Option<u64>, umask: Option<u32>) -> io::Result<()> {
    signals::reset_all();
    if let Some(open_files) = open_files {
        let limit = rustix::process::getrlimit(Resource::Nofile);
        let lowered = Rlimit { current: Some(open_files), maximum: limit.maximum };
        // A limit past the maximum is refused; the inherited one is the nearest then.
        let _refused = rustix::process::setrlimit(Resource::Nofile, lowered);
    }
    if let Some(umask) = umask {
        rustix::process::umask(Mode::from_raw_mode(umask));
    }
    rustix::process::setsid().map_err(|error| at(TERMINAL, error))?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())
        .map_err(|error| at(TERMINAL, error))?;
    rustix::process::fchdir(cwd).map_err(|error| at(CWD, error))?;
    close_others_on_exec();
    Ok(())
}

/// Everything of ours is close-on-exec already; this is for what the process was started with.
fn close_others_on_exec() {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    // SAFETY: the call changes a flag of descriptors and closes none.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if done == 0 {
        return;
    }
    // Kernels before 5.11, one by one. What is inherited has low numbers.
    for fd in 3..1024 {
        // SAFETY: as above; a number that is no descriptor is refused.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

fn at(stage: i32, error: rustix::io::Errno) -> io::Error {
    io::Error::from_raw_os_error(stage << STAGE_SHIFT | error.raw_os_error())
}

fn told(error: &io::Error) -> SpawnError {
    // Without a number it was a NUL in a name, which no program can have.
    let number = error.raw_os_error().unwrap_or(libc::EINVAL);
    let error = io::Error::from_raw_os_error(number & ((1 << STAGE_SHIFT) - 1));
    match number >> STAGE_SHIFT {
        TERMINAL => SpawnError::Terminal(error),
        CWD => SpawnError::Cwd(error),
        GROUP => SpawnError::Group(error),
        _ => SpawnError::Program(error),
    }
}

#[cfg(test)]
mod tests {
    use greenroom_model::Size;

    use super::*;

    #[test]
    fn the_step_that_failed_is_told() {
        let (_master, slave) = crate::open(Size::DEFAULT).unwrap();
        let program = Program {
            program: b"no-such-program",
            arg0: b"",
            args: &[],
            env: &[],
            cwd: b"/",
            open_files: None,
            umask: None,
        };
        let number = |error: io::Error| error.raw_os_error();
        match spawn(&program, &slave) {
            Err(SpawnError::Program(error)) => assert_eq!(number(error), Some(libc::ENOENT)),
            other => panic!("{other:?}"),
        }
        match spawn(&Program { cwd: b"/no/such/folder", ..program.clone() }, &slave) {
            Err(SpawnError::Cwd(error)) => assert_eq!(number(error), Some(libc::ENOENT)),
            other => panic!("{other:?}"),
        }
        // Told by the child, in the bits above the number.
        match told(&at(TERMINAL, rustix::io::Errno::IO)) {
            SpawnError::Terminal(error) => assert_eq!(number(error), Some(libc::EIO)),
            other => panic!("{other:?}"),
        }
    }
}
