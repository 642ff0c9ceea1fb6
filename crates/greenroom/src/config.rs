//! The configuration file: one TOML file, checked whole before any of it is believed.
//!
//! Every key is one row of `config/keys.rs`, which is what the check, the typed [`Config`] and the
//! reference text come from. `config/check.rs` compares a file with the rows and collects every
//! problem, not only the first.
//!
//! Not here: where the file is, and what the environment says.

mod check;
mod keys;
mod nearest;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_engine::SizePolicy;
use greenroom_model::{Key, KeyEvent, Mods, Size};
use greenroom_store::Retention;
use tracing::level_filters::LevelFilter;

pub(crate) use keys::KEYS;
pub(crate) use problem::Problem;

/// The largest file that is read: a hundred times all keys with their comments. Whatever is larger
/// is some other file.
const FILE_MAX: u64 = 1024 * 1024;

/// Everything that can be configured, with its defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// The shell of a session without a command; empty for that of the environment.
    pub(crate) shell: String,
    /// The session that is meant when none is named.
    pub(crate) default_session: String,
    /// The size of a session that nobody is attached to.
    pub(crate) size: Size,
    /// Who decides how large a session is.
    pub(crate) size_policy: SizePolicy,
    /// How many lines of history a screen keeps.
    pub(crate) scrollback_lines: usize,
    /// How an attached terminal behaves.
    pub(crate) attach: Attach,
    /// How many bytes a client may be behind before it is cut short.
    pub(crate) lag_bytes: usize,
    /// What there may be at most.
    pub(crate) limits: Limits,
    /// What the programs of one session may use together.
    pub(crate) session_limits: greenroom_engine::Limits,
    /// How long a child has to end by itself when it is killed.
    pub(crate) kill_grace: Duration,
    /// How much of the past is kept.
    pub(crate) retention: Retention,
    /// How many bytes a holder keeps while no daemon takes them.
    pub(crate) holder_keep_bytes: u64,
    /// What is logged, and how much of it is kept.
    pub(crate) logs: Logs,
    /// The ptywright door.
    pub(crate) ptywright: Ptywright,
    /// Whether carryOn's base folder is served.
    pub(crate) carryon_compat: bool,
    /// The browser's door.
    pub(crate) web: Web,
    /// The WebSocket contracts.
    pub(crate) websocket: WebSocket,
    /// Whether programs may set the clipboard of an attached terminal.
    pub(crate) clipboard_write: bool,
    /// The variables that sessions get besides the usual ones.
    pub(crate) environment_pass: Vec<String>,
    /// What the file says, by key, as text.
    given: BTreeMap<&'static str, String>,
}

/// How an attached terminal behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attach {
    /// The chord that detaches.
    pub(crate) detach_key: KeyEvent,
    /// The chord that types that one.
    pub(crate) literal_key: Option<KeyEvent>,
    /// How many lines of history are printed above the screen.
    pub(crate) history: usize,
}

/// The ptywright door.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ptywright {
    /// Whether the daemon has it.
    pub(crate) enabled: bool,
    /// Whether clients may load plugins.
    pub(crate) allow_load: bool,
    /// Whether it is also where ptywright's own clients look.
    pub(crate) compat: bool,
}

/// The browser's door.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Web {
    /// Whether it is open from the start.
    pub(crate) enabled: bool,
    /// Where.
    pub(crate) port: u16,
    /// Whether other machines may reach it.
    pub(crate) expose: bool,
    /// How somebody proves who they are.
    pub(crate) auth: WebAuth,
    /// The bcrypt hash of the password.
    pub(crate) password: String,
    /// Whether it is TLS; none for when it is exposed.
    pub(crate) tls: Option<bool>,
    /// The file of a certificate; empty for our own.
    pub(crate) certificate: PathBuf,
    /// The file of its key.
    pub(crate) key: PathBuf,
    /// Names of this machine.
    pub(crate) hosts: Vec<String>,
    /// Whether there is `/metrics`.
    pub(crate) metrics: bool,
}

/// How somebody proves to the browser's door who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WebAuth {
    /// By the token.
    #[default]
    Token,
    /// By a password.
    Password,
    /// Not at all.
    None,
}

