//! A thread with a VM in it, and what its callers know of it.
//!
//! A thread per VM, not a pool: a call that cannot be stopped then takes only its own plugin with it,
//! and the runtime never waits for it when it ends.
//!
//! **Invariant:** who waits for a call gets an answer, even if the thread never gives one: after
//! [`STUCK_AFTER`] the VM is disabled and left alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::error::{Limit, PluginError};
use crate::limits::{QUEUE_MAX, STACK_SIZE, STRIKES_MAX, STUCK_AFTER, STUCK_MAX, VMS_MAX};
use crate::package::Package;
use crate::vm::{Call, Vm};

/// How far behind the daemon's own thread those of plugins come where there is not enough for all: what is
/// typed and printed is not to wait for what a screen means.
const NICE: i32 = 5;

/// How many VMs there are, and how many of them do not answer.
#[derive(Debug, Default)]
pub(crate) struct House {
    running: AtomicUsize,
    stuck: AtomicUsize,
}

/// A VM, from outside. Dropping it ends the thread as soon as it is idle.
#[derive(Debug)]
pub(crate) struct Worker {
    package: Arc<Package>,
    inbox: mpsc::Sender<Job>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    house: Arc<House>,
    /// Since when the thread is busy with one job.
    began: Mutex<Option<Instant>>,
    /// Why the VM is not used any more.
    disabled: OnceLock<Reason>,
}

#[derive(Debug)]
struct Reason {
    text: String,
    /// The thread was busy and counts as stuck until it ends.
    stuck: bool,
}

/// Something to do with the VM.
enum Job {
    Call(Call, oneshot::Sender<Result<Value, PluginError>>),
    Exported(oneshot::Sender<Result<Vec<String>, PluginError>>),
}

impl Worker {
    /// Starts a thread and runs the plugin's file in it.
    pub(crate) async fn start(
        package: Arc<Package>,
        house: Arc<House>,
    ) -> Result<Self, PluginError> {
        package.entry()?;
        let (inbox, jobs) = mpsc::channel(QUEUE_MAX);
        let (started, has_started) = oneshot::channel();
        let shared = Arc::new(Shared {
            house,
            // From now on: a thread that cannot even start is stuck as well.
            began: Mutex::new(Some(Instant::now())),
            disabled: OnceLock::new(),
        });
        let slot = Slot::take(Arc::clone(&shared), package.name())?;
        let plugin = Arc::clone(&package);
        let spawned = thread::Builder::new()
            .name("plugin".to_owned())
            .stack_size(STACK_SIZE)
            .spawn(move || run(&plugin, jobs, started, &slot));
        if let Err(error) = spawned {
            return Err(no_room(package.name(), format!("no thread: {error}")));
        }
        let worker = Self { package, inbox, shared };
        worker.wait("chunk", has_started).await?;
        Ok(worker)
    }

    /// Calls a function of the plugin.
    pub(crate) async fn call(&self, call: Call) -> Result<Value, PluginError> {
        let function = call.function.clone();
        self.ask(&function, |reply| Job::Call(call, reply)).await
    }

    /// The names of the functions the plugin exports.
    pub(crate) async fn exported(&self) -> Result<Vec<String>, PluginError> {
        self.ask("describe", Job::Exported).await
    }

    /// Whether the VM was given up.
    pub(crate) fn is_disabled(&self) -> bool {
        self.shared.disabled.get().is_some()
    }

    async fn ask<T>(
        &self,
        function: &str,
        job: impl FnOnce(oneshot::Sender<Result<T, PluginError>>) -> Job,
    ) -> Result<T, PluginError> {
        self.is_usable()?;
        let (reply, answer) = oneshot::channel();
        let asked = async {
            // A closed inbox drops the job, and with it the reply.
            drop(self.inbox.send(job(reply)).await);
            answer.await
        };
        self.wait(function, asked).await
    }

    /// Waits for an answer, as long as the thread is not stuck.
    async fn wait<T>(
        &self,
        function: &str,
        answer: impl Future<Output = Result<Result<T, PluginError>, oneshot::error::RecvError>>,
    ) -> Result<T, PluginError> {
        let mut answer = std::pin::pin!(answer);
        let mut patience = STUCK_AFTER;
        loop {
            match timeout(patience, &mut answer).await {
                Ok(Ok(answer)) => return answer,
                Ok(Err(_)) => return Err(self.gone()),
                Err(_) => {}
            }
            // Others may have been served in the meantime: only one job's time counts.
            let busy = self.shared.busy_for();
            if busy >= STUCK_AFTER {
                self.shared.disable(format!("`{function}`: {}", Limit::Wall), true);
                return Err(self.limit(function));
            }
            self.is_usable()?;
            patience = STUCK_AFTER - busy;
        }
    }

