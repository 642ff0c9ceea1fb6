//! What must outlive the daemon: ended sessions, numbers, the audit trail; in SQLite.
//!
//! [`Store`] is the file, used by one thread. [`Keeper`] is that thread, so that the daemon never
//! waits for a disk. The list of *living* sessions is the holders' to tell: their rows are here
//! only so that a holder that vanished can be reported and its number is not given out again.
//!
//! Not here: compression, redaction, paths and clocks. Blobs are opaque, the caller names the
//! file and says what time it is.
//!
//! **Invariant:** what a call has returned `Ok` for survives `kill -9`; what it returned an error
//! for is not there, not even in part.

mod error;
mod keeper;
mod migrations;
mod open;
mod records;
mod store;

pub use error::{Kind, StoreError};
pub use keeper::{Answer, Health, Keeper};
pub use open::Opened;
pub use records::{AuditEntry, End, Ended, Retention, Session};
pub use store::{AUDIT_MAX, Store};
