//! The verbs: what can be asked of tmux.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use greenroom_model::Size;
use rustix::fs::Access;
use tokio::process::Command;

use crate::attachment::{self, Attachment};
use crate::listing::{Question, Session};
use crate::run::{Keep, run};
use crate::{Error, literal, scrollback};

/// How much an answer may be: a few hundred bytes for each of ten thousand sessions.
const MAX_ANSWER: usize = 4 << 20;

/// How often a session is made anew when the server it was to be in was just ending. Another one
/// is started then, and that will hardly end at once.
const MAX_TRIES: usize = 3;

/// What an attached client is told its terminal is: what browsers and our own screen are.
const TERM: &str = "xterm-256color";

/// Which of a user's tmux servers is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// The one that `tmux` alone means.
    Default,
    /// The one that listens on this socket.
    Socket(PathBuf),
}

/// What a new session is to be.
#[derive(Debug, Clone)]
pub struct New<'a> {
    /// Its name; tmux finds one if there is none.
    pub name: Option<&'a str>,
    /// The folder it starts in.
    pub cwd: &'a Path,
    /// A command for the shell, instead of an interactive one.
    pub command: Option<&'a str>,
    /// The shell; the one tmux is configured for if there is none.
    pub shell: Option<&'a Path>,
    /// How large its window is while nobody is attached.
    pub size: Size,
}

/// A user's tmux. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Tmux(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    program: PathBuf,
    server: Server,
    env: Vec<(OsString, OsString)>,
    term: OsString,
}

impl Tmux {
    /// Finds the program on a search path, as `PATH` has it.
    ///
    /// Its environment is that path alone until [another](Tmux::with_environment) is given.
    #[must_use]
    pub fn find(search_path: Option<&OsStr>, server: Server) -> Option<Tmux> {
        let search_path = search_path?;
        // Relative folders would mean other programs in other places.
        let folders = env::split_paths(search_path).filter(|folder| folder.is_absolute());
        let program = folders.map(|folder| folder.join("tmux")).find(|it| is_program(it))?;
        let env = vec![("PATH".into(), search_path.to_owned())];
        Some(Tmux(Arc::new(Inner { program, server, env, term: TERM.into() })))
    }

