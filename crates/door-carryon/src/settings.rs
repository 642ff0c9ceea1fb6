//! carryOn's settings: what is set, and the file that keeps it.
//!
//! `keys` is the table, `file` how they are kept. Only what somebody set is in the file; the rest
//! is the default. Not here: what a setting does (`methods::config`).

mod file;
mod keys;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

pub use file::write_whole;
use keys::{GROUPS, KEYS, Kind};
pub(crate) use keys::{Key, find};

use file::Read;

/// The settings, and where they are kept.
#[derive(Debug)]
pub(crate) struct Settings(Mutex<Kept>);

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// What somebody set.
    values: Map<String, Value>,
    /// What stood in the file when it was read again, and nobody knows.
    others: Map<String, Value>,
}

/// Why a setting was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("unknown config key: {0}")]
    Unknown(String),
    #[error("`{path}`: {error}", path = .0.display(), error = .1)]
    File(PathBuf, io::Error),
    #[error("`{path}` is not JSON: what was set before stays in force", path = .0.display())]
    Corrupt(PathBuf),
}

impl Settings {
    /// Reads the file, if there is one. One that is corrupt is set aside and the defaults hold.
    pub(crate) fn load(path: PathBuf) -> Settings {
        let values = read_known(&path);
        Settings(Mutex::new(Kept { path, values, others: Map::new() }))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where they are kept.
    pub(crate) fn path(&self) -> PathBuf {
        self.kept().path.clone()
    }

    /// Keeps them in another place from now on. What is set there already holds.
    pub(crate) fn move_to(&self, path: PathBuf) -> Vec<&'static Key> {
        let mut values = read_known(&path);
        let mut kept = self.kept();
        if kept.path == path {
            return Vec::new();
        }
        if !path.exists() {
            values.clone_from(&kept.values);
            if !values.is_empty()
                && let Err(error) = file::write(&path, &values)
            {
                tracing::warn!(path = %path.display(), %error, "settings were not kept");
            }
        }
        let changed = changed(&kept.values, &values);
        *kept = Kept { path, values, others: Map::new() };
        changed
    }

    /// The value of a key; null for one nobody knows.
    pub(crate) fn get(&self, key: &str) -> Value {
        let Some(known) = find(key) else { return Value::Null };
        self.kept().values.get(key).cloned().unwrap_or_else(|| known.default())
    }

    /// What somebody set, and not the default.
    pub(crate) fn given(&self, key: &str) -> Option<Value> {
        self.kept().values.get(key).cloned()
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.get(key).as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key) == Value::Bool(true)
    }

    pub(crate) fn number(&self, key: &str) -> u64 {
        self.get(key).as_u64().unwrap_or_default()
    }

    /// Sets a key and keeps it; says whether it changed. Blocks: the file is written.
    pub(crate) fn set(&self, key: &Key, value: Value) -> Result<bool, Refused> {
        let mut kept = self.kept();
        let before = kept.values.insert(key.key.to_owned(), value.clone());
        if let Err(error) = kept.write() {
            match before {
                Some(before) => kept.values.insert(key.key.to_owned(), before),
                None => kept.values.remove(key.key),
            };
            return Err(Refused::File(kept.path.clone(), error));
        }
        Ok(before.unwrap_or_else(|| key.default()) != value)
    }

    /// Reads the file again; gives the keys whose values changed. One that cannot be read changes
    /// nothing: a person is at work on it.
    pub(crate) fn reload(&self) -> Result<Vec<&'static Key>, Refused> {
        let mut kept = self.kept();
        let read = file::read(&kept.path);
        let all = match read.map_err(|error| Refused::File(kept.path.clone(), error))? {
            Read::Values(values) => values,
            Read::Absent => Map::new(),
            Read::Corrupt => return Err(Refused::Corrupt(kept.path.clone())),
        };
        let (values, others) = split(all);
        let changed = changed(&kept.values, &values);
        (kept.values, kept.others) = (values, others);
        Ok(changed)
    }

    /// Everything that can be set, for a page or an editor to show.
    pub(crate) fn schema(&self) -> Value {
        let groups = GROUPS.iter().map(|group| {
            let prefix = format!("{}.", group.key);
            let of_group = |it: &&Key| it.key.starts_with(&prefix) && !it.hidden;
            let settings = KEYS.iter().filter(of_group).map(|key| self.shown(key));
            json!({"key": group.key, "name": group.name, "description": group.description,
                "settings": Value::from_iter(settings)})
        });
        json!({"schemaVersion": 1, "groups": Value::from_iter(groups)})
    }

    fn shown(&self, key: &Key) -> Value {
        let mut shown = json!({
            "key": key.key,
            "name": key.name,
            "description": key.description,
            "type": key.type_name(),
            "default": key.default(),
            "value": self.get(key.key),
        });
        match key.kind {
            Kind::Text { of, .. } if !of.is_empty() => shown["enum"] = json!(of),
            Kind::Number { min, max, .. } => {
                shown["min"] = min.into();
                shown["max"] = max.into();
            }
            Kind::Text { .. } | Kind::Flag { .. } => {}
        }
        shown
    }
}

impl Kept {
    fn write(&self) -> io::Result<()> {
        let mut all = self.others.clone();
        all.extend(self.values.clone());
        file::write(&self.path, &all)
    }
}

/// What a file says of the settings there are.
fn read_known(path: &Path) -> Map<String, Value> {
    match file::read(path) {
        Ok(Read::Values(all)) => split(all).0,
        Ok(Read::Absent) => Map::new(),
        Ok(Read::Corrupt) => {
            aside(path);
            Map::new()
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "settings could not be read");
            Map::new()
        }
    }
}

fn aside(path: &Path) {
    match file::set_aside(path) {
        Ok(aside) => tracing::warn!(aside = %aside.display(), "corrupt settings were set aside"),
        Err(error) => tracing::warn!(%error, "corrupt settings could not be set aside"),
    }
}

/// The values that fit a setting, and those of keys that are none.
fn split(all: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let (known, others): (Map<String, Value>, _) =
        all.into_iter().partition(|(key, _)| find(key).is_some());
    let fits = |it: &(String, Value)| find(&it.0).is_some_and(|key| key.fits(&it.1));
    (known.into_iter().filter(fits).collect(), others)
}

fn changed(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<&'static Key> {
    let value = |of: &Map<String, Value>, key: &Key| {
        of.get(key.key).cloned().unwrap_or_else(|| key.default())
    };
    KEYS.iter().filter(|key| value(old, key) != value(new, key)).collect()
}
