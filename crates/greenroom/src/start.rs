//! Starting the daemon in the background.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use greenroom_cli::Compat;

use crate::environment;
use crate::lock::Taken;
use crate::paths::HOME;

/// What the daemon says once it can be reached.
const READY: &str = "ready\n";

/// What it says if another one was faster, which then is or soon will be reachable.
const TAKEN: &str = "taken\n";

/// The variable that says it was started by us.
pub(crate) const TOLD: &str = "GREENROOM_STARTED_BY";

/// How long a daemon has to come up: it may have hundreds of sessions to take up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a daemon of this very program, and waits until it listens or says why not.
pub(crate) fn start(compat: &[Compat]) -> Result<()> {
    let program = std::env::current_exe().context("finding this program")?;
    let (mut ours, theirs) = UnixStream::pair().context("making a pair of sockets")?;
    ours.set_read_timeout(Some(PATIENCE)).context("setting a time")?;
    let mut command = Command::new(program);
    // Its standard output is how it tells; it lets go of it then.
    // Under its own name, whatever link we were started through.
    command
        .arg0("greenroom")
        .args(["daemon", "start", "--foreground"])
        .args(compat.iter().flat_map(|it| ["--compat", it.name()]))
        .env(TOLD, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stderr(Stdio::null());
    if let Some(house) = environment::house_of_base()
        && std::env::var_os(HOME).is_none_or(|it| it.is_empty())
    {
        // Which it could not tell under its own name.
        command.env(HOME, house);
    }
    let mut child = command.spawn().context("starting the daemon")?;
    drop(command);
    let mut said = String::new();
    match ours.read_to_string(&mut said) {
        Ok(_) if said == READY => Ok(()),
        Ok(_) if said == TAKEN => child.wait().map(drop).context("waiting for the daemon"),
        Ok(_) if said.is_empty() => {
            let status = child.wait().context("waiting for the daemon")?;
            bail!("the daemon ended at once ({status}); its log may say why")
        }
        Ok(_) => {
            child.wait().context("waiting for the daemon")?;
            bail!("{}", said.trim_end())
        }
        Err(error) => Err(error).context("waiting for the daemon to come up"),
    }
}

/// Tells whoever started this daemon, and lets go of them and their terminal.
pub(crate) fn told(result: Result<(), &anyhow::Error>) {
    let text = match result {
        Ok(()) => READY.to_owned(),
        Err(error) if error.is::<Taken>() => TAKEN.to_owned(),
        Err(error) => format!("{error:#}\n"),
    };
    let mut out = std::io::stdout();
    // Whoever asked may have gone away meanwhile.
    let _told = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _let_go = rustix::stdio::dup2_stdout(&null);
    }
}