    /// The same with this environment, which is also that of a server it starts and so of the
    /// sessions there. Left out is what is about the caller: `GREENROOM_*`, and the pane of tmux
    /// it may itself be in.
    #[must_use]
    pub fn with_environment(&self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Tmux {
        let env = env.into_iter().filter(|(name, _)| !is_of_caller(name)).collect();
        Tmux(Arc::new(Inner { env, ..Inner::clone(&self.0) }))
    }

    /// The same with clients that are told they are on this kind of terminal.
    #[must_use]
    pub fn with_term(&self, term: &str) -> Tmux {
        Tmux(Arc::new(Inner { term: term.into(), ..Inner::clone(&self.0) }))
    }

    /// Whether the program is still there.
    #[must_use]
    pub fn is_available(&self) -> bool {
        is_program(&self.0.program)
    }

    /// All sessions of the server, in tmux's order; none if there is no server.
    ///
    /// # Errors
    /// tmux does not run, does not answer, or says something else.
    pub async fn list(&self) -> Result<Vec<Session>, Error> {
        let question = Question::new();
        let mut command = self.command("list-sessions");
        command.arg("-F").arg(question.format());
        match run(command, "list-sessions", Keep::All(MAX_ANSWER)).await {
            Ok(answer) => question.read(&answer).ok_or(Error::Garbage("list-sessions")),
            Err(Error::NoServer) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Makes a session that nobody is attached to, and a server if there is none.
    ///
    /// # Errors
    /// The name is taken or impossible, the folder is not there, or tmux refuses.
    pub async fn create(&self, new: &New<'_>) -> Result<Session, Error> {
        new.name.map_or(Ok(()), literal::check_name)?;
        check_folder(new.cwd)?;
        let mut tries = 1;
        loop {
            match self.try_create(new).await {
                Err(Error::NoServer) if tries < MAX_TRIES => tries += 1,
                made => return made,
            }
        }
    }

    async fn try_create(&self, new: &New<'_>) -> Result<Session, Error> {
        let question = Question::new();
        let mut command = self.command("new-session");
        // Not the caller's display and agent (`-E`): those of the server are the user's.
        command.args(["-d", "-E", "-P", "-F"]).arg(question.format());
        command.arg("-x").arg(new.size.cols().to_string());
        command.arg("-y").arg(new.size.rows().to_string());
        command.arg("-c").arg(literal::expanded(new.cwd.as_os_str()));
        if let Some(name) = new.name {
            command.arg("-s").arg(literal::expanded(name.as_ref()));
        }
        command.arg("--").args(program(new));
        let answer = run(command, "new-session", Keep::All(MAX_ANSWER)).await?;
        let made = question.read(&answer).and_then(|mut made| made.pop());
        let mut made = made.ok_or(Error::Garbage("new-session"))?;
        // Its process may not have got there yet.
        made.cwd = new.cwd.to_owned();
        Ok(made)
    }

    /// Ends a session and the programs in it.
    ///
    /// # Errors
    /// There is none of that name, or tmux refuses.
    pub async fn kill(&self, name: &str) -> Result<(), Error> {
        let id = self.id(name).await?;
        let mut command = self.command("kill-session");
        command.arg("-t").arg(id);
        about(name, run(command, "kill-session", Keep::All(MAX_ANSWER)).await).map(drop)
    }

    /// Gives a session another name.
    ///
    /// # Errors
    /// There is none of that name, the new one is taken or impossible, or tmux refuses.
    pub async fn rename(&self, name: &str, new: &str) -> Result<(), Error> {
        literal::check_name(new)?;
        let id = self.id(name).await?;
        let mut command = self.command("rename-session");
        command.arg("-t").arg(id).arg("--").arg(literal::expanded(new.as_ref()));
        about(name, run(command, "rename-session", Keep::All(MAX_ANSWER)).await).map(drop)
    }

    /// Gives a session's window another size while nobody is attached.
    ///
    /// While clients are attached, tmux gives it the size of theirs, and this changes nothing:
    /// to hold on to a size would cut off what the user sees in another terminal.
    ///
    /// # Errors
    /// There is none of that name, or tmux refuses.
    pub async fn resize(&self, name: &str, size: Size) -> Result<(), Error> {
        let window = self.id(name).await? + ":";
        let mut command = self.command("resize-window");
        command.arg("-t").arg(&window);
        command.arg("-x").arg(size.cols().to_string()).arg("-y").arg(size.rows().to_string());
        // To resize a window is to tell it to ignore its clients; that is taken back.
        command.args([";", "set-option", "-w", "-u", "-t", &window, "window-size"]);
        about(name, run(command, "resize-window", Keep::All(MAX_ANSWER)).await).map(drop)
    }

    /// What was printed last in a session and is on its screen, with colours, lines apart by CR LF.
    ///
    /// # Errors
    /// There is none of that name, or tmux refuses.
    pub async fn scrollback(&self, name: &str) -> Result<Vec<u8>, Error> {
        let pane = self.id(name).await? + ":";
        let mut command = self.command("capture-pane");
        command.args(["-p", "-e", "-S", scrollback::LINES, "-t", &pane]);
        let captured = run(command, "capture-pane", Keep::Tail(scrollback::MAX_BYTES)).await;
        Ok(scrollback::for_terminal(&about(name, captured)?))
    }

    /// Attaches a client on a terminal of our own.
    ///
    /// One that only reads does not count for the size. When the session ends the client does,
    /// unless the user configured tmux to show another session then (`detach-on-destroy`).
    ///
    /// # Errors
    /// There is none of that name, tmux does not run, or there is no terminal left.
    pub async fn attach(
        &self,
        name: &str,
        size: Size,
        read_only: bool,
    ) -> Result<Attachment, Error> {
        let id = self.id(name).await?;
        let mut args = self.selection();
        // Not the caller's display and agent (`-E`): the session keeps the ones it has.
        args.extend(["attach-session", "-E", "-t", &id].map(OsString::from));
        if read_only {
            args.push("-r".into());
        }
        let of_terminal = [("TERM".into(), self.0.term.clone())];
        let others = self.0.env.iter().filter(|(name, _)| name != "TERM").cloned();
        let env = others.chain(of_terminal).collect();
        attachment::start(&self.0.program, args, env, size)
    }

    /// tmux's number for the session of exactly this name.
    async fn id(&self, name: &str) -> Result<String, Error> {
        let found = self.list().await?.into_iter().find(|session| session.name == name);
        found.map(|session| session.id).ok_or_else(|| Error::NoSession(name.to_owned()))
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.0.program);
        command.env_clear().envs(self.0.env.iter().map(|(name, value)| (name, value)));
        command.args(self.selection()).arg(name);
        command
    }

    /// What comes before a command: UTF-8 whatever the locale, and the server.
    fn selection(&self) -> Vec<OsString> {
        let mut args = vec!["-u".into()];
        if let Server::Socket(socket) = &self.0.server {
            args.extend(["-S".into(), socket.into()]);
        }
        args
    }
}

/// What runs in a new session. tmux gives one argument to the user's shell, and runs several as
/// they are.
fn program(new: &New<'_>) -> Vec<OsString> {
    let command = new.command.filter(|it| !it.is_empty()).map(OsStr::new);
    let words = match (new.shell, command) {
        (None, None) => vec![],
        (None, Some(command)) => vec![command],
        (Some(shell), Some(command)) => vec![shell.as_os_str(), "-c".as_ref(), command],
        (Some(shell), None) => {
            vec!["/bin/sh".as_ref(), "-c".as_ref(), "exec \"$0\"".as_ref(), shell.as_os_str()]
        }
    };
    words.into_iter().map(literal::argument).collect()
}

/// What was said of a session that went meanwhile, by the name it was asked for by.
fn about<T>(name: &str, result: Result<T, Error>) -> Result<T, Error> {
    result.map_err(|error| match error {
        Error::NoSession(_) | Error::NoServer => Error::NoSession(name.to_owned()),
        error => error,
    })
}

/// tmux would start in another folder without a word.
fn check_folder(folder: &Path) -> Result<(), Error> {
    let checked = match fs::metadata(folder) {
        Ok(_) if !folder.is_absolute() => Err(io::ErrorKind::InvalidInput.into()),
        Ok(found) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) => rustix::fs::access(folder, Access::EXEC_OK).map_err(io::Error::from),
        Err(error) => Err(error),
    };
    checked.map_err(|error| Error::Cwd(folder.to_owned(), error))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok()
}

fn is_of_caller(name: &OsStr) -> bool {
    name == "TMUX" || name == "TMUX_PANE" || name.as_bytes().starts_with(b"GREENROOM_")
}
