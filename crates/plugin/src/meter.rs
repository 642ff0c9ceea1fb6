//! What one call may still use, and whether it has used more.
//!
//! One meter per VM, started anew by every call, asked by the instruction hook and by those library
//! functions whose cost is not seen in instructions.
//!
//! **Invariant:** once broken it stays broken until the next call, and `pcall` asks it: an error that
//! a plugin catches is raised again, so no plugin can go on.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::Limit;
use crate::limits::{CPU_MAX, HARDLY_RAN, INSTRUCTIONS_MAX, LOGS_PER_CALL, PAUSE, RUN, WALL_MAX};

/// Native steps that take the time of one instruction, about.
const STEPS_PER_INSTRUCTION: u64 = 4;

/// How many native steps are collected before they are charged for: some 20 µs.
const STEPS_PER_LOOK: u64 = 4_096;

pub(crate) struct Meter {
    left: Cell<u64>,
    began: Cell<Instant>,
    /// What the thread had used of the processor by then.
    used: Cell<Duration>,
    /// How much more it may use.
    processor: Cell<Duration>,
    /// When to look whether a pause is due, by the clock, and what the thread will have used by then.
    pause: Cell<(Instant, Duration)>,
    broken: Cell<Option<Limit>>,
    logs: Cell<u32>,
    /// Steps of native code that were not charged for yet.
    steps: Cell<u64>,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            left: Cell::new(0),
            began: Cell::new(Instant::now()),
            used: Cell::default(),
            processor: Cell::new(CPU_MAX),
            pause: Cell::new((Instant::now(), Duration::ZERO)),
            broken: Cell::new(None),
            logs: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// A call begins, and has so much of the processor before its first pause, and in all.
    pub(crate) fn start(&self, first_run: Duration, processor: Duration) {
        self.began.set(Instant::now());
        self.logs.set(LOGS_PER_CALL);
        self.again(first_run, processor);
    }

    /// A call is made once more. It is the same one to who waits for it and to who reads the log: what it may take of
    /// their time and what it may log goes on.
    pub(crate) fn again(&self, first_run: Duration, processor: Duration) {
        self.left.set(INSTRUCTIONS_MAX);
        self.used.set(processor_time());
        self.processor.set(processor);
        self.pause.set((Instant::now() + first_run, self.used.get() + first_run));
        self.broken.set(None);
    }

    /// Uses up some instructions, or what costs as much.
    pub(crate) fn spend(&self, instructions: u64) -> Result<(), Limit> {
        self.check()?;
        let limit = match self.left.get().checked_sub(instructions) {
            None => Limit::Instructions,
            Some(left) => match self.late() {
                Some(limit) => limit,
                None => {
                    self.left.set(left);
                    return Ok(());
                }
            },
        };
        self.broken.set(Some(limit));
        Err(limit)
    }

    /// Lets others run now and then who were woken meanwhile. By the processor's time: a thread that had to
    /// wait is not to wait for that once more.
    fn pause(&self, now: Instant) {
        let (at, due) = self.pause.get();
        if now < at {
            return;
        }
        let rest = due.saturating_sub(processor_time());
        if rest.is_zero() {
            std::thread::sleep(PAUSE);
            self.pause.set((Instant::now() + RUN, processor_time() + RUN));
        } else {
            self.pause.set((now + rest, due));
        }
    }

    /// Which bound on time is broken.
    fn late(&self) -> Option<Limit> {
        let now = Instant::now();
        self.pause(now);
        let passed = now.saturating_duration_since(self.began.get());
        // No thread uses more of the processor than time passes, which is cheaper to ask for.
        let processor = self.processor.get();
        if passed < processor {
            None
        } else if processor_time().saturating_sub(self.used.get()) >= processor {
            Some(Limit::Processor)
        } else {
            (passed >= WALL_MAX).then_some(Limit::Wall)
        }
    }

    /// Uses up small steps of native code; looks at the clock only now and then.
    pub(crate) fn step(&self, count: usize) -> Result<(), Limit> {
        let steps = self.steps.get() + count as u64;
        if steps < STEPS_PER_LOOK {
            self.steps.set(steps);
            return Ok(());
        }
        self.steps.set(0);
        self.spend(steps / STEPS_PER_INSTRUCTION)
    }

    /// Fails if a limit was broken before.
    pub(crate) fn check(&self) -> Result<(), Limit> {
        self.broken.get().map_or(Ok(()), Err)
    }

    /// Whether the call's processor time was over before it did much with it.
    pub(crate) fn hardly_ran(&self) -> bool {
        let ran = INSTRUCTIONS_MAX.saturating_sub(self.left.get());
        self.broken.get() == Some(Limit::Processor) && ran <= HARDLY_RAN
    }

    /// Whether one more text may be logged.
    pub(crate) fn may_log(&self) -> bool {
        let left = self.logs.get();
        self.logs.set(left.saturating_sub(1));
        left > 0
    }
}

/// What this thread has used of the processor.
pub(crate) fn processor_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(used.tv_nsec).unwrap_or(0))
}

impl From<Limit> for mlua::Error {
    fn from(limit: Limit) -> Self {
        Self::runtime(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_made_once_more_has_no_more_time_for_who_waits() {
        let meter = Meter::new();
        meter.start(RUN, CPU_MAX);
        let Some(long_ago) = Instant::now().checked_sub(WALL_MAX) else { return };
        meter.began.set(long_ago);
        meter.again(RUN, CPU_MAX);
        assert_eq!(meter.spend(1), Err(Limit::Wall));
        meter.start(RUN, CPU_MAX);
        assert_eq!(meter.spend(1), Ok(()));
    }
}
