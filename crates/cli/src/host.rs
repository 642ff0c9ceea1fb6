//! What the whole program supplies: folders, settings, the daemon.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use greenroom_model::{Key, KeyEvent, Mods, Size};

/// A program whose clients look for the daemon in places of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Compat {
    /// `~/.carryon`, or `$CARRYON_BASE_DIR`.
    Carryon,
    /// `~/.ptywright/socket`, or in `$PTYWRIGHT_HOME`.
    Ptywright,
}

impl Compat {
    /// Its name, as the flag and the configuration have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compat::Carryon => "carryon",
            Compat::Ptywright => "ptywright",
        }
    }
}

/// What the program around the command line can do.
///
/// Implemented by `greenroom`, which alone reads the environment and the configuration and holds
/// the daemon. A text of these errors is shown as it is, behind `error: `.
pub trait Host {
    /// The arguments, the program's name first.
    fn args(&self) -> Vec<OsString>;

    /// The environment of this process.
    fn environment(&self) -> Vec<(OsString, OsString)>;

    /// What files that this process makes are not open to, if that can be known.
    fn umask(&self) -> Option<u32> {
        None
    }

    /// Where things are.
    ///
    /// # Errors
    /// No folder can be derived from the environment.
    fn paths(&self) -> Result<Paths>;

    /// What the configuration says about the command line.
    ///
    /// # Errors
    /// The configuration cannot be read.
    fn settings(&self) -> Result<Settings>;

    /// Runs the daemon in this process until it is told to stop; in the foreground it logs to
    /// standard error, too.
    ///
    /// # Errors
    /// It could not start: another one runs, or the socket cannot be made.
    fn run_daemon(&self, compat: &[Compat]) -> Result<()>;

    /// Starts the daemon in the background; returns once its socket accepts.
    ///
    /// # Errors
    /// What the daemon itself said when it could not start.
    fn start_daemon(&self, compat: &[Compat]) -> Result<()>;

    /// The complaints about a configuration file: none if all is well.
    ///
    /// # Errors
    /// The file cannot be read.
    fn check_config(&self, path: &Path) -> Result<Vec<String>>;

    /// Every key of the configuration with its default and what it means, as a file.
    fn config_reference(&self) -> String;

    /// What the program can find out about its own installation.
    fn doctor(&self) -> Vec<Finding>;

    /// Runs a private server of the ptywright protocol until its end; gives the code to exit with.
    ///
    /// # Errors
    /// It could not start, or a plugin could not be loaded.
    fn serve(&self, serve: &Serve) -> Result<u8>;

    /// This program's file.
    ///
    /// # Errors
    /// The system does not say.
    fn program(&self) -> Result<PathBuf>;

    /// A text without the secrets in it.
    fn redact(&self, text: &str) -> String;

    /// The folder of the ptywright command line: `$PTYWRIGHT_HOME`, or `.ptywright` in the user's own.
    ///
    /// # Errors
    /// The environment names none.
    fn ptywright_home(&self) -> Result<PathBuf> {
        let named = self.variable("PTYWRIGHT_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = || Some(self.user_home()?.join(".ptywright"));
        named.or_else(home).context("neither `PTYWRIGHT_HOME` nor `HOME` is set")
    }

    /// The folder of the carryOn command line: `$CARRYON_BASE_DIR`, or `.carryon` in the user's own.
    ///
    /// # Errors
    /// The environment names none, or one below a folder that is gone.
    fn carryon_base(&self) -> Result<PathBuf> {
        let named = self.variable("CARRYON_BASE_DIR").filter(|it| !it.is_empty());
        let home = || Some(self.user_home()?.join(".carryon"));
        let base = named.map(PathBuf::from).or_else(home);
        let base = base.context("neither `CARRYON_BASE_DIR` nor `HOME` is set")?;
        std::path::absolute(&base).with_context(|| format!("finding `{}`", base.display()))
    }

    /// The user's own folder.
    fn user_home(&self) -> Option<PathBuf> {
        self.variable("HOME").filter(|it| !it.is_empty()).map(PathBuf::from)
    }

    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// A private server of the ptywright protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    /// Where it speaks.
    pub transport: Transport,
    /// How messages are framed.
    pub framing: Framing,
    /// The manifests of plugins to load.
    pub plugins: Vec<PathBuf>,
    /// Whether clients may load others.
    pub allow_plugin_load: bool,
    /// Whether the path of the socket is told to standard error, once it can be connected to.
    pub announce: bool,
}

/// Where a private server speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// On standard input and output, until the end of the input.
    Stdio,
    /// At a socket, until a signal ends it.
    Socket(PathBuf),
}

/// How messages are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A line each.
    Lines,
    /// Behind `Content-Length`.
    Headers,
}

/// Where things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The folder of sockets.
    pub run: PathBuf,
    /// The folder of what outlives the daemon; `daemon.log` is in it.
    pub state: PathBuf,
    /// The configuration file, which need not exist.
    pub config: PathBuf,
    /// The socket of the daemon.
    pub socket: PathBuf,
}

/// The key that detaches unless another one is configured: a control character with a meaning in
/// few programs, on the same place on most keyboards.
pub const DEFAULT_DETACH_KEY: KeyEvent = KeyEvent::new(Key::Char('\\'), Mods::CTRL);

/// What the configuration says about the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `attach.detach_key`: the key that detaches.
    pub detach_key: KeyEvent,
    /// `attach.literal_key`: the key that types the detach key; the detach key with alt, if none.
    pub literal_key: Option<KeyEvent>,
    /// `attach.history`: how many lines above the screen attaching brings along.
    pub history: u32,
    /// The size of a session that nobody looks at.
    pub size: Size,
    /// The shell of a new session, if not the user's own.
    pub shell: Option<String>,
    /// The session that is meant when none is named.
    pub default_session: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            detach_key: DEFAULT_DETACH_KEY,
            literal_key: None,
            // A few screens: what one scrolls back to right after attaching, sent in one go.
            history: 500,
            size: Size::DEFAULT,
            shell: None,
            default_session: "main".to_owned(),
        }
    }
}

/// One thing that was looked at by `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}
