//! The browser's door: put together with the native one, opened by the configuration, by
//! `greenroom web`, or by carryOn's settings.
//!
//! There is one door and up to two listeners: our own, and carryOn's. The door is made when the first
//! of them is: before, there is no token.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use greenroom_door::{Peer, Shutdown};
use greenroom_door_carryon::{self as native, Applied, Local, Opening, Page, Told};
use greenroom_door_web::{
    Around, Auth, Door, Flavour, ListenError, Listening, Native, Number, Options, Place, Proof,
    Provider, Share, Watch,
};
use greenroom_engine::{Engine, Info, Rights};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use crate::assets::Embedded;
use crate::config::{Config, WebAuth};
use crate::host;
use crate::paths::Paths;

/// The browser's door, if it was ever opened.
pub(crate) struct Web {
    engine: Engine,
    state: PathBuf,
    config: Mutex<Config>,
    shutdown: Shutdown,
    native: OnceLock<Weak<native::Door>>,
    watch: OnceLock<Arc<dyn Watch>>,
    door: Mutex<Option<Arc<Door>>>,
    /// Our own listener.
    own: tokio::sync::Mutex<Option<Listening>>,
    /// carryOn's.
    carryon: tokio::sync::Mutex<Option<Listening>>,
    /// Where they listen, for who asks without waiting.
    seen: Mutex<Seen>,
    us: Weak<Web>,
}

/// Where somebody listens.
#[derive(Debug, Default)]
struct Seen {
    own: Option<Own>,
    carryon: bool,
}

/// Our own listener, as it is seen.
#[derive(Debug)]
struct Own {
    url: String,
    address: SocketAddr,
    /// Where and how, as it is now.
    place: Place,
    proof: Proof,
}

impl Web {
    /// Knows how to open the door, and does not yet.
    pub(crate) fn new(
        engine: &Engine,
        paths: &Paths,
        config: &Config,
        shutdown: Shutdown,
    ) -> Arc<Web> {
        Arc::new_cyclic(|us| Web {
            engine: engine.clone(),
            state: paths.state.clone(),
            config: Mutex::new(config.clone()),
            shutdown,
            native: OnceLock::new(),
            watch: OnceLock::new(),
            door: Mutex::default(),
            own: tokio::sync::Mutex::default(),
            carryon: tokio::sync::Mutex::default(),
            seen: Mutex::default(),
            us: us.clone(),
        })
    }

    /// Knows the native door from now on, and listens if the configuration says so.
    pub(crate) async fn begin(&self, native: &Arc<native::Door>) -> Result<()> {
        // There is one door, made once.
        self.native.set(Arc::downgrade(native)).ok();
        if self.config().web.enabled {
            self.listen(&Opening::default()).await.context("the door for browsers")?;
        }
        Ok(())
    }

    /// Tells somebody of every request, if there is no door yet.
    #[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "a collector wants it"))]
    pub(crate) fn watch(&self, watch: Arc<dyn Watch>) {
        // Only one is ever told.
        self.watch.set(watch).ok();
    }

    /// What a number of the door's is at now.
    #[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "a collector wants it"))]
    pub(crate) fn number(&self, number: &Number) -> u64 {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        door.map_or(0, |door| door.number(number))
    }

    /// The daemon ends.
    pub(crate) fn end(&self) {
        if let Ok(mut own) = self.own.try_lock() {
            own.take();
        }
        if let Ok(mut carryon) = self.carryon.try_lock() {
            carryon.take();
        }
    }

    /// The configuration is another one. How people prove who they are is another one at once, for
    /// our own listener: whoever turns the token on means it.
    ///
    /// # Errors
    /// That cannot be, where it listens; then nothing has changed.
    pub(crate) fn reload(&self, config: &Config) -> Result<()> {
        self.ask_for(config)?;
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config.clone();
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(door) = door {
            door.set_options(options(config));
        }
        Ok(())
    }

    fn ask_for(&self, config: &Config) -> Result<()> {
        let mut seen = self.seen();
        let Some(own) = &mut seen.own else { return Ok(()) };
        let auth = auth(&config.web)?;
        ensure!(!own.place.expose || auth != Auth::None, ListenError::Open);
        if own.place.auth == auth {
            return Ok(());
        }
        // Who knew the old password may not know the new one.
        let by_password = matches!(own.place.auth, Auth::Password(_));
        own.place.auth = auth.clone();
        own.proof.set(auth.clone());
        drop(seen);
        tracing::info!(auth = auth_name(&auth), "browsers are asked for something else");
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (true, Some(door)) = (by_password, door) {
            door.log_out();
        }
        Ok(())
    }