/// The WebSocket contracts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WebSocket {
    /// How many bytes of what was printed a terminal begins with.
    pub(crate) history_bytes: usize,
    /// How long a session lives with nobody there and nothing happening.
    pub(crate) idle_ttl: Duration,
    /// How many sessions may live.
    pub(crate) max_sessions: usize,
    /// How long a conversation lives with nobody there.
    pub(crate) chat_idle_ttl: Duration,
    /// The program of a conversation.
    pub(crate) claude_command: Vec<String>,
    /// What terminals may run, by name.
    pub(crate) providers: Vec<(String, Vec<String>)>,
}

impl WebSocket {
    /// Sets what a provider runs.
    fn provide(&mut self, name: &str, words: Vec<String>) {
        match self.providers.iter_mut().find(|it| it.0 == name) {
            Some(there) => there.1 = words,
            None => self.providers.push((name.to_owned(), words)),
        }
    }
}

/// What there may be at most.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    /// Sessions that live.
    pub(crate) sessions: usize,
    /// Clients connected at once.
    pub(crate) connections: usize,
    /// Bytes of input that wait for a program that does not read.
    pub(crate) input_bytes: usize,
}

/// What is logged, and how much of it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logs {
    /// How much is said.
    pub(crate) level: LevelFilter,
    /// How many files are kept, with the one being written.
    pub(crate) max_files: usize,
    /// How large one may become.
    pub(crate) max_bytes: u64,
}

impl Config {
    /// Reads the file at `path`. No file means the defaults.
    ///
    /// # Errors
    /// Everything that is wrong with it, by line.
    pub(crate) fn load(path: &Path) -> Result<Config, Vec<Problem>> {
        match read(path) {
            Ok(text) => Config::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(vec![Problem::of_file(&error)]),
        }
    }

    /// Reads a text as the file.
    ///
    /// # Errors
    /// Everything that is wrong with it, by line.
    pub(crate) fn parse(text: &str) -> Result<Config, Vec<Problem>> {
        check::check(text)
    }

    /// Every key with its default and what it means, as a file that changes nothing.
    pub(crate) fn reference() -> String {
        reference::reference()
    }

    /// The shell of a session without a command, given the one of the environment.
    pub(crate) fn shell_or(&self, environment: Option<String>) -> String {
        let from_file = Some(self.shell.clone()).filter(|it| !it.is_empty());
        let usual = || environment.filter(|it| !it.is_empty());
        from_file.or_else(usual).unwrap_or_else(|| "/bin/sh".to_owned())
    }

    /// The keys that differ in `new` but are read only when the daemon starts.
    pub(crate) fn needs_restart(&self, new: &Config) -> Vec<&'static str> {
        let changed = |key: &&keys::Key| !key.live && self.value(key) != new.value(key);
        KEYS.iter().filter(changed).map(|key| key.path).collect()
    }

    /// What a key is set to, as text.
    pub(crate) fn value(&self, key: &keys::Key) -> String {
        self.given.get(key.path).cloned().unwrap_or_else(|| key.default_text())
    }

    /// Nothing set yet: every field is overwritten from the rows.
    fn blank() -> Config {
        Config {
            shell: String::new(),
            default_session: String::new(),
            size: Size::DEFAULT,
            size_policy: SizePolicy::Latest,
            scrollback_lines: 0,
            attach: Attach {
                detach_key: KeyEvent::new(Key::Char('\\'), Mods::CTRL),
                literal_key: None,
                history: 0,
            },
            lag_bytes: 0,
            limits: Limits::default(),
            session_limits: greenroom_engine::Limits::default(),
            ptywright: Ptywright::default(),
            carryon_compat: false,
            kill_grace: Duration::ZERO,
            retention: Retention { max_age_ms: 0, max_count: 0, max_bytes: 0 },
            holder_keep_bytes: 0,
            logs: Logs { level: LevelFilter::INFO, max_files: 0, max_bytes: 0 },
            web: Web::default(),
            websocket: WebSocket::default(),
            clipboard_write: false,
            environment_pass: Vec::new(),
            given: BTreeMap::new(),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        let mut config = Config::blank();
        for key in KEYS {
            key.set_default(&mut config);
        }
        config
    }
}

fn read(path: &Path) -> io::Result<String> {
    // Asked before opening: to open a pipe would wait for somebody to write to it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX {
        let text = format!("larger than {FILE_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"))
}
