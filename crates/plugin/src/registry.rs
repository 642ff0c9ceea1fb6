//! The plugins there are.
//!
//! **Invariant:** a plugin that adapters run is not unloaded: both are decided under one lock.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use crate::adapter::{Adapter, DESCRIBE, Life, wrong};
use crate::answers::{Catalog, Outcome};
use crate::error::PluginError;
use crate::limits::{COMPLAIN_EVERY, PLUGINS_MAX, RESTARTS_MAX};
use crate::manifest::Manifest;
use crate::pace::Pace;
use crate::package::{Builtin, Package};
use crate::sight::Sight;
use crate::starts::{Loads, Starts};
use crate::vm::{Call, Input};
use crate::worker::{House, Worker};

/// Built-in and loaded plugins. Clones are the same registry.
#[derive(Debug, Clone)]
pub struct Registry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    builtins: Vec<Arc<Plugin>>,
    loaded: Mutex<BTreeMap<String, Arc<Plugin>>>,
    loads: Loads,
    house: Arc<House>,
}

#[derive(Debug)]
struct Plugin {
    package: Arc<Package>,
    live: Arc<AtomicUsize>,
    shared: AsyncMutex<SharedVm>,
    /// Of all its VMs.
    starts: Starts,
    /// Of questions to predicates.
    pace: Pace,
    complaints: Mutex<Complaints>,
}

/// What is told of predicates that fail.
#[derive(Debug, Default)]
struct Complaints {
    last: Option<Instant>,
    /// How many failed since then.
    untold: u64,
}

/// The VM in which all predicates of a plugin run. Started when it is first asked.
#[derive(Debug, Default)]
struct SharedVm {
    worker: Option<Arc<Worker>>,
    /// How often one was started, or failed to.
    starts: u32,
    /// Why the last one failed to.
    failed: Option<String>,
}

impl Registry {
    /// A registry with the plugins that are part of the program, in this order.
    pub fn new(builtins: Vec<Builtin>) -> Result<Self, PluginError> {
        let mut known: Vec<Arc<Plugin>> = Vec::with_capacity(builtins.len());
        for builtin in builtins {
            let package = Package::built_in(builtin)?;
            if known.iter().any(|it| it.package.name() == package.name()) {
                return Err(PluginError::Registered(package.manifest.name));
            }
            known.push(Arc::new(Plugin::new(package)));
        }
        Ok(Self(Arc::new(Inner {
            builtins: known,
            loaded: Mutex::default(),
            loads: Loads::default(),
            house: Arc::default(),
        })))
    }

    /// All manifests: those built in, then the others by name.
    pub fn manifests(&self) -> Vec<Manifest> {
        let mut all = self.builtins();
        all.extend(self.loaded().values().map(|it| it.package.manifest.clone()));
        all
    }

    /// The manifests of the plugins that are part of the program.
    pub fn builtins(&self) -> Vec<Manifest> {
        self.0.builtins.iter().map(|it| it.package.manifest.clone()).collect()
    }

    /// The manifest of one plugin.
    pub fn manifest(&self, name: &str) -> Option<Manifest> {
        self.find(name).ok().map(|it| it.package.manifest.clone())
    }

    /// Reads a plugin from disk, tries whether it runs, and keeps it. Returns its name.
    pub async fn load(&self, manifest_path: &Path) -> Result<String, PluginError> {
        let path = manifest_path.to_owned();
        let reading = tokio::task::spawn_blocking(move || Package::read(&path));
        let package = match reading.await {
            Ok(package) => package?,
            Err(_) => {
                let (path, source) = (manifest_path.to_owned(), std::io::Error::other("stopped"));
                return Err(PluginError::Read { path, error: source });
            }
        };
        let name = package.name().to_owned();
        self.has_room_for(&name, &self.loaded())?;
        let plugin = Plugin::new(package);
        let starts = self.0.loads.of(manifest_path);
        starts.attempt(plugin.shared_vm(&self.0.house)).await?;
        let mut loaded = self.loaded();
        self.has_room_for(&name, &loaded)?;
        loaded.insert(name.clone(), Arc::new(plugin));
        Ok(name)
    }

    /// Forgets a plugin that was loaded.
    pub fn unload(&self, name: &str) -> Result<(), PluginError> {
        if self.built_in(name).is_some() {
            return Err(PluginError::Builtin(name.to_owned()));
        }
        let mut loaded = self.loaded();
        let plugin = loaded.get(name).ok_or_else(|| PluginError::Unknown(name.to_owned()))?;
        match plugin.live.load(Ordering::Relaxed) {
            0 => {
                loaded.remove(name);
                Ok(())
            }
            count => Err(PluginError::LiveAdapters { name: name.to_owned(), count }),
        }
    }

    /// What a plugin offers: what it says itself, or else what it exports.
    pub async fn describe(&self, name: &str) -> Result<Catalog, PluginError> {
        let plugin = self.find(name)?;
        let vm = plugin.shared_vm(&self.0.house).await?;
        let call = Call { function: DESCRIBE.to_owned(), input: Input::Nothing };
        match vm.call(call).await {
            Ok(answer) => {
                Catalog::from_answer(answer).map_err(|it| wrong(&plugin.package, DESCRIBE, it))
            }
            Err(PluginError::NoFunction { .. }) => Ok(Catalog::from_exports(vm.exported().await?)),
            Err(error) => Err(error),
        }
    }

