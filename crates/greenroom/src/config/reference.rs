//! Defaults: as text for people, and set in a `Config`.

use std::fmt::Write;

use super::Config;
use super::keys::{KEYS, Key, Kind};

/// What stands above the keys.
const HEAD: &str = "\
# greenroom's configuration: every key with its default.
#
# Keys marked \"restart\" are read when the daemon starts, the others also when it is reloaded.
";

/// Every key, commented out.
pub(super) fn reference() -> String {
    let mut text = HEAD.to_owned();
    let mut before = "";
    for key in KEYS {
        let (section, name) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        if section != before {
            text.push_str(&format!("\n[{section}]\n"));
            before = section;
        } else {
            text.push('\n');
        }
        let restart = if key.live { "" } else { " Restart." };
        let allowed = key.allowed();
        // Writing to a `String` does not fail.
        writeln!(text, "# {}\n# Allowed: {allowed}.{restart}", key.help).ok();
        writeln!(text, "# {name} = {}", key.default_toml()).ok();
    }
    text
}

/// A command that is written as one text.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Key {
    /// Puts the default where it belongs.
    pub(super) fn set_default(&self, config: &mut Config) {
        match &self.kind {
            Kind::Flag { default, set } => set(config, *default),
            Kind::Number { default, set, .. } => set(config, *default),
            // A default that is refused is found by a test.
            Kind::Text { default, set } => drop(set(config, default)),
            Kind::Choice { of } => {
                if let Some((_, set)) = of.first() {
                    set(config);
                }
            }
            Kind::Variables { set } | Kind::Hosts { set } => set(config, Vec::new()),
            Kind::Command { default, set } => set(config, words(default)),
        }
    }

    /// The default as text.
    pub(super) fn default_text(&self) -> String {
        match &self.kind {
            Kind::Flag { default, .. } => default.to_string(),
            Kind::Number { default, .. } => default.to_string(),
            Kind::Text { default, .. } => (*default).to_owned(),
            Kind::Choice { of } => of.first().map_or("", |(word, _)| word).to_owned(),
            Kind::Variables { .. } | Kind::Hosts { .. } => String::new(),
            Kind::Command { default, .. } => (*default).to_owned(),
        }
    }

    /// The default as the file writes it.
    fn default_toml(&self) -> String {
        match &self.kind {
            Kind::Flag { .. } | Kind::Number { .. } => self.default_text(),
            // Single quotes: a backslash is itself in them.
            Kind::Text { .. } | Kind::Choice { .. } | Kind::Command { .. } => {
                format!("'{}'", self.default_text())
            }
            Kind::Variables { .. } | Kind::Hosts { .. } => "[]".to_owned(),
        }
    }
}
