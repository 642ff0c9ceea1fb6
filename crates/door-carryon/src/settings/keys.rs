//! Every setting there is: its key, what it may be, and what it is by default.
//!
//! Groups and settings stand in the order in which `config.schema` shows them.

use serde_json::Value;

/// A group of settings, for people to look at.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, with the group before the first dot.
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) kind: Kind,
    /// Left out of the schema: nobody should look at it.
    pub(crate) hidden: bool,
}

/// What a setting may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Any text, or one of some words.
    Text { default: &'static str, of: &'static [&'static str] },
    /// A whole number within bounds.
    Number { default: i64, min: i64, max: i64 },
    /// Yes or no.
    Flag { default: bool },
}

/// The groups.
pub(crate) const GROUPS: &[Group] = &[
    Group { key: "default", name: "Defaults", description: "What new sessions begin with." },
    Group { key: "local", name: "Local page", description: "Sessions in a browser." },
    Group { key: "remote", name: "Remote", description: "Sessions of other machines." },
    Group { key: "logs", name: "Logs", description: "What the daemon says, and how much is kept." },
    Group { key: "updates", name: "Updates", description: "Newer versions of the program." },
];

const fn text(
    key: &'static str,
    name: &'static str,
    description: &'static str,
    default: &'static str,
    of: &'static [&'static str],
) -> Key {
    Key { key, name, description, kind: Kind::Text { default, of }, hidden: false }
}

const fn number(
    key: &'static str,
    name: &'static str,
    description: &'static str,
    (default, min, max): (i64, i64, i64),
) -> Key {
    Key { key, name, description, kind: Kind::Number { default, min, max }, hidden: false }
}

const fn flag(
    key: &'static str,
    name: &'static str,
    description: &'static str,
    default: bool,
) -> Key {
    Key { key, name, description, kind: Kind::Flag { default }, hidden: false }
}

/// All settings.
pub(crate) const KEYS: &[Key] = &[
    text(
        "default.backend",
        "Backend",
        "Who holds a session that names no backend.",
        "native",
        &["native", "tmux"],
    ),
    text("default.shell", "Shell", "The shell of new sessions; empty for the usual one.", "", &[]),
    flag("local.enabled", "Enabled", "Whether the page is served.", false),
    number("local.port", "Port", "Where it is served.", (8384, 1024, 65535)),
    flag("local.expose", "Expose", "Whether other machines reach it.", false),
    Key {
        hidden: true,
        ..text("local.password", "Password", "The hash of what a login asks for.", "", &[])
    },
    flag("remote.enabled", "Enabled", "Whether other machines are reached.", false),
    flag("remote.autoconnect", "Connect by itself", "Whether that begins with the daemon.", true),
    text("remote.device.name", "Device name", "What this machine is called there.", "", &[]),
    flag("remote.relay_tls_verify", "Verify relays", "Whether certificates are checked.", true),
    text(
        "logs.level",
        "Level",
        "How much the daemon says.",
        "info",
        &["debug", "info", "warn", "error"],
    ),
    number("logs.maxFiles", "Files", "How many log files are kept.", (5, 1, 100)),
    flag("updates.enabled", "Enabled", "Whether newer versions are looked for.", true),
];

/// The setting of a key.
pub(crate) fn find(key: &str) -> Option<&'static Key> {
    KEYS.iter().find(|it| it.key == key)
}

impl Key {
    pub(crate) fn default(&self) -> Value {
        match self.kind {
            Kind::Text { default, .. } => default.into(),
            Kind::Number { default, .. } => default.into(),
            Kind::Flag { default } => default.into(),
        }
    }

    /// The name of its type, as the schema has it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Text { .. } => "string",
            Kind::Number { .. } => "number",
            Kind::Flag { .. } => "bool",
        }
    }

    /// Reads a value as people write it. The error is carryOn's own text.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Text { of, .. } if !of.is_empty() && !of.contains(&text) => {
                Err(format!("must be one of: [{}]", of.join(" ")))
            }
            Kind::Text { .. } => Ok(text.into()),
            Kind::Number { min, max, .. } => match text.trim().parse::<i64>() {
                Err(_) => Err("must be an integer".to_owned()),
                Ok(number) if number < min => Err(format!("must be >= {min}")),
                Ok(number) if number > max => Err(format!("must be <= {max}")),
                Ok(number) => Ok(number.into()),
            },
            Kind::Flag { .. } => match text {
                "true" => Ok(true.into()),
                "false" => Ok(false.into()),
                _ => Err("must be 'true' or 'false'".to_owned()),
            },
        }
    }

    /// Whether a value of a file may stand for this setting.
    pub(crate) fn fits(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Text { .. } => value.as_str().is_some_and(|it| self.parse(it).is_ok()),
            Kind::Number { .. } => {
                value.as_i64().is_some_and(|it| self.parse(&it.to_string()).is_ok())
            }
            Kind::Flag { .. } => value.is_boolean(),
        }
    }
}
