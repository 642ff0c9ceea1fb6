//! JSON to Lua and back, within bounds.
//!
//! A `null` member is left out of its table, as `nil` is in Lua; in a list it is `ptywright.json.null`,
//! so that the list keeps its length. An empty list has a metatable that says so; any other empty
//! table is an object. Text that is not UTF-8 is mended: plugins cut strings between bytes.

use mlua::{Lua, Table, Value as LuaValue};
use serde_json::{Map, Number, Value};

use crate::limits::{BYTES_MAX, DEPTH_MAX, NODES_MAX};

/// Where a VM keeps the metatable of empty lists.
const LIST: &str = "greenroom.list";

/// What is still allowed of one value.
struct Room {
    nodes: usize,
    bytes: usize,
}

impl Room {
    fn new() -> Self {
        Self { nodes: NODES_MAX, bytes: BYTES_MAX }
    }

    fn take(&mut self, depth: usize, bytes: usize) -> mlua::Result<()> {
        if depth > DEPTH_MAX {
            return Err(mlua::Error::runtime(format!("a value nested deeper than {DEPTH_MAX}")));
        }
        self.nodes = self.nodes.checked_sub(1).ok_or_else(|| {
            mlua::Error::runtime(format!("a value of more than {NODES_MAX} parts"))
        })?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            mlua::Error::runtime(format!("a value of more than {BYTES_MAX} bytes"))
        })?;
        Ok(())
    }
}

/// Makes the metatable of empty lists. Once per VM.
pub(crate) fn prepare(lua: &Lua) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    list.raw_set("__metatable", "list")?;
    lua.set_named_registry_value(LIST, &list)?;
    Ok(list)
}

/// Gives Lua a JSON value.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> mlua::Result<LuaValue> {
    let list = lua.named_registry_value(LIST)?;
    give(lua, value, &list, 0, &mut Room::new())
}

fn give(
    lua: &Lua,
    value: &Value,
    list: &Table,
    depth: usize,
    room: &mut Room,
) -> mlua::Result<LuaValue> {
    room.take(depth, value.as_str().map_or(0, str::len))?;
    Ok(match value {
        Value::Null => LuaValue::NULL,
        Value::Bool(it) => LuaValue::Boolean(*it),
        Value::Number(it) => match it.as_i64() {
            Some(whole) => LuaValue::Integer(whole),
            None => LuaValue::Number(it.as_f64().unwrap_or_default()),
        },
        Value::String(it) => LuaValue::String(lua.create_string(it)?),
        Value::Array(entries) => {
            let table = lua.create_table_with_capacity(entries.len().min(NODES_MAX), 0)?;
            for (at, entry) in (1..).zip(entries) {
                table.raw_seti(at, give(lua, entry, list, depth + 1, room)?)?;
            }
            if entries.is_empty() {
                table.set_metatable(Some(list.clone()))?;
            }
            LuaValue::Table(table)
        }
        Value::Object(members) => {
            let table = lua.create_table_with_capacity(0, members.len().min(NODES_MAX))?;
            for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                room.take(depth, name.len())?;
                table.raw_set(name.as_str(), give(lua, member, list, depth + 1, room)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

/// Takes a value from Lua. No metamethod runs.
pub(crate) fn from_lua(lua: &Lua, value: &LuaValue) -> mlua::Result<Value> {
    let list = lua.named_registry_value(LIST)?;
    take(value, &list, 0, &mut Room::new())
}

fn take(value: &LuaValue, list: &Table, depth: usize, room: &mut Room) -> mlua::Result<Value> {
    room.take(depth, 0)?;
    Ok(match value {
        LuaValue::Nil => Value::Null,
        it if it.is_null() => Value::Null,
        LuaValue::Boolean(it) => Value::Bool(*it),
        LuaValue::Integer(it) => Value::from(*it),
        LuaValue::Number(it) => {
            Value::Number(Number::from_f64(*it).ok_or_else(|| {
                mlua::Error::runtime("a number that is not finite has no JSON form")
            })?)
        }
        LuaValue::String(it) => {
            room.take(depth, it.as_bytes().len())?;
            Value::String(it.to_string_lossy())
        }
        LuaValue::Table(table) => table_value(table, list, depth, room)?,
        other => {
            let kind = other.type_name();
            return Err(mlua::Error::runtime(format!("a {kind} has no JSON form")));
        }
    })
}

/// A list if its keys are 1 to n, an object if they are all text.
fn table_value(table: &Table, list: &Table, depth: usize, room: &mut Room) -> mlua::Result<Value> {
    let length = table.raw_len();
    if length == 0 && table.metatable().is_some_and(|it| it == *list) && table.is_empty() {
        return Ok(Value::Array(vec![]));
    }
    let mut entries = Vec::new();
    let mut members = Map::new();
    table.for_each(|key: LuaValue, entry: LuaValue| {
        match key {
            LuaValue::String(name) => {
                room.take(depth, name.as_bytes().len())?;
                members.insert(name.to_string_lossy(), take(&entry, list, depth + 1, room)?);
            }
            LuaValue::Integer(at) => entries.push((at, take(&entry, list, depth + 1, room)?)),
            _ => return Err(mlua::Error::runtime("a table key is neither text nor a position")),
        }
        Ok(())
    })?;
    if entries.is_empty() {
        return Ok(Value::Object(members));
    }
    entries.sort_by_key(|(at, _)| *at);
    if !members.is_empty() || !(1..).zip(&entries).all(|(place, (at, _))| place == *at) {
        return Err(mlua::Error::runtime(
            "a list with gaps, or with names in it, has no JSON form",
        ));
    }
    Ok(Value::Array(entries.into_iter().map(|(_, entry)| entry).collect()))
}

#[cfg(test)]
mod tests;
