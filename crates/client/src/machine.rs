//! Another machine, as a person names it: what `ssh` is told, and what is never told it.
//!
//! **Invariant:** nothing gets into a command line that `ssh`, its configuration or the far shell
//! could take for something else than what it is. Not here: running `ssh` (`ssh`), where machines
//! are kept (`cli`).

#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// The longest text of a machine, in bytes: the longest path a system takes is four times that.
const MAX_TEXT: usize = 1024;

/// How many options a machine may have: more belong into the configuration of `ssh`.
const MAX_OPTIONS: usize = 32;

/// What the far program is called if nobody says so.
const PROGRAM: &str = "greenroom";

/// Characters that have a meaning to shells. Names reach one in a `ProxyCommand` of the person's own
/// configuration, and no machine or user is called so.
const OF_SHELLS: &str = "'`\"$\\;&<>|(){}*?!#";

/// A machine that `ssh` reaches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Machine {
    /// What the person calls it.
    pub name: String,
    /// What `ssh` calls it: `user@machine`, or an alias of its configuration.
    pub destination: String,
    /// The far program, if it is not found as `greenroom`.
    pub program: Option<String>,
    /// The port, if not the usual one.
    pub port: Option<u16>,
    /// The key to show.
    pub identity: Option<PathBuf>,
    /// More options of `ssh`, as `Key=Value`.
    pub options: Vec<String>,
}

/// Why a machine cannot be called that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMachine {
    /// Something has no text, or too much of it.
    #[error("the {0} must have 1 to {MAX_TEXT} bytes")]
    Length(&'static str),
    /// It would be taken for a flag.
    #[error("the {what} `{text}` begins with `-`")]
    Flag {
        /// What it is.
        what: &'static str,
        /// What it was to be.
        text: String,
    },
    /// It has a character that cannot be passed on safely.
    #[error("the {what} `{}` has the character {character:?}", text.escape_debug())]
    Character {
        /// What it is.
        what: &'static str,
        /// What it was to be.
        text: String,
        /// The character.
        character: char,
    },
    /// An option that is none.
    #[error("the option `{}` is not KEY=VALUE", .0.escape_debug())]
    Option(String),
    /// Too many options.
    #[error("a host has at most {MAX_OPTIONS} options")]
    Options,
    /// No port has that number.
    #[error("no port has the number 0")]
    Port,
}

impl Machine {
    /// A machine that is called as `ssh` calls it.
    ///
    /// # Errors
    /// It cannot be called that.
    pub fn new(destination: &str) -> Result<Machine, BadMachine> {
        let machine = Machine {
            name: destination.to_owned(),
            destination: destination.to_owned(),
            program: None,
            port: None,
            identity: None,
            options: Vec::new(),
        };
        machine.check()?;
        Ok(machine)
    }

    /// Whether everything of it can be passed on safely.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), BadMachine> {
        check_destination(&self.destination)?;
        if let Some(program) = &self.program {
            check_text("program", program)?;
        }
        if let Some(identity) = &self.identity {
            check_text("identity", &identity.to_string_lossy())?;
        }
        if self.port == Some(0) {
            return Err(BadMachine::Port);
        }
        if self.options.len() > MAX_OPTIONS {
            return Err(BadMachine::Options);
        }
        self.options.iter().try_for_each(|it| check_option(it))
    }

    /// A short name for its sockets, the same for the same machine and another for any other. All of
    /// it counts: another port is another machine, another program another daemon.
    pub(crate) fn short_name(&self) -> String {
        let mut hasher = DefaultHasher::new();
        let Machine { name: _, destination, program, port, identity, options } = self;
        (destination, program, port, identity, options).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The far program and its arguments as one line of any shell. Always about the far machine
    /// itself, whatever default it may have.
    pub(crate) fn far_line(&self, arguments: &[&str]) -> String {
        let program = self.program.as_deref().unwrap_or(PROGRAM);
        // A folder of the far user: their shell alone knows where that is.
        let mut line = match program.strip_prefix("~/") {
            Some(below) => format!("~/{}", quoted(below)),
            None => quoted(program),
        };
        for argument in ["--host", "local"].iter().chain(arguments) {
            line.push(' ');
            line.push_str(&quoted(argument));
        }
        line
    }
}

/// A word as every shell takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn check_destination(text: &str) -> Result<(), BadMachine> {
    let what = "host";
    check_text(what, text)?;
    let bad = |it: &char| it.is_whitespace() || OF_SHELLS.contains(*it);
    if let Some(character) = text.chars().find(bad) {
        return Err(BadMachine::Character { what, text: text.to_owned(), character });
    }
    // The machine behind `user@` is an argument of its own where `ssh` passes it on.
    match text.rsplit(['@', '/']).next() {
        Some(machine) if machine.starts_with('-') => {
            Err(BadMachine::Flag { what, text: text.to_owned() })
        }
        _ => Ok(()),
    }
}

fn check_option(text: &str) -> Result<(), BadMachine> {
    check_text("option", text)?;
    let is_key = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric());
    match text.split_once('=') {
        Some((key, value)) if is_key(key) && !value.trim().is_empty() => Ok(()),
        _ => Err(BadMachine::Option(text.to_owned())),
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), BadMachine> {
    if text.is_empty() || text.len() > MAX_TEXT {
        return Err(BadMachine::Length(what));
    }
    if text.starts_with('-') {
        return Err(BadMachine::Flag { what, text: text.to_owned() });
    }
    match text.chars().find(|it| it.is_control()) {
        Some(character) => Err(BadMachine::Character { what, text: text.to_owned(), character }),
        None => Ok(()),
    }
}
