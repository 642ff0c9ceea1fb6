//! A thread with a VM in it, and what its callers know of it.
//!
//! A thread per VM, not a pool: a call that cannot be stopped then takes only its own plugin with it,
//! and the runtime never waits for it when it ends.
//!
//! **Invariant:** who waits for a call gets an answer, even if the thread never gives one: after
//! [`STUCK_AFTER`] the VM is disabled and left alone, unless its thread could not run; then later.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{Pid, gettid};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::adapter::CLASSIFY;
use crate::error::{Limit, PluginError};
use crate::limits::{
    PAUSE_LATE, QUEUE_MAX, STACK_SIZE, STARVED_LOOK, STARVED_LOOKS, STRIKES_MAX, STUCK_AFTER,
    STUCK_CPU, STUCK_MAX, VMS_MAX,
};
use crate::meter::processor_time;
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
    /// What the thread is busy with.
    began: Mutex<Option<Begun>>,
    /// Why the VM is not used any more.
    disabled: OnceLock<Reason>,
}

/// A job that was begun.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    /// Who does it, once it runs, and what it had used of the processor by then.
    thread: Option<(Pid, Duration)>,
}

/// What a job has taken until now.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    time: Duration,
    processor: Duration,
}

#[derive(Debug)]
struct Reason {
    text: String,
    /// The thread was busy and counts as stuck until it ends.
    stuck: bool,
}

/// Something to do with the VM.
enum Job {
    Call(Box<Call>, oneshot::Sender<Result<Value, PluginError>>),
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
            began: Mutex::new(Some(Begun { at: Instant::now(), thread: None })),
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
        self.ask(&function, |reply| Job::Call(Box::new(call), reply)).await
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
        let (mut patience, mut looks) = (STUCK_AFTER, 0);
        loop {
            match timeout(patience, &mut answer).await {
                Ok(Ok(answer)) => return answer,
                Ok(Err(_)) => return Err(self.gone()),
                Err(_) => {}
            }
            // Others may have been served in the meantime: only one job's time counts.
            let taken = self.shared.taken();
            if taken.is_stuck(looks) {
                self.shared.disable(format!("`{function}`: {}", Limit::Wall), true);
                return Err(self.limit(function));
            }
            self.is_usable()?;
            (patience, looks) = match STUCK_AFTER.checked_sub(taken.time) {
                Some(rest) if !rest.is_zero() => (rest, 0),
                _ => (STARVED_LOOK, looks + 1),
            };
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

impl Taken {
    /// Whether the meter had its chance: the thread ran for long enough, or was waited for long enough.
    fn is_stuck(self, looks: u32) -> bool {
        self.time >= STUCK_AFTER && (self.processor >= STUCK_CPU || looks >= STARVED_LOOKS)
    }
}

impl Shared {
    fn began(&self) -> MutexGuard<'_, Option<Begun>> {
        self.began.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the job under way has taken; nothing if there is none.
    fn taken(&self) -> Taken {
        let Some(begun) = *self.began() else { return Taken::default() };
        let processor = begun.thread.map_or(Duration::ZERO, |(thread, before)| {
            used_by(thread).unwrap_or_default().saturating_sub(before)
        });
        Taken { time: begun.at.elapsed(), processor }
    }

    /// This thread begins with a job.
    fn begin(&self) {
        let thread = Some((gettid(), processor_time()));
        *self.began() = Some(Begun { at: Instant::now(), thread });
    }

    fn rest(&self) {
        *self.began() = None;
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

/// What a thread of this process has used of the processor, as the kernel tells others.
fn used_by(thread: Pid) -> Option<Duration> {
    let thread = thread.as_raw_nonzero();
    let told = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
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
    // Niceness counts among the daemon's threads only, where the system shares the processor out among
    // sessions first: for the program that echoes a key, and its holder, the meter pauses.
    greenroom_pty::take_long_turns(NICE);
    // Where it is refused, pauses are longer.
    let _refused = rustix::thread::set_current_timer_slack(Some(PAUSE_LATE));
    shared.begin();
    let vm = match Vm::start(Arc::clone(package)) {
        Ok(vm) => vm,
        Err(error) => {
            // Nobody may be waiting any more, and then it is of no use to anybody.
            drop(started.send(Err(error)));
            return;
        }
    };
    shared.rest();
    drop(started.send(Ok(())));
    let mut strikes = Strikes::default();
    while shared.disabled.get().is_none() {
        let Some(job) = jobs.blocking_recv() else { return };
        shared.begin();
        // A panic here would be a fault of ours or of the bindings; it ends this VM only.
        let done = catch_unwind(AssertUnwindSafe(|| perform(&vm, job, shared, &mut strikes)));
        shared.rest();
        if done.is_err() {
            shared.disable("the host failed".to_owned(), false);
        }
    }
    tracing::warn!(plugin = package.name(), "a plugin's VM was given up");
}

/// Calls that broke a limit, in a row.
#[derive(Debug, Default)]
struct Strikes {
    count: u32,
    /// Which function was the last.
    function: String,
}

fn perform(vm: &Vm, job: Job, shared: &Shared, strikes: &mut Strikes) {
    match job {
        Job::Call(_, reply) if reply.is_closed() => {}
        Job::Call(call, reply) => {
            let answer = vm.call(&call);
            match &answer {
                Err(PluginError::Limit { function, limit, .. }) => {
                    strikes.count += 1;
                    strikes.function.clone_from(function);
                    if strikes.count >= STRIKES_MAX {
                        let text = format!("`{function}`: {limit}, {STRIKES_MAX} times in a row");
                        shared.disable(text, false);
                    }
                }
                // There is a look before each intent: that it does well makes no intent good.
                _ if call.function == CLASSIFY && strikes.function != CLASSIFY => {}
                _ => *strikes = Strikes::default(),
            }
            drop(reply.send(answer));
        }
        Job::Exported(reply) => drop(reply.send(Ok(vm.exported()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_get_to_run_is_not_stuck_before_long() {
        let taken = |time, processor| Taken { time, processor };
        assert!(!taken(STUCK_AFTER / 2, STUCK_CPU).is_stuck(0), "the meter may still stop it");
        assert!(taken(STUCK_AFTER, STUCK_CPU).is_stuck(0));
        assert!(!taken(STUCK_AFTER * 99, STUCK_CPU / 2).is_stuck(0), "all were stopped meanwhile");
        assert!(taken(STUCK_AFTER, Duration::ZERO).is_stuck(STARVED_LOOKS));
    }

    #[test]
    fn what_a_thread_has_used_is_seen_from_another() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            while processor_time() < Duration::from_millis(20) {}
            tell.send(gettid()).unwrap();
            ended.recv().unwrap_err();
        });
        let used = used_by(told.recv().unwrap()).unwrap();
        assert!(used >= Duration::from_millis(15), "{used:?}");
        drop(end);
        thread.join().unwrap();
    }
}
