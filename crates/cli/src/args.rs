//! The flags all verbs share.

use clap::Parser;

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
A session is named by its number, its name, its id, or the beginning of its id.
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
}
