//! Plugins as the daemon uses them: what they have, what stops them, how they come and go.

mod common;
mod limits;
mod registry;
mod sandbox;