    fn config(&self) -> Config {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The door, made if there is none yet.
    fn door(&self) -> Result<Arc<Door>> {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(door) = &*door {
            return Ok(Arc::clone(door));
        }
        let native = self.native.get().cloned().context("the daemon is not ready")?;
        let around = Around {
            assets: Arc::new(Embedded),
            native: Arc::new(Bridge { native, shutdown: self.shutdown.clone() }),
            state: self.state.clone(),
            watch: self.watch.get().cloned(),
            shutdown: self.shutdown.clone(),
        };
        let made = Door::new(self.engine.clone(), options(&self.config()), around)?;
        *door = Some(Arc::clone(&made));
        tokio::spawn(Arc::clone(&made).tend());
        Ok(made)
    }

    /// Listens for browsers, where the configuration or `wanted` says.
    async fn listen(&self, wanted: &Opening) -> Result<()> {
        let config = self.config().web;
        let place = place(&config, wanted)?;
        let mut own = self.own.lock().await;
        let asked = wanted.port.is_some() || wanted.expose.is_some();
        let same = |it: &Listening| {
            let port = place.port == 0 || it.address().port() == place.port;
            port && it.place().expose == place.expose
        };
        // What was configured since holds: whoever turns the token on means it.
        let as_safe =
            |it: &Listening| it.proof().get() == place.auth && it.place().tls == place.tls;
        if own.as_ref().is_some_and(|it| as_safe(it) && (!asked || same(it))) {
            return Ok(());
        }
        ensure!(!place.expose || place.auth != Auth::None, ListenError::Open);
        // The old one first: both may want one port.
        if let Some(before) = own.take() {
            before.stop().await;
        }
        self.seen().own = None;
        let listening = Listening::start(self.door()?, place.clone()).await?;
        tracing::info!(address = %listening.address(), "browsers are served");
        let (url, address, proof) = (listening.url(), listening.address(), listening.proof());
        self.seen().own = Some(Own { url, address, place, proof });
        *own = Some(listening);
        // What was read again while this was being opened holds as well.
        self.ask_for(&self.config())
    }

    /// What is said of the door to who may know the token.
    fn told(&self) -> Result<Value> {
        let mut told = native::Web::status(self);
        let door = self.door()?;
        let url = told["url"].as_str().context("nobody listens")?.to_owned();
        told["open"] = match told["auth"].as_str() {
            Some("token") => format!("{url}/#token={}", door.token()).into(),
            _ => format!("{url}/").into(),
        };
        Ok(told)
    }
}

/// Where and how to listen, by the configuration and what is wanted besides.
fn place(config: &crate::config::Web, wanted: &Opening) -> Result<Place> {
    let expose = wanted.expose.unwrap_or(config.expose);
    let auth = auth(config)?;
    let given = !config.certificate.as_os_str().is_empty();
    Ok(Place {
        port: wanted.port.unwrap_or(config.port),
        expose,
        auth,
        tls: config.tls.unwrap_or(expose),
        certificate: given.then(|| (config.certificate.clone(), config.key.clone())),
        hosts: config.hosts.clone(),
        flavour: Flavour::Contract,
    })
}

/// How people prove who they are, by the configuration.
fn auth(config: &crate::config::Web) -> Result<Auth> {
    Ok(match config.auth {
        WebAuth::Token => Auth::Token,
        WebAuth::Password => {
            ensure!(!config.password.is_empty(), "`doors.web.password` is not set");
            Auth::Password(config.password.clone())
        }
        WebAuth::None => Auth::None,
    })
}

fn auth_name(auth: &Auth) -> &'static str {
    match auth {
        Auth::Token => "token",
        Auth::Password(_) => "password",
        Auth::None => "none",
    }
}

fn options(config: &Config) -> Options {
    let websocket = &config.websocket;
    let provider =
        |it: &(String, Vec<String>)| Provider { name: it.0.clone(), command: it.1.clone() };
    Options {
        history_bytes: websocket.history_bytes,
        idle_ttl: websocket.idle_ttl,
        max_sessions: websocket.max_sessions,
        chat_idle_ttl: websocket.chat_idle_ttl,
        claude_command: websocket.claude_command.clone(),
        chat_environment: crate::environment::for_agents(&config.environment_pass),
        providers: websocket.providers.iter().map(provider).collect(),
        metrics: config.web.metrics,
        version: host::VERSION,
    }
}

