//! `new`: makes a session.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use greenroom_client::{Connection, Error, ErrorKind, Session};
use greenroom_model::{Offset, Size};
use serde_json::{Value, json};

use crate::attached::{self, Watch};
use crate::context::{self, Context};
use crate::failure::{Exit, Failure, Result};
use crate::plain::escaped;
use crate::{environment, name, terminal};

/// Makes a session and attaches to it.
///
/// It runs in this folder and environment, without the variables that describe the terminal this is
/// typed into; on another host in your folder there. Without a command it runs a login shell.
/// Without a terminal it is not attached to.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Its name, which no other that runs may have.
    #[arg(short, long)]
    name: Option<String>,
    /// The folder it runs in; without it, this one.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// A variable of its environment.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = environment::pair)]
    variables: Vec<(String, String)>,
    /// The size of its terminal, such as 132x43.
    #[arg(long, value_name = "COLSxROWS", value_parser = context::size)]
    size: Option<Size>,
    #[command(flatten)]
    limits: Limits,
    /// Does not attach to it.
    #[arg(short, long)]
    detached: bool,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl New {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        self.name.as_deref().map_or(Ok(()), name::check)?;
        let stays = self.detached || context.output.is_json() || !terminal::is_there();
        let wanted = Wanted {
            name: self.name,
            unique: true,
            cwd: self.cwd,
            variables: self.variables,
            size: self.size,
            command: self.command,
            limits: self.limits,
            expect: !stays,
        };
        let mut connection = context.connect()?;
        let value = wanted.create(context, &mut connection)?;
        match stays {
            true => announce(context, &value),
            false => attach(context, connection, &value, true),
        }
    }
}

/// What a session may use. Without these it is what the configuration says.
#[derive(Debug, Default, Args)]
pub(crate) struct Limits {
    /// How many processes and threads it may have; 0 for no limit.
    #[arg(long, value_name = "N")]
    max_processes: Option<u64>,
    /// How much memory they may take together, such as 512M or 2G; 0 for no limit.
    #[arg(long, value_name = "BYTES", value_parser = context::bytes)]
    max_memory: Option<u64>,
}

impl Limits {
    fn are_asked(&self) -> bool {
        [self.max_processes, self.max_memory].into_iter().flatten().any(|most| most > 0)
    }
}

/// A session that is to be made.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) name: Option<String>,
    /// Only if no other that runs is called that.
    pub(crate) unique: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) size: Option<Size>,
    pub(crate) command: Vec<String>,
    pub(crate) limits: Limits,
    /// It is attached to next, and every byte of it is wanted.
    pub(crate) expect: bool,
}

/// How often a session is asked for if one daemon after the other is killed: more would be no accident.
const TRIES: u32 = 5;

/// How long a holder that a dying daemon started may take until the next daemon finds it.
const LATE: Duration = Duration::from_millis(250);

/// How long to wait for the next daemon where one was stopped.
const NEXT: Duration = Duration::from_secs(10);

/// Names a request as no other is named, so that the next daemon knows the session if this one dies before it answers.
fn name_of_request() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

impl Wanted {
    /// Makes it: once, also if the daemon is killed meanwhile and the next one is asked.
    pub(crate) fn create(
        &self,
        context: &Context<'_>,
        connection: &mut Connection,
    ) -> Result<Value> {
        let knows_limits = connection.hello().capabilities.iter().any(|it| it == "limits");
        if self.limits.are_asked() && !knows_limits {
            // It would make the session without them.
            return Err(Failure::usage("the daemon is older than limits on sessions")
                .hint("restart it with `greenroom daemon restart`; sessions go on"));
        }
        let mut params = self.params(context)?;
        params["request"] = name_of_request().into();
        let deadline = Instant::now() + NEXT;
        let mut made = connection.call("session.create", &params);
        for _ in 1..TRIES {
            let knows_requests = connection.hello().capabilities.iter().any(|it| it == "once");
            let nothing_begun = connection.left_nothing_begun();
            if !matches!(made, Err(Error::Lost(_))) || !(nothing_begun || knows_requests) {
                break;
            }
            if !nothing_begun {
                std::thread::sleep(LATE);
            }
            *connection = context.connect_after(connection, Some(deadline))?;
            made = connection.call("session.create", &params);
        }
        made.map_err(|error| match (error.kind(), &self.name) {
            (ErrorKind::Busy, Some(name)) => taken(context, name, error),
            _ => error.into(),
        })
    }

