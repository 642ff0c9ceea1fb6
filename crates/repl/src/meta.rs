//! Commands of the console itself, which begin with a colon.

use serde_json::{Value, json};

use crate::console::{House, Kind, say};
use crate::link::Fault;
use crate::plain::plain;

/// A command.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// What it takes, for people.
    takes: &'static str,
    /// What it does, for people.
    does: &'static str,
    run: fn(&House, &str) -> Result<Next, Fault>,
}

/// What is to happen after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Quit,
}

/// All of them, in the order help shows them.
pub(crate) const COMMANDS: &[Command] = &[
    Command { name: ":tabs", takes: "", does: "lists sessions of this console", run: tabs },
    Command {
        name: ":focus",
        takes: "ID",
        does: "makes this tab the one that is meant",
        run: focus,
    },
    Command { name: ":live", takes: "", does: "lists what lives on the server", run: live },
    Command { name: ":attach", takes: "ID", does: "makes a tab of something live", run: attach },
    Command {
        name: ":notifications",
        takes: "on|off [ID…]",
        does: "shows what sessions print, above the prompt",
        run: notifications,
    },
    Command {
        name: ":rpc",
        takes: "METHOD [JSON]",
        does: "calls a method of the server",
        run: rpc,
    },
    Command { name: ":help", takes: "", does: "shows this", run: help },
    Command { name: ":tips", takes: "", does: "shows examples", run: tips },
    Command { name: ":quit", takes: "", does: "ends the console", run: quit },
];

/// Functions, for help.
const FUNCTIONS: &str = "\
session(NAME, {cwd=, args=, env=, rows=, cols=})   begins a plugin's session, or a program
send(INTENT, PARAMS)   send(\"text\\n\")   send(\"key\", \"enter\")   send{type=\"interrupt\"}
wait()   wait(WHAT, MS)   turn(INTENT, PARAMS, WHAT, MS)   cancel_wait(ID)
  WHAT: \"text\", re\"regex\", matches(…), screen_stable(MS), exited(), any(…), all(…),
  or the name of a plugin's matcher; times are ms(N) or s(N)
state() screen() view() transcript() inspect() resize(ROWS, COLS) kill() close()
plugins() plugins(NAME) tab(ID) rpc(METHOD, PARAMS)
All that is done to a session is a method, too: c = session(\"sh\"); c:send(\"ls\\n\"); c:view()";

const TIPS: &str = "\
c = session(\"sh\")                       a shell; `c` is its tab
c:send(\"make; echo done: $?\\n\")
c:wait(re\"done: \\\\d+\", s(60)).outcome     waits up to a minute; ctrl+c cancels
c:view()                                what is on its screen
a = session(\"claude-code\", {cwd=\"/tmp\"}) a plugin drives it; Tab completes its intents
a:turn(\"send_prompt\", {prompt=\"hi\"}).state.state
ok, why = pcall(wait, \"never\", ms(10)); why.code     -32001: errors have a code and a message
:notifications on                       what happens is told while you type";

/// Runs a command line that begins with a colon.
pub(crate) fn run(house: &House, line: &str) -> Result<Next, Fault> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match COMMANDS.iter().find(|it| it.name == name) {
        Some(command) => (command.run)(house, rest.trim()),
        None => Err(Fault::usage(format!("`{}` is not known; `:help` lists all", plain(name)))),
    }
}

fn tabs(house: &House, _: &str) -> Result<Next, Fault> {
    let focused = house.focused.borrow().clone();
    let tabs = house.tabs.borrow();
    if tabs.is_empty() {
        say("no sessions; begin one with session(\"name\")")?;
    }
    for tab in tabs.iter() {
        let mark = if focused.as_deref() == Some(tab.id.as_str()) { '*' } else { ' ' };
        let session = match &tab.kind {
            Kind::Adapter { session, .. } => format!(" ({session})"),
            Kind::Session { .. } => String::new(),
        };
        say(&format!("{mark} {} {}{session}", tab.id, plain(tab.title())))?;
    }
    Ok(Next::GoOn)
}

fn focus(house: &House, id: &str) -> Result<Next, Fault> {
    if id.is_empty() {
        return Err(Fault::usage("write :focus ID"));
    }
    house.focus(id).map(|()| Next::GoOn)
}

fn live(house: &House, _: &str) -> Result<Next, Fault> {
    house.revive()?;
    let (adapters, sessions) = (house.live()?, house.sessions()?);
    if adapters.is_empty() && sessions.is_empty() {
        say("nothing lives on the server")?;
    }
    for it in adapters {
        let text = |name: &str| plain(it[name].as_str().unwrap_or_default());
        let end = if it["finished"] == true { ", finished" } else { "" };
        say(&format!("{} {} ({}){end}", text("adapter"), text("plugin"), text("session")))?;
    }
    for it in sessions {
        say(&plain(it.as_str().unwrap_or_default()))?;
    }
    Ok(Next::GoOn)
}

fn attach(house: &House, id: &str) -> Result<Next, Fault> {
    if id.is_empty() {
        return Err(Fault::usage("write :attach ID"));
    }
    house.revive()?;
    let tab = house.attach(id)?;
    say(&format!("{} {}", tab.id, plain(tab.title())))?;
    Ok(Next::GoOn)
}

fn notifications(house: &House, rest: &str) -> Result<Next, Fault> {
    let mut words = rest.split_whitespace();
    let enabled = match words.next() {
        Some("on") => true,
        Some("off") => false,
        _ => return Err(Fault::usage("write :notifications on|off [ID…]")),
    };
    let (adapters, sessions): (Vec<&str>, Vec<&str>) = words.partition(|it| is_adapter(it));
    let params = json!({"enabled": enabled, "adapters": adapters, "sessions": sessions});
    house.revive()?;
    let answer = house.link.call("server.set_notifications", &params)?;
    say(if answer["enabled"] == true { "notifications are on" } else { "notifications are off" })?;
    Ok(Next::GoOn)
}

/// Whether it is what adapters are called: sessions may be called anything.
fn is_adapter(id: &str) -> bool {
    let number = id.strip_prefix('e').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

fn rpc(house: &House, rest: &str) -> Result<Next, Fault> {
    let (method, params) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if method.is_empty() {
        return Err(Fault::usage("write :rpc METHOD [JSON]"));
    }
    let params = match params.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text)
            .map_err(|error| Fault::usage(format!("the parameters are not JSON: {error}")))?,
    };
    house.revive()?;
    let answer = house.link.call(method, &params)?;
    say(&plain(&serde_json::to_string_pretty(&answer).unwrap_or_default()))?;
    Ok(Next::GoOn)
}

fn help(_: &House, _: &str) -> Result<Next, Fault> {
    for command in COMMANDS {
        let usage = format!("{} {}", command.name, command.takes);
        say(&format!("{usage:<28} {}", command.does))?;
    }
    say(FUNCTIONS)?;
    Ok(Next::GoOn)
}

fn tips(_: &House, _: &str) -> Result<Next, Fault> {
    say(TIPS)?;
    Ok(Next::GoOn)
}

fn quit(_: &House, _: &str) -> Result<Next, Fault> {
    Ok(Next::Quit)
}
