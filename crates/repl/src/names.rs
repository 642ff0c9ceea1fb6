//! What Lua has by a name, for completion: looked up without running anything.

use mlua::{Lua, Table, Value};

/// How far names are looked for behind `__index`: more than anybody nests, and a circle ends.
const INDEX_MAX: usize = 8;

/// The name of the metatable of tabs (`lua/prelude.lua`).
const TAB: &str = "tab";

/// The names of what is there.
pub(crate) fn globals(lua: &Lua) -> Vec<String> {
    let mut names = Vec::new();
    add_names(&lua.globals(), false, &mut names);
    names
}

/// What a path such as `a.b` leads to.
pub(crate) fn find(lua: &Lua, path: &str) -> Option<Value> {
    let mut names = path.split('.');
    let mut found: Value = lua.globals().raw_get(names.next()?).ok()?;
    for name in names {
        let mut tables = tables(lua, &found).into_iter();
        found = tables.find_map(|it| it.raw_get(name).ok().filter(|it: &Value| !it.is_nil()))?;
    }
    Some(found).filter(|it| !it.is_nil())
}

/// What can stand behind a value: behind a colon what can be called, else anything.
pub(crate) fn members(lua: &Lua, value: &Value, only_functions: bool) -> Vec<String> {
    let mut names = Vec::new();
    for table in tables(lua, value) {
        add_names(&table, only_functions, &mut names);
    }
    names
}

/// A tab's plugin, if this is a tab and it has one.
pub(crate) fn plugin(value: &Value) -> Option<String> {
    is_tab(value).then(|| value.as_table()?.raw_get("plugin").ok()).flatten()
}

/// Whether this is a tab.
pub(crate) fn is_tab(value: &Value) -> bool {
    let metatable = value.as_table().and_then(Table::metatable);
    metatable.and_then(|it| it.raw_get::<String>("__name").ok()).is_some_and(|it| it == TAB)
}

/// The tables in which Lua looks for a member of a value.
fn tables(lua: &Lua, value: &Value) -> Vec<Table> {
    let first = match value {
        Value::Table(table) => Some(table.clone()),
        Value::String(_) => lua.globals().raw_get("string").ok(),
        _ => None,
    };
    let next = |table: &Table| table.metatable()?.raw_get::<Table>("__index").ok();
    std::iter::successors(first, next).take(INDEX_MAX).collect()
}

fn add_names(table: &Table, only_functions: bool, names: &mut Vec<String>) {
    for (key, value) in table.pairs::<Value, Value>().flatten() {
        let Value::String(key) = key else { continue };
        let key = key.to_string_lossy();
        // What Lua itself looks for is nothing to type.
        if is_name(&key) && !key.starts_with("__") && (value.is_function() || !only_functions) {
            names.push(key);
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}
