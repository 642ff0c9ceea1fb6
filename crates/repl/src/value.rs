//! JSON to Lua and back.

use mlua::{Lua, Table, Value as Lv};
use serde_json::{Map, Number, Value};

use crate::link::Fault;

/// How deep a table may be: what a server sends and takes is flat, and a circle must end.
const MAX_DEPTH: usize = 64;

/// Members that are lists: an empty table does not say which it is.
const LISTS: &[&str] =
    &["adapters", "args", "extra_literals", "extra_regexes", "permissions", "sessions"];

/// A JSON value as Lua has it; null is nothing.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> mlua::Result<Lv> {
    Ok(match value {
        Value::Null => Lv::Nil,
        Value::Bool(it) => Lv::Boolean(*it),
        Value::Number(it) => match it.as_i64() {
            Some(it) => Lv::Integer(it),
            None => Lv::Number(it.as_f64().unwrap_or_default()),
        },
        Value::String(it) => Lv::String(lua.create_string(it)?),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for item in items {
                table.raw_push(to_lua(lua, item)?)?;
            }
            Lv::Table(table)
        }
        Value::Object(members) => {
            let table = lua.create_table_with_capacity(0, members.len())?;
            for (name, member) in members {
                table.raw_set(name.as_str(), to_lua(lua, member)?)?;
            }
            Lv::Table(table)
        }
    })
}

/// A Lua value as JSON.
pub(crate) fn to_json(value: &Lv) -> Result<Value, Fault> {
    json(value, None, 0)
}

fn json(value: &Lv, name: Option<&str>, depth: usize) -> Result<Value, Fault> {
    let no = |what: &str| Err(Fault::usage(format!("{what} cannot be sent to a server")));
    match value {
        Lv::Nil => Ok(Value::Null),
        Lv::Boolean(it) => Ok((*it).into()),
        Lv::Integer(it) => Ok((*it).into()),
        Lv::Number(it) => match Number::from_f64(*it) {
            // `2.0` is a number of rows as well as `2` is.
            Some(_) if it.fract() == 0.0 && it.abs() < 1e15 => Ok((*it as i64).into()),
            Some(number) => Ok(Value::Number(number)),
            None => no("a number that is none"),
        },
        Lv::String(it) => Ok(it.to_string_lossy().into()),
        Lv::Table(_) if depth == MAX_DEPTH => no("a table that deep"),
        Lv::Table(it) => table(it, name, depth + 1),
        other => no(&format!("a {}", other.type_name())),
    }
}

fn table(table: &Table, name: Option<&str>, depth: usize) -> Result<Value, Fault> {
    let length = table.raw_len();
    let is_empty = table.pairs::<Lv, Lv>().next().is_none();
    if length > 0 || is_empty && name.is_some_and(|name| LISTS.contains(&name)) {
        let items = table.sequence_values::<Lv>();
        let items = items.map(|it| json(&it.unwrap_or(Lv::Nil), None, depth));
        return Ok(Value::Array(items.collect::<Result<_, _>>()?));
    }
    let mut members = Map::new();
    for pair in table.pairs::<Lv, Lv>() {
        let Ok((key, member)) = pair else { continue };
        let key = match &key {
            Lv::String(key) => key.to_string_lossy(),
            Lv::Integer(key) => key.to_string(),
            other => {
                let what = other.type_name();
                return Err(Fault::usage(format!("a key that is a {what} cannot be sent")));
            }
        };
        let member = json(&member, Some(&key), depth)?;
        members.insert(key, member);
    }
    // A matcher of several that has none is a list of none.
    let is_of_several = members.get("type").is_some_and(|it| it == "any" || it == "all");
    if let Some(value) = members.get_mut("value").filter(|_| is_of_several)
        && value.as_object().is_some_and(Map::is_empty)
    {
        *value = Value::Array(Vec::new());
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_comes_back_the_same() {
        let lua = Lua::new();
        for value in [
            json!({"a": [1, 2.5, "x", true, {"b": "c"}], "args": [], "d": {}}),
            json!("text"),
            json!({"type": "any", "value": []}),
            Value::Null,
        ] {
            assert_eq!(to_json(&to_lua(&lua, &value).unwrap()).unwrap(), value);
        }
    }

    #[test]
    fn what_has_no_form_in_json_is_named() {
        let lua = Lua::new();
        for code in ["return print", "local t = {} t.t = t return t", "return 0/0"] {
            let value: Lv = lua.load(code).eval().unwrap();
            assert!(matches!(to_json(&value), Err(Fault::Usage(_))), "{code}");
        }
        let whole: Lv = lua.load("return {rows = 48 / 2}").eval().unwrap();
        assert_eq!(to_json(&whole).unwrap(), json!({"rows": 24}));
    }
}
