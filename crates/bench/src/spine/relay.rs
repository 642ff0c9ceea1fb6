//! The limit for terminals in a browser: a server that does nothing but carry a terminal's bytes.
//!
//! axum as it comes, one program on one terminal a WebSocket, binary messages both ways. It keeps
//! nothing, shows it to one, and ends with its client. It runs in a thread of the run.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use bytes::BytesMut;
use greenroom_model::Size;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::place::Environment;
use super::terminal::Terminal;

/// How much is read at once.
const READ: usize = 64 << 10;

/// Serves programs by their names, each at a path of its own, until the run ends.
pub(crate) fn serve(
    programs: Vec<(&'static str, Vec<String>)>,
    environment: &Environment,
) -> Result<SocketAddr> {
    let (told, address) = mpsc::channel();
    let environment = Arc::new(environment.clone());
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async move {
            let Ok(listener) = tokio::net::TcpListener::bind("127.0.0.1:0").await else { return };
            let Ok(address) = listener.local_addr() else { return };
            // The run may have been given up.
            told.send(address).unwrap_or_default();
            let mut router = Router::new();
            for (name, argv) in programs {
                let environment = Arc::clone(&environment);
                let upgrade = move |upgrade: WebSocketUpgrade| {
                    let (argv, environment) = (argv.clone(), Arc::clone(&environment));
                    std::future::ready(upgrade.on_upgrade(move |socket| async move {
                        // Whoever measures sees that nothing comes.
                        carry(socket, &argv, &environment).await.unwrap_or_default();
                    }))
                };
                router = router.route(&format!("/{name}"), get(upgrade));
            }
            axum::serve(listener, router).await.unwrap_or_default();
        });
    };
    thread::Builder::new().name("relay".to_owned()).spawn(work)?;
    address.recv().context("the relay does not listen")
}

async fn carry(mut socket: WebSocket, argv: &[String], environment: &Environment) -> Result<()> {
    let terminal = Terminal::start(Size::DEFAULT, argv, environment)?;
    // A terminal is read as a pipe is; nothing else of tokio's takes one without `unsafe`.
    let master = terminal.master().as_fd().try_clone_to_owned()?;
    let mut master = pipe::Receiver::from_owned_fd_unchecked(master)?;
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(READ);
        tokio::select! {
            read = master.read_buf(&mut buffer) => match read {
                Ok(0) | Err(_) => return Ok(()),
                Ok(_) => socket.send(Message::Binary(buffer.split().freeze())).await?,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => terminal.write(&bytes)?,
                Some(Ok(_)) => {}
                _ => return Ok(()),
            },
        }
    }
}
