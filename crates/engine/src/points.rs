//! Named points at which a test has the daemon killed: one between each pair of steps that a kill could
//! tear apart.
//!
//! They are there in builds with debug assertions only, and a daemon dies at one only if it was told to
//! when it started ([`arm`]). The suite goes over all of them, so a new one is tried as soon as it is here.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident $name:literal,)*) => {
        /// A point between two steps.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// All there are.
            pub const ALL: &[Point] = &[$(Point::$point),*];

            /// What it is called where a daemon is told of it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Point::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// A session that is to be made has its number.
    CreateNumbered "create.numbered",
    /// It has its control groups, if it wants any.
    CreateGrouped "create.grouped",
    /// Its holder runs and knows nothing yet.
    CreateStarted "create.started",
    /// The holder was told what to start.
    CreateAsked "create.asked",
    /// The holder has introduced itself, and the program runs.
    CreateIntroduced "create.introduced",
    /// The house has the session.
    CreateOpened "create.opened",
    /// The archive was told.
    CreateStored "create.stored",
    /// Everybody but who asked was told.
    CreateTold "create.told",
    /// The screen has the new size, and nobody else.
    ResizeDrawn "resize.drawn",
    /// The holder was told.
    ResizeSaid "resize.said",
    /// The terminal has it.
    ResizeSet "resize.set",
    /// The holder has the description.
    ResizeDescribed "resize.described",
    /// Everybody but who asked was told.
    ResizeTold "resize.told",
    /// The list has the new name, and nobody else.
    RenameListed "rename.listed",
    /// The holder has it.
    RenameDescribed "rename.described",
    /// The archive was told.
    RenameStored "rename.stored",
    /// Somebody wants a session to end.
    KillWanted "kill.wanted",
    /// The holder was told.
    KillSaid "kill.said",
    /// A session has ended.
    EndHeard "end.heard",
    /// The house answers from the record.
    EndListed "end.listed",
    /// Everybody was told.
    EndTold "end.told",
    /// The archive has it.
    EndStored "end.stored",
    /// The holder was told that it may go.
    EndReleased "end.released",
    /// The holder has gone.
    EndGone "end.gone",
    /// Somebody wants an ended session to be forgotten.
    ForgetWanted "forget.wanted",
    /// The archive has forgotten it.
    ForgetStored "forget.stored",
    /// The house has, too.
    ForgetListed "forget.listed",
    /// A holder of before was met.
    RecoverMet "recover.met",
    /// Its session is in the house.
    RecoverOpened "recover.opened",
    /// All holders were met.
    RecoverDone "recover.done",
    /// The sessions that ended before are in the house.
    StartRemembered "start.remembered",
    /// A session whose holder is gone is being remembered as lost.
    StartLosing "start.losing",
    /// All of them were handed to the archive.
    StartLost "start.lost",
    /// The daemon can be reached, and does nothing yet.
    StartBound "start.bound",
}

impl Point {
    /// The point of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Point> {
        Point::ALL.iter().copied().find(|point| point.name() == name)
    }
}

/// The number of the point to die at, counted from one; zero for none.
#[cfg(debug_assertions)]
static ARMED: AtomicUsize = AtomicUsize::new(0);

/// Has this process die at a point.
#[cfg(debug_assertions)]
pub fn arm(point: Point) {
    ARMED.store(point as usize + 1, Ordering::Relaxed);
}

/// This point is reached. Without debug assertions there is nothing here.
#[cfg(debug_assertions)]
pub fn reach(point: Point) {
    if ARMED.load(Ordering::Relaxed) == point as usize + 1 {
        // As by somebody else: nothing is flushed, dropped or said.
        let _dies =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// This point is reached. Without debug assertions there is nothing here.
#[cfg(not(debug_assertions))]
#[inline]
pub fn reach(_: Point) {}
