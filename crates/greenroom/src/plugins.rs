//! The plugins that come with the program.

use anyhow::Result;
use greenroom_plugin::{Builtin, Registry};

/// A registry of what comes with the program.
pub(crate) fn registry() -> Result<Registry> {
    Ok(Registry::new(builtins())?)
}

fn builtins() -> Vec<Builtin> {
    Vec::new()
}