/// The native door, as the browser's sees it.
struct Bridge {
    native: Weak<native::Door>,
    shutdown: Shutdown,
}

impl Native for Bridge {
    fn open(&self, name: &str, rights: Rights) -> io::Result<UnixStream> {
        let door = self.native.upgrade().ok_or_else(|| io::Error::other("the daemon ends"))?;
        let (ours, theirs) = UnixStream::pair()?;
        let us = rustix::process::getuid().as_raw();
        let (shutdown, name) = (self.shutdown.clone(), name.to_owned());
        tokio::spawn(async move {
            let peer = Peer { uid: us, pid: None };
            native::serve_as(theirs, peer, door, shutdown, (&name, rights)).await;
        });
        Ok(ours)
    }

    fn carryon_sessions(&self) -> Vec<Value> {
        self.native.upgrade().map(|door| door.saved_sessions()).unwrap_or_default()
    }
}

impl native::Web for Web {
    fn open(&self, wanted: Opening) -> Told {
        let us = self.us.clone();
        Box::pin(async move {
            let us = us.upgrade().ok_or("the daemon ends")?;
            us.listen(&wanted).await.map_err(|error| format!("{error:#}"))?;
            us.told().map_err(|error| format!("{error:#}"))
        })
    }

    fn close(&self) -> Told {
        let us = self.us.clone();
        Box::pin(async move {
            let us = us.upgrade().ok_or("the daemon ends")?;
            let before = us.own.lock().await.take();
            let was = before.is_some();
            if let Some(before) = before {
                before.stop().await;
            }
            us.seen().own = None;
            Ok(json!({"ok": true, "was": was}))
        })
    }

    fn status(&self) -> Value {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seen = self.seen();
        let Some(Own { url, address, place, .. }) = &seen.own else {
            return json!({"running": false});
        };
        let auth = auth_name(&place.auth);
        json!({"running": true, "url": url, "port": address.port(), "expose": place.expose,
            "tls": place.tls, "auth": auth, "sockets": door.map_or(0, |it| it.sockets())})
    }

    fn share(&self, session: &Info, write: bool, lasts: Duration) -> Told {
        let (us, uuid) = (self.us.clone(), session.uuid());
        Box::pin(async move {
            let us = us.upgrade().ok_or("the daemon ends")?;
            us.listen(&Opening::default()).await.map_err(|error| format!("{error:#}"))?;
            let door = us.door().map_err(|error| format!("{error:#}"))?;
            let (share, secret) =
                door.share(uuid, write, lasts).map_err(|error| error.to_string())?;
            let mut told = to_wire(&share);
            let url = native::Web::status(&*us)["url"].as_str().unwrap_or_default().to_owned();
            told["open"] = format!("{url}/#share={secret}").into();
            Ok(told)
        })
    }

    fn shares(&self) -> Value {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let all = door.map(|door| door.shares()).unwrap_or_default();
        Value::from_iter(all.iter().map(to_wire))
    }

    fn unshare(&self, id: &str) -> bool {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        door.is_some_and(|door| door.unshare(id))
    }
}

fn to_wire(share: &Share) -> Value {
    json!({"id": share.id, "uuid": share.session, "write": share.write, "untilMs": share.until_ms})
}

impl Local for Web {
    fn apply(&self, wanted: Page) -> Applied {
        let us = self.us.clone();
        Box::pin(async move {
            let us = us.upgrade().ok_or("the daemon ends")?;
            let mut carryon = us.carryon.lock().await;
            if let Some(before) = carryon.take() {
                before.stop().await;
            }
            us.seen().carryon = false;
            if !wanted.enabled {
                return Ok(());
            }
            let door = us.door().map_err(|error| format!("{error:#}"))?;
            let hash = Some(wanted.password).filter(|it| !it.is_empty());
            let place = Place {
                port: wanted.port,
                expose: wanted.expose,
                auth: hash.map_or(Auth::Token, Auth::Password),
                tls: wanted.expose,
                certificate: None,
                hosts: us.config().web.hosts,
                flavour: Flavour::Carryon,
            };
            let listening = Listening::start(door, place).await;
            let listening = listening.map_err(|error| error.to_string())?;
            tracing::info!(address = %listening.address(), "carryOn's page is served");
            *carryon = Some(listening);
            us.seen().carryon = true;
            Ok(())
        })
    }

    fn is_running(&self) -> bool {
        self.seen().carryon
    }

    fn connections(&self) -> usize {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        door.map_or(0, |door| door.sockets())
    }

    fn log_out(&self) {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(door) = door {
            door.log_out();
        }
    }
}
