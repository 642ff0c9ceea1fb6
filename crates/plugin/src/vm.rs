//! One Lua VM with one plugin in it.
//!
//! Lives on one thread (`worker`) and knows nothing of it. `prelude.lua` makes the sandbox out of the
//! standard libraries and of what `native` gives it.
//!
//! **Invariant:** Lua runs only between `Meter::start` and the end of a call.

mod native;
mod pattern;
mod strings;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mlua::{
    ChunkMode, Function, HookTriggers, Lua, LuaOptions, StdLib, Table, Value as LuaValue, VmState,
};
use serde_json::Value;

use crate::error::{Limit, PluginError, short};
use crate::limits::{
    CPU_AGAIN, CPU_MAX, FIRST_RUN, INSTRUCTIONS_PER_LOOK, INSTRUCTIONS_PER_LOOK_LARGE, LARGE,
    LEVELS_MAX, MEMORY_MAX, RUN,
};
use crate::meter::Meter;
use crate::package::Package;
use crate::sight::Sight;
use crate::value;

const PRELUDE: &str = include_str!("vm/prelude.lua");

/// What the file itself is called in errors.
const CHUNK: &str = "chunk";

/// A function of the plugin, and what it is given.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) input: Input,
}

/// What a function is given.
#[derive(Debug)]
pub(crate) enum Input {
    Nothing,
    Params(Value),
    Classify {
        sight: Sight,
        last_intent: Option<String>,
        stable_ms: Option<u64>,
        completed_turn_stable_ms: u64,
    },
    Predicate {
        sight: Sight,
        params: Value,
    },
}

impl Input {
    /// How much of the processor a call has before its first pause.
    fn first_run(&self) -> Duration {
        match self {
            Input::Nothing | Input::Params(_) | Input::Classify { .. } => FIRST_RUN,
            // Nobody waits for its answer alone, and many may be asked in a row.
            Input::Predicate { .. } => RUN,
        }
    }
}

pub(crate) struct Vm {
    lua: Lua,
    meter: Rc<Meter>,
    metatables: Table,
    exports: Table,
    package: Arc<Package>,
}

impl Vm {
    /// Runs the plugin's file and keeps what it returns.
    pub(crate) fn start(package: Arc<Package>) -> Result<Self, PluginError> {
        let (path, source) = package.entry()?;
        let meter = Rc::new(Meter::new());
        meter.start(FIRST_RUN, CPU_MAX);
        let failed = |error| failure(package.name(), CHUNK, &meter, &error);
        let (lua, metatables) = sandbox(&package, &meter).map_err(failed)?;
        let chunk = compile(&lua, path, source).map_err(failed)?;
        // A long file takes its time to compile, which is bounded by its length.
        meter.start(FIRST_RUN, CPU_MAX);
        let exports = match chunk.call(()).map_err(failed)? {
            LuaValue::Table(exports) => exports,
            other => {
                return Err(PluginError::Answer {
                    plugin: package.name().to_owned(),
                    function: CHUNK.to_owned(),
                    message: format!("{}, a table of functions is expected", other.type_name()),
                });
            }
        };
        Ok(Self { lua, meter, metatables, exports, package: Arc::clone(&package) })
    }

    /// Calls a function of the plugin; once more if its time was over before it did much.
    pub(crate) fn call(&self, call: &Call) -> Result<Value, PluginError> {
        self.meter.start(call.input.first_run(), CPU_MAX);
        let answer = self.attempt(call);
        // Predicates are asked again anyway, and by many.
        let is_predicate = matches!(call.input, Input::Predicate { .. });
        if answer.is_err() && self.meter.hardly_ran() && !is_predicate {
            self.meter.again(call.input.first_run(), CPU_AGAIN);
            return self.attempt(call);
        }
        answer
    }

