//! What can be wrong with an installation, and what to do about it.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use greenroom_cli::Finding;
use greenroom_pty::{Limits, Plan};
use rustix::fs::Access;

use crate::config::Config;
use crate::daemon;
use crate::paths::Paths;

/// Looks at everything that does not need a daemon.
pub(crate) fn findings() -> Vec<Finding> {
    let mut all = vec![holder()];
    match Paths::from_environment() {
        Ok(paths) => {
            all.push(folder("run folder", &paths.run));
            all.push(folder("state folder", &paths.state));
            all.push(socket_length(&paths));
            all.push(config(&paths));
            all.push(space(&paths));
            all.push(limits(&paths));
        }
        Err(error) => all.push(bad("folders", format!("{error:#}"), "set GREENROOM_HOME")),
    }
    all
}

fn good(name: &str, text: String) -> Finding {
    Finding { name: name.to_owned(), ok: true, text, hint: None }
}

fn bad(name: &str, text: String, hint: &str) -> Finding {
    Finding { name: name.to_owned(), ok: false, text, hint: Some(hint.to_owned()) }
}

fn holder() -> Finding {
    let hint = "install it beside `greenroom`: `cargo install --path crates/greenroom`";
    let path = match daemon::holder() {
        Ok(path) => path,
        Err(error) => return bad("holder", format!("{error:#}"), hint),
    };
    let runs =
        fs::metadata(&path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    let shown = path.display().to_string();
    if runs { good("holder", shown) } else { bad("holder", format!("`{shown}` is missing"), hint) }
}

/// What to do about a folder that is of no use.
const ELSEWHERE: &str = "set GREENROOM_HOME to a folder of yours";

fn folder(name: &str, path: &Path) -> Finding {
    let shown = path.display();
    match fs::symlink_metadata(path) {
        Err(_) => match could_be_made(path) {
            Ok(()) => good(name, format!("{shown} (not made yet)")),
            Err(why) => bad(name, format!("`{shown}` cannot be made: {why}"), ELSEWHERE),
        },
        Ok(found) if !found.is_dir() => {
            bad(name, format!("`{shown}` is not a folder"), "remove it")
        }
        Ok(found) if found.uid() != rustix::process::getuid().as_raw() => {
            let text = format!("`{shown}` belongs to user {}", found.uid());
            bad(name, text, ELSEWHERE)
        }
        Ok(found) if found.mode() & 0o077 != 0 => {
            let text =
                format!("`{shown}` has mode {:04o}: others may enter", found.mode() & 0o7777);
            bad(name, text, &format!("chmod 700 {shown}"))
        }
        Ok(_) => match rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => good(name, format!("{shown}")),
            Err(error) => bad(name, format!("`{shown}` cannot be written to: {error}"), ELSEWHERE),
        },
    }
}

/// Whether the daemon could make a folder: one is made where it would begin, and removed. To look at
/// modes would not do, for the file system has its say, too.
fn could_be_made(path: &Path) -> Result<(), String> {
    let there = path.ancestors().skip(1).find(|it| fs::symlink_metadata(it).is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let trial = there.join(format!(".greenroom-doctor-{}", std::process::id()));
    let made = fs::DirBuilder::new().mode(0o700).create(&trial);
    made.and_then(|()| fs::remove_dir(&trial))
        .map_err(|error| format!("in `{}`: {error}", there.display()))
}

/// The longest path a socket may have.
const SOCKET_MAX: usize = 107;

fn socket_length(paths: &Paths) -> Finding {
    // The longest of ours: a holder's, with the largest number there is.
    let longest = paths.holders().join(format!("{}.sock", u64::MAX));
    let length = longest.as_os_str().len();
    if length <= SOCKET_MAX {
        good("socket paths", format!("{length} of {SOCKET_MAX} bytes"))
    } else {
        let text = format!("`{}` is too long for a socket", longest.display());
        bad("socket paths", text, "set GREENROOM_HOME to a shorter path")
    }
}

fn config(paths: &Paths) -> Finding {
    let shown = paths.config.display();
    match Config::load(&paths.config) {
        Ok(_) if paths.config.exists() => good("configuration", format!("{shown}")),
        Ok(_) => good("configuration", format!("{shown} (not there: defaults)")),
        Err(problems) => {
            let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
            bad("configuration", text.join("; "), "`greenroom config check` says where")
        }
    }
}

/// Whether sessions can have limits, which is bad news only to who configured some.
fn limits(paths: &Paths) -> Finding {
    const NAME: &str = "limits of sessions";
    let wanted = Config::load(&paths.config).map(|it| it.session_limits).unwrap_or_default();
    let any = Limits { processes: Some(1), memory: Some(1) };
    let asked = if wanted.is_none() { any } else { wanted };
    // Groups are made below the daemon's, which may be elsewhere than this process.
    let daemon = fs::read_to_string(paths.lock()).ok().and_then(|text| text.trim().parse().ok());
    let lives = |pid: &u32| Path::new(&format!("/proc/{pid}/cgroup")).exists();
    let process = daemon.filter(lives).unwrap_or_else(std::process::id);
    match Plan::find(asked, "greenroom", process) {
        Ok(_) if wanted.is_none() => good(NAME, "none; they can be had".to_owned()),
        Ok(_) => good(NAME, "as configured".to_owned()),
        Err(error) if wanted.is_none() => good(NAME, format!("none, and none to be had: {error}")),
        Err(error) => bad(NAME, error.to_string(), error.hint()),
    }
}

/// Room for a few hundred ended sessions.
const ROOM: u64 = 64 << 20;

fn space(paths: &Paths) -> Finding {
    let there = paths.state.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match rustix::fs::statvfs(there) {
        Ok(found) => {
            let free = found.f_bavail * found.f_frsize;
            let text = format!("{} MiB free", free >> 20);
            if free >= ROOM {
                good("disk", text)
            } else {
                bad("disk", text, "make room: ended sessions cannot be kept")
            }
        }
        Err(error) => bad("disk", error.to_string(), "is the state folder reachable?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        for place in [file.join("state"), "/proc/greenroom/state".into()] {
            let found = folder("state folder", &place);
            assert!(!found.ok && found.hint.is_some(), "{found:?}");
            assert!(found.text.contains("cannot be made"), "{found:?}");
        }
        assert!(folder("state folder", &home.path().join("a/b")).ok);
        let left: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing is left behind: {left:?}");
    }
}
