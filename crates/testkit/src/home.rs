//! A temporary home: a folder of its own, and the end of everything that came of it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use greenroom_client::{Connection, Endpoint, Identity, Session};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rpc::{Framing, Rpc};
use crate::wire::Wire;
use crate::{Daemon, process};

/// Where the daemon listens, below a home.
pub const SOCKET: &str = "run/greenroom.sock";

/// Where the daemon speaks the ptywright protocol, below a home.
pub const PTYWRIGHT: &str = "run/ptywright.sock";

/// What the typed client says it is.
pub const IDENTITY_KIND: &str = "test";

/// The holder's program, beside the main one.
pub const HOLDER: &str = "greenroom-holder";

/// How the folders of homes begin. Short: a socket's path has 107 bytes.
pub(crate) const PREFIX: &str = "grt-";

/// How long the processes of a home may take to be gone once they are killed.
const END: Duration = Duration::from_secs(10);

/// A temporary `GREENROOM_HOME`.
#[derive(Debug)]
pub struct Home {
    folder: PathBuf,
    binary: PathBuf,
}

impl Home {
    /// A new home for a program.
    #[must_use]
    pub fn new(binary: impl Into<PathBuf>) -> Home {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("{PREFIX}{}-{number}", std::process::id()));
        // Left by an earlier process of the same number that could not even be dropped.
        fs::remove_dir_all(&folder).unwrap_or_default();
        fs::DirBuilder::new().mode(0o700).create(&folder).expect("making a home");
        Home { folder, binary: binary.into() }
    }

    /// A new home with the programs in it: whatever runs them is known to be of this home, also
    /// a holder that has no socket yet.
    ///
    /// # Panics
    /// The programs cannot be brought there.
    #[must_use]
    pub fn with_programs(binary: impl Into<PathBuf>) -> Home {
        let mut home = Home::new(binary);
        home.binary = home.bring_programs("bin");
        home
    }

    /// Brings the programs to a folder of this home; gives the path of the main one there.
    ///
    /// # Panics
    /// The programs cannot be brought there.
    #[must_use]
    pub fn bring_programs(&self, folder: &str) -> PathBuf {
        let folder = self.folder.join(folder);
        fs::create_dir(&folder).expect("making a folder for the programs");
        let holder = self.binary.with_file_name(HOLDER);
        for program in [&self.binary, &holder] {
            let there = folder.join(program.file_name().expect("a program has a name"));
            // A link is quick; it cannot be made to another disk.
            fs::hard_link(program, &there)
                .or_else(|_| fs::copy(program, &there).map(drop))
                .expect("bringing a program");
        }
        folder.join(self.binary.file_name().expect("a program has a name"))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The program.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Where the daemon listens.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(SOCKET)
    }

    /// The sockets of holders that are there, by session number.
    #[must_use]
    pub fn holder_sockets(&self) -> Vec<u64> {
        let entries = fs::read_dir(self.folder.join("run/h")).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|it| it.path().file_stem()?.to_str()?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    /// Writes the configuration.
    pub fn configure(&self, text: &str) {
        fs::write(self.folder.join("config.toml"), text).expect("writing the configuration");
    }

    /// The program with this home and no environment but what a shell needs.
    #[must_use]
    pub fn command<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        self.command_of(&self.binary, arguments)
    }

    /// As [`command`](Home::command), for another build of the program.
    #[must_use]
    pub fn command_of<I: AsRef<OsStr>>(
        &self,
        binary: &Path,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = Command::new(binary);
        command.args(arguments).env_clear().envs(self.environment()).current_dir("/");
        command
    }

    /// What the program gets as environment.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = self.folder.display().to_string();
        let path = env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            of("GREENROOM_HOME", &home),
            of("HOME", &home),
            of("PATH", &path),
            of("LANG", "C.UTF-8"),
            of("SHELL", "/bin/sh"),
            // A tmux of its own: nobody's sessions are touched.
            of("TMUX_TMPDIR", &home),
        ]
    }

    /// Starts a daemon and waits until it answers.
    #[must_use]
    pub fn start(&self) -> Daemon {
        Daemon::start(self)
    }

    /// Connects with the typed client.
    ///
    /// # Panics
    /// The daemon does not answer.
    #[must_use]
    pub fn connect(&self) -> Connection {
        self.try_connect().expect("connecting to the daemon")
    }

    /// Connects with the typed client, if there is a daemon.
    ///
    /// # Errors
    /// There is none, or it did not answer.
    pub fn try_connect(&self) -> Result<Connection, greenroom_client::Error> {
        let identity = Identity {
            client: "greenroom-testkit".to_owned(),
            kind: IDENTITY_KIND.to_owned(),
            name: "a test".to_owned(),
        };
        Endpoint::new(self.socket()).connect(&identity)
    }

    /// Connects without a handshake, to send whatever bytes.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    pub fn wire(&self) -> Wire {
        Wire::connect(&self.socket()).expect("connecting to the daemon's socket")
    }

    /// Connects to the daemon's ptywright door.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    pub fn ptywright(&self, framing: Framing) -> Rpc {
        let socket = self.folder.join(PTYWRIGHT);
        Rpc::connect(&socket, framing).expect("connecting to the ptywright door")
    }

    /// The processes that came of this home.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        process::of_home(&self.folder)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let deadline = Instant::now() + END;
        // What is killed may have started another meanwhile, so until there is nobody.
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > deadline {
                break;
            }
            for pid in left {
                process::kill(pid, Signal::KILL);
            }
            std::thread::yield_now();
        }
        // A test may have taken permissions away.
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700)).unwrap_or_default();
        fs::remove_dir_all(&self.folder).unwrap_or_default();
    }
}

/// Makes a session that runs a line of shell, and gives what the daemon says of it.
///
/// # Panics
/// The daemon refuses.
#[track_caller]
pub fn create(connection: &mut Connection, name: &str, line: &str) -> Value {
    let params = json!({"name": name, "argv": ["sh", "-c", line], "cols": 80, "rows": 24});
    connection.call("session.create", &params).expect("making a session")
}

/// The sessions the daemon lists; with `ended`, those that have ended, too.
///
/// # Panics
/// The daemon does not answer.
#[track_caller]
pub fn session_list(connection: &mut Connection, ended: bool) -> Vec<Session> {
    let list = connection.call("session.list", &json!({"ended": ended})).expect("the list");
    list.as_array().into_iter().flatten().map(Session::from_wire).collect()
}
