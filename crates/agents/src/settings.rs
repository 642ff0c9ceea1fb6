//! What is allowed for good, in the files where Claude Code itself looks for it.
//!
//! A file is read, changed and put in place of the old one; what we do not change stays as it was,
//! byte for byte and in its order. A file that is not what it should be is left alone.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::files;
use crate::suggestion::{Change, Place, Suggestion};

/// The largest file that is changed, in bytes. A settings file has some kilobytes.
const FILE_MAX: u64 = 4 << 20;

/// Changes are made one after the other, so that none is lost.
static ORDER: Mutex<()> = Mutex::new(());

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// The system said no.
    #[error("cannot write `{}`: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// There is something else in it.
    #[error("`{}` is not a settings file of Claude Code; it was left as it is", .0.display())]
    Shape(PathBuf),
}

/// Where Claude Code's files are.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The project.
    pub(crate) project: PathBuf,
    /// The folder of the user's own settings, if it is known.
    pub(crate) user: Option<PathBuf>,
}

impl Places {
    fn path(&self, place: Place) -> Option<PathBuf> {
        match place {
            Place::Project => Some(self.project.join(".claude/settings.json")),
            Place::Local => Some(self.project.join(".claude/settings.local.json")),
            Place::User => Some(self.user.as_ref()?.join("settings.json")),
        }
    }
}

/// Keeps a suggestion for good. Blocks.
pub(crate) fn keep(
    places: &Places,
    place: Place,
    suggestion: &Suggestion,
) -> Result<(), SettingsError> {
    let Some(path) = places.path(place) else { return Ok(()) };
    let _order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let file = |source| SettingsError::File { path: path.clone(), source };
    let old = files::read(&path, FILE_MAX).map_err(file)?.unwrap_or_default();
    let old = if old.trim_ascii().is_empty() { b"{}".to_vec() } else { old };
    let new = changed(&old, suggestion).ok_or_else(|| SettingsError::Shape(path.clone()))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(file)?;
    }
    files::replace(&path, new.as_bytes(), mode_of_new(place)).map_err(file)
}

/// The user's own are nobody else's business; a project's are made like its other files.
fn mode_of_new(place: Place) -> u32 {
    if place == Place::User { 0o600 } else { 0o644 }
}

/// The text of a file with the suggestion in it.
fn changed(old: &[u8], suggestion: &Suggestion) -> Option<String> {
    let mut whole: Object = serde_json::from_slice(old).ok()?;
    let mut permissions: Object = match whole.get("permissions") {
        Some(raw) => serde_json::from_str(raw.get()).ok()?,
        None => Object::default(),
    };
    match suggestion {
        Suggestion::Mode(mode) => permissions.set("defaultMode", &quoted(mode.to_wire())?)?,
        Suggestion::Rules { change, list, rules } => {
            permissions.change(list, *change, rules)?;
        }
        Suggestion::Folders { change, folders } => {
            permissions.change("additionalDirectories", *change, folders)?;
        }
    }
    whole.set("permissions", &permissions.text(1))?;
    Some(whole.text(0) + "\n")
}

fn quoted(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

/// An object whose fields keep their order and their text.
#[derive(Default)]
struct Object(Vec<(String, Box<RawValue>)>);

impl Object {
    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|field| field.0 == name).map(|field| &*field.1)
    }

    fn set(&mut self, name: &str, text: &str) -> Option<()> {
        let value = RawValue::from_string(text.to_owned()).ok()?;
        match self.0.iter_mut().find(|field| field.0 == name) {
            Some(field) => field.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
        Some(())
    }

    /// Changes a list of texts.
    fn change(&mut self, name: &str, change: Change, texts: &[String]) -> Option<()> {
        let mut list: Vec<String> = match self.get(name) {
            Some(raw) => serde_json::from_str(raw.get()).ok()?,
            None => vec![],
        };
        match change {
            Change::Add => {}
            Change::Replace => list.clear(),
            Change::Remove => list.retain(|it| !texts.contains(it)),
        }
        if change != Change::Remove {
            for text in texts {
                if !list.contains(text) {
                    list.push(text.clone());
                }
            }
        }
        let mut shown = String::from("[");
        for (index, text) in list.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(shown, "{comma}\n      {}", quoted(text)?).ok()?;
        }
        shown.push_str(if list.is_empty() { "]" } else { "\n    ]" });
        self.set(name, &shown)
    }

    fn text(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let mut text = String::from("{");
        for (index, (name, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let name = quoted(name).unwrap_or_default();
            text.push_str(&format!("{comma}\n{indent}  {name}: {}", value.get()));
        }
        if !self.0.is_empty() {
            text.push_str(&format!("\n{indent}"));
        }
        text + "}"
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Where the user's own settings are, by the variables an agent is given.
pub(crate) fn user_folder(
    environment: &[(std::ffi::OsString, std::ffi::OsString)],
) -> Option<PathBuf> {
    let value = |name: &str| environment.iter().rfind(|it| it.0 == name).map(|it| &it.1);
    let folder = value("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| Some(Path::new(value("HOME")?).join(".claude")));
    folder.filter(|it| it.is_absolute())
}