    fn attempt(&self, call: &Call) -> Result<Value, PluginError> {
        let plugin = self.package.name();
        let watched = watch(&self.lua, &self.meter, &self.metatables, Looks::Seldom);
        if let Err(error) = watched {
            return Err(failure(plugin, &call.function, &self.meter, &error));
        }
        let function = match self.exports.raw_get(call.function.as_str()) {
            Ok(LuaValue::Function(function)) => function,
            Ok(_) => {
                return Err(PluginError::NoFunction {
                    plugin: plugin.to_owned(),
                    function: call.function.clone(),
                });
            }
            Err(error) => return Err(failure(plugin, &call.function, &self.meter, &error)),
        };
        self.run(&function, &call.input)
            .map_err(|error| failure(plugin, &call.function, &self.meter, &error))
    }

    fn run(&self, function: &Function, input: &Input) -> mlua::Result<Value> {
        let answer: LuaValue = match self.input(input)? {
            Some(input) => function.call(input)?,
            None => function.call(())?,
        };
        // A plugin that went over and caught everything still went over.
        self.meter.check()?;
        value::from_lua(&self.lua, &answer)
    }

    fn input(&self, input: &Input) -> mlua::Result<Option<LuaValue>> {
        Ok(Some(match input {
            Input::Nothing => return Ok(None),
            Input::Params(params) => self.params(params)?,
            Input::Classify { sight, last_intent, stable_ms, completed_turn_stable_ms } => {
                let table = sight.to_lua(&self.lua)?;
                table.raw_set("last_intent", last_intent.as_deref())?;
                table.raw_set("stable_ms", *stable_ms)?;
                table.raw_set("completed_turn_stable_ms", *completed_turn_stable_ms)?;
                LuaValue::Table(table)
            }
            Input::Predicate { sight, params } => {
                let table = sight.to_lua(&self.lua)?;
                table.raw_set("params", self.params(params)?)?;
                LuaValue::Table(table)
            }
        }))
    }

    /// Parameters are a table, even when there are none.
    fn params(&self, params: &Value) -> mlua::Result<LuaValue> {
        match params {
            Value::Null => Ok(LuaValue::Table(self.lua.create_table()?)),
            params => value::to_lua(&self.lua, params),
        }
    }

    /// The names of the functions the plugin exports.
    pub(crate) fn exported(&self) -> Vec<String> {
        let pairs = self.exports.pairs::<LuaValue, LuaValue>().flatten();
        pairs
            .filter_map(|(name, value)| match (name, value) {
                (LuaValue::String(name), LuaValue::Function(_)) => Some(name.to_string_lossy()),
                _ => None,
            })
            .take(crate::limits::NODES_MAX)
            .collect()
    }
}

/// A VM with nothing in it but what a plugin may have, and the metatables that the plugin will make.
fn sandbox(package: &Arc<Package>, meter: &Rc<Meter>) -> mlua::Result<(Lua, Table)> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    lua.set_memory_limit(MEMORY_MAX)?;
    let natives = native::table(&lua, package, meter)?;
    let (metatables, weak) = (lua.create_table()?, lua.create_table()?);
    weak.raw_set("__mode", "k")?;
    metatables.set_metatable(Some(weak))?;
    natives.raw_set("metatables", &metatables)?;
    let granted = lua.create_table()?;
    for permission in &package.manifest.permissions {
        granted.raw_set(permission.as_str(), true)?;
    }
    compile(&lua, "=greenroom", PRELUDE.as_bytes())?.call::<()>((natives, granted))?;
    watch(&lua, meter, &metatables, Looks::Seldom)?;
    Ok((lua, metatables))
}

/// How the meter looks at what runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// Every so many instructions.
    Seldom,
    /// More often: there is so much in memory that one may take long.
    Often,
    /// At each one, after a limit was broken: what still runs is what closes variables on the way out.
    Unwinding,
}

impl Looks {
    /// Instructions from one look to the next.
    fn every(self) -> u32 {
        match self {
            Looks::Seldom => INSTRUCTIONS_PER_LOOK,
            Looks::Often => INSTRUCTIONS_PER_LOOK_LARGE,
            Looks::Unwinding => 1,
        }
    }
}

