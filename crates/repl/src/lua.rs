//! The VM: what is typed becomes a chunk, and the names in it reach the server.
//!
//! The program gives Lua one function, `host`; `lua/prelude.lua` makes of it what people type. It is
//! the person's own console, so Lua has its usual libraries.

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Error as LuaError, Function, HookTriggers, Lua, MultiValue, Value as Lv, VmState};
use serde_json::Value;

use crate::Error;
use crate::console::{Given, House};
use crate::interrupt::Presses;
use crate::link::{Fault, Link};
use crate::show::show;
use crate::value::{to_json, to_lua};

/// How many instructions run before ctrl+c is looked at: a fraction of a millisecond.
const LOOK_EVERY: u32 = 10_000;

/// How a chunk is called in messages.
const CHUNK: &str = "=repl";

/// The VM with everything it can reach.
pub(crate) struct Console {
    pub(crate) lua: Lua,
    run: Function,
    pub(crate) house: Rc<House>,
    pub(crate) presses: Arc<Presses>,
}

/// What became of a piece of Lua.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Evaluated {
    /// Its results, as they are shown.
    Done(Vec<String>),
    /// It is not whole yet.
    Incomplete,
    /// Why not.
    Failed(String),
}

impl Console {
    pub(crate) fn new(link: Link, presses: Arc<Presses>) -> Result<Console, Error> {
        let house = Rc::new(House::new(link));
        let lua = Lua::new();
        let run = prepare(&lua, &house, &presses).map_err(|error| Error::Lua(error.to_string()))?;
        Ok(Console { lua, run, house, presses })
    }

    /// Runs a piece of Lua: an expression, whose values are the results, or statements.
    pub(crate) fn evaluate(&self, text: &str) -> Evaluated {
        let compiled = self.compile(&format!("return {text}"));
        let compiled =
            compiled.or_else(|_| self.compile_last(text)).or_else(|_| self.compile(text));
        let chunk = match compiled {
            Ok(chunk) => chunk,
            Err(LuaError::SyntaxError { incomplete_input: true, .. }) => {
                return Evaluated::Incomplete;
            }
            Err(LuaError::SyntaxError { message, .. }) => return Evaluated::Failed(message),
            Err(other) => return Evaluated::Failed(other.to_string()),
        };
        match self.run.call::<MultiValue>(chunk) {
            Ok(mut results) => match results.pop_front() {
                Some(Lv::Boolean(true)) => Evaluated::Done(results.iter().map(show).collect()),
                _ => Evaluated::Failed(results.front().map(first_line).unwrap_or_default()),
            },
            Err(error) => Evaluated::Failed(error.to_string()),
        }
    }

    /// Statements, and behind the last semicolon an expression, whose values are the results.
    fn compile_last(&self, text: &str) -> mlua::Result<Function> {
        match text.rsplit_once(';') {
            // The semicolon may be inside a text; then what is before it is not whole.
            Some((before, last)) if !last.trim().is_empty() && self.compile(before).is_ok() => {
                self.compile(&format!("{before}; return {last}"))
            }
            _ => self.compile(text),
        }
    }

    fn compile(&self, text: &str) -> mlua::Result<Function> {
        self.lua.load(text).set_name(CHUNK).into_function()
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.house.link.close();
    }
}

/// An error's text without the trace through our own functions.
fn first_line(error: &Lv) -> String {
    let text = show(error);
    let text = text.split("\nstack traceback").next().unwrap_or_default();
    text.strip_prefix("runtime error: ").unwrap_or(text).to_owned()
}

/// Fills a VM; gives the function that runs a chunk.
fn prepare(lua: &Lua, house: &Rc<House>, presses: &Arc<Presses>) -> mlua::Result<Function> {
    let pressed = Arc::clone(presses);
    // Of all coroutines, too.
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(LOOK_EVERY), move |_, _| {
        match pressed.take() || pressed.is_stop() {
            true => Err(interrupted()),
            false => Ok(VmState::Continue),
        }
    })?;
    let (house, pressed) = (Rc::clone(house), Arc::clone(presses));
    let host = lua.create_function(
        move |lua, (name, tab, rest): (String, Option<String>, MultiValue)| {
            let answer = match pressed.is_stop() {
                true => Err(Fault::Interrupted),
                false => arguments(&rest).and_then(|rest| house.call(&name, tab.as_deref(), &rest)),
            };
            to_results(lua, answer)
        },
    )?;
    let pressed = Arc::clone(presses);
    let go_on = lua.create_function(move |_, ()| match pressed.is_stop() {
        true => Err(interrupted()),
        false => Ok(()),
    })?;
    let print = lua.create_function(|_, text: String| {
        crate::console::say(&crate::plain::plain(&text))
            .map_err(|fault| LuaError::runtime(fault_text(&fault)))
    })?;
    lua.load(include_str!("lua/prelude.lua")).set_name("=prelude").call((host, print, go_on))
}

fn interrupted() -> LuaError {
    LuaError::runtime("interrupted")
}

fn arguments(values: &MultiValue) -> Result<Vec<Value>, Fault> {
    values.iter().map(to_json).collect()
}

/// What the prelude expects: true and a value, or false and what went wrong.
fn to_results(lua: &Lua, answer: Result<Given, Fault>) -> mlua::Result<MultiValue> {
    let (ok, value) = match answer {
        Ok(Given::Nothing) => return Ok(MultiValue::from_vec(vec![Lv::Boolean(true)])),
        Ok(Given::Value(value)) => (true, to_lua(lua, &value)?),
        Err(fault) => (false, to_lua(lua, &fault_to_json(fault))?),
    };
    Ok(MultiValue::from_vec(vec![Lv::Boolean(ok), value]))
}

/// What went wrong, for people.
pub(crate) fn fault_text(fault: &Fault) -> String {
    let json = fault_to_json(fault.clone());
    let message = json["message"].as_str().unwrap_or_default();
    match json["code"].as_i64() {
        Some(code) => format!("{message} ({code})"),
        None => message.to_owned(),
    }
}

fn fault_to_json(fault: Fault) -> Value {
    let text = match fault {
        Fault::Server(error) => {
            let message = crate::plain::plain(&error.message);
            return serde_json::json!({"code": error.code, "message": message, "data": error.data});
        }
        Fault::Usage(text) => text,
        Fault::Lost => crate::notes::LOST.to_owned(),
        Fault::Interrupted => "interrupted".to_owned(),
        Fault::Output(why) => format!("writing to standard output: {why}"),
    };
    serde_json::json!({ "message": text })
}
