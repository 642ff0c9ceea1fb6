//! What can go wrong with a plugin.

use std::io;
use std::path::PathBuf;

use crate::limits::{FILES_MAX, MESSAGE_MAX, PLUGINS_MAX};
use crate::manifest::ManifestError;

/// Why a plugin could not be loaded, found, called or let go.
///
/// Branch on [`PluginError::kind`], show the text: the text may change, the kinds are a contract.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// No plugin has this name.
    #[error("unknown plugin: {0}")]
    Unknown(String),
    /// Built-in plugins stay.
    #[error("plugin `{0}` is built in and cannot be unloaded")]
    Builtin(String),
    /// Adapters of the plugin still run.
    #[error("plugin `{name}` has live adapters; call adapter.close first")]
    LiveAdapters {
        /// The plugin.
        name: String,
        /// How many of them.
        count: usize,
    },
    /// A plugin of this name is there.
    #[error("plugin `{0}` is already registered")]
    Registered(String),
    /// There is no room for another plugin.
    #[error("{PLUGINS_MAX} plugins are loaded; unload one first")]
    TooManyPlugins,
    /// A file of the plugin cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The manifest is no TOML, or not that of a plugin.
    #[error("manifest: {0}")]
    Decode(String),
    /// The manifest contradicts itself.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The manifest names a file that the plugin may not have.
    #[error("`{path}` {why}")]
    Path {
        /// As the plugin spells it.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The manifest is not one of a Lua plugin.
    #[error("plugin `{0}` has no Lua entrypoint")]
    NotLua(String),
    /// A file, or all of them, would be too much to keep.
    #[error("`{path}` is larger than {max} bytes")]
    TooLarge {
        /// As the plugin spells it.
        path: String,
        /// What it may have.
        max: u64,
    },
    /// The plugin requires too many files.
    #[error("plugin `{0}` has more than {FILES_MAX} Lua files")]
    TooManyFiles(String),
    /// Lua raised an error, or could not compile.
    #[error("plugin `{plugin}`: `{function}`: {message}")]
    Lua {
        /// The plugin.
        plugin: String,
        /// What was called; `chunk` is the file itself.
        function: String,
        /// Lua's message, with its file and line.
        message: String,
    },
    /// The plugin exports no such function.
    #[error("plugin `{plugin}` has no function `{function}`")]
    NoFunction {
        /// The plugin.
        plugin: String,
        /// What was asked for.
        function: String,
    },
    /// A function returned something else than it should have.
    #[error("plugin `{plugin}`: `{function}` returned {message}")]
    Answer {
        /// The plugin.
        plugin: String,
        /// What was called.
        function: String,
        /// What was wrong.
        message: String,
    },
    /// The plan needs a permission that the manifest does not have.
    #[error("plugin `{plugin}`: action `{action}` needs the permission `{permission}`")]
    NotGranted {
        /// The plugin.
        plugin: String,
        /// The type of the action.
        action: String,
        /// What the manifest would have to list.
        permission: crate::Permission,
    },
    /// A bound on one call was reached.
    #[error("plugin `{plugin}`: `{function}`: {limit}")]
    Limit {
        /// The plugin.
        plugin: String,
        /// What was called.
        function: String,
        /// Which bound.
        limit: Limit,
    },
    /// The VM was given up; only a new one can be used.
    #[error("plugin `{plugin}` is disabled: {reason}")]
    Disabled {
        /// The plugin.
        plugin: String,
        /// What it did.
        reason: String,
    },
    /// Too many VMs run, or too many are stuck.
    #[error("cannot run plugin `{plugin}`: {reason}")]
    NoRoom {
        /// The plugin.
        plugin: String,
        /// Of what there are too many.
        reason: String,
    },
}

/// The bounds of a call that Lua code can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// [`INSTRUCTIONS_MAX`](crate::limits::INSTRUCTIONS_MAX).
    #[error("instruction limit exceeded")]
    Instructions,
    /// [`CPU_MAX`](crate::limits::CPU_MAX).
    #[error("processor-time limit exceeded")]
    Processor,
    /// [`WALL_MAX`](crate::limits::WALL_MAX).
    #[error("wall-clock limit exceeded")]
    Wall,
    /// [`MEMORY_MAX`](crate::limits::MEMORY_MAX).
    #[error("memory limit exceeded")]
    Memory,
}

/// What a caller may want to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No plugin of that name.
    Unknown,
    /// Not while, or never, for this plugin: built in, or in use.
    InUse,
    /// The plugin cannot be loaded.
    Unloadable,
    /// The plugin has no such function.
    NoFunction,
    /// The plugin's code failed.
    Failed,
    /// The plugin's code was stopped, or will not be run again.
    Stopped,
}

impl PluginError {
    /// What a caller may want to tell apart.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Unknown(_) => Kind::Unknown,
            Self::Builtin(_) | Self::LiveAdapters { .. } => Kind::InUse,
            Self::Registered(_)
            | Self::TooManyPlugins
            | Self::Read { .. }
            | Self::Decode(_)
            | Self::Manifest(_)
            | Self::Path { .. }
            | Self::NotLua(_)
            | Self::TooLarge { .. }
            | Self::TooManyFiles(_) => Kind::Unloadable,
            Self::NoFunction { .. } => Kind::NoFunction,
            Self::Lua { .. } | Self::Answer { .. } | Self::NotGranted { .. } => Kind::Failed,
            Self::Limit { .. } | Self::Disabled { .. } | Self::NoRoom { .. } => Kind::Stopped,
        }
    }
}

/// The first line of a text, without control characters and no longer than [`MESSAGE_MAX`].
///
/// Lua appends tracebacks, and a plugin may raise whatever was on the screen.
pub(crate) fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.trim_start_matches("runtime error: ");
    let end = line.floor_char_boundary(MESSAGE_MAX);
    let mut shown: String = line[..end].chars().filter(|it| !it.is_control()).collect();
    if end < line.len() {
        shown.push('…');
    }
    shown
}
