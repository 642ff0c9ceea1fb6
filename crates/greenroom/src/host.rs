//! What the command line needs of the whole program.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use greenroom_cli::{Compat, Finding, Host, Settings};
use greenroom_engine::redact::Redaction;

use crate::config::Config;
use crate::paths::Paths;
use crate::{daemon, doctor, environment, serve, start};

/// The version, everywhere the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// This program.
pub(crate) struct Program;

impl Host for Program {
    fn args(&self) -> Vec<OsString> {
        env::args_os().collect()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        env::vars_os().collect()
    }

    fn user_home(&self) -> Option<PathBuf> {
        environment::user_home()
    }

    fn umask(&self) -> Option<u32> {
        // To ask the system otherwise is to change it.
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(umask.trim(), 8).ok()
    }

    fn paths(&self) -> Result<greenroom_cli::Paths> {
        let paths = Paths::from_environment()?;
        Ok(greenroom_cli::Paths {
            socket: paths.socket(),
            run: paths.run,
            state: paths.state,
            config: paths.config,
        })
    }

    fn settings(&self) -> Result<Settings> {
        let paths = Paths::from_environment()?;
        let config = Config::load(&paths.config).map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            anyhow!("`{}`: {}", paths.config.display(), lines.join("\n  "))
        })?;
        Ok(Settings {
            detach_key: config.attach.detach_key,
            literal_key: config.attach.literal_key,
            history: u32::try_from(config.attach.history).unwrap_or(u32::MAX),
            size: config.size,
            shell: Some(config.shell).filter(|shell| !shell.is_empty()),
            default_session: config.default_session,
        })
    }

    fn run_daemon(&self, compat: &[Compat]) -> Result<()> {
        // One that was started in the background tells its starter instead of the terminal.
        let by_us = env::var_os(start::TOLD).is_some();
        if by_us {
            // Away from the terminal and the process group of whoever started us.
            let _session = rustix::process::setsid();
        }
        let ready = || {
            if by_us {
                start::told(Ok(()));
            }
        };
        let result = daemon::run(Paths::from_environment()?, compat, ready);
        if let (true, Err(error)) = (by_us, &result) {
            start::told(Err(error));
        }
        result
    }

    fn start_daemon(&self, compat: &[Compat]) -> Result<()> {
        start::start(compat)
    }

    fn check_config(&self, path: &Path) -> Result<Vec<String>> {
        match Config::load(path) {
            Ok(_) => Ok(Vec::new()),
            Err(problems) => Ok(problems.iter().map(ToString::to_string).collect()),
        }
    }

    fn config_reference(&self) -> String {
        Config::reference()
    }

    fn serve(&self, serve: &greenroom_cli::Serve) -> Result<u8> {
        serve::run(serve, self.ptywright_home().ok().as_deref())
    }

    fn program(&self) -> Result<PathBuf> {
        env::current_exe().context("finding this program")
    }

    fn redact(&self, text: &str) -> String {
        Redaction::standard().apply(text).into_owned()
    }

    fn doctor(&self) -> Vec<Finding> {
        doctor::findings()
    }
}
