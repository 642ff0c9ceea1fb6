//! Sessions: what they are, what can be done to them, and what happens in them.
//!
//! The engine owns one task per session, each with its screen and its link to a holder. It speaks
//! the domain's own words in plain types; what crosses a wire is a door's business, what outlives
//! the daemon is the [`Archive`]'s, which the program supplies.
//!
//! Flow of a byte: `link` → `session` (journal → screen → viewers, waits) → [`Subscription`].
//! Not here: sockets of clients, JSON, files, configuration, signals.
//!
//! **Invariants.** A session's state changes only in its own turn. A snapshot and the first event
//! after it are cut at one offset. All output comes before the end, and the end comes once.

mod archive;
mod caller;
mod create;
mod encore;
mod engine;
mod environment;
mod error;
mod event;
mod find;
mod info;
mod journal;
mod limited;
mod link;
mod mark;
mod matcher;
mod options;
pub mod points;
mod recover;
pub mod redact;
mod relink;
mod scene;
mod session;
mod spawn;
mod subscription;
mod transcript;
mod verbs;

pub use archive::{Archive, ArchiveError, AuditEntry, Done, EndedRecord, LivingRecord};
pub use caller::{Caller, ClientId, Rights};
pub use create::{New, Program, check_name};
pub use engine::Engine;
pub use environment::PASSED;
pub use error::{Error, ErrorKind};
pub use event::{End, Event, HouseEvent, Why};
pub use greenroom_pty::Limits;
pub use info::{Info, State, Viewer};
pub use matcher::{Area, Matcher, Outcome, Pattern, PatternError};
pub use options::{Options, SizePolicy};
pub use recover::{Recovered, Refused};
pub use scene::{Scene, Texts};
pub use session::{Offer, Typed, Waited};
pub use subscription::{Attach, Counted, Lag, Subscription, SubscriptionId};
pub use transcript::Transcript;
