//! Making a session.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use greenroom_model::{SessionId, Size};
use greenroom_proto::{Description, Spawn, Stage};
use greenroom_pty::Limits;

use crate::archive::LivingRecord;
use crate::engine::{Engine, now_ms};
use crate::environment::{self, Variable};
use crate::event::HouseEvent;
use crate::find::number;
use crate::limited::Limited;
use crate::link::LinkError;
use crate::options::Options;
use crate::points::{Point, reach};
use crate::session::{TRANSCRIPT, expecting};
use crate::spawn::{Adopted, ask, open, start_holder};
use crate::{Caller, Error, Info};

/// The longest name: it must fit a list.
const MAX_NAME: usize = 128;

/// The most arguments and variables together with their bytes, as the kernel takes them.
const MAX_ARGUMENT_BYTES: usize = 1 << 20;

/// How many numbers are tried for a new session.
const TRIES: usize = 4;

/// What a session runs.
#[derive(Debug, Clone, Default)]
pub enum Program {
    /// The shell, as a login shell.
    #[default]
    Shell,
    /// A line for the shell.
    Line(String),
    /// A program and its arguments; never empty.
    Command(Vec<String>),
}

/// A session to be made.
#[derive(Debug, Clone, Default)]
pub struct New {
    /// What people will call it; made up if there is none.
    pub name: Option<String>,
    /// Only if no session that runs is called that: who asks will use the name to tell it from others.
    pub unique: bool,
    /// What it runs.
    pub program: Program,
    /// The shell; the configured one if there is none.
    pub shell: Option<String>,
    /// Where it starts.
    pub cwd: Option<PathBuf>,
    /// Variables to be added.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Begin with these variables alone.
    pub clear_env: bool,
    /// How large it is.
    pub size: Option<Size>,
    /// Its maker attaches next and wants every byte: nothing is let go of until then, for a while.
    pub expect: bool,
    /// How many characters of what it prints are kept as text, escape sequences and all.
    pub transcript: Option<usize>,
    /// Whatever else is to be remembered with it while it lives, by name.
    pub notes: Vec<(String, String)>,
    /// How many processes and threads it may have; zero for no bound, none for the configured one.
    pub max_processes: Option<u64>,
    /// How many bytes of memory they may take together; likewise.
    pub max_memory: Option<u64>,
    /// What its files are not to be open to; as for the daemon if there is none.
    pub umask: Option<u32>,
}

impl New {
    fn limits(&self, options: &Options) -> Limits {
        let of = |own: Option<u64>, usual| own.map_or(usual, |own| (own > 0).then_some(own));
        Limits {
            processes: of(self.max_processes, options.limits.processes),
            memory: of(self.max_memory, options.limits.memory),
        }
    }

    /// Whether it can be asked for at all; what is not there shows only when it is made.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        let command: usize = match &self.program {
            Program::Shell => 0,
            Program::Line(line) => line.len(),
            Program::Command(words) if words.first().is_none_or(String::is_empty) => {
                return Err(Error::Invalid("the command is empty".to_owned()));
            }
            Program::Command(words) => words.iter().map(|word| word.len() + 1).sum(),
        };
        let env: usize = self.env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        if command + env > MAX_ARGUMENT_BYTES {
            return Err(Error::Limit { what: "bytes of arguments", most: MAX_ARGUMENT_BYTES });
        }
        let odd = |it: &&Variable| it.0.is_empty() || it.0.contains(&b'=');
        if let Some((name, _)) = self.env.iter().find(odd) {
            let name = String::from_utf8_lossy(name);
            return Err(Error::Invalid(format!("`{name}` cannot be the name of a variable")));
        }
        let has_nul = |bytes: &[u8]| bytes.contains(&0);
        if self.env.iter().any(|(name, value)| has_nul(name) || has_nul(value)) {
            return Err(Error::Invalid("a variable has a NUL byte in it".to_owned()));
        }
        Ok(())
    }
}

impl Engine {
    /// Makes a session and starts its program.
    ///
    /// # Errors
    /// The program or the folder is not there, the name is taken, a bound is met, or the system is out of something.
    /// Nothing is left behind then.
    pub async fn create(&self, caller: &Caller, new: New) -> Result<Info, Error> {
        caller.may_manage()?;
        new.check()?;
        // In a task of its own: whoever asked may go away in the middle, and a holder that was
        // started must become a session all the same, or nobody would know of it.
        let (engine, caller) = (self.clone(), caller.clone());
        let created = tokio::spawn(async move {
            for _ in 1..TRIES {
                match engine.create_checked(&caller, &new).await {
                    // The number belongs to a session that an earlier daemon began and nobody knows
                    // of yet; the next number does not.
                    Err(Error::Spawn { stage: Stage::Socket, .. }) => {}
                    other => return other,
                }
            }
            engine.create_checked(&caller, &new).await
        });
        created.await.map_err(|_| Error::Stopping)?
    }