    /// What the daemon is told.
    fn params(&self, context: &Context<'_>) -> Result<Value> {
        let settings = context.settings()?;
        let size = self.size.or_else(terminal::size).unwrap_or(settings.size);
        let mut params = match context.chosen.machine {
            None => self.surroundings(context, settings.shell)?,
            Some(_) => self.far_surroundings()?,
        };
        params["cols"] = size.cols().into();
        params["rows"] = size.rows().into();
        params["expect"] = self.expect.into();
        if let Some(most) = self.limits.max_processes {
            params["maxProcesses"] = most.into();
        }
        if let Some(most) = self.limits.max_memory {
            params["maxMemory"] = most.into();
        }
        if let Some(name) = &self.name {
            params["name"] = name.as_str().into();
            params["unique"] = self.unique.into();
        }
        if !self.command.is_empty() {
            params["argv"] = self.command.clone().into();
        }
        Ok(params)
    }

    /// It runs where this is typed, as if it was started here.
    fn surroundings(&self, context: &Context<'_>, shell: Option<String>) -> Result<Value> {
        let variables = environment::for_session(context.host.environment(), &self.variables);
        let folder = folder(self.cwd.as_deref())?;
        let mut params = json!({"cwd": folder, "env": variables, "clearEnv": true});
        if let Some(umask) = context.host.umask() {
            params["umask"] = umask.into();
        }
        if let Some(shell) = shell {
            params["shell"] = shell.into();
        }
        Ok(params)
    }

    /// On another machine neither folders nor variables nor shells of this one mean anything: it
    /// begins with what the daemon there has, in the person's own folder.
    fn far_surroundings(&self) -> Result<Value> {
        let variables = environment::for_session(Vec::new(), &self.variables);
        let mut params = json!({"env": variables});
        if let Some(cwd) = &self.cwd {
            if !cwd.is_absolute() {
                let message = format!("the folder `{}` must be an absolute path", cwd.display());
                return Err(Failure::usage(message).hint("it is one of the other machine"));
            }
            params["cwd"] = folder(Some(cwd))?.into();
        }
        Ok(params)
    }
}

/// The name belongs to another that runs: perhaps that is the one that was wanted.
fn taken(context: &Context<'_>, name: &str, error: Error) -> Failure {
    let program = context.program();
    Failure::from(error)
        .hint(format!("`{program} attach {name}` brings that one here; or choose another name"))
}

/// The folder, from the root: the daemon has another one.
fn folder(cwd: Option<&Path>) -> Result<String> {
    let path = std::path::absolute(cwd.unwrap_or(Path::new(".")));
    let path = path.map_err(|error| Failure::system("finding out the current folder", &error))?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!("the folder `{}` is not UTF-8", path.to_string_lossy()))
            .hint("name another one with --cwd")
    })
}

/// Says what was made and how to get there.
pub(super) fn announce(context: &Context<'_>, value: &Value) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(value)?;
        return Ok(Exit::OK);
    }
    let session = Session::from_wire(value);
    let name = escaped(&session.name);
    let number = session.number;
    let program = context.program();
    context.output.line(&format!(
        "session {number} `{name}` is running; `{program} attach {number}` brings it here"
    ))?;
    Ok(Exit::OK)
}

/// Brings a session that was just described to this terminal; one that was just made from its first
/// byte, so that it does not matter how soon it ended.
pub(super) fn attach(
    context: &Context<'_>,
    connection: Connection,
    value: &Value,
    made: bool,
) -> Result<Exit> {
    let target = Session::from_wire(value).exact();
    let from = made.then_some(Offset::START);
    attached::watch(context, connection, &target, Watch { read_only: false, from })
}
