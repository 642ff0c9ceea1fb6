//! The doors of the daemon: where they listen, and who serves whom they let in.
//!
//! Not here: the browser's, which has its own rules for who may come in (`web`).

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use greenroom_door::{bind, own_folder};
use greenroom_door_carryon::{self as native, Daemon, Door, Setup};
use greenroom_door_ptywright as ptywright;
use tokio::net::UnixListener;

use super::LOG;
use super::affairs::Affairs;
use crate::config::Config;
use crate::paths::Paths;
use crate::{carryon, environment, host, plugins, serve as private};

/// Makes the native door, and serves carryOn's base folder if the configuration wants it.
pub(super) fn open_native(affairs: &Arc<Affairs>) -> Result<Arc<Door>> {
    let paths = &affairs.paths;
    let base = affairs.config().carryon_compat.then(environment::carryon_base).transpose()?;
    let (settings, sockets) = match &base {
        Some(base) => (base.join(native::SETTINGS), base.join(native::SOCKETS)),
        None => (paths.carryon_settings(), paths.carryon()),
    };
    let shutdown = affairs.shutdown.clone();
    let tmux = Box::new(environment::tmux);
    let (local, web) = (Arc::clone(&affairs.web) as _, Arc::clone(&affairs.web) as _);
    let setup = Setup { settings, sockets, local, web, tmux, shutdown };
    let daemon = Arc::clone(affairs) as Arc<dyn Daemon>;
    let door = Arc::new(Door::new(affairs.engine.clone(), daemon, setup));
    affairs.carryon.know(&door);
    if let Some(base) = base {
        affairs
            .serve_base(&base)
            .map_err(|text| anyhow::anyhow!("{text}; end it, or turn `compat.carryon` off"))?;
    }
    Ok(door)
}

/// Serves the base folder that somebody asked an earlier daemon for: its clients look there for this one.
pub(super) async fn serve_remembered(affairs: &Arc<Affairs>, door: &Arc<Door>) {
    if affairs.config().carryon_compat {
        return;
    }
    let Some(base) = carryon::remembered(&affairs.paths.carryon_base()) else { return };
    match affairs.serve_base(&base) {
        Ok(_) => door.use_base(base.join(native::SETTINGS), base.join(native::SOCKETS)).await,
        Err(error) => {
            tracing::warn!(target: LOG, %error, "carryOn's base folder is not served any more")
        }
    }
}

pub(super) async fn listen(affairs: &Arc<Affairs>, door: &Arc<Door>, listener: UnixListener) {
    let connections = affairs.config().limits.connections;
    let shutdown = affairs.shutdown.clone();
    greenroom_door::serve(&listener, connections, shutdown.clone(), |stream, peer| {
        native::serve(stream, peer, Arc::clone(door), shutdown.clone())
    })
    .await;
}

/// Lends terminals to attached clients.
pub(super) async fn lend(affairs: &Arc<Affairs>, door: &Arc<Door>, listener: UnixListener) {
    let connections = affairs.config().limits.connections;
    greenroom_door::serve(&listener, connections, affairs.shutdown.clone(), |stream, peer| {
        native::serve_tap(stream, peer, Arc::clone(door))
    })
    .await;
}

/// Listens for clients of the ptywright protocol, wherever the configuration wants it.
pub(super) fn bind_ptywright(
    paths: &Paths,
    config: &Config,
) -> Result<Vec<(PathBuf, Arc<UnixListener>)>> {
    let mut listeners = Vec::new();
    if config.ptywright.enabled {
        listeners.push(paths.ptywright());
    }
    if config.ptywright.compat {
        let path = environment::ptywright_home()?.join("socket");
        own_folder(path.parent().unwrap_or(&path))?;
        ensure!(
            std::os::unix::net::UnixStream::connect(&path).is_err(),
            "`{}`: somebody listens there already; end it, or turn `compat.ptywright` off",
            path.display()
        );
        listeners.push(path);
    }
    let bound = listeners.into_iter().map(|path| {
        let listener = bind(&path)?;
        Ok((path, Arc::new(listener)))
    });
    bound.collect()
}

pub(super) async fn listen_ptywright(
    affairs: &Arc<Affairs>,
    listeners: &[(PathBuf, Arc<UnixListener>)],
) {
    if listeners.is_empty() {
        return std::future::pending().await;
    }
    let plugins = match plugins::registry() {
        Ok(plugins) => plugins,
        Err(error) => {
            tracing::error!(target: LOG, %error, "the plugins that come along are not usable");
            return std::future::pending().await;
        }
    };
    let options = ptywright::Options {
        allow_plugin_load: affairs.config().ptywright.allow_load,
        private: false,
        version: host::VERSION,
    };
    let door = Arc::new(ptywright::Door::new(affairs.engine.clone(), plugins, options));
    door.take_up().await;
    let connections = affairs.config().limits.connections;
    let shutdown = affairs.shutdown.clone();
    let mut serving = tokio::task::JoinSet::new();
    for (_, listener) in listeners {
        let (door, shutdown) = (Arc::clone(&door), shutdown.clone());
        let listener = Arc::clone(listener);
        serving.spawn(async move {
            greenroom_door::serve(&listener, connections, shutdown.clone(), |stream, peer| {
                let name = format!("ptywright, pid {}", peer.pid.unwrap_or(0));
                let framing = ptywright::Framing::Guess;
                private::serve_one(stream, framing, name, Arc::clone(&door), shutdown.clone())
            })
            .await;
        });
    }
    tokio::select! {
        _served = serving.join_all() => {}
        never = door.follow() => match never {},
    }
}
