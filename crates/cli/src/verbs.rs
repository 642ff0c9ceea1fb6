//! The verbs: one file each, whose doc comment is its help.

pub(crate) mod attach;
mod audit;
mod compat;
mod completions;
mod config;
pub(crate) mod daemon;
mod doctor;
mod forget;
mod host;
mod info;
mod key;
mod kill;
pub(crate) mod logs;
mod ls;
mod man;
pub(crate) mod new;
mod read;
mod relay;
mod rename;
pub(crate) mod repl;
mod resize;
pub(crate) mod run;
mod search;
mod send;
pub(crate) mod serve;
mod share;
mod wait;
mod web;

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
    Web(web::Web),
    Share(share::Share),
    Repl(repl::Repl),
    Logs(logs::Logs),
    Audit(audit::Audit),
    Daemon(daemon::Daemon),
    Host(host::Host),
    Config(config::Config),
    Doctor(doctor::Doctor),
    Compat(compat::Compat),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(hide = true)]
    Relay(relay::Relay),
}

/// Where a verb can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On any machine.
    Anywhere,
    /// On several at once.
    Everywhere,
    /// Only on this one; with the name of the verb.
    Here(&'static str),
}

impl Verb {
    /// Where it can be done. No `_` arm: a new verb is decided here.
    pub(crate) fn place(&self) -> Place {
        match self {
            Verb::Ls(_) => Place::Everywhere,
            Verb::Daemon(verb) => verb.place(),
            Verb::New(_)
            | Verb::Attach(_)
            | Verb::Info(_)
            | Verb::Kill(_)
            | Verb::Rename(_)
            | Verb::Resize(_)
            | Verb::Forget(_)
            | Verb::Send(_)
            | Verb::Key(_)
            | Verb::Read(_)
            | Verb::Search(_)
            | Verb::Wait(_)
            | Verb::Run(_)
            | Verb::Logs(_)
            | Verb::Audit(_)
            | Verb::Doctor(_) => Place::Anywhere,
            Verb::Serve(_) => Place::Here("serve"),
            Verb::Repl(_) => Place::Here("repl"),
            Verb::Host(_) => Place::Here("host"),
            // The addresses they print lead to the machine they are printed on.
            Verb::Web(_) => Place::Here("web"),
            Verb::Share(_) => Place::Here("share"),
            Verb::Config(_) => Place::Here("config"),
            Verb::Compat(_) => Place::Here("compat"),
            Verb::Completions(_) => Place::Here("completions"),
            Verb::Man(_) => Place::Here("man"),
            Verb::Relay(_) => Place::Here("relay"),
        }
    }

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
            Verb::Web(verb) => verb.run(context),
            Verb::Share(verb) => verb.run(context),
            Verb::Repl(verb) => verb.run(context),
            Verb::Logs(verb) => verb.run(context),
            Verb::Audit(verb) => verb.run(context),
            Verb::Daemon(verb) => verb.run(context),
            Verb::Host(verb) => verb.run(context),
            Verb::Config(verb) => verb.run(context),
            Verb::Doctor(verb) => verb.run(context),
            Verb::Compat(verb) => verb.run(context),
            Verb::Completions(verb) => verb.run(context),
            Verb::Man(verb) => verb.run(context),
            Verb::Relay(verb) => verb.run(context),
        }
    }
}
