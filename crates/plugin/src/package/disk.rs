//! Reads the files of a plugin from its folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::requires;
use crate::error::PluginError;
use crate::limits::{FILES_MAX, MANIFEST_MAX, SOURCE_MAX};
use crate::manifest::relative;

/// The text of a manifest, and the folder it is in, links resolved.
pub(super) fn manifest(path: &Path) -> Result<(String, PathBuf), PluginError> {
    let cannot = |error| PluginError::Read { path: path.to_owned(), error };
    let real = fs::canonicalize(path).map_err(cannot)?;
    let text = read(&real, &path.to_string_lossy(), MANIFEST_MAX)?;
    let text = String::from_utf8(text)
        .map_err(|_| PluginError::Decode("the file is not UTF-8".to_owned()))?;
    // The folder is the one the caller named: a manifest may be a link, its folder is what it
    // was put into.
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    Ok((text, fs::canonicalize(folder).map_err(cannot)?))
}

/// The entrypoint and all that it requires, by path, and the path of the entrypoint.
pub(super) fn files(
    folder: &Path,
    entrypoint: &str,
    plugin: &str,
) -> Result<(String, BTreeMap<String, Vec<u8>>), PluginError> {
    let entry = relative(entrypoint)?;
    let mut files = BTreeMap::new();
    let mut room = SOURCE_MAX;
    let mut wanted = vec![entry.clone()];
    while let Some(path) = wanted.pop() {
        if files.contains_key(&path) {
            continue;
        }
        if files.len() == FILES_MAX {
            return Err(PluginError::TooManyFiles(plugin.to_owned()));
        }
        let text = match inside(folder, &path, room) {
            Ok(text) => text,
            // It may be required only if it is there; Lua says so if it is really needed.
            Err(PluginError::Read { error: source, .. })
                if path != entry && source.kind() == io::ErrorKind::NotFound =>
            {
                continue;
            }
            Err(error) => return Err(error),
        };
        room -= text.len() as u64;
        wanted.extend(requires::required(&String::from_utf8_lossy(&text)));
        files.insert(path, text);
    }
    Ok((entry, files))
}

/// Reads a file, if it really lies in the folder.
fn inside(folder: &Path, path: &str, max: u64) -> Result<Vec<u8>, PluginError> {
    let named = folder.join(path);
    let real =
        fs::canonicalize(&named).map_err(|error| PluginError::Read { path: named, error })?;
    if !real.starts_with(folder) {
        return Err(PluginError::Path {
            path: path.to_owned(),
            why: "resolves outside the folder of the manifest",
        });
    }
    read(&real, path, max)
}

fn read(real: &Path, shown: &str, max: u64) -> Result<Vec<u8>, PluginError> {
    let cannot = |error| PluginError::Read { path: PathBuf::from(shown), error };
    // Asked before it is opened: opening a named pipe waits for a writer.
    if !fs::metadata(real).map_err(cannot)?.is_file() {
        return Err(PluginError::Path { path: shown.to_owned(), why: "is no file" });
    }
    let mut text = Vec::new();
    let file = File::open(real).map_err(cannot)?;
    file.take(max + 1).read_to_end(&mut text).map_err(cannot)?;
    if text.len() as u64 > max {
        return Err(PluginError::TooLarge { path: shown.to_owned(), max });
    }
    Ok(text)
}
