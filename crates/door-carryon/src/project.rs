//! Projects: a folder whose `.carryon.json` declares terminals, and the sessions that belong to it.
//!
//! Here are the file and its rules, and which session belongs to which folder. What clients ask is
//! in `methods::project`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::{Engine, Info};
use greenroom_model::SessionId;
use serde_json::{Map, Value, json};

/// What a project's file is called.
pub(crate) const FILE_NAME: &str = ".carryon.json";

/// The largest file that is read: thousands of terminals fit.
const MAX_FILE: u64 = 1 << 20;

/// How many terminals one file declares: more than anybody looks at, and all of them are started.
const MAX_TERMINALS: usize = 256;

/// The note of a session that is associated with a folder.
const NOTE: &str = "carryon.project";

/// A terminal that a file declares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Terminal {
    pub(crate) name: String,
    pub(crate) command: Option<String>,
    pub(crate) backend: Option<String>,
    /// Where it starts, relative to the file.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) shell: Option<String>,
    /// The group it is split in, by its place in the file.
    pub(crate) group: Option<usize>,
    /// All of it as it was declared, colours and icons included.
    pub(crate) declared: Map<String, Value>,
}

/// Why there is nothing to be had of a project's file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("`{0}` must be an absolute path")]
    Relative(PathBuf),
    #[error("`{0}` is there already")]
    Exists(PathBuf),
    #[error("`{path}`: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
    #[error("`{path}`: {reason}", path = .0.display(), reason = .1)]
    Invalid(PathBuf, String),
}

/// A folder as clients name it, without what means nothing in it.
pub(crate) fn folder(path: &str) -> Result<PathBuf, ProjectError> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(ProjectError::Relative(path.to_owned()));
    }
    // Links are not resolved: sessions say where they are in the words of who made them.
    Ok(path.components().filter(|it| *it != Component::CurDir).collect())
}

/// Writes a file with one example in it, never over another. Blocks.
pub(crate) fn init(folder: &Path) -> Result<PathBuf, ProjectError> {
    let path = folder.join(FILE_NAME);
    let example = json!({"version": 1, "terminals": [{"name": "dev", "command": "echo hello"}]});
    let wrong = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => ProjectError::Exists(path.clone()),
        _ => ProjectError::Io(path.clone(), error),
    };
    let text = serde_json::to_string_pretty(&example).map_err(|it| wrong(it.into()))? + "\n";
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path).map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)?;
    Ok(path)
}

/// The terminals a folder's file declares; none if there is no file. Blocks.
pub(crate) fn read(folder: &Path) -> Result<Vec<Terminal>, ProjectError> {
    let path = folder.join(FILE_NAME);
    let io = |error| ProjectError::Io(path.clone(), error);
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
        // Asked before opening: to open a pipe would wait for somebody to write to it.
        Ok(found) if !found.is_file() => {
            return Err(ProjectError::Invalid(path, "not a regular file".to_owned()));
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(&path).map_err(io)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ProjectError::Invalid(path, format!("larger than {MAX_FILE} bytes")));
    }
    parse(&bytes).map_err(|reason| ProjectError::Invalid(path, reason))
}

fn parse(bytes: &[u8]) -> Result<Vec<Terminal>, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match value.get("version") {
        None => {}
        Some(version) if *version == 1 => {}
        Some(other) => return Err(format!("`version` is 1, not {other}")),
    }
    let list = value.get("terminals").and_then(Value::as_array);
    let list = list.ok_or("`terminals` must be a list")?;
    let mut terminals = Vec::new();
    for (place, entry) in list.iter().enumerate() {
        match entry {
            Value::Array(group) if group.is_empty() => {
                return Err(format!("terminals[{place}]: a group must not be empty"));
            }
            Value::Array(group) => {
                for member in group {
                    terminals.push(terminal(member, place, Some(place))?);
                }
            }
            single => terminals.push(terminal(single, place, None)?),
        }
        if terminals.len() > MAX_TERMINALS {
            return Err(format!("more than {MAX_TERMINALS} terminals"));
        }
    }
    let mut names = BTreeSet::new();
    match terminals.iter().find(|it| !names.insert(&it.name)) {
        // They are known by their names.
        Some(second) => Err(format!("two terminals are called `{}`", second.name)),
        None => Ok(terminals),
    }
}

