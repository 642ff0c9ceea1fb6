//! What the prelude gets from the host.

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, Table, Value as LuaValue, Variadic};

use super::{compile, message, strings};
use crate::error::short;
use crate::limits::{BYTES_MAX, LOG_MAX};
use crate::meter::Meter;
use crate::package::Package;
use crate::value;

/// Bytes that a native function reads in the time of one instruction, about.
pub(super) const BYTES_PER_INSTRUCTION: u64 = 8;

/// The functions, by the names that `prelude.lua` uses.
pub(super) fn table(lua: &Lua, package: &Arc<Package>, meter: &Rc<Meter>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    metering(lua, meter, &table)?;
    json(lua, meter, &table)?;
    modules(lua, package, meter, &table)?;
    table.raw_set("log", log(lua, package, meter)?)?;
    table.raw_set("string", strings::table(lua, meter)?)?;
    Ok(table)
}

fn metering(lua: &Lua, meter: &Rc<Meter>, table: &Table) -> mlua::Result<()> {
    let checked = Rc::clone(meter);
    table.raw_set("check", lua.create_function(move |_, ()| Ok(checked.check()?))?)?;
    let spent = Rc::clone(meter);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let spend = move |_: &Lua, count: f64| Ok(spent.spend(count as u64)?);
    table.raw_set("spend", lua.create_function(spend)?)?;
    let told = |_: &Lua, error: LuaValue| {
        Ok(error.as_error().map_or_else(|| "unknown error".to_owned(), message))
    };
    table.raw_set("message", lua.create_function(told)?)
}

fn json(lua: &Lua, meter: &Rc<Meter>, table: &Table) -> mlua::Result<()> {
    let empty = value::prepare(lua)?;
    let list = move |_: &Lua, list: Table| {
        if list.is_empty() {
            list.set_metatable(Some(empty.clone()))?;
        }
        Ok(list)
    };
    table.raw_set("list", lua.create_function(list)?)?;
    table.raw_set("null", LuaValue::NULL)?;
    let metered = Rc::clone(meter);
    let encode = move |lua: &Lua, it: LuaValue| {
        let text = value::from_lua(lua, &it)?.to_string();
        metered.spend(text.len() as u64 / BYTES_PER_INSTRUCTION)?;
        Ok(text)
    };
    table.raw_set("encode", lua.create_function(encode)?)?;
    let metered = Rc::clone(meter);
    let decode = move |lua: &Lua, text: mlua::String| {
        let text = text.as_bytes();
        metered.spend(text.len() as u64 / BYTES_PER_INSTRUCTION)?;
        if text.len() > BYTES_MAX {
            return Err(mlua::Error::runtime(format!("more than {BYTES_MAX} bytes of JSON")));
        }
        let it = serde_json::from_slice(&text).map_err(mlua::Error::runtime)?;
        value::to_lua(lua, &it)
    };
    table.raw_set("decode", lua.create_function(decode)?)
}

fn modules(
    lua: &Lua,
    package: &Arc<Package>,
    meter: &Rc<Meter>,
    table: &Table,
) -> mlua::Result<()> {
    let (package, metered) = (Arc::clone(package), Rc::clone(meter));
    let chunk = move |lua: &Lua, name: String| {
        let Some((path, source)) = package.module(&name) else {
            return Ok((None, Some(format!("no module `{}` in the plugin", short(&name)))));
        };
        metered.spend(source.len() as u64)?;
        Ok((Some(compile(lua, path, source)?), None))
    };
    table.raw_set("chunk", lua.create_function(chunk)?)
}

/// Logs its arguments. What is too long is cut, what is too much is dropped.
fn log(lua: &Lua, package: &Arc<Package>, meter: &Rc<Meter>) -> mlua::Result<mlua::Function> {
    let (package, metered) = (Arc::clone(package), Rc::clone(meter));
    lua.create_function(move |_, values: Variadic<LuaValue>| {
        if metered.may_log() {
            let texts: Vec<String> = values.iter().take(LOG_MAX).map(shown).collect();
            let text = texts.join(" ");
            let text = &text[..text.floor_char_boundary(LOG_MAX)];
            tracing::info!(target: "greenroom::plugin", plugin = package.name(), text);
        }
        Ok(())
    })
}

/// A value as text. No metamethod runs.
fn shown(value: &LuaValue) -> String {
    match value {
        LuaValue::String(text) => {
            let text = text.as_bytes();
            String::from_utf8_lossy(&text[..text.len().min(LOG_MAX)]).into_owned()
        }
        LuaValue::Nil => "nil".to_owned(),
        LuaValue::Boolean(it) => it.to_string(),
        LuaValue::Integer(it) => it.to_string(),
        LuaValue::Number(it) => it.to_string(),
        other => other.type_name().to_owned(),
    }
}
