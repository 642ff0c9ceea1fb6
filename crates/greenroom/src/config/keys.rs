//! Every key there is. To add one: a row here and a field in `Config`.
//!
//! Keys without a section come first, and those of a section stand together: the reference text is
//! printed in this order.

use std::time::Duration;

use greenroom_engine::{SizePolicy, check_name};
use greenroom_model::{Key as Button, KeyEvent, Mods};
use tracing::level_filters::LevelFilter;

use super::{Config, WebAuth};

/// One key of the file.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, with the section before a dot.
    pub(crate) path: &'static str,
    /// Whether a reload takes it over; else the daemon has to start anew.
    pub(crate) live: bool,
    /// What it is for, one sentence.
    pub(crate) help: &'static str,
    /// What it may be, what it is by default, and where it goes.
    pub(crate) kind: Kind,
}

/// What a key may be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag { default: bool, set: fn(&mut Config, bool) },
    /// A whole number from `min` to `max`.
    Number { default: u64, min: u64, max: u64, set: fn(&mut Config, u64) },
    /// A text; `set` says what is wrong with it.
    Text { default: &'static str, set: fn(&mut Config, &str) -> Result<(), String> },
    /// One of some words; the first is the default.
    Choice { of: &'static [Word] },
    /// A list of names of environment variables, empty by default.
    Variables { set: fn(&mut Config, Vec<String>) },
    /// A list of names of machines, empty by default.
    Hosts { set: fn(&mut Config, Vec<String>) },
    /// A program and its arguments: a list, or a text that is cut at blanks.
    Command { default: &'static str, set: fn(&mut Config, Vec<String>) },
}

/// A word that can be chosen, and what choosing it does.
type Word = (&'static str, fn(&mut Config));

const DAY_SECS: u64 = 24 * 60 * 60;
const DAY_MS: u64 = DAY_SECS * 1000;
const MEBIBYTE: u64 = 1024 * 1024;

/// All keys.
pub(crate) const KEYS: &[Key] = &[
    Key {
        path: "shell",
        live: true,
        help: "The shell of a session without a command; empty for $SHELL, then /bin/sh.",
        kind: Kind::Text {
            default: "",
            set: |it, text| {
                it.shell = plain(text)?.to_owned();
                Ok(())
            },
        },
    },
    Key {
        path: "default_session",
        live: true,
        help: "The session that `greenroom` without a verb attaches to, and makes if need be.",
        kind: Kind::Text {
            default: "main",
            set: |it, text| {
                it.default_session = name(text)?.to_owned();
                Ok(())
            },
        },
    },
    Key {
        path: "size",
        live: true,
        help: "The size of a session that nobody is attached to, columns x rows.",
        kind: Kind::Text {
            default: "80x24",
            set: |it, text| {
                it.size = text.parse().map_err(|error| format!("{error}"))?;
                Ok(())
            },
        },
    },
    Key {
        path: "size_policy",
        live: true,
        help: "Who sizes a session: the client used last, the smallest, or only `resize`.",
        kind: Kind::Choice {
            of: &[
                ("latest", |it| it.size_policy = SizePolicy::Latest),
                ("smallest", |it| it.size_policy = SizePolicy::Smallest),
                ("fixed", |it| it.size_policy = SizePolicy::Fixed),
            ],
        },
    },
    Key {
        path: "scrollback.lines",
        live: true,
        help: "How many lines of history a new session keeps.",
        kind: number(10_000, 0, 100_000, |it, value| it.scrollback_lines = count(value)),
    },
    Key {
        path: "attach.detach_key",
        live: true,
        help: "The chord that detaches.",
        kind: Kind::Text {
            default: "ctrl+\\",
            set: |it, text| {
                it.attach.detach_key = chord(text)?;
                Ok(())
            },
        },
    },
    Key {
        path: "attach.literal_key",
        live: true,
        help: "The chord that types the detach key; empty for the detach key with alt.",
        kind: Kind::Text {
            default: "",
            set: |it, text| {
                it.attach.literal_key = if text.is_empty() { None } else { Some(chord(text)?) };
                Ok(())
            },
        },
    },
    Key {
        path: "attach.history",
        live: true,
        help: "How many lines of history are printed above the screen when attaching, and of those missed in a flood.",
        kind: number(500, 0, 100_000, |it, value| it.attach.history = count(value)),
    },
    Key {
        path: "clients.lag_bytes",
        live: true,
        help: "How many bytes a client may be behind before it gets a fresh screen instead.",
        kind: number(MEBIBYTE, 65_536, 1024 * MEBIBYTE, |it, value| it.lag_bytes = count(value)),
    },
    Key {
        path: "limits.sessions",
        live: false,
        help: "How many sessions may live at once.",
        kind: number(2_000, 1, 10_000, |it, value| it.limits.sessions = count(value)),
    },
    Key {
        path: "limits.connections",
        live: false,
        help: "How many clients may be connected at once.",
        kind: number(1_024, 8, 10_000, |it, value| it.limits.connections = count(value)),
    },
    Key {
        path: "limits.input_bytes",
        live: true,
        help: "How many bytes of input may wait for a program that does not read.",
        kind: number(MEBIBYTE, 4_096, 64 * MEBIBYTE, |it, value| {
            it.limits.input_bytes = count(value);
        }),
    },
    Key {
        path: "sessions.max_processes",
        live: true,
        help: "How many processes and threads a new session may have; 0 for no limit.",
        kind: number(0, 0, 4_194_304, |it, value| it.session_limits.processes = some(value)),
    },
    Key {
        path: "sessions.max_memory_mebibytes",
        live: true,
        help: "How much memory they may take together; 0 for no limit.",
        kind: number(0, 0, 16 * MEBIBYTE, |it, value| {
            it.session_limits.memory = some(value * MEBIBYTE);
        }),
    },
    Key {
        path: "kill.grace_ms",
        live: true,
        help: "How long a killed session has to end by itself.",
        kind: number(3_000, 0, 60_000, |it, value| {
            it.kill_grace = Duration::from_millis(value);
        }),
    },
    Key {
        path: "retention.days",
        live: true,
        help: "How long sessions that have ended can still be read.",
        kind: number(7, 0, 3_650, |it, value| it.retention.max_age_ms = value * DAY_MS),
    },
    Key {
        path: "retention.sessions",
        live: true,
        help: "How many of them are kept.",
        kind: number(500, 0, 100_000, |it, value| it.retention.max_count = value),
    },
    Key {
        path: "retention.megabytes",
        live: true,
        help: "How much space their screens and histories may take together.",
        kind: number(512, 0, 1_000_000, |it, value| it.retention.max_bytes = value * 1_000_000),
    },
    Key {
        path: "holder.keep_mebibytes",
        live: true,
        help: "How much output of a new session is kept while no daemon takes it.",
        kind: number(16, 4, 1_024, |it, value| it.holder_keep_bytes = value * MEBIBYTE),
    },
    Key {
        path: "logs.level",
        live: true,
        help: "How much the daemon logs.",
        kind: Kind::Choice {
            of: &[
                ("info", |it| it.logs.level = LevelFilter::INFO),
                ("off", |it| it.logs.level = LevelFilter::OFF),
                ("error", |it| it.logs.level = LevelFilter::ERROR),
                ("warn", |it| it.logs.level = LevelFilter::WARN),
                ("debug", |it| it.logs.level = LevelFilter::DEBUG),
                ("trace", |it| it.logs.level = LevelFilter::TRACE),
            ],
        },
    },
    Key {
        path: "logs.max_files",
        live: false,
        help: "How many log files are kept, with the one being written.",
        kind: number(5, 1, 100, |it, value| it.logs.max_files = count(value)),
    },
    Key {
        path: "logs.max_mebibytes",
        live: false,
        help: "How large a log file may become.",
        kind: number(10, 1, 1_024, |it, value| it.logs.max_bytes = value * MEBIBYTE),
    },
    Key {
        path: "ptywright.enabled",
        live: false,
        help: "Whether the daemon speaks the ptywright protocol at run/ptywright.sock.",
        kind: Kind::Flag { default: true, set: |it, value| it.ptywright.enabled = value },
    },
    Key {
        path: "ptywright.allow_plugin_load",
        live: false,
        help: "Whether clients there may load plugins of their own.",
        kind: Kind::Flag { default: false, set: |it, value| it.ptywright.allow_load = value },
    },
    Key {
        path: "compat.ptywright",
        live: false,
        help: "Whether it is also spoken at $PTYWRIGHT_HOME/socket, where its own clients look.",
        kind: Kind::Flag { default: false, set: |it, value| it.ptywright.compat = value },
    },
    Key {
        path: "compat.carryon",
        live: false,
        help: "Whether carryOn's clients find the daemon in $CARRYON_BASE_DIR, by default ~/.carryon.",
        kind: Kind::Flag { default: false, set: |it, value| it.carryon_compat = value },
    },
    Key {
        path: "doors.web.enabled",
        live: false,
        help: "Whether browsers are served; `greenroom web` does so whatever this says.",
        kind: Kind::Flag { default: false, set: |it, value| it.web.enabled = value },
    },
    Key {
        path: "doors.web.port",
        live: false,
        help: "The port for browsers; 0 for any that is free.",
        kind: number(8_384, 0, 65_535, |it, value| {
            it.web.port = u16::try_from(value).unwrap_or_default();
        }),
    },
    Key {
        path: "doors.web.expose",
        live: false,
        help: "Whether other machines may reach it, by TLS.",
        kind: Kind::Flag { default: false, set: |it, value| it.web.expose = value },
    },
    Key {
        path: "doors.web.auth",
        live: true,
        help: "How somebody proves who they are: the token in state/web-token, a password, or not.",
        kind: Kind::Choice {
            of: &[
                ("token", |it| it.web.auth = WebAuth::Token),
                ("password", |it| it.web.auth = WebAuth::Password),
                ("none", |it| it.web.auth = WebAuth::None),
            ],
        },
    },
    Key {
        path: "doors.web.password",
        live: true,
        help: "The bcrypt hash of the password, such as `htpasswd -nBC 10 '' | cut -c2-` makes.",
        kind: Kind::Text {
            default: "",
            set: |it, text| {
                if !text.is_empty() && !text.starts_with("$2") {
                    return Err("this is no bcrypt hash".to_owned());
                }
                it.web.password = plain(text)?.to_owned();
                Ok(())
            },
        },
    },
    Key {
        path: "doors.web.tls",
        live: false,
        help: "Whether it is TLS; `auto` for when it is exposed.",
        kind: Kind::Choice {
            of: &[
                ("auto", |it| it.web.tls = None),
                ("on", |it| it.web.tls = Some(true)),
                ("off", |it| it.web.tls = Some(false)),
            ],
        },
    },
    Key {
        path: "doors.web.certificate",
        live: false,
        help: "The file of a certificate in PEM; empty for one of our own.",
        kind: Kind::Text {
            default: "",
            set: |it, text| {
                it.web.certificate = plain(text)?.into();
                Ok(())
            },
        },
    },
    Key {
        path: "doors.web.key",
        live: false,
        help: "The file of its key in PEM.",
        kind: Kind::Text {
            default: "",
            set: |it, text| {
                it.web.key = plain(text)?.into();
                Ok(())
            },
        },
    },
    Key {
        path: "doors.web.hosts",
        live: false,
        help: "The names browsers may know this machine by, besides its addresses and localhost.",
        kind: Kind::Hosts { set: |it, names| it.web.hosts = names },
    },
    Key {
        path: "doors.web.metrics",
        live: true,
        help: "Whether /metrics is there, in Prometheus' form.",
        kind: Kind::Flag { default: false, set: |it, value| it.web.metrics = value },
    },
    Key {
        path: "websocket.history_bytes",
        live: true,
        help: "How many bytes of what was printed a terminal of /ws/pty begins with.",
        kind: number(200_000, 0, 16 * MEBIBYTE, |it, value| {
            it.websocket.history_bytes = count(value);
        }),
    },
    Key {
        path: "websocket.idle_ttl_secs",
        live: true,
        help: "How long a session made at /ws/pty lives with nobody there and nothing happening.",
        kind: number(30, 0, 30 * DAY_SECS, |it, value| {
            it.websocket.idle_ttl = Duration::from_secs(value);
        }),
    },
    Key {
        path: "websocket.max_sessions",
        live: true,
        help: "How many sessions made there may live, and how many conversations.",
        kind: number(20, 1, 10_000, |it, value| it.websocket.max_sessions = count(value)),
    },
    Key {
        path: "websocket.chat_idle_ttl_secs",
        live: true,
        help: "How long a conversation lives with nobody there; 0 for not at all.",
        kind: number(60, 0, 30 * DAY_SECS, |it, value| {
            it.websocket.chat_idle_ttl = Duration::from_secs(value);
        }),
    },
    Key {
        path: "websocket.claude_command",
        live: true,
        help: "The program of a conversation at /ws/claude-stream.",
        kind: Kind::Command {
            default: "claude",
            set: |it, words| it.websocket.claude_command = words,
        },
    },
    Key {
        path: "websocket.providers.shell.command",
        live: true,
        help: "What `provider=shell` runs at /ws/pty. A section of another name is another provider.",
        kind: Kind::Command {
            default: "bash",
            set: |it, words| it.websocket.provide("shell", words),
        },
    },
    Key {
        path: "websocket.providers.claude.command",
        live: true,
        help: "What `provider=claude` runs there.",
        kind: Kind::Command {
            default: "claude --dangerously-skip-permissions",
            set: |it, words| it.websocket.provide("claude", words),
        },
    },
    Key {
        path: "clipboard.write",
        live: true,
        help: "Whether programs may set the clipboard of an attached terminal (OSC 52).",
        kind: Kind::Flag { default: false, set: |it, value| it.clipboard_write = value },
    },
    Key {
        path: "environment.pass",
        live: true,
        help: "The variables that new sessions get besides the usual ones.",
        kind: Kind::Variables { set: |it, names| it.environment_pass = names },
    },
];

const fn number(default: u64, min: u64, max: u64, set: fn(&mut Config, u64)) -> Kind {
    Kind::Number { default, min, max, set }
}

/// Nothing for zero.
fn some(value: u64) -> Option<u64> {
    (value > 0).then_some(value)
}

fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A text that may be shown anywhere and given to the system.
fn plain(text: &str) -> Result<&str, String> {
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed".to_owned());
    }
    Ok(text)
}

/// A name that a session may have, and that somebody can mean it by.
fn name(text: &str) -> Result<&str, String> {
    check_name(text).map_err(|error| error.to_string())?;
    greenroom_cli::check_name(text)?;
    Ok(text)
}

/// A chord that nobody types as text, and that a terminal can tell from such.
fn chord(text: &str) -> Result<KeyEvent, String> {
    let event: KeyEvent = text.parse().map_err(|error| format!("{error}"))?;
    let typed = matches!(
        event.key,
        Button::Char(_) | Button::Enter | Button::Tab | Button::Backspace | Button::Escape
    );
    if typed && (event.mods - Mods::SHIFT).is_empty() {
        return Err(format!("`{event}` is needed for typing; add ctrl or alt"));
    }
    let same = |other: &str| Err(format!("terminals send `{event}` and {other} alike"));
    match event.key {
        _ if event.mods != Mods::CTRL => Ok(event),
        Button::Char('m' | 'M' | 'j' | 'J') => same("enter"),
        Button::Char('i' | 'I') => same("tab"),
        Button::Char('[') => same("escape"),
        Button::Char('h' | 'H' | '?') => same("backspace"),
        _ => Ok(event),
    }
}
