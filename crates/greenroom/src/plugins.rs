//! The plugins that come with the program.

use anyhow::Result;
use greenroom_plugin::{Builtin, Registry};

/// A file of a plugin, as it is in the repository.
macro_rules! file {
    ($plugin:literal, $name:literal) => {
        ($name, include_str!(concat!("../../../plugins/", $plugin, "/", $name)))
    };
}

/// What comes with the program.
const BUILTINS: &[Builtin] = &[
    Builtin {
        manifest: file!("claude-code", "manifest.toml").1,
        files: &[
            file!("claude-code", "main.lua"),
            file!("claude-code", "catalog.lua"),
            file!("claude-code", "classify.lua"),
            file!("claude-code", "dialogs.lua"),
            file!("claude-code", "intents.lua"),
            file!("claude-code", "layout.lua"),
            file!("claude-code", "options.lua"),
            file!("claude-code", "params.lua"),
            file!("claude-code", "permission.lua"),
            file!("claude-code", "prompts.lua"),
            file!("claude-code", "rows.lua"),
            file!("claude-code", "seen.lua"),
            file!("claude-code", "submission.lua"),
            file!("claude-code", "tasks.lua"),
            file!("claude-code", "text.lua"),
            file!("claude-code", "turn.lua"),
            file!("claude-code", "waits.lua"),
        ],
    },
    Builtin {
        manifest: file!("shell", "manifest.toml").1,
        files: &[
            file!("shell", "main.lua"),
            file!("shell", "commands.lua"),
            file!("shell", "marks.lua"),
            file!("shell", "prompts.lua"),
        ],
    },
];

/// A registry of what comes with the program.
pub(crate) fn registry() -> Result<Registry> {
    Ok(Registry::new(BUILTINS.to_vec())?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_a_plugin_comes_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        for builtin in BUILTINS {
            let name = builtin.manifest.lines().find_map(|line| line.strip_prefix("name = "));
            let files = std::fs::read_dir(folder.join(name.unwrap().trim_matches('"'))).unwrap();
            let files = files.map(|it| it.unwrap().file_name().into_string().unwrap());
            let there: BTreeSet<String> = files.filter(|it| it.ends_with(".lua")).collect();
            let here: BTreeSet<String> = builtin.files.iter().map(|it| it.0.to_owned()).collect();
            assert_eq!(here, there);
        }
        registry().unwrap();
    }
}