    fn is_usable(&self) -> Result<(), PluginError> {
        if self.is_disabled() { Err(self.gone()) } else { Ok(()) }
    }

    fn limit(&self, function: &str) -> PluginError {
        PluginError::Limit {
            plugin: self.package.name().to_owned(),
            function: function.to_owned(),
            limit: Limit::Wall,
        }
    }

    fn gone(&self) -> PluginError {
        let reason = self.shared.disabled.get();
        PluginError::Disabled {
            plugin: self.package.name().to_owned(),
            reason: reason.map_or_else(|| "its thread has ended".to_owned(), |it| it.text.clone()),
        }
    }
}

impl Shared {
    fn busy_for(&self) -> std::time::Duration {
        let began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        began.map(|it| it.elapsed()).unwrap_or_default()
    }

    fn set_busy(&self, since: Option<Instant>) {
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn disable(&self, text: String, stuck: bool) {
        if self.disabled.set(Reason { text, stuck }).is_ok() && stuck {
            self.house.stuck.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A VM's place in the house, given back when its thread ends.
struct Slot(Arc<Shared>);

impl Slot {
    fn take(shared: Arc<Shared>, plugin: &str) -> Result<Self, PluginError> {
        let house = &shared.house;
        if house.stuck.load(Ordering::Relaxed) >= STUCK_MAX {
            return Err(no_room(plugin, format!("{STUCK_MAX} plugin calls are stuck")));
        }
        if house.running.fetch_add(1, Ordering::Relaxed) >= VMS_MAX {
            house.running.fetch_sub(1, Ordering::Relaxed);
            return Err(no_room(plugin, format!("{VMS_MAX} plugins are running")));
        }
        Ok(Self(shared))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.house.running.fetch_sub(1, Ordering::Relaxed);
        // Closes the door first: a caller that has just lost patience must not count it again.
        self.0.disable("its thread has ended".to_owned(), false);
        if self.0.disabled.get().is_some_and(|it| it.stuck) {
            self.0.house.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn no_room(plugin: &str, reason: String) -> PluginError {
    PluginError::NoRoom { plugin: plugin.to_owned(), reason }
}

/// The thread: one job after the other, until nobody is left to ask or the VM is given up.
fn run(
    package: &Arc<Package>,
    mut jobs: mpsc::Receiver<Job>,
    started: oneshot::Sender<Result<(), PluginError>>,
    slot: &Slot,
) {
    let shared = &slot.0;
    // This thread's alone, as the system has it. Where it is refused, all are alike.
    let _refused = rustix::process::nice(NICE);
    let vm = match Vm::start(Arc::clone(package)) {
        Ok(vm) => vm,
        Err(error) => {
            // Nobody may be waiting any more, and then it is of no use to anybody.
            drop(started.send(Err(error)));
            return;
        }
    };
    shared.set_busy(None);
    drop(started.send(Ok(())));
    let mut strikes = 0;
    while shared.disabled.get().is_none() {
        let Some(job) = jobs.blocking_recv() else { return };
        shared.set_busy(Some(Instant::now()));
        // A panic here would be a fault of ours or of the bindings; it ends this VM only.
        let done = catch_unwind(AssertUnwindSafe(|| perform(&vm, job, shared, &mut strikes)));
        shared.set_busy(None);
        if done.is_err() {
            shared.disable("the host failed".to_owned(), false);
        }
    }
    tracing::warn!(plugin = package.name(), "a plugin's VM was given up");
}

fn perform(vm: &Vm, job: Job, shared: &Shared, strikes: &mut u32) {
    match job {
        Job::Call(_, reply) if reply.is_closed() => {}
        Job::Call(call, reply) => {
            let answer = vm.call(&call);
            match &answer {
                Err(PluginError::Limit { function, limit, .. }) => {
                    *strikes += 1;
                    if *strikes >= STRIKES_MAX {
                        let text = format!("`{function}`: {limit}, {STRIKES_MAX} times in a row");
                        shared.disable(text, false);
                    }
                }
                _ => *strikes = 0,
            }
            drop(reply.send(answer));
        }
        Job::Exported(reply) => drop(reply.send(Ok(vm.exported()))),
    }
}
