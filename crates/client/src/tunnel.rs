//! A line to the daemon of another machine: the far socket, brought here by the system's `ssh`.
//!
//! The far program says where its daemon listens (and starts it); `ssh` forwards a local socket to
//! that one over a shared line, which stays open for [`LINGER`] after its last use. The next
//! connection finds the socket standing and costs no `ssh` at all. When it leads nowhere, the line
//! is looked at, then the far daemon, and what is missing is made anew.
//!
//! **Invariant:** the sockets are in a folder of ours alone; nobody is asked anything unless a
//! person is known to be there. Not here: what `ssh` is told of a machine (`machine`), running it
//! (`ssh`), speaking to the shared line (`line`), what failures mean (`far`).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Identity};
use crate::endpoint::{Endpoint, check_folder};
use crate::error::{Error, ErrorKind};
use crate::far::{self, Far};
use crate::line::{close, field, percent, tell};
use crate::machine::Machine;
use crate::ssh::{self, LINE_FAILED, Mute, SSH, Said};

/// How long the line stays open after its last use: about as long as one looks at something else
/// between two commands.
pub const LINGER: Duration = Duration::from_secs(600);

/// How long a line may take to come up when nobody is asked: connecting, and a far daemon that has
/// hundreds of sessions to take up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long a person may take to find a password.
const PERSONS_PATIENCE: Duration = Duration::from_secs(300);

/// How long `ssh` itself tries to connect: a machine that is there answers far sooner.
const CONNECT: Duration = Duration::from_secs(10);

/// How often a silent line is asked whether it still stands, and how often in vain: a dead line is
/// noticed within fifteen seconds, and an idle one costs next to nothing.
const ALIVE_EVERY: Duration = Duration::from_secs(5);
const ALIVE_COUNT: u32 = 3;

/// The folder of lines, in that of sockets.
const FOLDER: &str = "hosts";

/// The longest path a socket may have, less what `ssh` appends while it makes one.
const MAX_PATH: usize = 107 - 17;

/// The options of every `ssh`. They come before a person's own, and the first one counts.
const OPTIONS: &[&str] = &[
    "ControlMaster=auto",
    "StreamLocalBindMask=0177",
    "StreamLocalBindUnlink=yes",
    "ExitOnForwardFailure=yes",
    // What a person's configuration says about this machine is for their shells there.
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    // Banners and advice are not errors.
    "LogLevel=ERROR",
];

/// A line to another machine.
#[derive(Debug, Clone)]
pub struct Tunnel {
    machine: Machine,
    folder: PathBuf,
    asks: bool,
    patience: Duration,
    stop: Option<Arc<UnixStream>>,
}

impl Tunnel {
    /// A line whose sockets are below this folder, which nobody is asked about.
    #[must_use]
    pub fn new(machine: Machine, run: &Path) -> Tunnel {
        let folder = run.join(FOLDER);
        Tunnel { machine, folder, asks: false, patience: PATIENCE, stop: None }
    }

    /// Lets `ssh` ask the person at this terminal.
    #[must_use]
    pub fn asking(self) -> Tunnel {
        Tunnel { asks: true, patience: PERSONS_PATIENCE, ..self }
    }

    /// Asks nobody, and waits no longer than that for `ssh`.
    #[must_use]
    pub fn quiet(self, patience: Duration) -> Tunnel {
        Tunnel { asks: false, patience, ..self }
    }