/// Asks the meter about what runs.
///
/// What closes variables may be there thousands of times once a limit is broken: it is taken away.
fn watch(lua: &Lua, meter: &Rc<Meter>, metatables: &Table, looks: Looks) -> mlua::Result<()> {
    let (meter, metatables) = (Rc::clone(meter), metatables.clone());
    let triggers = HookTriggers::new().every_nth_instruction(looks.every());
    lua.set_global_hook(triggers, move |lua, _| {
        meter.spend(u64::from(looks.every())).map_err(|limit| {
            let unwinding = match looks {
                Looks::Seldom | Looks::Often => close_nothing(lua, &meter, &metatables),
                Looks::Unwinding => Ok(()),
            };
            unwinding.err().unwrap_or_else(|| limit.into())
        })?;
        if looks == Looks::Seldom && lua.used_memory() > LARGE {
            watch(lua, &meter, &metatables, Looks::Often)?;
        }
        if lua.inspect_stack(LEVELS_MAX, |_| ()).is_some() {
            return Err(mlua::Error::runtime(format!("stack overflow: {LEVELS_MAX} levels")));
        }
        Ok(VmState::Continue)
    })
}

fn close_nothing(lua: &Lua, meter: &Rc<Meter>, metatables: &Table) -> mlua::Result<()> {
    watch(lua, meter, metatables, Looks::Unwinding)?;
    metatables.for_each(|metatable: Table, _: bool| metatable.raw_set("__close", LuaValue::Nil))
}

/// Compiles a text; bytecode is refused.
fn compile(lua: &Lua, path: &str, source: &[u8]) -> mlua::Result<Function> {
    let name = if path.starts_with('=') { path.to_owned() } else { format!("@{path}") };
    lua.load(source).set_name(name).set_mode(ChunkMode::Text).into_function()
}

/// What a failed call is to its caller.
fn failure(plugin: &str, function: &str, meter: &Meter, error: &mlua::Error) -> PluginError {
    let (plugin, function) = (plugin.to_owned(), function.to_owned());
    let limit = meter.check().err().or_else(|| out_of_memory(error).then_some(Limit::Memory));
    match limit {
        Some(limit) => PluginError::Limit { plugin, function, limit },
        None => PluginError::Lua { plugin, function, message: message(error) },
    }
}

fn out_of_memory(error: &mlua::Error) -> bool {
    match error {
        mlua::Error::MemoryError(_) => true,
        mlua::Error::CallbackError { cause, .. } => out_of_memory(cause),
        _ => false,
    }
}

/// Lua's message, with the line of the plugin that it is about.
fn message(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { traceback, cause } => {
            let text = message(cause);
            // The host's functions do not know who called them.
            match traceback.lines().find_map(place) {
                Some(place) if !text.contains(".lua:") => short(&format!("{place}: {text}")),
                _ => text,
            }
        }
        mlua::Error::RuntimeError(text) => short(&told(text)),
        mlua::Error::SyntaxError { message, .. } => short(message),
        other => short(&other.to_string()),
    }
}

/// What Lua tells of an error. Of one that is no text that is an address, which helps nobody: then it is what it is, and
/// where it was raised.
fn told(text: &str) -> Cow<'_, str> {
    let first = text.lines().next().unwrap_or_default();
    let Some((kind, address)) = first.split_once(": 0x") else { return text.into() };
    let is_address = !address.is_empty() && address.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_address || !["table", "function", "thread", "userdata"].contains(&kind) {
        return text.into();
    }
    match text.lines().find_map(place) {
        Some(place) => format!("{place}: an error that is a {kind}").into(),
        None => format!("an error that is a {kind}").into(),
    }
}

/// The file and line of a traceback's entry, if it is a plugin's.
fn place(entry: &str) -> Option<&str> {
    let entry = entry.trim_start();
    let (place, _) = entry.split_once(": in ")?;
    let (path, _) = place.rsplit_once(':')?;
    path.ends_with(".lua").then_some(place)
}

#[cfg(test)]
mod tests;