    /// Starts a plugin in a VM of its own.
    pub async fn start(&self, name: &str) -> Result<Adapter, PluginError> {
        let (plugin, life) = {
            let loaded = self.loaded();
            let plugin = self.built_in(name).or_else(|| loaded.get(name));
            let plugin = plugin.ok_or_else(|| PluginError::Unknown(name.to_owned()))?;
            (Arc::clone(plugin), Life::new(&plugin.live))
        };
        let package = Arc::clone(&plugin.package);
        let start = Worker::start(Arc::clone(&package), Arc::clone(&self.0.house));
        let worker = plugin.starts.attempt(start).await?;
        Ok(Adapter::new(package, worker, life))
    }

    /// Asks a predicate of a plugin. `None` is no match.
    pub async fn predicate(
        &self,
        plugin: &str,
        function: &str,
        input: &Sight,
        params: Value,
    ) -> Result<Option<Outcome>, PluginError> {
        let plugin = self.find(plugin)?;
        let asked = async {
            let vm = plugin.shared_vm(&self.0.house).await?;
            let input = Input::Predicate { sight: input.clone(), params };
            let answer = vm.call(Call { function: function.to_owned(), input }).await?;
            Outcome::from_answer(answer).map_err(|it| wrong(&plugin.package, function, it))
        };
        asked.await.inspect_err(|error| plugin.complain(function, error))
    }

    /// Waits until a predicate of a plugin may be asked again because something happened. The first time, and
    /// whenever a client wants to know, it need not be waited for.
    pub async fn turn(&self, plugin: &str) {
        if let Ok(plugin) = self.find(plugin) {
            plugin.pace.turn().await;
        }
    }

    fn find(&self, name: &str) -> Result<Arc<Plugin>, PluginError> {
        let loaded = self.loaded();
        let found = self.built_in(name).or_else(|| loaded.get(name));
        found.cloned().ok_or_else(|| PluginError::Unknown(name.to_owned()))
    }

    fn built_in(&self, name: &str) -> Option<&Arc<Plugin>> {
        self.0.builtins.iter().find(|it| it.package.name() == name)
    }

    fn has_room_for(
        &self,
        name: &str,
        loaded: &BTreeMap<String, Arc<Plugin>>,
    ) -> Result<(), PluginError> {
        if self.built_in(name).is_some() || loaded.contains_key(name) {
            return Err(PluginError::Registered(name.to_owned()));
        }
        if loaded.len() >= PLUGINS_MAX {
            return Err(PluginError::TooManyPlugins);
        }
        Ok(())
    }

    fn loaded(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Plugin>>> {
        // Nothing panics under the lock, and a map is whole after every step.
        self.0.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plugin {
    fn new(package: Package) -> Self {
        Self {
            package: Arc::new(package),
            live: Arc::default(),
            shared: AsyncMutex::default(),
            starts: Starts::default(),
            pace: Pace::default(),
            complaints: Mutex::default(),
        }
    }

    /// Tells the log that a predicate failed, now and then.
    fn complain(&self, predicate: &str, error: &PluginError) {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        if complaints.last.is_some_and(|last| last.elapsed() < COMPLAIN_EVERY) {
            complaints.untold += 1;
            return;
        }
        let plugin = self.package.name();
        let untold = complaints.untold;
        tracing::info!(plugin, predicate, %error, untold, "a predicate does not hold");
        *complaints = Complaints { last: Some(Instant::now()), untold: 0 };
    }

    /// The VM of the predicates. One that was given up is replaced, but not for ever; nor is it tried for ever to start
    /// one.
    async fn shared_vm(&self, house: &Arc<House>) -> Result<Arc<Worker>, PluginError> {
        let mut shared = self.shared.lock().await;
        let may_start = shared.starts <= RESTARTS_MAX;
        if let Some(worker) = &shared.worker
            && (!worker.is_disabled() || !may_start)
        {
            return Ok(Arc::clone(worker));
        }
        if !may_start {
            let (plugin, reason) = (self.package.name().to_owned(), shared.failed.clone());
            return Err(PluginError::Disabled { plugin, reason: reason.unwrap_or_default() });
        }
        // Who goes away meanwhile has not seen it fail: that comes in its row, and is not counted.
        let start = Worker::start(Arc::clone(&self.package), Arc::clone(house));
        match self.starts.attempt(start).await {
            Ok(started) => {
                shared.starts += 1;
                let worker = Arc::new(started);
                shared.worker = Some(Arc::clone(&worker));
                Ok(worker)
            }
            // No fault of the plugin's.
            Err(error @ PluginError::NoRoom { .. }) => Err(error),
            Err(error) => {
                shared.starts += 1;
                let (text, plugin) = (error.to_string(), self.package.name());
                let reason = text.strip_prefix(&format!("plugin `{plugin}`: ")).unwrap_or(&text);
                shared.failed = Some(reason.to_owned());
                Err(error)
            }
        }
    }
}