    /// Gives up as soon as the other end of this is closed.
    #[must_use]
    pub fn until(self, stop: Arc<UnixStream>) -> Tunnel {
        Tunnel { stop: Some(stop), ..self }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Connects to the far daemon; starts it if that is wanted.
    ///
    /// # Errors
    /// The machine cannot be reached, has no such program, or no daemon.
    pub fn connect(&self, identity: &Identity, start: bool) -> Result<Connection, Error> {
        let deadline = Instant::now() + self.patience;
        self.prepare()?;
        if let Some(connection) = self.over_standing_line(identity)? {
            return Ok(connection);
        }
        let connected = match self.over_new_line(identity, start, deadline) {
            Err(error) if leads_nowhere(&error) => {
                self.close();
                self.over_new_line(identity, start, deadline)
            }
            other => other,
        };
        connected.map_err(|error| self.explained(error))
    }

    /// Says where the far daemon listens and whether it runs, without starting it.
    ///
    /// # Errors
    /// The machine cannot be reached, or has no such program.
    pub fn probe(&self) -> Result<Far, Error> {
        self.prepare()?;
        self.ask(false, Instant::now() + self.patience)
    }

    /// Runs the far program, whatever it ends with.
    ///
    /// # Errors
    /// The machine cannot be reached, or has no such program.
    pub fn run(&self, arguments: &[&str]) -> Result<Said, Error> {
        self.prepare()?;
        self.run_by(arguments, Instant::now() + self.patience)
    }

    /// Closes the line, and with it every connection over it; false if it was not open.
    pub fn close(&self) -> bool {
        close(&self.control(), &self.machine.destination, self.stop.as_deref())
    }

    /// Closes every line whose sockets are below this folder; gives how many there were.
    #[must_use]
    pub fn close_all(run: &Path) -> usize {
        let entries = fs::read_dir(run.join(FOLDER)).into_iter().flatten().flatten();
        let controls =
            entries.map(|it| it.path()).filter(|it| it.extension() == Some("c".as_ref()));
        // Who has the line knows where it leads; any name will do.
        controls.filter(|control| close(control, "host", None)).count()
    }

    /// The socket of the shared line.
    fn control(&self) -> PathBuf {
        self.folder.join(format!("{}.c", self.machine.short_name()))
    }

    /// The socket that leads to the far one.
    fn local(&self) -> PathBuf {
        self.control().with_extension("s")
    }

    /// Makes the folder of lines, and refuses one that is not ours alone.
    fn prepare(&self) -> Result<(), Error> {
        let path = self.control();
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() > MAX_PATH || bytes.windows(2).any(|it| it == b"${") {
            let why = format!("`{}` cannot be a socket of `ssh`", path.display());
            return Err(self.failed(ErrorKind::Invalid, why, "set GREENROOM_HOME to another path"));
        }
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|source| Error::Unreachable { path: self.folder.clone(), source })?;
        for folder in [self.folder.parent(), Some(&self.folder)].into_iter().flatten() {
            check_folder(folder)?;
        }
        Ok(())
    }

    /// Connects over a line that an earlier command left.
    fn over_standing_line(&self, identity: &Identity) -> Result<Option<Connection>, Error> {
        let local = self.local();
        if local.symlink_metadata().is_err() {
            return Ok(None);
        }
        match Endpoint::new(local).connect(identity) {
            Ok(connection) => Ok(Some(connection)),
            // It takes connections and nothing comes back: the machine slept, or the net is another.
            Err(Error::Silent { .. }) => {
                self.close();
                Ok(None)
            }
            // The line is gone, or the far daemon is.
            Err(error) if leads_nowhere(&error) => Ok(None),
            Err(error) => Err(self.explained(error)),
        }
    }

    /// Asks for the far socket, over the line or making it, and brings it here.
    fn over_new_line(
        &self,
        identity: &Identity,
        start: bool,
        deadline: Instant,
    ) -> Result<Connection, Error> {
        let far = self.ask(start, deadline)?;
        if !far.running {
            let hint =
                format!("start it with `greenroom --host {} daemon start`", self.machine.name);
            return Err(self.failed(ErrorKind::Unreachable, "no daemon runs there", &hint));
        }
        if self.forward(&far.socket).is_err() {
            // The line it was asked over was about to end, and is no more: asking makes another.
            let far = self.ask(start, deadline)?;
            self.forward(&far.socket)?;
        }
        Endpoint::new(self.local()).connect(identity)
    }

    fn ask(&self, start: bool, deadline: Instant) -> Result<Far, Error> {
        let start: &[&str] = if start { &["--start"] } else { &[] };
        let said = self.run_by(&[&["daemon", "socket", "--json"], start].concat(), deadline)?;
        Far::from_said(&said).map_err(|problem| problem.at(&self.machine))
    }

    /// Brings the far socket here.
    fn forward(&self, far: &Path) -> Result<(), Error> {
        let mut both = field(self.local().as_os_str());
        both.push(":");
        both.push(field(far.as_os_str()));
        let said = self.tell_line("forward", &[OsStr::new("-L"), &both]);
        let why = match said {
            Ok(said) if said.code == 0 => return Ok(()),
            Ok(said) => far::words(&said.err),
            Err(_) => "`ssh` does not answer".to_owned(),
        };
        let why = format!("the far socket cannot be brought here: {why}");
        Err(self.failed(ErrorKind::Unreachable, why, "`greenroom host close` closes all lines"))
    }

    fn run_by(&self, arguments: &[&str], deadline: Instant) -> Result<Said, Error> {
        let mut command = self.command();
        command.arg("--").arg(&self.machine.destination).arg(self.machine.far_line(arguments));
        match ssh::run(command, deadline, self.stop.as_deref()) {
            Ok(said) if said.code == LINE_FAILED => {
                Err(far::line_failed(&said.err).at(&self.machine))
            }
            Ok(said) => match far::no_program(&said) {
                Some(problem) => Err(problem.at(&self.machine)),
                None => Ok(said),
            },
            Err(mute) => Err(self.muted(mute)),
        }
    }

