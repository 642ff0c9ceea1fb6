//! The files of a plugin, read once.
//!
//! From a folder only the entrypoint is read and what it requires by name, and what that requires:
//! nobody lists a folder, which may be somebody's home. A name that is put together at run time is
//! therefore not found.
//!
//! **Invariant:** every file lies in the folder of the manifest, links resolved.

mod disk;
mod requires;

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{PluginError, short};
use crate::manifest::{Manifest, Runtime};

/// A plugin that is part of the program.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its manifest, in TOML.
    pub manifest: &'static str,
    /// Its Lua files by their paths; the entrypoint is one of them.
    pub files: &'static [(&'static str, &'static str)],
}

/// A manifest and its Lua files.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) manifest: Manifest,
    /// The entrypoint's key in `files`; none for a plugin that is only a manifest.
    entry: Option<String>,
    /// By path, with `/`.
    files: BTreeMap<String, Vec<u8>>,
}

impl Package {
    /// Takes one that is part of the program.
    pub(crate) fn built_in(builtin: Builtin) -> Result<Self, PluginError> {
        let manifest = parse(builtin.manifest)?;
        let files: BTreeMap<String, Vec<u8>> = builtin
            .files
            .iter()
            .map(|(path, source)| ((*path).to_owned(), source.as_bytes().to_vec()))
            .collect();
        let entry = manifest.entrypoint.clone();
        if let Some(entry) = &entry
            && !files.contains_key(entry)
        {
            return Err(PluginError::Path { path: entry.clone(), why: "is not built in" });
        }
        Ok(Self { manifest, entry, files })
    }

    /// Reads one from its folder.
    pub(crate) fn read(manifest_path: &Path) -> Result<Self, PluginError> {
        let (manifest, folder) = disk::manifest(manifest_path)?;
        let manifest = parse(&manifest)?;
        let entrypoint = match (manifest.runtime, &manifest.entrypoint) {
            (Some(Runtime::Lua), Some(entrypoint)) => entrypoint,
            _ => return Err(PluginError::NotLua(manifest.name)),
        };
        let (entry, files) = disk::files(&folder, entrypoint, &manifest.name)?;
        Ok(Self { manifest, entry: Some(entry), files })
    }

    pub(crate) fn name(&self) -> &str {
        &self.manifest.name
    }

    /// The path and text of the file to run.
    pub(crate) fn entry(&self) -> Result<(&str, &[u8]), PluginError> {
        let not_lua = || PluginError::NotLua(self.manifest.name.clone());
        let is_lua = self.manifest.runtime == Some(Runtime::Lua);
        let entry = self.entry.as_deref().filter(|_| is_lua).ok_or_else(not_lua)?;
        Ok((entry, self.files.get(entry).ok_or_else(not_lua)?))
    }

    /// The path and text of a module.
    pub(crate) fn module(&self, name: &str) -> Option<(&str, &[u8])> {
        let path = requires::path_of(name)?;
        self.files.get_key_value(&path).map(|(path, text)| (path.as_str(), text.as_slice()))
    }
}

fn parse(text: &str) -> Result<Manifest, PluginError> {
    let manifest: Manifest =
        toml::from_str(text).map_err(|error| PluginError::Decode(short(error.message())))?;
    manifest.validate()?;
    Ok(manifest)
}
