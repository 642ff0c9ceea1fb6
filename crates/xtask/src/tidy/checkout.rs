//! What the rules look at: the text files of the repository and what cargo knows of its crates.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::workspace::{cargo_command, root};

/// Folders that hold nothing anybody wrote: they are in `.gitignore`, too.
const MADE: &[&str] = &[".git", "artifacts", "corpus", "coverage", "node_modules", "target"];

/// The repository as it lies in the working tree, committed or not.
pub(super) struct Checkout {
    /// Every file that is UTF-8, ordered by path.
    pub(super) files: Vec<TextFile>,
    /// What `cargo metadata` says.
    pub(super) metadata: Value,
}

/// One file with its text.
pub(super) struct TextFile {
    /// Its path from the root of the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Checkout {
    pub(super) fn read() -> Result<Checkout> {
        let mut files = Vec::new();
        collect(&root()?, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Checkout { files, metadata: metadata()? })
    }

    /// The file of that path, if there is one.
    pub(super) fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files under `crates/`.
    pub(super) fn sources(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|it| it.path.starts_with("crates/") && it.path.ends_with(".rs"))
    }

    /// The packages cargo knows: ours and all they depend on.
    pub(super) fn packages(&self) -> Result<&[Value]> {
        self.metadata["packages"].as_array().map(Vec::as_slice).context("listing the packages")
    }
}

/// Adds the text files under `folder`; `prefix` is the path of the folder, with a `/` at its end.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing `{prefix}`"))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("listing `{prefix}`"))?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        let path = format!("{prefix}{}", name.to_string_lossy());
        if kind.is_dir() {
            if !MADE.iter().any(|made| OsStr::new(made) == name) {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("reading `{path}`"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(TextFile { path, text });
            }
        }
    }
    Ok(())
}

fn metadata() -> Result<Value> {
    let mut command = cargo_command(&["metadata", "--format-version=1"])?;
    let output = command.output().context("starting `cargo metadata`")?;
    ensure!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim_end(),
    );
    serde_json::from_slice(&output.stdout).context("reading what `cargo metadata` says")
}
