//! Other machines: which one is meant, which are saved, asking several at once.
//!
//! Called hosts where people read of them; `host` here is the program around the command line. How
//! a machine is reached is `client`'s.

mod saved;

use std::thread;
use std::time::Duration;

use greenroom_client::{Machine, Tunnel};

use crate::args::Arguments;
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::host::Host;
use crate::plain::plain_lines;
use crate::verbs::{Place, Verb};

pub(crate) use saved::{Saved, to_wire};

/// What the machine this runs on is called.
pub(crate) const LOCAL: &str = "local";

/// The variable that names the host when no flag does.
const VARIABLE: &str = "GREENROOM_HOST";

/// How long one of several machines may take: a person waits for the slowest.
pub(crate) const ONE_OF_SEVERAL: Duration = Duration::from_secs(10);

/// Which machines are meant.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// The one, if it is another than this.
    pub(crate) machine: Option<Machine>,
    /// All that were named, where a verb takes several.
    pub(crate) several: Vec<String>,
}

impl Chosen {
    /// Reads the flag and the variable.
    pub(crate) fn new(arguments: &Arguments, host: &dyn Host) -> Result<Chosen> {
        let place = arguments.verb.as_ref().map_or(Place::Anywhere, Verb::place);
        let flagged = &arguments.hosts;
        match place {
            Place::Here(verb) if flagged.iter().any(|it| !is_local(it)) => {
                let message = format!("`{verb}` is about this machine only");
                return Err(Failure::usage(message)
                    .hint(format!("run it there: `ssh HOST greenroom {verb}`")));
            }
            // A default is for what can be done there.
            Place::Here(_) => return Ok(Chosen::default()),
            Place::Anywhere if flagged.len() > 1 => {
                return Err(Failure::usage("only `ls` takes several hosts").hint("name one"));
            }
            Place::Anywhere | Place::Everywhere => {}
        }
        let saved = || Ok(Saved::below(&host.paths()?.state));
        Ok(match flagged.as_slice() {
            [] => Chosen { machine: find(&from_variable(host)?, saved)?, several: Vec::new() },
            [one] => Chosen { machine: find(one, saved)?, several: vec![one.clone()] },
            several => Chosen { machine: None, several: several.to_vec() },
        })
    }
}

fn from_variable(host: &dyn Host) -> Result<String> {
    let value = host.variable(VARIABLE).unwrap_or_default();
    value.into_string().map_err(|_| Failure::usage(format!("`{VARIABLE}` is not UTF-8")))
}

fn is_local(name: &str) -> bool {
    name.is_empty() || name == LOCAL
}

/// The machine of that name: a saved one, or whatever `ssh` makes of it. None is this one.
pub(crate) fn find(name: &str, saved: impl FnOnce() -> Result<Saved>) -> Result<Option<Machine>> {
    if is_local(name) {
        return Ok(None);
    }
    // Looked at first, so that a name that cannot be one is not searched for.
    let machine = Machine::new(name).map_err(|error| malformed(&error))?;
    Ok(Some(saved()?.find(name)?.unwrap_or(machine)))
}

/// A machine that cannot be called that.
pub(crate) fn malformed(error: &greenroom_client::BadMachine) -> Failure {
    Failure::usage(error.to_string())
        .hint("a host is a saved name, `user@machine`, or an alias of ~/.ssh/config")
}

/// Asks several machines at once, and nobody else: no person is asked anything.
pub(crate) fn side_by_side<T: Send>(
    context: &Context<'_>,
    machines: &[Machine],
    ask: impl Fn(Tunnel) -> T + Sync,
) -> Result<Vec<T>> {
    let run = context.paths()?.run;
    let ask = &ask;
    thread::scope(|scope| {
        let asked = machines.iter().map(|machine| {
            let tunnel = Tunnel::new(machine.clone(), &run).quiet(ONE_OF_SEVERAL);
            thread::Builder::new().spawn_scoped(scope, move || ask(tunnel))
        });
        let asked: Vec<_> = asked.collect();
        let answers = asked.into_iter().map(|it| {
            let thread = it.map_err(|error| Failure::system("asking several hosts", &error))?;
            thread.join().map_err(|_| Failure::system("asking several hosts", &"a thread ended"))
        });
        answers.collect()
    })
}

/// Has the far program do it, and passes on what it says.
pub(crate) fn pass_on(context: &Context<'_>, tunnel: &Tunnel, words: &[&str]) -> Result<Exit> {
    let json: &[&str] = if context.output.is_json() { &["--json"] } else { &[] };
    let said = tunnel.run(&[words, json].concat()).map_err(|error| context.failed(error))?;
    context.output.bytes(plain_lines(&said.out).as_bytes())?;
    context.output.complaint(&plain_lines(&context.host.redact(&said.err)));
    Ok(u8::try_from(said.code).map_or(Exit::FAILED, Exit))
}
