//! Makes system calls of a process fail, one at a time, with `strace`.
//!
//! The product has no fail points. `strace` fails a call in the kernel's place, so what runs is the
//! program as it is shipped. It traces one thread and none of its children, but for a disk that is slow:
//! whichever thread writes waits for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use greenroom_testkit::{HOLDER, Home, Signal, eventually, process};

const MISSING: &str = "this test needs `strace`: `cargo xtask test` installs it";
const UNTRACEABLE: &str = "processes cannot be traced here, so faults are not tested";

/// How long a slow disk takes for a write: far longer than what does not wait for it.
const SLOWLY: Duration = Duration::from_millis(500);

/// A call that fails: the `nth` of its kind, counted from when `strace` came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) call: &'static str,
    pub(crate) error: &'static str,
    pub(crate) nth: usize,
    /// Only calls with this file.
    pub(crate) file: Option<&'static str>,
}

impl Fault {
    fn arguments(&self, log: &Path) -> Vec<String> {
        let Fault { call, error, nth, file } = self;
        let inject = format!("inject={call}:error={error}:when={nth}");
        let words = ["-qq", "-o", &log.display().to_string(), "-e", &format!("trace={call}")];
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words.extend(["-e".to_owned(), inject]);
        words.extend(file.iter().flat_map(|it| ["-P".to_owned(), (*it).to_owned()]));
        words
    }
}

/// Whether the fault was met.
fn was_met(log: &Path) -> bool {
    fs::read_to_string(log).is_ok_and(|it| it.contains("(INJECTED)"))
}

/// A thread whose call fails, while this is there.
pub(crate) struct Tampered {
    strace: Child,
    log: PathBuf,
}

impl Tampered {
    /// Waits until the thread is traced.
    ///
    /// # Panics
    /// It cannot be, and then there is no test of what was to be tested.
    #[track_caller]
    pub(crate) fn attach(home: &Home, thread: u32, fault: Fault) -> Tampered {
        let log = home.path().join("strace");
        Tampered::begin(home, thread, fault.arguments(&log), log)
    }

    /// Makes every write of a process to a file take [`SLOWLY`].
    #[track_caller]
    pub(crate) fn slow_disk(home: &Home, pid: u32, file: &Path) -> Tampered {
        let how = format!("delay_enter={}", SLOWLY.as_micros());
        Tampered::every_write(home, pid, file, &how)
    }

    /// Makes every write of a process to a file fail: there is no room for it.
    #[track_caller]
    pub(crate) fn full_disk(home: &Home, pid: u32, file: &Path) -> Tampered {
        Tampered::every_write(home, pid, file, "error=ENOSPC")
    }

    #[track_caller]
    fn every_write(home: &Home, pid: u32, file: &Path, how: &str) -> Tampered {
        let (log, inject) = (home.path().join("strace"), format!("inject=write:{how}"));
        let (log_at, file) = (log.display().to_string(), file.display().to_string());
        let words = ["-qq", "-f", "-o", &log_at, "-e", "trace=write", "-e", &inject, "-P", &file];
        Tampered::begin(home, pid, words.map(str::to_owned).into(), log)
    }

    #[track_caller]
    fn begin(home: &Home, thread: u32, arguments: Vec<String>, log: PathBuf) -> Tampered {
        let said = home.path().join("strace-said");
        let mut command = Command::new("strace");
        command.args(arguments).args(["-p", &thread.to_string()]);
        command.stdin(Stdio::null()).stderr(fs::File::create(&said).unwrap());
        let started = command.spawn();
        let mut strace = started.expect(MISSING);
        eventually("strace traces the thread", || {
            if let Some(status) = strace.try_wait().unwrap() {
                let said = fs::read_to_string(&said).unwrap_or_default();
                panic!("{UNTRACEABLE}: {status}: {said}");
            }
            tracer(thread) == Some(strace.id()) && process::state(thread) == Some('S')
        });
        Tampered { strace, log }
    }

    /// Whether the fault was met by now.
    pub(crate) fn was_met(&self) -> bool {
        was_met(&self.log)
    }

    /// Lets the thread go, and says whether the fault was met.
    pub(crate) fn detach(mut self) -> bool {
        self.end();
        self.was_met()
    }

    fn end(&mut self) {
        // It lets go of the thread at this signal; killed, it would as well, but not at rest.
        process::kill(self.strace.id(), Signal::TERM);
        self.strace.wait().map(drop).unwrap_or_default();
    }
}

impl Drop for Tampered {
    fn drop(&mut self) {
        self.end();
    }
}

fn tracer(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    line.trim().parse().ok()
}

/// The thread of that name.
#[track_caller]
pub(crate) fn thread(pid: u32, name: &str) -> u32 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let named =
        |path: &PathBuf| fs::read_to_string(path.join("comm")).is_ok_and(|it| it.trim() == name);
    let found = threads.map(|it| it.path()).find(named).expect("a thread of that name");
    found.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// A home in which a call of every new holder fails.
pub(crate) struct Holders {
    script: PathBuf,
    real: PathBuf,
    log: PathBuf,
}

impl Holders {
    /// Puts itself in the place of the holder in a home with programs.
    ///
    /// # Panics
    /// Nothing can be traced here: its holders would not start, which looks like a fault.
    #[track_caller]
    pub(crate) fn of(home: &Home) -> Holders {
        let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
        let tried = tried.expect(MISSING);
        let said = String::from_utf8_lossy(&tried.stderr);
        assert!(tried.status.success(), "{UNTRACEABLE}: {said}");
        let script = home.binary().with_file_name(HOLDER);
        let folder = home.path().join("real");
        fs::create_dir(&folder).unwrap();
        let real = folder.join(HOLDER);
        fs::rename(&script, &real).unwrap();
        let holders = Holders { script, real, log: home.path().join("strace") };
        holders.write("");
        holders
    }

    /// From now on new holders meet this.
    pub(crate) fn tamper(&self, fault: Fault) {
        fs::remove_file(&self.log).unwrap_or_default();
        // As its own grandchild: the holder stays the daemon's child.
        self.write(&format!("strace -D {}", fault.arguments(&self.log).join(" ")));
    }

    /// From now on new holders are left alone. Says whether the fault was met.
    pub(crate) fn leave_alone(&self) -> bool {
        self.write("");
        was_met(&self.log)
    }

    fn write(&self, before: &str) {
        let script = format!("#!/bin/sh\nexec {before} {} \"$@\"\n", self.real.display());
        // A new file each time: one that is being run cannot be written.
        let new = self.script.with_extension("new");
        fs::write(&new, script).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(&new, &self.script).unwrap();
    }
}
