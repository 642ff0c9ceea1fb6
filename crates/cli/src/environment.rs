//! What of the caller's environment a new session gets.
//!
//! A session runs in the environment it was made from, as if started there, except for what
//! describes the caller's own terminal: the session has another one.

use std::ffi::OsString;

use serde_json::{Map, Value};

/// Variables that describe the terminal a command was typed into, not the one it gets. A name
/// that ends with `*` stands for all that begin so.
const OF_THE_TERMINAL: &[&str] = &[
    "TERM",                // the session's own terminal says what it is
    "TERMINFO",            // where kitty, ghostty and others describe themselves
    "COLORTERM",           // likewise
    "TERM_PROGRAM*",       // which terminal program, and its version
    "TERM_SESSION_ID",     // macOS Terminal
    "LC_TERMINAL*",        // iTerm2, over ssh
    "COLUMNS",             // the size of another terminal
    "LINES",               // likewise
    "WINDOWID",            // the X window of another terminal
    "WINDOW",              // the window of GNU screen
    "STY",                 // the session of GNU screen
    "TMUX*",               // the pane and server of tmux
    "ZELLIJ*",             // the session of zellij
    "SHPOOL_SESSION_NAME", // the session of shpool
    "KITTY_*",             // kitty's window, pid and control socket
    "GHOSTTY_*",           // ghostty's folders and shell integration
    "WEZTERM_*",           // wezterm's pane and sockets
    "ALACRITTY_*",         // alacritty's window and control socket
    "ITERM_*",             // iTerm2's session and profile
    "KONSOLE_*",           // konsole's version and bus names
    "VTE_VERSION",         // GNOME Terminal and its kin
    "WT_*",                // Windows Terminal's session and profile
    "VSCODE_*",            // the editor's shell integration and control sockets
    "SHLVL",               // a session is not inside the shell it was made from
    "OLDPWD",              // the shell's own memory
    "PWD",                 // the folder is given apart from it
    "_",                   // the shell's own note of what it ran
    "GREENROOM_SESSION",   // the session we may be in is not the one we make
    "GREENROOM_SOCKET",    // set anew by the daemon
    "CARRYON_DAEMON",      // only the daemon's own start is meant by it
    "CARRYON_CLIENT_*",    // who shows this terminal does not show the session
];

/// The environment of a new session: the caller's without what describes its terminal, and what
/// was asked for. What is not UTF-8 cannot be sent and is left out.
pub(crate) fn for_session(
    environment: Vec<(OsString, OsString)>,
    extra: &[(String, String)],
) -> Map<String, Value> {
    let text = |(key, value): (OsString, OsString)| {
        Some((key.into_string().ok()?, value.into_string().ok()?))
    };
    let kept = environment.into_iter().filter_map(text).filter(|(key, _)| !is_of_terminal(key));
    kept.chain(extra.iter().cloned()).map(|(key, value)| (key, Value::from(value))).collect()
}

fn is_of_terminal(name: &str) -> bool {
    OF_THE_TERMINAL.iter().any(|it| match it.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *it,
    })
}

/// Reads `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn what_describes_the_terminal_stays_behind() {
        let names = ["TERM", "TERM_PROGRAM_VERSION", "TMUX_PANE", "STY", "GREENROOM_SESSION", "_"];
        let names = names.into_iter().chain(["PATH", "TERMS", "LANG", "EDITOR", "WINDOWS"]);
        let environment = names.map(|it| (it.into(), "x".into())).collect();
        let kept = for_session(environment, &[]);
        let kept: Vec<&str> = kept.keys().map(String::as_str).collect();
        assert_eq!(kept, ["EDITOR", "LANG", "PATH", "TERMS", "WINDOWS"]);
    }

    #[test]
    fn what_was_asked_for_wins() {
        let extra = [("A".to_owned(), "2=3".to_owned()), ("TERM".to_owned(), "vt100".to_owned())];
        let kept = for_session(vec![("A".into(), "1".into())], &extra);
        assert_eq!((&kept["A"], &kept["TERM"]), (&"2=3".into(), &"vt100".into()));
    }

    #[test]
    fn what_is_no_text_is_left_out() {
        let odd = OsString::from_vec(vec![0xff]);
        assert!(for_session(vec![("A".into(), odd)], &[]).is_empty());
    }

    #[test]
    fn a_pair_has_a_name() {
        assert_eq!(pair("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(pair("A="), Ok(("A".into(), String::new())));
        assert!(pair("A").is_err() && pair("=b").is_err());
    }
}
