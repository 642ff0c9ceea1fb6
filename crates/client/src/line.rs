//! The shared line to a machine: the `ssh` that an earlier one left behind, spoken to over its socket.
//!
//! Here: telling it something, closing it, and paths as it takes them. Not here: making it, which
//! the first `ssh` to a machine does by itself (`tunnel`).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::ssh::{self, Mute, SSH, Said};

/// How long talking to our own `ssh` on this machine may take.
const LOCAL: Duration = Duration::from_secs(5);

/// How long an `ssh` that was told to end may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Closes a line and removes what is left of it; false if it was not open.
pub(crate) fn close(control: &Path, destination: &str, stop: Option<&UnixStream>) -> bool {
    let number = || control.symlink_metadata().ok().map(|it| it.ino());
    let before = number();
    let closed = before.is_some()
        && tell(control, "exit", &[], destination, stop).is_ok_and(|said| said.code == 0);
    // It says that it will end before it does; who asks next is not to find it still there.
    let deadline = Instant::now() + GOODBYE;
    while closed && number() == before && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    // One that was killed or hangs removes nothing; one that somebody made meanwhile stays.
    if matches!(number(), now if now.is_none() || now == before) {
        for left in [control.with_extension("s"), control.to_owned()] {
            fs::remove_file(left).unwrap_or_default();
        }
    }
    closed
}

/// Tells the `ssh` whose socket this is something.
pub(crate) fn tell(
    control: &Path,
    what: &str,
    arguments: &[&OsStr],
    destination: &str,
    stop: Option<&UnixStream>,
) -> Result<Said, Mute> {
    let mut command = Command::new(SSH);
    // No configuration: it would bring forwardings of its own along.
    command.args(["-F", "none", "-S"]).arg(percent(control.as_os_str()));
    command.args(["-O", what]).args(arguments).arg("--").arg(destination);
    ssh::run(command, Instant::now() + LOCAL, stop)
}

/// A path in which `ssh` replaces nothing.
pub(crate) fn percent(path: &OsStr) -> OsString {
    let mut escaped = Vec::new();
    for &byte in path.as_bytes() {
        escaped.extend((byte == b'%').then_some(b'%'));
        escaped.push(byte);
    }
    OsString::from_vec(escaped)
}

/// A path as one half of a forwarding, in which colons mean something.
pub(crate) fn field(path: &OsStr) -> OsString {
    let mut escaped = Vec::new();
    for &byte in percent(path).as_bytes() {
        escaped.extend(matches!(byte, b':' | b'\\').then_some(b'\\'));
        escaped.push(byte);
    }
    OsString::from_vec(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_for_ssh() {
        assert_eq!(percent(OsStr::new("/a%h/b")), "/a%%h/b");
        assert_eq!(field(OsStr::new(r"/a:b\c%d")), r"/a\:b\\c%%d");
    }
}
