//! A person at a terminal: a line editor with history and completion, notes above the prompt.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::thread;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, ExternalPrinter, Helper};

use crate::catalog::Catalog;
use crate::complete::{self, Words};
use crate::console::{House, Kind, say};
use crate::history::History;
use crate::lua::Console;
use crate::meta::Next;
use crate::notes::Note;
use crate::script::{Run, run_text};
use crate::{Error, Options};

/// How many lines are remembered.
const HISTORY_MAX: usize = 2000;

/// What stands before the rest of something unfinished.
const MORE: &str = "... ";

pub(crate) type Lines = Editor<Tab, FileHistory>;

/// Tells a person something; a terminal that is gone will be noticed where it is read.
pub(crate) fn tell_person(text: &str) {
    say(text).unwrap_or_default();
}

/// Tells a person that the server takes its time.
pub(crate) fn wait_for_server(options: &Options) {
    if options.is_interactive {
        tell_person("the server has not answered yet; ctrl+c ends the console");
    }
}

/// Talks with a person until they have had enough.
pub(crate) fn run(
    console: &Console,
    options: &Options,
    notes: Receiver<Note>,
) -> Result<(), Error> {
    let words = Words {
        lua: console.lua.clone(),
        ids: Vec::new(),
        catalog: Catalog::default(),
        plugin: None,
    };
    let words = Rc::new(RefCell::new(words));
    let mut lines = editor(Tab { words: Rc::clone(&words), house: Rc::clone(&console.house) })
        .map_err(unreadable)?;
    if let Ok(printer) = lines.create_external_printer() {
        let tell = move || tell(&notes, printer);
        let failed = Error::system("starting a thread");
        thread::Builder::new().name("notes".to_owned()).spawn(tell).map_err(failed)?;
    }
    let mut history = options.history.as_deref().and_then(|path| History::open(path, &mut lines));
    learn(console);
    console.presses.end();
    tell_person("a Lua console; :help shows what there is, :tips how it is used, :quit ends it");
    let mut pending = String::new();
    loop {
        if console.house.link.is_newly_lost() {
            tell_person(console.house.link.lost_text());
        }
        refresh(console, &mut words.borrow_mut());
        let prompt = if pending.is_empty() { prompt(console) } else { MORE.to_owned() };
        match lines.readline(&prompt) {
            Ok(line) => pending.push_str(&line),
            Err(ReadlineError::Interrupted) => {
                pending.clear();
                continue;
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(other) => return Err(unreadable(other)),
        }
        match run_text(console, &pending) {
            Ok(Run::Incomplete) => {
                pending.push('\n');
                continue;
            }
            Ok(Run::Next(Next::GoOn)) => {}
            Ok(Run::Next(Next::Quit)) => return Ok(()),
            Err(text) => {
                // Behind the terminal's own echo of ctrl+c.
                let gap = if console.presses.is_any() { "\n" } else { "" };
                tell_person(&format!("{gap}error: {text}"));
            }
        }
        remember(&mut lines, &pending, &mut history);
        pending.clear();
    }
}

fn editor(tab: Tab) -> rustyline::Result<Lines> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .max_history_size(HISTORY_MAX)?
        .history_ignore_space(true)
        .build();
    let mut lines = Lines::with_config(config)?;
    lines.set_helper(Some(tab));
    Ok(lines)
}

fn unreadable(error: ReadlineError) -> Error {
    Error::System { doing: "reading a line", source: io::Error::other(error) }
}

fn remember(lines: &mut Lines, text: &str, history: &mut Option<History<'_>>) {
    let added = lines.add_history_entry(text.trim_end()).unwrap_or(false);
    if added && history.as_ref().is_some_and(|it| !it.add(lines)) {
        *history = None;
    }
}

fn prompt(console: &Console) -> String {
    let focused = console.house.focused.borrow();
    format!("{}> ", focused.as_deref().unwrap_or_default())
}

/// Shows notes above the prompt.
fn tell(notes: &Receiver<Note>, mut printer: impl ExternalPrinter) {
    for line in notes.iter().filter_map(|note| note.line()) {
        if printer.print(format!("{line}\n")).is_err() {
            return;
        }
    }
}

/// Asks the server what its plugins offer; completion is worth no error.
fn learn(console: &Console) {
    for plugin in console.house.plugin_names().unwrap_or_default() {
        console.house.learn(&plugin).unwrap_or_default();
    }
}

/// Brings what can be completed up to date.
fn refresh(console: &Console, words: &mut Words) {
    let house = &console.house;
    words.catalog = house.catalog.borrow().clone();
    words.ids = house.tabs.borrow().iter().map(|tab| tab.id.clone()).collect();
    words.plugin = house.meant(None).ok().and_then(|tab| match tab.kind {
        Kind::Adapter { plugin, .. } => Some(plugin),
        Kind::Session { .. } => None,
    });
}

/// What the editor asks when Tab is pressed.
pub(crate) struct Tab {
    words: Rc<RefCell<Words>>,
    house: Rc<House>,
}

impl Tab {
    /// Adds what could become a tab: it may have begun in another console.
    fn learn_live(&self) {
        let adapters = self.house.live().unwrap_or_default();
        let adapters = adapters.into_iter().map(|it| it["adapter"].clone());
        let all = adapters.chain(self.house.sessions().unwrap_or_default());
        let ids = all.filter_map(|it| it.as_str().map(str::to_owned));
        self.words.borrow_mut().ids.extend(ids);
    }
}

impl Completer for Tab {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..position).unwrap_or(line);
        if begun.trim_start().starts_with(":attach ") {
            self.learn_live();
        }
        Ok(complete::complete(begun, &self.words.borrow()))
    }
}

impl Hinter for Tab {
    type Hint = String;
}

impl Highlighter for Tab {}

impl Validator for Tab {}

impl Helper for Tab {}
