//! The manifest of a plugin: who it is, what it may do, what it drives.
//!
//! The same shape in a TOML file, in JSON from a client and in JSON to a client. Decoding refuses
//! unknown kinds, runtimes and permissions; [`Manifest::validate`] says what contradicts itself.
//! Which file the entrypoint may be is decided when it is read: see `package`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// Who a plugin is and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object with `name`, `kind` and `version`")]
pub struct Manifest {
    /// What callers name it by.
    pub name: String,
    /// What it is for.
    pub kind: PluginKind,
    /// Its own version, shown only.
    pub version: String,
    /// What runs it; none for a plugin that is only a manifest.
    #[serde(default)]
    pub runtime: Option<Runtime>,
    /// The file to run, beside the manifest.
    #[serde(default)]
    pub entrypoint: Option<String>,
    /// What it may do. Nothing is granted that is not listed.
    #[serde(default)]
    pub permissions: Vec<Permission>,
    /// What to start when the caller names no program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_target: Option<Target>,
}

/// What a plugin is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Drives one kind of program.
    Adapter,
    /// A sequence of actions.
    Macro,
    /// Predicates for waits.
    Matcher,
}

/// What runs a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// This crate.
    Lua,
    /// Known to the format, run by nobody here.
    Wasm,
}

/// What a plugin may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// Start a session.
    #[serde(rename = "session.spawn")]
    SessionSpawn,
    /// End one.
    #[serde(rename = "session.kill")]
    SessionKill,
    /// Change its size.
    #[serde(rename = "session.resize")]
    SessionResize,
    /// See the screen.
    #[serde(rename = "screen.read")]
    ScreenRead,
    /// See what was printed.
    #[serde(rename = "transcript.read")]
    TranscriptRead,
    /// Type.
    #[serde(rename = "input.write")]
    InputWrite,
    /// Wait for something.
    #[serde(rename = "matcher.wait")]
    MatcherWait,
}

impl Permission {
    /// All of them, in the order in which they are listed to clients.
    pub const ALL: [Permission; 7] = [
        Self::SessionSpawn,
        Self::SessionKill,
        Self::SessionResize,
        Self::ScreenRead,
        Self::TranscriptRead,
        Self::InputWrite,
        Self::MatcherWait,
    ];

    /// As manifests spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionSpawn => "session.spawn",
            Self::SessionKill => "session.kill",
            Self::SessionResize => "session.resize",
            Self::ScreenRead => "screen.read",
            Self::TranscriptRead => "transcript.read",
            Self::InputWrite => "input.write",
            Self::MatcherWait => "matcher.wait",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The program that a plugin drives, unless the caller names another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name or path.
    pub program: String,
    /// What it is started with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The height it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// The width it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Variables that a caller may override.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables that a caller may not override.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_env: BTreeMap<String, String>,
}

/// How a manifest contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Nobody could name it.
    #[error("plugin name must not be empty")]
    EmptyName,
    /// Nobody could tell two of them apart.
    #[error("plugin version must not be empty")]
    EmptyVersion,
    /// Who lists it would show more than a name.
    #[error("plugin {0} must not hold control characters")]
    ControlCharacter(&'static str),
    /// There is nothing to run.
    #[error("plugin runtime requires an entrypoint")]
    RuntimeWithoutEntrypoint,
    /// There is nothing to run it with.
    #[error("plugin entrypoint requires a runtime")]
    EntrypointWithoutRuntime,
    /// Most likely another one was meant.
    #[error("duplicate plugin permission: {0}")]
    DuplicatePermission(Permission),
    /// It would lead out of the plugin's folder.
    #[error("`{path}` {why}")]
    Entrypoint {
        /// As the manifest spells it.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Manifest {
    /// Says what contradicts itself.
    pub fn validate(&self) -> Result<(), ManifestError> {
        if self.name.trim().is_empty() {
            return Err(ManifestError::EmptyName);
        }
        if self.version.trim().is_empty() {
            return Err(ManifestError::EmptyVersion);
        }
        for (field, value) in [("name", &self.name), ("version", &self.version)] {
            if value.chars().any(char::is_control) {
                return Err(ManifestError::ControlCharacter(field));
            }
        }
        let entrypoint = self.entrypoint.as_deref().is_some_and(|it| !it.trim().is_empty());
        match (self.runtime, entrypoint) {
            (Some(_), false) => return Err(ManifestError::RuntimeWithoutEntrypoint),
            (None, true) => return Err(ManifestError::EntrypointWithoutRuntime),
            (Some(_), true) | (None, false) => {}
        }
        self.entrypoint.as_deref().map(relative).transpose()?;
        for (at, permission) in self.permissions.iter().enumerate() {
            if self.permissions[..at].contains(permission) {
                return Err(ManifestError::DuplicatePermission(*permission));
            }
        }
        Ok(())
    }

    /// Whether the manifest lists a permission.
    pub fn grants(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }
}

/// A path of a manifest, in the one form in which it is kept.
pub(crate) fn relative(path: &str) -> Result<String, ManifestError> {
    let refuse = |why| ManifestError::Entrypoint { path: path.to_owned(), why };
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::CurDir => {}
            Component::ParentDir => return Err(refuse("must not contain `..`")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(refuse("must be relative to the manifest, not absolute"));
            }
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests;
