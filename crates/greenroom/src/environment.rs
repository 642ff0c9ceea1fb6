//! What sessions get of the daemon's environment.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use greenroom_engine::PASSED;
use greenroom_tmux::{Server, Tmux};

/// The variable that names the point at which the daemon is to die. The daemon's own: nobody it starts has
/// it. Builds without debug assertions do not read it.
const DIE_AT: &str = "GREENROOM_DIE_AT";

/// The daemon's variables that sessions begin with: a fixed list, and those the configuration adds.
pub(crate) fn passed(more: &[String]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let names = PASSED.iter().copied().chain(more.iter().map(String::as_str));
    let found = names.filter_map(|name| Some((name.as_bytes().to_vec(), env::var_os(name)?)));
    found.map(|(name, value)| (name, value.into_vec())).collect()
}

/// What agents get: what sessions get, and how they reach who answers.
pub(crate) fn for_agents(more: &[String]) -> Vec<(OsString, OsString)> {
    let is_listed = |name: &str| PASSED.contains(&name) || more.iter().any(|it| it == name);
    let is_passed = |name: &str| is_listed(name) || greenroom_door_web::is_passed(name);
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

/// The point at which a test wants the daemon to die.
#[cfg(debug_assertions)]
pub(crate) fn point() -> anyhow::Result<Option<greenroom_engine::points::Point>> {
    use greenroom_engine::points::Point;
    let Ok(name) = env::var(DIE_AT) else { return Ok(None) };
    let point = Point::named(&name);
    point.map(Some).ok_or_else(|| anyhow::anyhow!("{DIE_AT}: no point is called `{name}`"))
}

/// The user's shell, as the environment has it.
pub(crate) fn shell() -> Option<String> {
    env::var("SHELL").ok()
}

/// The user's own folder, as the environment or else the system's list of users has it: programs are often started
/// with hardly any environment.
pub(crate) fn user_home() -> Option<PathBuf> {
    let named = env::var_os("HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    named.or_else(env::home_dir).filter(|it| !it.as_os_str().is_empty())
}

/// Where sessions start that name no folder.
pub(crate) fn home() -> PathBuf {
    user_home().filter(|home| home.is_dir()).unwrap_or_else(|| "/".into())
}

/// The folder where ptywright's own clients look.
pub(crate) fn ptywright_home() -> anyhow::Result<PathBuf> {
    greenroom_cli::Host::ptywright_home(&crate::host::Program)
}

/// The folder where carryOn's own clients look.
pub(crate) fn carryon_base() -> anyhow::Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty());
    let base = set("CARRYON_BASE_DIR").map(PathBuf::from);
    let base = base.or_else(|| Some(user_home()?.join(".carryon")));
    let base = base.filter(|base| base.is_absolute());
    base.ok_or_else(|| anyhow::anyhow!("neither CARRYON_BASE_DIR nor HOME is an absolute path"))
}

/// The house of the carryon command line where `CARRYON_BASE_DIR` names a folder: to carryOn each is
/// a world of its own, with its own daemon and sessions. Without it, it is the user's one house.
pub(crate) fn house_of_base() -> Option<PathBuf> {
    let program = PathBuf::from(env::args_os().next()?);
    if program.file_name()? != "carryon" {
        return None;
    }
    let base = env::var_os("CARRYON_BASE_DIR").filter(|it| !it.is_empty())?;
    // As the command line itself reads it: from where it is started.
    Some(std::path::absolute(base).ok()?.join("greenroom"))
}

/// The user's own tmux, if there is one, with the environment it has when they start it.
pub(crate) fn tmux() -> Option<Tmux> {
    let found = Tmux::find(env::var_os("PATH").as_deref(), Server::Default)?;
    Some(found.with_environment(env::vars_os().filter(|(name, _)| name != DIE_AT)))
}
