//! One command of tmux: started, bounded in time and output, and its refusal read.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::Error;

/// How long a command may take. tmux answers in milliseconds; the first one of a server also
/// reads the user's configuration.
const MAX_TIME: Duration = Duration::from_secs(5);

/// How much a complaint of tmux is shown of: its longest are a line with a path in it.
const MAX_COMPLAINT: usize = 4 << 10;

/// How much of a command's output is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// All of it. More than this is an error.
    All(usize),
    /// The end of it, this much at least if there is as much.
    Tail(usize),
}

/// Runs a command to its end and gives its output.
pub(crate) async fn run(
    mut command: Command,
    name: &'static str,
    keep: Keep,
) -> Result<Vec<u8>, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what hangs is ended together with what it started.
    command.process_group(0).kill_on_drop(true).current_dir("/");
    let mut child = command.spawn().map_err(Error::Start)?;
    let mut group = Group(child.id());
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Error::Garbage(name));
    };
    let ended = async {
        let told = read(stdout, keep);
        let complained = read(stderr, Keep::Tail(MAX_COMPLAINT));
        tokio::try_join!(told, complained, child.wait())
    };
    let ended = tokio::time::timeout(MAX_TIME, ended).await;
    let (told, complained, status) = match ended {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(Error::TooMuch(name));
        }
        Ok(Err(error)) => return Err(Error::Start(error)),
        Err(_) => return Err(Error::TimedOut(name)),
    };
    group.0 = None;
    if status.success() { Ok(told) } else { Err(refusal(name, &complained)) }
}

/// The processes of a command that has not ended. Dropping it ends them.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            greenroom_pty::kill_group(group, rustix::process::Signal::KILL.as_raw());
        }
    }
}

async fn read(mut from: impl AsyncRead + Unpin, keep: Keep) -> io::Result<Vec<u8>> {
    let mut told = Vec::new();
    while from.read_buf(&mut told).await? > 0 {
        match keep {
            Keep::All(most) if told.len() > most => return Err(io::ErrorKind::FileTooLarge.into()),
            // At twice the length, so that a byte is moved once and not with every read.
            Keep::Tail(least) if told.len() > 2 * least => {
                told.drain(..told.len() - least);
            }
            Keep::All(_) | Keep::Tail(_) => {}
        }
    }
    Ok(told)
}

/// What tmux's complaint means. Its words have been the same for all the versions in use.
fn refusal(command: &'static str, complained: &[u8]) -> Error {
    let start = complained.len().saturating_sub(MAX_COMPLAINT);
    let text = String::from_utf8_lossy(&complained[start..]);
    let text = text.trim();
    if is_without_server(text) {
        return Error::NoServer;
    }
    let quoted = |prefix| text.strip_prefix(prefix).map(str::to_owned);
    if let Some(name) = quoted("duplicate session: ") {
        return Error::Taken(name);
    }
    if let Some(target) = quoted("can't find session: ").or_else(|| quoted("no such window: ")) {
        return Error::NoSession(target);
    }
    let text = text.replace(char::is_control, " ");
    Error::Refused { command, text }
}

fn is_without_server(text: &str) -> bool {
    let unreachable = ["(No such file or directory)", "(Connection refused)"];
    text.starts_with("no server running on ")
        // It was there when the command began, and ended.
        || ["server exited unexpectedly", "server exited", "lost server"].contains(&text)
        || text.starts_with("error connecting to ") && unreachable.iter().any(|it| text.ends_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_understood_or_passed_on() {
        let refusal = |text: &str| refusal("verb", text.as_bytes());
        assert!(matches!(refusal("no server running on /x/y\n"), Error::NoServer));
        let gone = "error connecting to /x (No such file or directory)\n";
        assert!(matches!(refusal(gone), Error::NoServer));
        assert!(matches!(refusal("duplicate session: a b"), Error::Taken(name) if name == "a b"));
        assert!(matches!(refusal("can't find session: $4"), Error::NoSession(_)));
        let denied = "error connecting to /x (Permission denied)";
        assert_eq!(refusal(denied).to_string(), format!("tmux refused `verb`: {denied}"));
        let long = format!("{}\u{1b}[2J the end", "x".repeat(2 * MAX_COMPLAINT));
        let shown = refusal(&long).to_string();
        assert!(shown.ends_with(" [2J the end") && shown.len() < 2 * MAX_COMPLAINT, "{shown}");
    }

    #[tokio::test]
    async fn output_is_bounded_and_its_end_kept() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
        let error = read(&bytes[..], Keep::All(bytes.len() - 1)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&bytes[..], Keep::All(bytes.len())).await.unwrap(), bytes);
        let tail = read(&bytes[..], Keep::Tail(1000)).await.unwrap();
        assert!(bytes.ends_with(&tail) && (1000..=2000).contains(&tail.len()), "{}", tail.len());
    }
}
