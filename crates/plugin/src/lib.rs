//! The Lua host: manifests, sandboxed adapters that read screens, bounds on what they may do.
//!
//! A *plugin* is a manifest and Lua files. [`Registry`] knows the plugins there are; an
//! [`Adapter`] is one plugin running for one session, in a VM of its own; predicates of a plugin
//! share another. Every VM is a thread of its own, so Lua never runs on the daemon's thread, and a
//! call that cannot be stopped harms nobody who does not wait for it.
//!
//! Flow: `package` (files, read once) → `worker` (a thread) → `vm` (sandbox, `meter`) → `answers`.
//! Not here: sessions, sockets, JSON-RPC, redaction, what an action or a matcher *does*: those
//! leave as JSON and are the door's to check and carry out.
//!
//! **Invariant:** Lua gets no file, clock, process, bytecode or debugger, whatever a manifest says.
//! **Invariant:** every call ends for its caller, within the bounds of [`limits`].
//! **Invariant:** nothing is read from disk after a plugin was loaded.

mod adapter;
mod answers;
mod error;
pub mod limits;
mod manifest;
mod meter;
mod pace;
mod package;
mod registry;
mod sight;
mod starts;
mod value;
mod vm;
mod worker;

pub use adapter::Adapter;
pub use answers::{Candidate, Catalog, HostMark, Outcome, Plan, State};
pub use error::{Kind, Limit, PluginError};
pub use manifest::{Manifest, ManifestError, Permission, PluginKind, Runtime, Target};
pub use package::Builtin;
pub use registry::Registry;
pub use sight::Sight;
