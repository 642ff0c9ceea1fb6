//! What the tests of this crate share.

use std::path::{Path, PathBuf};

use greenroom_plugin::{Adapter, Builtin, PluginError, Registry, Sight};
use tempfile::TempDir;

pub(crate) const ALL: &str = r#""session.spawn", "session.kill", "session.resize", "screen.read",
    "transcript.read", "input.write", "matcher.wait""#;

pub(crate) fn manifest(name: &str, permissions: &str) -> String {
    format!(
        "name = \"{name}\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
         entrypoint = \"main.lua\"\npermissions = [{permissions}]\n"
    )
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// A registry with one built-in plugin, `p`, that has all permissions.
pub(crate) fn built_in(source: &str) -> Registry {
    built_in_with(source, ALL)
}

pub(crate) fn built_in_with(source: &str, permissions: &str) -> Registry {
    let files = Box::leak(Box::new([("main.lua", leaked(source))]));
    let manifest = leaked(&manifest("p", permissions));
    Registry::new(vec![Builtin { manifest, files }]).unwrap()
}

/// An adapter of a plugin with this source.
pub(crate) async fn adapter(source: &str) -> Result<Adapter, PluginError> {
    built_in(source).start("p").await
}

/// What a plugin answers whose only function, `probe`, has this body.
pub(crate) async fn probe(body: &str) -> Result<serde_json::Value, PluginError> {
    let source = format!(
        "return {{ classify = function(input) return {{ state = 's', metadata = {{ it = (function() {body} end)() }} }} end }}"
    );
    let adapter = adapter(&source).await?;
    let state = adapter.classify(&Sight::default(), None, None, 300).await?;
    Ok(state.metadata.unwrap()["it"].clone())
}

pub(crate) struct Folder(TempDir);

impl Folder {
    /// A plugin on disk.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("manifest.toml", &manifest(name, ALL));
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.path().join("manifest.toml")
    }
}
