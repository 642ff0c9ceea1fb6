//! From a key to its echo while a plugin misbehaves.
//!
//! Somebody types into an attached session while somebody else waits for a bad plugin to see something in
//! another session, which prints; the host stops the plugin, or refuses what it wants, and it is loaded anew. The p99 of the echo is
//! compared with that of keys typed in between, while the same is waited for without a plugin. The last case
//! has a plugin that fails whenever it is asked, 64 who ask, and a session that floods;
//! it is compared with keys beside such a session that nobody asks anything of.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, anyhow, ensure};
use greenroom_model::Size;
use serde_json::{Value, json};

use super::Spine;
use super::automation::{Evidence, contains, create, wait};
use super::echo::{KEYS, key};
use super::fifo::Fifo;
use super::row::{Bar, Row, Unit};
use super::scripts::{READY, echo, repeat};
use super::terminal::Terminal;
use super::turns::{self, Turn};
use super::wait::REST;
use super::wright::Wright;

const NAME: &str = "plugins";

/// What a predicate does, and how a row calls it.
const BAD: [(&str, &str); 4] = [
    ("an endless loop", "while true do end"),
    ("a text of a gigabyte", "return ('x'):rep(1e9)"),
    ("endless recursion", "local function f(n) return 1 + f(n + 1) end return f(1)"),
    ("a loop of `pcall`", "while true do pcall(function() while true do end end) end"),
];

/// Turns of each, in a full run: with 8,000 keys the slowest hundredth is 80 of them, and not the one moment in
/// which a shared machine was elsewhere. With 2,000 a plugin that is refused at once passed for a bad neighbour.
const TURNS: usize = 160;

/// How many ask a plugin that fails.
const ASKERS: usize = 64;

/// How many lines are printed while a plugin is waited for, before it is loaded anew.
const LINES: u32 = 25;

/// Prints a thousand lines, rests a hundredth of a second, and so on.
const FLOOD: &str = "while :; do seq 1000; sleep 0.01; done";

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let ours = spine.ours_with("plugins", "[ptywright]\nallow_plugin_load = true\n")?;
    ours.create(&mut ours.connect()?, NAME, &echo(), Size::DEFAULT)?;
    let terminal = ours.attach(NAME, Size::DEFAULT)?;
    terminal.read_until(READY)?;
    let mut wright = Wright::connect(&ours.ptywright())?;
    let pipe = spine.place.fifo("plugins.lines")?;
    let session = create(&mut wright, &repeat(&pipe), (80, 24))?;
    let write = |number: usize, code: &str| {
        Plugin::write(&spine.place.path(&format!("plugins.{number}")), number, code)
    };
    let [one, two, three, four] = BAD.each_ref().map(|(_, code)| *code);
    let bad = [write(0, one)?, write(1, two)?, write(2, three)?, write(3, four)?];
    let failing = write(4, "error('as always')")?;
    let wright = RefCell::new(wright);
    let waited = |plugin: Option<&Plugin>| -> Result<Vec<f64>> {
        let wright: &mut Wright = &mut wright.borrow_mut();
        beside(&terminal, || is_waited_for(wright, (&session, &pipe), plugin))
    };
    let stopped = bad.each_ref().map(|plugin| -> Turn<'_> { Box::new(|| waited(Some(plugin))) });
    let [one, two, three, four] = stopped;
    let samples = turns::take(
        spine.choose(TURNS, 10),
        [
            ("nobody", Box::new(|| waited(None))),
            (BAD[0].0, one),
            (BAD[1].0, two),
            (BAD[2].0, three),
            (BAD[3].0, four),
            ("a flood", Box::new(|| flood(&mut wright.borrow_mut(), &terminal, None))),
            ("failures", Box::new(|| flood(&mut wright.borrow_mut(), &terminal, Some(&failing)))),
        ],
    )?;
    let [alone, stopped @ .., flooded, failed] = samples.map(|it| it.p99());
    let row = |what: &str, ours, alone| Row {
        what: format!("key to echo beside a plugin with {what}, p99"),
        unit: Unit::Seconds,
        ours,
        peers: vec![("alone", alone)],
        limit: None,
        bar: Bar::OfPeer(1.5, "alone"),
    };
    let mut rows: Vec<Row> =
        BAD.iter().zip(stopped).map(|((what, _), ours)| row(what, ours, alone)).collect();
    rows.push(row("an error in each of 64 waits on a flood", failed, flooded));
    Ok(rows)
}

