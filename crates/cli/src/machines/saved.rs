//! The machines a person saved: one file, written whole or not at all.
//!
//! **Invariant:** a file that cannot be understood is never written over, and what a later version
//! put into it stays.

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use greenroom_client::{ErrorKind, Machine};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, Value, json};

use super::LOCAL;
use crate::failure::{Failure, FailureKind, Result};

/// The file, in the state folder.
const FILE: &str = "hosts.json";

/// How much of it is read: a hundred times what the machines of a person take.
const MAX_FILE: u64 = 1 << 20;

/// How many machines are kept: each is a thread and an `ssh` when all are asked at once.
const MAX_HOSTS: usize = 64;

/// The longest name: it is a column of a list.
const MAX_NAME: usize = 64;

/// The version of the file.
const VERSION: u64 = 1;

/// The machines a person saved.
#[derive(Debug)]
pub(crate) struct Saved {
    path: PathBuf,
}

impl Saved {
    /// Those of this state folder.
    pub(crate) fn below(state: &Path) -> Saved {
        Saved { path: state.join(FILE) }
    }

    /// All of them, by name.
    pub(crate) fn all(&self) -> Result<Vec<Machine>> {
        let mut all = self.machines(&self.read()?)?;
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// The one of that name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Machine>> {
        Ok(self.all()?.into_iter().find(|it| it.name == name))
    }

    /// Saves one more.
    pub(crate) fn add(&self, machine: &Machine) -> Result<()> {
        check_name(&machine.name)?;
        machine.check().map_err(|error| super::malformed(&error))?;
        self.change(|hosts| {
            if hosts.contains_key(&machine.name) {
                let message = format!("there is a host `{}` already", machine.name);
                return Err(Failure::usage(message)
                    .hint(format!("`greenroom host rm {}` forgets it", machine.name)));
            }
            if hosts.len() >= MAX_HOSTS {
                return Err(Failure::usage(format!("{MAX_HOSTS} hosts are saved already"))
                    .hint("any other can be named as `ssh` calls it"));
            }
            hosts.insert(machine.name.clone(), to_wire(machine));
            Ok(())
        })
    }

    /// Forgets one.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        self.change(|hosts| match hosts.remove(name) {
            Some(_) => Ok(()),
            None => {
                let kind = FailureKind::Daemon(ErrorKind::NotFound);
                Err(Failure::new(kind, format!("no host `{name}` is saved"))
                    .hint("`greenroom host ls` lists them"))
            }
        })
    }

    fn machines(&self, file: &Value) -> Result<Vec<Machine>> {
        let hosts = file["hosts"].as_object().into_iter().flatten();
        let machines = hosts.map(|(name, value)| {
            let machine = from_wire(name, value).filter(|it| it.check().is_ok());
            machine.ok_or_else(|| self.broken(&format!("`{name}` is no host")))
        });
        machines.collect()
    }

    /// Reads the file; one that is not there has nothing in it.
    fn read(&self) -> Result<Value> {
        let mut text = String::new();
        let read = File::open(&self.path)
            .and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text));
        match read {
            Ok(_) if text.len() as u64 > MAX_FILE => Err(self.broken(&"it is too large")),
            Ok(_) => {
                let file: Value =
                    serde_json::from_str(&text).map_err(|error| self.broken(&error))?;
                match (file["version"].as_u64(), file["hosts"].is_object()) {
                    (Some(VERSION), true) => Ok(file),
                    (Some(VERSION) | None, _) => Err(self.broken(&"it has no hosts")),
                    (Some(other), _) => Err(self.broken(&format!("it is of version {other}"))),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(json!({"version": VERSION, "hosts": {}}))
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(self.broken(&error)),
            Err(error) => Err(self.failed("reading", &error)),
        }
    }

    /// Changes the file while nobody else does.
    fn change(&self, act: impl FnOnce(&mut Map<String, Value>) -> Result<()>) -> Result<()> {
        let failed = |error: io::Error| self.failed("writing", &error);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let lock = ours().truncate(false).open(self.path.with_extension("lock"));
        let lock = lock.map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        let mut file = self.read()?;
        self.machines(&file)?;
        if let Some(hosts) = file["hosts"].as_object_mut() {
            act(hosts)?;
        }
        self.write(folder, &format!("{file:#}\n")).map_err(failed)
    }

    fn write(&self, folder: &Path, text: &str) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut file = ours().truncate(true).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        File::open(folder)?.sync_all()
    }

    fn broken(&self, why: &dyn std::fmt::Display) -> Failure {
        let message = format!("`{}` cannot be understood: {why}", self.path.display());
        Failure::new(FailureKind::System, message)
            .hint("mend it, or move it away; it is left alone")
    }

    fn failed(&self, doing: &str, error: &io::Error) -> Failure {
        Failure::system(&format!("{doing} `{}`", self.path.display()), error)
    }
}

/// A file for us alone, made if it is not there.
fn ours() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_good = name.chars().all(is_plain) && name.starts_with(|it: char| it != '-' && it != '.');
    match is_good && name.len() <= MAX_NAME && name != LOCAL {
        true => Ok(()),
        false => Err(Failure::usage(format!("no host can be called `{}`", name.escape_debug()))
            .hint(format!("letters, digits, `-`, `_` and `.`, at most {MAX_NAME}; not `{LOCAL}`"))),
    }
}

/// A machine as it is kept, and as `--json` shows it.
pub(crate) fn to_wire(machine: &Machine) -> Value {
    let Machine { name: _, destination, program, port, identity, options } = machine;
    let identity = identity.as_ref().map(|it| it.to_string_lossy());
    json!({
        "destination": destination, "program": program, "port": port,
        "identity": identity, "options": options,
    })
}

fn from_wire(name: &str, value: &Value) -> Option<Machine> {
    let optional = |key: &str| match &value[key] {
        Value::Null => Some(None),
        Value::String(text) => Some(Some(text.clone())),
        _ => None,
    };
    let port = match &value["port"] {
        Value::Null => None,
        port => Some(u16::try_from(port.as_u64()?).ok()?),
    };
    let options = match &value["options"] {
        Value::Null => Vec::new(),
        options => {
            let texts = options.as_array()?.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<_>>()?
        }
    };
    Some(Machine {
        name: name.to_owned(),
        destination: value["destination"].as_str()?.to_owned(),
        program: optional("program")?,
        port,
        identity: optional("identity")?.map(PathBuf::from),
        options,
    })
}
