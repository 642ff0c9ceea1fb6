//! Every bound on a plugin, in one place, each with its reason.

use std::num::NonZeroU64;
use std::time::Duration;

/// Lua instructions one call may take: some 20 ms of a core, many times what a classifier of a large screen
/// needs.
pub const INSTRUCTIONS_MAX: u64 = 2_000_000;

/// How often the meter looks: often enough to stop a loop of slow instructions soon, such as one that
/// joins texts of megabytes, seldom enough to cost little.
pub(crate) const INSTRUCTIONS_PER_LOOK: u32 = 64;

/// Memory in use from which the meter looks more often for the rest of a call: one instruction may then copy
/// megabytes, and 64 of them take longer than all that a call has. What a screen is told by takes a tenth.
pub(crate) const LARGE: usize = 4 << 20;

/// How often it looks then: a file with a long table in it has that much in memory, too, and half a million
/// instructions that take next to nothing.
pub(crate) const INSTRUCTIONS_PER_LOOK_LARGE: u32 = 16;

/// Processor time one call may take: as long as all its instructions take if they are cheap, and so little
/// that with all its pauses, and with what one look may miss, it is over within a tenth of a second.
/// Without optimisation everything takes several times as long.
pub const CPU_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 60 } else { 20 });

/// How many instructions at most lie behind a call that is made once more when its processor time is over. One
/// that used that time has several times as many behind it. One with fewer mostly waited, in ways that the
/// system takes for its own work, as where a virtual machine waits for a page of its memory.
pub(crate) const HARDLY_RAN: u64 = INSTRUCTIONS_MAX / 16;

/// Processor time it has then: several times what an innocent one needs, and so little that with both of them
/// slow instructions are over within a tenth of a second as well.
pub(crate) const CPU_AGAIN: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 15 } else { 5 });

/// How much of the processor a call has before its thread pauses for the first time: as much as what most
/// plugins make of a large screen, so that they need not. Predicates pause from the beginning.
pub(crate) const FIRST_RUN: Duration = Duration::from_millis(2);

/// How much it has from then on between two pauses: a tenth of what a key may take to its echo, for that may
/// wait for it. Where the system shares the processor out among sessions first, it would not let the woken go
/// before until its next tick, four milliseconds later.
pub(crate) const RUN: Duration = Duration::from_micros(40);

/// How long a pause is: to sleep at all is what lets the woken go before, and longer than it runs leaves most
/// of a processor to them. The system makes a third more of it; with all of them a call that uses up
/// [`CPU_MAX`] is still over within a tenth of a second.
pub(crate) const PAUSE: Duration = Duration::from_micros(100);

/// How late the system may wake a thread of a plugin from a pause: by default half as long as the pause
/// itself. In nanoseconds.
pub(crate) const PAUSE_LATE: NonZeroU64 = NonZeroU64::MIN.saturating_add(999);

/// Time one call may take. Only a thread that does not get to run takes longer than its processor time; much
/// longer, so that a busy machine does not kill the innocent: a hundredth of a processor is enough for them.
pub const WALL_MAX: Duration = Duration::from_secs(4);

/// How many functions may have been called and not returned: deeper than any screen is described, and
/// little to unwind.
pub const LEVELS_MAX: usize = 200;

/// When a call counts as stuck: the meter had its chance and was not asked.
pub(crate) const STUCK_AFTER: Duration = Duration::from_millis(1_250);

/// What its thread must have used of the processor by then: several times what the meter allows. One that
/// used less did not get to run.
pub(crate) const STUCK_CPU: Duration = CPU_MAX.saturating_mul(4);

/// How often to look whether a thread that does not get to run is stuck after all.
pub(crate) const STARVED_LOOK: Duration = Duration::from_millis(250);

/// How many such looks there are before its callers wait no longer: with [`STUCK_AFTER`] a second more than
/// [`WALL_MAX`]. Counted, because of a daemon that was stopped meanwhile all clocks say that it was long.
pub(crate) const STARVED_LOOKS: u32 = 16;

/// Memory of one VM. A screen of 60x200 is 12 KiB, a transcript 128 KiB; an answer may have 4 MiB, and is
/// made of as much. It bounds how long one instruction can take, too.
pub const MEMORY_MAX: usize = 16 << 20;

/// The stack of a VM's thread. Lua stops at 200 nested native calls, far below this.
pub(crate) const STACK_SIZE: usize = 4 << 20;

/// Calls in a row that may break a limit before a VM is given up: once is an odd screen, three
/// times is a plugin that would burn a core for ever.
pub const STRIKES_MAX: u32 = 3;

/// How often a plugin's shared VM is replaced after it was given up, or started again after it failed to start.
pub const RESTARTS_MAX: u32 = 3;

/// Starts of a plugin that may fail in a row before the next one waits: who writes it may well try again at
/// once, but not four times at once.
pub const FAILURES_MAX: u32 = 3;

/// How long after the last of them the next one is, and how much longer with each that fails as well. Who
/// corrects a file takes longer.
pub const FAILED_PAUSE: Duration = Duration::from_millis(100);

/// How long it is at most: one VM a second is not felt by anybody.
pub const FAILED_PAUSE_MAX: Duration = Duration::from_secs(1);

/// How often one VM is asked because something happened, in the long run: a thousand times a second is far
/// more often than a screen is drawn, and little work to ask.
pub const ASK_EVERY: Duration = Duration::from_millis(1);

/// How many questions of that kind may come at once: those of all who wait for a screen that was just drawn.
pub const ASKS_AT_ONCE: u32 = 32;

/// How often it is told that a plugin's predicates fail: they may do so at every output.
pub(crate) const COMPLAIN_EVERY: Duration = Duration::from_secs(1);

/// Threads that may be stuck at once, of all plugins, before no VM is started any more.
pub const STUCK_MAX: usize = 4;

/// VMs a registry may have at once; each is a thread and up to [`MEMORY_MAX`].
pub const VMS_MAX: usize = 256;

/// Calls that may wait for one VM; who comes later waits to be let in.
pub(crate) const QUEUE_MAX: usize = 16;

/// Bytes of a string that one library call may make. Larger ones can still be joined.
pub const STRING_MAX: usize = 4 << 20;

/// How deep a value may nest on its way in or out.
pub const DEPTH_MAX: usize = 64;

/// How many values may go in or out at once.
pub const NODES_MAX: usize = 65_536;

/// How many bytes of text may go in or out at once.
pub const BYTES_MAX: usize = 4 << 20;

/// What a plugin sees of the end of a transcript: what a session keeps of it by default.
pub const TRANSCRIPT_MAX: usize = 128 << 10;

/// Actions in one plan. A plan is typed while its session waits.
pub const ACTIONS_MAX: usize = 256;

/// Bytes of a manifest.
pub const MANIFEST_MAX: u64 = 64 << 10;

/// Bytes of all Lua files of a plugin.
pub const SOURCE_MAX: u64 = 1 << 20;

/// Lua files of a plugin.
pub const FILES_MAX: usize = 64;

/// Plugins that may be loaded at once.
pub const PLUGINS_MAX: usize = 64;

/// Bytes of an error's text; Lua repeats what it was given, which may be a whole screen.
pub const MESSAGE_MAX: usize = 400;

/// Bytes of one logged text.
pub const LOG_MAX: usize = 1_024;

/// Texts one call may log.
pub const LOGS_PER_CALL: u32 = 16;
