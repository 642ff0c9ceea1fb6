//! The verbs: one file each, whose doc comment is its help.

pub(crate) mod attach;
mod compat;
mod completions;
mod config;
mod daemon;
mod doctor;
mod forget;
mod info;
mod key;
mod kill;
mod logs;
mod ls;
mod man;
pub(crate) mod new;
mod read;
mod rename;
pub(crate) mod repl;
mod resize;
pub(crate) mod run;
mod search;
mod send;
pub(crate) mod serve;
mod wait;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{Exit, Result};

/// Everything that can be asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    New(new::New),
    Attach(attach::Attach),
    Ls(ls::Ls),
    Info(info::Info),
    Kill(kill::Kill),
    Rename(rename::Rename),
    Resize(resize::Resize),
    Forget(forget::Forget),
    Send(send::Send),
    Key(key::Key),
    Read(read::Read),
    Search(search::Search),
    Wait(wait::Wait),
    Run(run::Run),
    Serve(serve::Serve),
    Repl(repl::Repl),
    Logs(logs::Logs),
    Daemon(daemon::Daemon),
    Config(config::Config),
    Doctor(doctor::Doctor),
    Compat(compat::Compat),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Verb {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self {
            Verb::New(verb) => verb.run(context),
            Verb::Attach(verb) => verb.run(context),
            Verb::Ls(verb) => verb.run(context),
            Verb::Info(verb) => verb.run(context),
            Verb::Kill(verb) => verb.run(context),
            Verb::Rename(verb) => verb.run(context),
            Verb::Resize(verb) => verb.run(context),
            Verb::Forget(verb) => verb.run(context),
            Verb::Send(verb) => verb.run(context),
            Verb::Key(verb) => verb.run(context),
            Verb::Read(verb) => verb.run(context),
            Verb::Search(verb) => verb.run(context),
            Verb::Wait(verb) => verb.run(context),
            Verb::Run(verb) => verb.run(context),
            Verb::Serve(verb) => verb.run(context),
            Verb::Repl(verb) => verb.run(context),
            Verb::Logs(verb) => verb.run(context),
            Verb::Daemon(verb) => verb.run(context),
            Verb::Config(verb) => verb.run(context),
            Verb::Doctor(verb) => verb.run(context),
            Verb::Compat(verb) => verb.run(context),
            Verb::Completions(verb) => verb.run(context),
            Verb::Man(verb) => verb.run(context),
        }
    }
}