    /// An `ssh` to this machine over the shared line, which it makes if there is none.
    fn command(&self) -> Command {
        let Machine { port, identity, options, .. } = &self.machine;
        let mut command = Command::new(SSH);
        // What stays open keeps no folder of the person's busy.
        command.current_dir("/").arg("-S").arg(percent(self.control().as_os_str()));
        let mut option = |text: &str| {
            command.arg("-o").arg(text);
        };
        OPTIONS.iter().for_each(|it| option(it));
        option(&format!("ControlPersist={}", LINGER.as_secs()));
        option(&format!("ConnectTimeout={}", CONNECT.min(self.patience).as_secs().max(1)));
        option(&format!("ServerAliveInterval={}", ALIVE_EVERY.as_secs()));
        option(&format!("ServerAliveCountMax={ALIVE_COUNT}"));
        if !self.asks {
            option("BatchMode=yes");
        }
        options.iter().for_each(|it| option(it));
        if let Some(port) = port {
            command.arg("-p").arg(port.to_string());
        }
        if let Some(identity) = identity {
            command.arg("-i").arg(identity);
        }
        command
    }

    /// Tells the `ssh` that has the shared line something.
    fn tell_line(&self, what: &str, arguments: &[&OsStr]) -> Result<Said, Mute> {
        tell(&self.control(), what, arguments, &self.machine.destination, self.stop.as_deref())
    }

    fn muted(&self, mute: Mute) -> Error {
        match mute {
            Mute::Absent(error) => {
                let why = format!("`{SSH}` cannot be started on this machine: {error}");
                self.failed(ErrorKind::Unreachable, why, "install the OpenSSH client")
            }
            Mute::Late => {
                // A line over which nothing comes is not worth keeping.
                self.close();
                let why = format!("no answer within {} s", self.patience.as_secs());
                let hint = format!("does `ssh {}` work?", self.machine.destination);
                self.failed(ErrorKind::Unreachable, why, &hint)
            }
            Mute::Unwanted => self.failed(ErrorKind::Unreachable, "nobody waits for it", ""),
            Mute::System(error) => {
                self.failed(ErrorKind::Unreachable, format!("talking to `{SSH}`: {error}"), "")
            }
        }
    }

    /// What a failed connection means with a line in between.
    fn explained(&self, error: Error) -> Error {
        let name = &self.machine.name;
        match error {
            Error::Version { .. } => {
                let hint = format!(
                    "install the same greenroom on both machines; \
                     `greenroom --host {name} daemon restart` then runs it"
                );
                self.failed(ErrorKind::Protocol, error.to_string(), &hint)
            }
            error if leads_nowhere(&error) => {
                let why = format!("the line stands, but the daemon does not answer: {error}");
                let hint = format!(
                    "`greenroom --host {name} doctor` looks for the cause; and \
                     `AllowStreamLocalForwarding` of its `sshd_config` must not be `no`"
                );
                self.failed(ErrorKind::Unreachable, why, &hint)
            }
            error => error,
        }
    }

    fn failed(&self, kind: ErrorKind, why: impl Into<String>, hint: &str) -> Error {
        let hint = Some(hint.to_owned()).filter(|it| !it.is_empty());
        Error::Machine { host: self.machine.name.clone(), kind, why: why.into(), hint }
    }
}

/// Whether nothing, or nothing that lives, is at the end of a socket.
fn leads_nowhere(error: &Error) -> bool {
    matches!(error, Error::Unreachable { .. } | Error::Lost(_) | Error::Silent { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_too_long_is_told_of() {
        let run = PathBuf::from(format!("/{}", "long".repeat(30)));
        let tunnel = Tunnel::new(Machine::new("box").unwrap(), &run);
        let error = tunnel.probe().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn a_persons_options_come_last_and_nobody_is_asked_unless_there() {
        let mut machine = Machine::new("me@box").unwrap();
        machine.options = vec!["BatchMode=no".to_owned()];
        machine.port = Some(2222);
        let tunnel = Tunnel::new(machine, Path::new("/run/g"));
        let line = |tunnel: &Tunnel| format!("{:?}", tunnel.command());
        let quiet = line(&tunnel);
        assert!(quiet.find("BatchMode=yes") < quiet.find("BatchMode=no"), "{quiet}");
        assert!(quiet.contains(r#""-p" "2222""#), "{quiet}");
        assert!(!line(&tunnel.asking()).contains("BatchMode=yes"));
    }
}