fn terminal(value: &Value, place: usize, group: Option<usize>) -> Result<Terminal, String> {
    let wrong = |what: &str| format!("terminals[{place}]: {what}");
    let declared = value.as_object().ok_or_else(|| wrong("not an object"))?.clone();
    let text = |name: &str| match declared.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(wrong(&format!("`{name}` must be a text"))),
    };
    let name = text("name")?.ok_or_else(|| wrong("`name` is missing"))?;
    Ok(Terminal {
        name,
        command: text("command")?,
        backend: text("backend")?,
        cwd: text("cwd")?.map(PathBuf::from),
        shell: text("shell")?,
        group,
        declared,
    })
}

/// Whether a session is at home in a folder: in it, or below.
pub(crate) fn is_in(info: &Info, folder: &Path) -> bool {
    Path::new(&info.cwd).starts_with(folder)
}

/// Which folder sessions are associated with. The holder keeps it too, as a note, for the next
/// daemon.
#[derive(Debug, Default)]
pub(crate) struct Associations(Mutex<BTreeMap<SessionId, Option<PathBuf>>>);

impl Associations {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, Option<PathBuf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a session.
    pub(crate) fn of(&self, info: &Info) -> Option<PathBuf> {
        if let Some(known) = self.all().get(&info.id) {
            return known.clone();
        }
        let note = info.notes.iter().find(|note| note.0 == NOTE && !note.1.is_empty());
        note.map(|note| PathBuf::from(&note.1))
    }

    /// Associates a session with a folder, or with none.
    pub(crate) async fn set(&self, engine: &Engine, id: SessionId, folder: Option<&Path>) {
        self.all().insert(id, folder.map(Path::to_owned));
        let value = folder.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        engine.note(id, NOTE.to_owned(), value).await;
    }

    pub(crate) fn ended(&self, id: SessionId) {
        self.all().remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn groups_are_kept_apart_and_everything_declared_is_kept() {
        let text = r#"{"version": 1, "terminals": [
            {"name": "a", "command": "make", "color": "ansiRed", "cwd": "sub"},
            [{"name": "b"}, {"name": "c", "shell": "/bin/sh"}]]}"#;
        let all = parse(text.as_bytes()).unwrap();
        let groups: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.group)).collect();
        assert_eq!(groups, [("a", None), ("b", Some(1)), ("c", Some(1))]);
        assert_eq!(all[0].declared["color"], "ansiRed");
        assert_eq!(all[0].cwd.as_deref(), Some(Path::new("sub")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(refusal(r#"{"terminals": {}}"#), "`terminals` must be a list");
        assert_eq!(refusal(r#"{"version": 2, "terminals": []}"#), "`version` is 1, not 2");
        assert_eq!(refusal(r#"{"terminals": [[]]}"#), "terminals[0]: a group must not be empty");
        assert_eq!(refusal(r#"{"terminals": [{"name": ""}]}"#), "terminals[0]: `name` is missing");
        let odd = r#"{"terminals": [{"name": "a"}, {"name": "b", "cwd": 1}]}"#;
        assert_eq!(refusal(odd), "terminals[1]: `cwd` must be a text");
        let twice = r#"{"terminals": [{"name": "a"}, [{"name": "b"}, {"name": "a"}]]}"#;
        assert_eq!(refusal(twice), "two terminals are called `a`");
        assert!(refusal("{").contains("EOF"));
    }

    #[test]
    fn a_folder_is_named_from_the_root() {
        assert_eq!(folder("/a/./b/").unwrap(), Path::new("/a/b"));
        assert!(folder("a/b").is_err());
    }

    #[test]
    fn an_example_is_written_and_never_over_another() {
        let home = tempfile::tempdir().unwrap();
        let path = init(home.path()).unwrap();
        assert_eq!(read(home.path()).unwrap()[0].name, "dev");
        assert!(matches!(init(home.path()), Err(ProjectError::Exists(it)) if it == path));
        assert!(read(&home.path().join("none")).unwrap().is_empty());
        fs::write(&path, vec![b' '; 2 << 20]).unwrap();
        assert!(read(home.path()).unwrap_err().to_string().contains("larger than"));
    }
}
