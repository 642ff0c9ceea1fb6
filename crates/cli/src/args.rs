//! The flags all verbs share, and reading a command line.

use std::ffi::{OsStr, OsString};
use std::iter;

use clap::{Args, Parser};

use crate::verbs::Verb;

/// Keeps terminal sessions alive, and lets people, scripts and agents drive them.
///
/// Without a verb it attaches to the default session, and makes it if it is not there.
#[derive(Debug, Parser)]
#[command(
    name = "greenroom",
    version,
    subcommand_required = false,
    after_help = "\
A session is named by its number, its name, its id, or the beginning of its id. By a name the one that runs is meant, else the newest.
Exit codes: 0 ok, 1 failed, 2 usage, 3 no such session or several, 4 time is up, 5 no daemon or no way there, 6 denied."
)]
pub(crate) struct Arguments {
    /// Writes results for programs to standard output, errors as JSON to standard error.
    #[arg(long, global = true)]
    json: bool,
    /// Another machine whose sessions are meant: a saved host, or whatever ssh takes. `local` is this
    /// one. Without it, GREENROOM_HOST; `ls` takes several.
    #[arg(long = "host", value_name = "HOST", global = true)]
    pub(crate) hosts: Vec<String>,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// A verb without others below it, as if it were the whole program.
#[derive(Debug, Parser)]
struct Alone<V: Args> {
    #[arg(long)]
    json: bool,
    #[arg(long = "host")]
    hosts: Vec<String>,
    #[command(flatten)]
    verb: V,
}

impl Arguments {
    /// Reads a command line. To make the flags of all verbs takes as long as the daemon takes to
    /// answer: a verb that is asked for often is read alone. Whatever is not right then, or is
    /// asked about itself, all of them speak of.
    pub(crate) fn read(line: &[OsString]) -> Result<Arguments, clap::Error> {
        Arguments::alone(line).map_or_else(|| Arguments::try_parse_from(line), Ok)
    }

    fn alone(line: &[OsString]) -> Option<Arguments> {
        let (verb, rest) = line.get(1..)?.split_first()?;
        match verb.to_str()? {
            "attach" | "a" => one(rest, Verb::Attach),
            "info" => one(rest, Verb::Info),
            "key" => one(rest, Verb::Key),
            "kill" => one(rest, Verb::Kill),
            "ls" | "list" => one(rest, Verb::Ls),
            "new" => one(rest, Verb::New),
            "read" => one(rest, Verb::Read),
            "relay" => one(rest, Verb::Relay),
            "run" => one(rest, Verb::Run),
            "send" => one(rest, Verb::Send),
            "wait" => one(rest, Verb::Wait),
            _ => None,
        }
    }
}

fn one<V: Args>(rest: &[OsString], verb: fn(V) -> Verb) -> Option<Arguments> {
    let name = OsStr::new("greenroom");
    let rest = rest.iter().map(OsString::as_os_str);
    let read = Alone::<V>::try_parse_from(iter::once(name).chain(rest)).ok()?;
    Some(Arguments { json: read.json, hosts: read.hosts, verb: Some(verb(read.verb)) })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_table_of_verbs_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_verb_has_help_of_its_own() {
        for verb in Arguments::command().get_subcommands() {
            assert!(verb.get_about().is_some(), "`{}` says nothing of itself", verb.get_name());
        }
    }

    #[test]
    fn every_verb_takes_a_host() {
        for line in ["--host a ls", "ls --host a", "new --host a -d -- x", "--host=a"] {
            let line = format!("greenroom {line}");
            let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(arguments.hosts, ["a"], "{line}");
        }
        let several = Arguments::try_parse_from(["greenroom", "--host", "a", "--host", "b", "ls"]);
        assert_eq!(several.unwrap().hosts, ["a", "b"]);
    }

    #[test]
    fn every_verb_takes_json() {
        for line in ["ls --json", "--json ls", "kill x --json", "daemon status --json"] {
            let line = format!("greenroom {line}");
            let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
            assert!(arguments.json, "{line}");
        }
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_verb_alone_is_read_as_among_all() {
        let lines = [
            "attach",
            "a one",
            "attach one -r --host b --json",
            "info one",
            "key one ctrl+c enter",
            "kill one two",
            "ls -a",
            "list --all-hosts --host=a --host b",
            "new -d -n one -- sh -c x --json --host y",
            "read one --lines 3",
            "relay native-1 /run/x.sock",
            "run -- cat -n",
            "send one text",
            "send one -- --json",
            "wait one --text x",
        ];
        for line in lines {
            let line = words(&format!("greenroom {line}"));
            let among_all = Arguments::try_parse_from(&line).unwrap();
            let alone = Arguments::alone(&line).unwrap();
            assert_eq!(format!("{alone:?}"), format!("{among_all:?}"));
        }
    }

    #[test]
    fn what_is_not_right_is_told_as_ever() {
        let lines = ["attach --help", "attach one two", "ls --no-such", "kill", "ls --version"];
        for line in lines {
            let line = words(&format!("greenroom {line}"));
            assert!(Arguments::alone(&line).is_none(), "{line:?}");
            let told = Arguments::read(&line).unwrap_err().to_string();
            assert!(told.contains("greenroom "), "{told}");
        }
    }
}
