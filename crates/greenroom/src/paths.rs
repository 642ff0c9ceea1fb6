//! Where things are: one folder, or the ones the desktop's rules give.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::environment;

/// Holds everything if it is set.
pub(crate) const HOME: &str = "GREENROOM_HOME";

/// Where things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Sockets and the lock.
    pub(crate) run: PathBuf,
    /// What outlives the daemon.
    pub(crate) state: PathBuf,
    /// The configuration.
    pub(crate) config: PathBuf,
}

impl Paths {
    /// Reads the environment.
    pub(crate) fn from_environment() -> Result<Paths> {
        let variable = |name: &str| {
            let set = env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
            match name {
                HOME => set.or_else(environment::house_of_base),
                "HOME" => set.or_else(environment::user_home),
                _ => set,
            }
        };
        Paths::new(variable, rustix::process::getuid().as_raw())
    }

    fn new(variable: impl Fn(&str) -> Option<PathBuf>, uid: u32) -> Result<Paths> {
        let set = |name: &str| variable(name).filter(|path| path != OsStr::new(""));
        if let Some(home) = set(HOME) {
            ensure!(home.is_absolute(), "`{HOME}` must be an absolute path");
            return Ok(Paths {
                run: home.join("run"),
                state: home.join("state"),
                config: home.join("config.toml"),
            });
        }
        let absolute = |name: &str| set(name).filter(|path| path.is_absolute());
        let below_home = |name: &str, below: &str| {
            let home = || absolute("HOME").map(|home| home.join(below));
            let found = absolute(name).or_else(home);
            found.with_context(|| match set("HOME") {
                Some(home) => format!("`HOME` is `{}`, which is no absolute path", home.display()),
                None => format!("neither `{HOME}` nor `{name}` nor `HOME` is set"),
            })
        };
        let run = absolute("XDG_RUNTIME_DIR").map(|dir| dir.join("greenroom"));
        Ok(Paths {
            // Not every machine has a runtime folder; one in a shared place must name its owner.
            run: run.unwrap_or_else(|| env::temp_dir().join(format!("greenroom-{uid}"))),
            state: below_home("XDG_STATE_HOME", ".local/state")?.join("greenroom"),
            config: below_home("XDG_CONFIG_HOME", ".config")?.join("greenroom/config.toml"),
        })
    }

    /// Where the daemon listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.run.join("greenroom.sock")
    }

    /// Where the daemon lends terminals to attached clients.
    pub(crate) fn tap(&self) -> PathBuf {
        self.run.join("tap.sock")
    }

    /// Where the daemon speaks the ptywright protocol.
    pub(crate) fn ptywright(&self) -> PathBuf {
        self.run.join("ptywright.sock")
    }

    /// Where sessions have sockets for carryOn's clients, unless a base folder is served.
    pub(crate) fn carryon(&self) -> PathBuf {
        self.run.join("carryon")
    }

    /// Which base folder of carryOn's was served last.
    pub(crate) fn carryon_base(&self) -> PathBuf {
        self.state.join("carryon-base")
    }

    /// carryOn's settings, unless a base folder is served.
    pub(crate) fn carryon_settings(&self) -> PathBuf {
        self.state.join("carryon.json")
    }

    /// Where holders listen.
    pub(crate) fn holders(&self) -> PathBuf {
        self.run.join("h")
    }

    /// What says that a daemon runs.
    pub(crate) fn lock(&self) -> PathBuf {
        self.run.join("lock")
    }

    /// The database.
    pub(crate) fn store(&self) -> PathBuf {
        self.state.join("greenroom.db")
    }

    /// The folder that holds both, if one does; else that of the sockets.
    pub(crate) fn home(&self) -> &Path {
        self.run.parent().filter(|home| self.state.starts_with(home)).unwrap_or(&self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Result<Paths> {
        let find = |name: &str| {
            let found = variables.iter().find(|it| it.0 == name);
            found.map(|it| PathBuf::from(it.1))
        };
        Paths::new(find, 1000)
    }

    #[test]
    fn one_variable_holds_everything() {
        let found = paths(&[("GREENROOM_HOME", "/g"), ("HOME", "/h")]).unwrap();
        assert_eq!(found.socket(), Path::new("/g/run/greenroom.sock"));
        assert_eq!(found.store(), Path::new("/g/state/greenroom.db"));
        assert_eq!(found.config, Path::new("/g/config.toml"));
        assert!(paths(&[("GREENROOM_HOME", "relative")]).is_err());
    }

    #[test]
    fn the_desktop_rules_are_followed() {
        let found = paths(&[("XDG_RUNTIME_DIR", "/r"), ("HOME", "/h")]).unwrap();
        assert_eq!(found.run, Path::new("/r/greenroom"));
        assert_eq!(found.state, Path::new("/h/.local/state/greenroom"));
        assert_eq!(found.config, Path::new("/h/.config/greenroom/config.toml"));
        let bare = paths(&[("HOME", "/h")]).unwrap();
        assert!(bare.run.ends_with("greenroom-1000"));
        assert!(paths(&[]).is_err());
    }

    #[test]
    fn a_home_that_is_no_absolute_path_is_named() {
        let text = paths(&[("HOME", "there")]).unwrap_err().to_string();
        assert_eq!(text, "`HOME` is `there`, which is no absolute path");
        let text = paths(&[]).unwrap_err().to_string();
        assert!(text.ends_with("nor `HOME` is set"), "{text}");
    }
}
