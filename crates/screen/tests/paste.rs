//! Pastes into real programs: the text arrives, and nothing in it acts (F5).
//!
//! bash, zsh and vim run in a private tmux server and draw on a screen of ours (`paste/pane.rs`);
//! what they get is [`encode_paste`] with the brackets that the screen says they asked for. The
//! shells have a key that writes the line being edited to a file, so what arrived is read exactly
//! and in order: had anything been executed, it would have been before that.

#![expect(clippy::expect_used, reason = "a test that cannot go on says what it missed")]

#[path = "support/deadline.rs"]
mod deadline;
#[path = "paste/pane.rs"]
mod pane;

use std::fs;
use std::process::{Command, Stdio};

use greenroom_screen::keys::encode_paste;
use greenroom_screen::{Modes, Screen};
use pane::Pane;

/// What is pasted and what of it arrives. `touch executed` is what must not happen.
const TEXTS: &[(&str, &str)] = &[
    ("echo 'a  b' \"$x\" $(touch executed) !y", "echo 'a  b' \"$x\" $(touch executed) !y"),
    ("one\ntouch executed\n", "one\ntouch executed\n"),
    ("one\r\ntouch executed\rthree", "one\ntouch executed\nthree"),
    // The end of the paste, in the paste.
    ("a\x1b[201~\rtouch executed\r", "a[201~\ntouch executed\n"),
    ("a\u{9b}201~\rtouch executed\r", "a201~\ntouch executed\n"),
    ("a\x1b[200~b\x1b[201~c\x1b[201~\ntouch executed\n", "a[200~b[201~c[201~\ntouch executed\n"),
    ("a\x1b[20\x1b[201~1~\ntouch executed\n", "a[20[201~1~\ntouch executed\n"),
    ("a\x1b\x1b[201~\x1b\ntouch executed\n", "a[201~\ntouch executed\n"),
    // ^C, ^D, ^Z, ^\, ^U, ^W, ^V, ^R, ^X, DEL, BS, NUL: for the line discipline and the editor.
    ("a\x03\x04\x1a\x1c\x15\x17\x16\x12\x18\x7f\x08\0b\ntouch executed\n", "ab\ntouch executed\n"),
    ("\x03\ntouch executed\n\x04", "\ntouch executed\n"),
    // C1 controls in UTF-8, and a vim that would take ESC as the end of inserting.
    ("a\u{84}\u{85}\u{8d}\u{90}\u{9c}\u{9d}b", "ab"),
    ("x\x1b:call writefile([], 'executed')\ny", "x:call writefile([], 'executed')\ny"),
    (
        "tab\there, caf\u{e9} \u{6f22}\u{5b57} \u{1f44d}",
        "tab\there, caf\u{e9} \u{6f22}\u{5b57} \u{1f44d}",
    ),
];

/// Writes down the line being edited.
const RECORD: &[u8] = b"\x18r";

const BASH: &[(&str, &str)] = &[(
    "bashrc",
    r#"
PS1='ready> '
record() { printf %s "$READLINE_LINE" > recorded; printf '\e]0;recorded\a'; }
bind -x '"\C-xr": record'
"#,
)];

const ZSH: &[(&str, &str)] = &[(
    ".zshrc",
    r#"
PS1='ready> '
unsetopt PROMPT_SP
record() { print -rn -- "$BUFFER" > recorded; print -n '\e]0;recorded\a' > /dev/tty }
bindkey -e
zle -N record
bindkey '^Xr' record
"#,
)];

/// The codes of bracketed paste, which vim sets by itself only for terminals it knows.
const VIM: &[(&str, &str)] = &[(
    "vimrc",
    r#"
set nocompatible encoding=utf-8 fileformat=unix shortmess=I
let &t_BE = "\e[?2004h"
let &t_BD = "\e[?2004l"
let &t_PS = "\e[200~"
let &t_PE = "\e[201~"
"#,
)];

/// Fails with what to install, unless the program is there.
#[track_caller]
fn need(program: &str) {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null());
    let started = deadline::spawn(&mut command, &format!("install Debian's `{program}`"));
    drop(deadline::Killed(started));
}

fn is_ready(screen: &Screen) -> bool {
    screen.modes().contains(Modes::BRACKETED_PASTE) && screen.text().ends_with("ready>")
}

/// Gives a shell these bytes when it is ready and says what line it is left with.
fn type_into(pane: &mut Pane, bytes: &[u8]) -> String {
    pane.send(bytes);
    pane.send(RECORD);
    pane.wait("the shell to write down its line", |screen| screen.title() == "recorded");
    fs::read_to_string(pane.folder().join("recorded")).expect("the line written down")
}

/// Pastes every text into a shell of its own.
fn check_shell(program: &str, files: &[(&str, &str)]) {
    for (pasted, arrives) in TEXTS {
        let mut pane = Pane::start(program, files);
        pane.wait("the shell's prompt", is_ready);
        let bracketed = pane.screen.modes().contains(Modes::BRACKETED_PASTE);
        let line = type_into(&mut pane, &encode_paste(pasted, bracketed));
        assert_eq!(line, *arrives, "{pasted:?}");
        assert!(!pane.folder().join("executed").exists(), "{pasted:?} was executed");
    }
}

#[test]
fn bash_takes_a_paste_literally() {
    need("bash");
    check_shell("exec bash --noprofile --rcfile bashrc -i", BASH);
}

#[test]
fn zsh_takes_a_paste_literally() {
    need("zsh");
    check_shell("exec zsh -d -i", ZSH);
}

#[test]
fn a_paste_that_nobody_cleaned_would_have_been_executed() {
    need("bash");
    let mut pane = Pane::start("exec bash --noprofile --rcfile bashrc -i", BASH);
    pane.wait("the shell's prompt", is_ready);
    let line = type_into(&mut pane, b"\x1b[200~a\x1b[201~\x15touch executed\rrest\x1b[201~");
    assert!(pane.folder().join("executed").exists(), "{line:?}: these tests can tell nothing");
}

#[test]
fn vim_takes_a_paste_literally() {
    need("vim");
    for (pasted, arrives) in TEXTS {
        let mut pane = Pane::start("exec vim -u vimrc -i NONE -n text", VIM);
        pane.wait("vim to ask for bracketed paste", |screen| {
            screen.modes().contains(Modes::BRACKETED_PASTE)
        });
        pane.send(b"i");
        pane.wait("vim to insert", |screen| screen.text().contains("-- INSERT --"));
        pane.send(&encode_paste(pasted, true));
        // To normal mode by ^\ ^N, which is one command wherever it comes.
        pane.send(b"\x1c\x0e:w\r");
        pane.wait("vim to write the file", |screen| screen.text().contains("written"));
        let text = fs::read_to_string(pane.folder().join("text")).expect("the file written");
        assert_eq!(text, format!("{arrives}\n"), "{pasted:?}");
        assert!(!pane.folder().join("executed").exists(), "{pasted:?} was executed");
    }
}

#[test]
fn without_brackets_a_line_end_is_the_only_thing_that_acts() {
    for (pasted, arrives) in TEXTS {
        let sent = encode_paste(pasted, false);
        assert_eq!(sent, arrives.replace('\n', "\r").as_bytes(), "{pasted:?}");
        let bracketed = encode_paste(pasted, true);
        let inside =
            bracketed.strip_prefix(b"\x1b[200~").and_then(|it| it.strip_suffix(b"\x1b[201~"));
        assert_eq!(inside, Some(&sent[..]), "{pasted:?}");
    }
}