    async fn create_checked(&self, caller: &Caller, new: &New) -> Result<Info, Error> {
        let options = self.house.options();
        let place = self.house.place(options.max_sessions, new)?;
        let id = place.id;
        let description = describe(new, &options, id);
        reach(Point::CreateNumbered);
        let limited = Limited::make(&options, id, description.uuid, new.limits(&options))?;
        reach(Point::CreateGrouped);
        let groups = limited.as_ref().map(Limited::paths).unwrap_or_default();
        let spawn = Spawn { groups, ..spawn(new, &options, &description) };
        let program = String::from_utf8_lossy(&spawn.program).into_owned();
        let cwd = description.cwd.clone();
        let no_holder =
            |error| Error::Holder { program: options.holder.display().to_string(), error };
        let socket = start_holder(&options, id, new.umask).map_err(no_holder)?;
        reach(Point::CreateStarted);
        let asked =
            ask(socket, spawn).await.map_err(|error| failure(error, program, cwd, no_holder))?;
        if let Some(limited) = limited {
            limited.keep();
        }
        reach(Point::CreateIntroduced);
        let record = Adopted::fresh(asked, description);
        let face = open(&self.house, record).map_err(|error| no_holder(io::Error::other(error)))?;
        drop(place);
        reach(Point::CreateOpened);
        let info = face.get();
        self.house.archive.created(LivingRecord::of(&info));
        reach(Point::CreateStored);
        self.audit(caller, "create", Some(id));
        self.house.tell(HouseEvent::Created(id));
        reach(Point::CreateTold);
        Ok(info)
    }
}

/// What a failed start means to who asked for it.
fn failure(
    error: LinkError,
    program: String,
    cwd: String,
    no_holder: impl Fn(io::Error) -> Error,
) -> Error {
    match error {
        LinkError::Failed(stage, errno) => {
            let what = if stage == Stage::Cwd { cwd } else { program };
            Error::Spawn { stage, what, error: io::Error::from_raw_os_error(errno) }
        }
        LinkError::Io(error) => no_holder(error),
        other => no_holder(io::Error::other(other)),
    }
}

/// Whether a session may be called that.
///
/// # Errors
/// What is wrong with the name.
pub fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Error::Invalid(format!("a name has 1 to {MAX_NAME} bytes")));
    }
    if number(name).is_some() {
        return Err(Error::Invalid(format!("`{name}` is how a session is called by its number")));
    }
    if name.chars().any(char::is_control) || name.trim() != name {
        return Err(Error::Invalid(format!("`{}` cannot be a name", name.escape_debug())));
    }
    Ok(())
}

fn describe(new: &New, options: &Options, id: SessionId) -> Description {
    let uuid = *uuid::Uuid::new_v4().as_bytes();
    let name = new
        .name
        .clone()
        .unwrap_or_else(|| format!("session-{:02x}{:02x}{:02x}", uuid[0], uuid[1], uuid[2]));
    let shell = new.shell.as_ref().unwrap_or(&options.shell);
    let command = match &new.program {
        Program::Shell => vec![shell.clone()],
        Program::Line(line) => vec![shell.clone(), "-c".to_owned(), line.clone()],
        Program::Command(words) => words.clone(),
    };
    let cwd = new.cwd.as_ref().unwrap_or(&options.cwd).to_string_lossy().into_owned();
    let created_ms = now_ms();
    let mut notes = new.notes.clone();
    if new.expect {
        notes.extend(expecting());
    }
    notes.extend(new.transcript.map(|chars| (TRANSCRIPT.to_owned(), chars.to_string())));
    Description { id, uuid, name, created_ms, attached_ms: 0, cwd, command, notes }
}

fn spawn(new: &New, options: &Options, description: &Description) -> Spawn {
    let words: Vec<Vec<u8>> =
        description.command.iter().map(|it| it.clone().into_bytes()).collect();
    let (program, args) = words
        .split_first()
        .map_or((Vec::new(), Vec::new()), |(first, rest)| (first.clone(), rest.to_vec()));
    let arg0 = match new.program {
        // A dash in front is how a shell knows that somebody logs in.
        Program::Shell => {
            let name = program.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            [b"-", name].concat()
        }
        Program::Line(_) | Program::Command(_) => program.clone(),
    };
    let id = description.id;
    let base: &[Variable] = if new.clear_env { &[] } else { &options.environment };
    let socket = options.socket.as_os_str().as_bytes();
    let cwd = new.cwd.as_ref().unwrap_or(&options.cwd);
    Spawn {
        socket: options.holder_socket(id).as_os_str().as_bytes().to_vec(),
        description: description.encode(),
        program,
        arg0,
        args,
        env: environment::compose(base, &new.env, id, socket),
        cwd: cwd.as_os_str().as_bytes().to_vec(),
        size: new.size.unwrap_or(options.size),
        keep_bytes: options.keep_bytes,
        open_files: options.open_files,
        leashed: options.leashed,
        groups: Vec::new(),
    }
}
