//! `host`: the other machines a person saved.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use greenroom_client::{Error, Far, Machine, Tunnel};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::machines::{self, Saved, to_wire};
use crate::output::Style;
use crate::plain::plain;
use crate::table::{Cell, table};
use crate::terminal;

/// Saves, lists and forgets other machines whose sessions can be reached with --host.
///
/// A host need not be saved: --host takes whatever ssh takes. Saved ones have a short name, and are
/// listed by `ls --all-hosts`.
#[derive(Debug, Args)]
pub(crate) struct Host {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Add(Add),
    /// Lists the saved hosts, and whether they can be reached now.
    #[command(visible_alias = "list")]
    Ls,
    /// Forgets a host, and closes the line to it.
    Rm {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Closes lines that stay open for a while; what is attached over them reconnects.
    Close {
        /// The host; without it, all lines are closed.
        #[arg(value_name = "HOST")]
        name: Option<String>,
    },
}

/// Saves a host under a name.
#[derive(Debug, Args)]
struct Add {
    /// What it is to be called.
    #[arg(value_name = "NAME")]
    name: String,
    /// What ssh calls it: user@machine, or an alias of ~/.ssh/config.
    #[arg(value_name = "DESTINATION")]
    destination: String,
    /// The greenroom there, if it is not in the search path; `~/` is the folder of the user there.
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
    /// The port of its ssh server.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The key to log in with.
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// An option of ssh, as in its configuration.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,
}

impl Host {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let saved = Saved::below(&context.paths()?.state);
        match self.what {
            What::Add(add) => {
                let machine = add.machine()?;
                saved.add(&machine)?;
                let name = machine.name;
                done(context, &format!("saved; `greenroom --host {name} ls` lists its sessions"))
            }
            What::Ls => list(context, &saved.all()?),
            What::Rm { name } => {
                let line = saved.find(&name)?.map(|it| tunnel(context, it)).transpose()?;
                saved.remove(&name)?;
                line.map(|it| it.close());
                done(context, &format!("`{}` is forgotten", plain(&name)))
            }
            What::Close { name: Some(name) } => {
                let Some(machine) = machines::find(&name, || Ok(saved))? else {
                    return Err(Failure::usage("there is no line to this machine"));
                };
                closed(context, usize::from(tunnel(context, machine)?.close()))
            }
            What::Close { name: None } => closed(context, Tunnel::close_all(&context.paths()?.run)),
        }
    }
}

/// Says how many lines were closed.
fn closed(context: &Context<'_>, count: usize) -> Result<Exit> {
    match (context.output.is_json(), count) {
        (true, count) => context.output.value(&json!({"ok": true, "closed": count}))?,
        (false, 0) => context.output.line("no line was open")?,
        (false, 1) => context.output.line("the line is closed")?,
        (false, count) => context.output.line(&format!("{count} lines are closed"))?,
    }
    Ok(Exit::OK)
}

fn tunnel(context: &Context<'_>, machine: Machine) -> Result<Tunnel> {
    Ok(Tunnel::new(machine, &context.paths()?.run))
}

fn done(context: &Context<'_>, text: &str) -> Result<Exit> {
    match context.output.is_json() {
        true => context.output.value(&json!({"ok": true}))?,
        false => context.output.line(text)?,
    }
    Ok(Exit::OK)
}

impl Add {
    fn machine(self) -> Result<Machine> {
        let identity = self.identity.map(std::path::absolute).transpose();
        let identity = identity.map_err(|error| Failure::system("finding the key", &error))?;
        Ok(Machine {
            name: self.name,
            destination: self.destination,
            program: self.program,
            port: self.port,
            identity,
            options: self.options,
        })
    }
}

fn list(context: &Context<'_>, machines: &[Machine]) -> Result<Exit> {
    if machines.is_empty() && !context.output.is_json() {
        context.output.remark("no hosts; save one with `greenroom host add NAME DESTINATION`");
        return Ok(Exit::OK);
    }
    let answers = machines::side_by_side(context, machines, |tunnel| tunnel.probe())?;
    let answers = answers.into_iter().map(|it| it.map_err(|error: Error| context.failed(error)));
    let all: Vec<_> = machines.iter().zip(answers).collect();
    if context.output.is_json() {
        let all = all.iter().map(|(machine, answer)| entry(machine, answer)).collect();
        context.output.value(&Value::Array(all))?;
        return Ok(Exit::OK);
    }
    let rows: Vec<_> = all.iter().map(|(machine, answer)| row(machine, answer)).collect();
    let width = terminal::size().map(|it| it.cols().into());
    let text = table(context.output, &["NAME", "DESTINATION", "STATE", "ABOUT"], &rows, width);
    context.output.bytes(text.as_bytes())?;
    Ok(Exit::OK)
}

fn entry(machine: &Machine, answer: &Result<Far>) -> Value {
    let mut entry = to_wire(machine);
    entry["name"] = machine.name.as_str().into();
    entry["reachable"] = answer.is_ok().into();
    match answer {
        Ok(far) => {
            entry["version"] = far.version.as_str().into();
            entry["running"] = far.running.into();
        }
        Err(failure) => entry["error"] = failure.for_programs()["error"].take(),
    }
    entry
}

fn row(machine: &Machine, answer: &Result<Far>) -> Vec<Cell> {
    let (state, style, about) = match answer {
        Ok(far) => {
            let daemon = if far.running { "its daemon runs" } else { "no daemon runs" };
            ("reachable", Style::Good, format!("greenroom {}, {daemon}", far.version))
        }
        Err(failure) => ("no answer", Style::Bad, failure.message()),
    };
    vec![
        Cell::new(&machine.name, Style::Strong),
        Cell::new(&machine.destination, Style::Plain),
        Cell::new(state, style),
        Cell::new(about, Style::Plain),
    ]
}
