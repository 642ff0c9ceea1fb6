//! Single calls about processes: this one's own settings, signals to others, reaping.

use std::io;

use greenroom_model::ExitStatus;
use rustix::process::{Resource, Rlimit, WaitOptions};

/// What one look for ended children found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This child ended, and is gone now.
    Ended(u32, ExitStatus),
    /// The children that are left all live.
    None,
    /// There is no child at all, and so no descendant either.
    NoChildren,
}

/// Takes one child that has ended, whichever; call it again until it finds none.
pub fn reap() -> Reaped {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                let ended = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => ExitStatus::Code(code),
                    (None, Some(signal)) => ExitStatus::Signal(signal),
                    (None, None) => continue,
                };
                return Reaped::Ended(pid.as_raw_nonzero().get().unsigned_abs(), ended);
            }
            Ok(None) => return Reaped::None,
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CHILD) => return Reaped::NoChildren,
            Err(_) => return Reaped::None,
        }
    }
}

/// Sends a signal to a process; false if it is gone or not ours to signal.
pub fn kill(pid: u32, signal: i32) -> bool {
    // Zero and what is negative as a pid mean groups, and 1 is nobody's child.
    let Ok(pid) = i32::try_from(pid) else { return false };
    // SAFETY: `kill` touches no memory.
    pid > 1 && unsafe { libc::kill(pid, signal) } == 0
}

/// Sends a signal to a process group; false if it is gone or not ours to signal.
pub fn kill_group(group: u32, signal: i32) -> bool {
    let Ok(group) = i32::try_from(group) else { return false };
    // SAFETY: `killpg` touches no memory.
    group > 1 && unsafe { libc::killpg(group, signal) } == 0
}

/// Makes this process the parent of every descendant whose own parent ends, so that none of them
/// gets out of sight.
///
/// # Errors
/// The system refuses.
pub fn adopt_orphans() -> io::Result<()> {
    // Any pid sets the flag; it is always about the calling process.
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Closes every descriptor past 2 that this process was started with.
///
/// To be called first of all, while nothing here owns one.
pub fn close_inherited() {
    // SAFETY: by the contract above no descriptor past 2 is owned by anything in this process.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

/// Raises this process's limit of open files as far as it may, and gives what it was before.
///
/// # Errors
/// The system refuses; the limit is as it was.
pub fn raise_open_files() -> io::Result<u64> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(Resource::Nofile, raised)?;
    Ok(limit.current.unwrap_or(u64::MAX))
}

/// Has blocks of this many bytes and more given back to the system as soon as they are freed.
///
/// The allocator would otherwise raise its own bound with the first large block that is freed, keep
/// what comes after, and cut blocks from room it took in advance.
pub fn return_memory_promptly(block: usize) {
    #[cfg(target_env = "gnu")]
    {
        let block = i32::try_from(block).unwrap_or(i32::MAX);
        // SAFETY: `mallopt` only sets a parameter of the allocator.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, block);
            libc::mallopt(libc::M_TRIM_THRESHOLD, block);
            libc::mallopt(libc::M_TOP_PAD, 0);
        }
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = block;
}

/// Gives back to the system what is free in the allocator, once much was freed for good.
pub fn return_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// How long a turn on a processor is for a process that answers a person, in nanoseconds: the shortest
/// there is. It does its few microseconds of work and sleeps.
const SHORT_TURN: u64 = 100_000;

/// How long a turn is for a thread that works while others answer people: the longest there is. It is no
/// promise, only a claim that whoever is woken for a shorter turn goes before.
const LONG_TURN: u64 = 100_000_000;

/// What `sched_setattr` takes, as of its first version.
#[repr(C)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// What this process starts has turns of the usual length again.
const RESET_ON_FORK: u64 = 1;

/// Asks for short turns on the processor, and so to come before those who work long when woken. Systems
/// that know nothing of it go on as ever.
pub fn take_short_turns() {
    let nice = niceness();
    if nice < 0 {
        // Who was given precedence has it, and what they start must keep it.
        return;
    }
    take_turns(RESET_ON_FORK, nice, SHORT_TURN);
}

/// Asks for long turns on the processor for this thread alone, and so to come after whoever is woken
/// meanwhile, in this process and in others. Its share is that of a thread with this niceness, so it
/// never starves; on a machine with nothing else to do it is as fast as any.
pub fn take_long_turns(nice: i32) {
    take_turns(0, niceness().max(nice), LONG_TURN);
}

/// How nice this thread is.
fn niceness() -> i32 {
    // SAFETY: no arguments that could be wrong; it only reads.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

fn take_turns(flags: u64, nice: i32, runtime: u64) {
    let wanted = Scheduling {
        size: size_of::<Scheduling>() as u32,
        policy: 0,
        flags,
        nice,
        priority: 0,
        runtime,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the struct lives through the call and says its own size.
    let _refused = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_signalled_by_mistake() {
        assert!(!kill(0, 0));
        assert!(!kill(1, 0));
        assert!(!kill(u32::MAX, 0));
        assert!(!kill_group(0, 0));
        assert!(!kill_group(1, 0));
        assert!(!kill_group(u32::MAX, 0));
    }

    #[test]
    fn long_turns_are_one_threads_and_never_less_nice() {
        let before = niceness();
        let nicer = std::thread::spawn(move || {
            take_long_turns(before + 3);
            let raised = niceness();
            take_long_turns(before);
            (raised, niceness())
        });
        assert_eq!(nicer.join().unwrap(), (before + 3, before + 3));
        assert_eq!(niceness(), before);
    }

    #[test]
    fn open_files_are_raised_and_the_old_limit_told() {
        let before = rustix::process::getrlimit(Resource::Nofile);
        assert_eq!(raise_open_files().unwrap(), before.current.unwrap_or(u64::MAX));
        let after = rustix::process::getrlimit(Resource::Nofile);
        assert_eq!(after.current, before.maximum);
    }
}
