//! `doctor`: looks for what is wrong with this installation.
//!
//! Here: whether a daemon answers, which, and whom it could not reach. Folders, programs and files are the host's to look at.

use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::host::Finding;
use crate::machines::pass_on;
use crate::output::Style;
use crate::plain::plain;

/// Looks at folders, the daemon, versions and the installation, and says what to do.
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // What is to be looked at is there, and so is who knows how.
        if let Some(tunnel) = context.tunnel()? {
            return pass_on(context, &tunnel, &["doctor"]);
        }
        let mut findings = daemon(context);
        findings.extend(context.host.doctor());
        let ok = findings.iter().all(|it| it.ok);
        if context.output.is_json() {
            let list: Vec<_> = findings.iter().map(to_wire).collect();
            context.output.value(&json!({"ok": ok, "findings": list}))?;
        } else {
            for finding in &findings {
                show(context, finding)?;
            }
        }
        Ok(if ok { Exit::OK } else { Exit::FAILED })
    }
}

fn to_wire(finding: &Finding) -> serde_json::Value {
    let Finding { name, ok, text, hint } = finding;
    json!({"name": name, "ok": ok, "text": text, "hint": hint})
}

fn show(context: &Context<'_>, finding: &Finding) -> Result<()> {
    let mark = match finding.ok {
        true => context.output.styled(Style::Good, "ok  "),
        false => context.output.styled(Style::Bad, "bad "),
    };
    let name = plain(&finding.name);
    context.output.line(&format!("{mark} {name}: {}", plain(&finding.text)))?;
    if let (false, Some(hint)) = (finding.ok, &finding.hint) {
        context.output.line(&format!("     hint: {}", plain(hint)))?;
    }
    Ok(())
}

/// Whether a daemon answers, and is of this version.
fn daemon(context: &Context<'_>) -> Vec<Finding> {
    let finding = |name: &str, ok, text: String, hint: Option<&str>| Finding {
        name: name.to_owned(),
        ok,
        text,
        hint: hint.map(str::to_owned),
    };
    let mut connection = match context.connect_to_running() {
        Ok(connection) => connection,
        Err(failure) if failure.exit().0 == 5 && !socket_is_there(context) => {
            let text = "not running; it starts when it is needed".to_owned();
            return vec![finding("daemon", true, text, None)];
        }
        Err(failure) => return vec![bad("daemon", &failure)],
    };
    let hello = connection.hello();
    let pid = hello.pid.map(|it| format!(", pid {it}")).unwrap_or_default();
    let ours = env!("CARGO_PKG_VERSION");
    let same = hello.version == ours;
    let text = match same {
        true => format!("running, greenroom {ours}{pid}"),
        false => format!("running greenroom {}, this is {ours}{pid}", hello.version),
    };
    let hint = "`greenroom daemon restart` runs this version; sessions live on";
    let mut findings = vec![finding("daemon", same, text, Some(hint))];
    match connection.call("daemon.status", &json!({})) {
        Ok(status) => {
            findings.extend(status["refused"].as_array().into_iter().flatten().map(refused))
        }
        Err(error) => findings.push(bad("daemon", &error.into())),
    }
    findings
}

/// A holder that the daemon leaves alone: a session nobody can get at.
fn refused(it: &Value) -> Finding {
    let text = |key: &str| it[key].as_str().unwrap_or_default();
    let name = match it["number"].as_u64() {
        Some(number) => format!("session {number}"),
        None => text("socket").to_owned(),
    };
    let pid = it["holderPid"].as_u64().map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    let hint = Some(text("hint").to_owned());
    Finding { name, ok: false, text: format!("not listed: {}{pid}", text("reason")), hint }
}

fn socket_is_there(context: &Context<'_>) -> bool {
    context.paths().is_ok_and(|it| it.socket.symlink_metadata().is_ok())
}

fn bad(name: &str, failure: &Failure) -> Finding {
    let error = &failure.for_programs()["error"];
    let text = |key: &str| error[key].as_str().map(str::to_owned);
    Finding {
        name: name.to_owned(),
        ok: false,
        text: text("message").unwrap_or_default(),
        hint: text("hint"),
    }
}