/// Types a turn's worth of keys.
fn type_keys(terminal: &Terminal) -> Result<Vec<f64>> {
    let mut buffer = Vec::new();
    (0..KEYS).map(|number| key(terminal, number, &mut buffer)).collect()
}

/// Types while something is done over and over.
fn beside(terminal: &Terminal, mut doing: impl FnMut() -> Result<()> + Send) -> Result<Vec<f64>> {
    let typed = AtomicBool::new(false);
    thread::scope(|scope| {
        let doing = scope.spawn(|| -> Result<()> {
            while !typed.load(Ordering::Relaxed) {
                doing()?;
            }
            Ok(())
        });
        let keys = type_keys(terminal);
        typed.store(true, Ordering::Relaxed);
        doing.join().map_err(|_| anyhow!("who runs a plugin panicked"))??;
        keys
    })
}

/// Waits while some lines are printed; for a plugin that the host has to stop, if there is one.
fn is_waited_for(
    wright: &mut Wright,
    (session, pipe): (&str, &Fifo),
    plugin: Option<&Plugin>,
) -> Result<()> {
    let never = || contains("what never comes");
    let matcher = plugin.map_or_else(never, Plugin::matcher);
    plugin.map_or(Ok(()), |plugin| plugin.load(wright))?;
    let during = LINES * REST;
    let timeout = during.as_millis() as u64;
    let wait = json!({
        "session": session, "matcher": matcher, "timeout_ms": timeout, "evidence": false,
    });
    wright.start("session.wait", &wait)?;
    for _ in 0..LINES {
        pipe.tell("a line")?;
        thread::sleep(REST);
    }
    ensure!(!wright.is_granted()?, "what never happens has happened");
    plugin.map_or(Ok(()), |plugin| plugin.unload(wright))
}

/// A plugin with one predicate, `look`.
struct Plugin {
    name: String,
    manifest: PathBuf,
}

impl Plugin {
    fn write(folder: &Path, number: usize, code: &str) -> Result<Plugin> {
        let (name, manifest) = (format!("bad{number}"), folder.join("manifest.toml"));
        fs::create_dir_all(folder)?;
        fs::write(
            &manifest,
            format!(
                "name = \"{name}\"\nkind = \"adapter\"\nversion = \"0.1.0\"\nruntime = \"lua\"\n\
                 entrypoint = \"main.lua\"\npermissions = [\"screen.read\", \"matcher.wait\"]\n"
            ),
        )?;
        let lua = format!("local M = {{}}\nfunction M.look() {code} end\nreturn M\n");
        fs::write(folder.join("main.lua"), lua)?;
        Ok(Plugin { name, manifest })
    }

    fn load(&self, wright: &mut Wright) -> Result<()> {
        wright.call("plugin.load", &json!({"manifest_path": self.manifest})).map(drop)
    }

    fn unload(&self, wright: &mut Wright) -> Result<()> {
        wright.call("plugin.unload", &json!({"plugin": self.name})).map(drop)
    }

    /// Holds when its predicate does.
    fn matcher(&self) -> Value {
        json!({"type": "lua", "value": {"plugin": self.name, "predicate": "look"}})
    }
}

/// Types while a session floods, and while a plugin fails for everybody who asks it about that.
fn flood(wright: &mut Wright, terminal: &Terminal, plugin: Option<&Plugin>) -> Result<Vec<f64>> {
    let argv = ["/bin/sh", "-c", FLOOD].map(str::to_owned);
    let session = create(wright, &argv, (80, 24))?;
    wright.call("session.wait", &wait(&session, &contains("\n1000"), Evidence::Nothing))?;
    if let Some(plugin) = plugin {
        plugin.load(wright)?;
        for _ in 0..ASKERS {
            wright.start("session.wait", &wait(&session, &plugin.matcher(), Evidence::Nothing))?;
        }
    }
    let keys = type_keys(terminal);
    wright.call("session.close", &json!({"session": session}))?;
    plugin.map_or(Ok(()), |plugin| plugin.unload(wright))?;
    keys
}
