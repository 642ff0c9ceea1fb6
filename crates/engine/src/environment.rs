//! The environment a session's program gets.

use greenroom_model::SessionId;

/// The variables of the daemon's own environment that sessions may begin with. Everything else of
/// the daemon's stays with the daemon.
pub const PASSED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TMPDIR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
];

/// What every session is told about its terminal. Ours knows what xterm knows, and direct colour.
const TERMINAL: [(&str, &str); 3] =
    [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("TERM_PROGRAM", "greenroom")];

/// Variables that describe a terminal a session does not have.
const FOREIGN: &[&str] = &["COLUMNS", "LINES", "TERMCAP", "TERM_PROGRAM_VERSION"];

/// A name and its value.
pub(crate) type Variable = (Vec<u8>, Vec<u8>);

/// Puts the environment together: what the session begins with, what its maker adds, what is said
/// about the terminal unless the maker said it, and who the session is.
pub(crate) fn compose(
    base: &[Variable],
    added: &[Variable],
    id: SessionId,
    socket: &[u8],
) -> Vec<Variable> {
    let mut all: Vec<Variable> = Vec::with_capacity(base.len() + added.len() + 8);
    for (name, value) in base.iter().filter(|it| !FOREIGN.iter().any(|name| is(it, name))) {
        set(&mut all, name, value);
    }
    for (name, value) in TERMINAL {
        set(&mut all, name.as_bytes(), value.as_bytes());
    }
    for (name, value) in added {
        set(&mut all, name, value);
    }
    let says_encoding =
        |it: &Variable| ["LANG", "LC_ALL", "LC_CTYPE"].iter().any(|name| is(it, name));
    if !all.iter().any(|it| says_encoding(it) && !it.1.is_empty()) {
        set(&mut all, b"LANG", b"C.UTF-8");
    }
    set(&mut all, b"GREENROOM_SESSION", id.to_string().as_bytes());
    set(&mut all, b"GREENROOM_SOCKET", socket);
    all
}

fn is(variable: &Variable, name: &str) -> bool {
    variable.0 == name.as_bytes()
}

fn set(all: &mut Vec<Variable>, name: &[u8], value: &[u8]) {
    match all.iter_mut().find(|it| it.0 == name) {
        Some(there) => there.1 = value.to_vec(),
        None => all.push((name.to_vec(), value.to_vec())),
    }
}
