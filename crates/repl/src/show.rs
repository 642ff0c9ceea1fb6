//! Lua values as text for people: tables as one would write them, keys in order.

use std::cell::Cell;

use mlua::{Table, Value};

use crate::plain::plain;

/// How wide a table may be on one line.
const WIDTH: usize = 80;

/// How deep tables are shown, which ends circles, too.
const DEPTH: usize = 8;

/// How many items of a table are shown.
const ITEMS: usize = 200;

/// How many items are shown in all: what is more nobody reads.
const ALL_ITEMS: usize = 5000;

/// How many characters of a text in a table are shown; the text alone is shown whole.
const TEXT_CHARS: usize = 2000;

/// A result as it is shown: a text as it is, everything else as it would be written.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => plain(&text.to_string_lossy()),
        other => written(other, 0, &Cell::new(ALL_ITEMS)),
    }
}

fn written(value: &Value, depth: usize, left: &Cell<usize>) -> String {
    left.set(left.get().saturating_sub(1));
    match value {
        Value::String(text) => quoted(&text.to_string_lossy()),
        Value::Table(table) if !has_own_text(table) => table_text(table, depth, left),
        // Of a table with a text of its own, a function and so on.
        other => plain(&other.to_string().unwrap_or_else(|_| other.type_name().to_owned())),
    }
}

fn has_own_text(table: &Table) -> bool {
    table.metatable().is_some_and(|it| it.contains_key("__tostring").unwrap_or(false))
}

fn table_text(table: &Table, depth: usize, left: &Cell<usize>) -> String {
    if depth == DEPTH || left.get() == 0 {
        return "{…}".to_owned();
    }
    let length = table.raw_len();
    let list = table.sequence_values::<Value>().flatten().map(|it| written(&it, depth + 1, left));
    let mut named: Vec<(String, Value)> = table
        .pairs::<Value, Value>()
        .flatten()
        .filter(|(key, _)| !is_in_list(key, length))
        .map(|(key, value)| (key_text(&key), value))
        .collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    let named = named.into_iter().map(|(key, value)| {
        let value = written(&value, depth + 1, left);
        format!("{key} = {value}")
    });
    let mut items: Vec<String> = list.chain(named).collect();
    if items.len() > ITEMS {
        let more = items.len() - ITEMS;
        items.truncate(ITEMS);
        items.push(format!("… {more} more"));
    }
    if items.is_empty() {
        return "{}".to_owned();
    }
    let wide: usize = items.iter().map(|it| it.chars().count() + 2).sum();
    if wide + 2 * depth <= WIDTH && !items.iter().any(|it| it.contains('\n')) {
        return format!("{{ {} }}", items.join(", "));
    }
    let gap = "  ".repeat(depth + 1);
    let lines: String = items.iter().map(|it| format!("{gap}{it},\n")).collect();
    format!("{{\n{lines}{}}}", "  ".repeat(depth))
}

fn is_in_list(key: &Value, length: usize) -> bool {
    key.as_usize().is_some_and(|it| (1..=length).contains(&it))
}

fn key_text(key: &Value) -> String {
    match key {
        Value::String(name) => {
            let name = name.to_string_lossy();
            let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
                && name.starts_with(|it: char| !it.is_ascii_digit());
            if is_name { name } else { format!("[{}]", quoted(&name)) }
        }
        other => format!("[{}]", written(other, DEPTH, &Cell::new(0))),
    }
}

/// A text in quotes, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for (index, letter) in text.chars().enumerate() {
        if index == TEXT_CHARS {
            out.push('…');
            break;
        }
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use mlua::Lua;

    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &str) {
        let lua = Lua::new();
        let value: Value = lua.load(code).eval().unwrap();
        assert_eq!(show(&value), expected, "{code}");
    }

    #[test]
    fn values_are_shown_as_one_would_write_them() {
        check("return 'a\\27[1mb\\nc'", "ab\nc");
        check("return 5, 6", "5");
        check("return nil", "nil");
        check("return {}", "{}");
        check(
            "return {1, 'x', b = true, a = {c = 'q\"'}}",
            r#"{ 1, "x", a = { c = "q\"" }, b = true }"#,
        );
        check("return {['two words'] = 1, [true] = 2}", r#"{ ["two words"] = 1, [true] = 2 }"#);
        check("return setmetatable({}, {__tostring = function() return 'own' end})", "own");
        check(
            "return {text = string.rep('x', 90), n = 1}",
            &format!("{{\n  n = 1,\n  text = \"{}\",\n}}", "x".repeat(90)),
        );
    }

    #[test]
    fn a_circle_ends() {
        let lua = Lua::new();
        let value: Value = lua.load("local t = {} t.t = t return t").eval().unwrap();
        assert!(show(&value).contains('…'));
        let many = "local t = {} for i = 1, 200 do t[i] = t end return t";
        let value: Value = lua.load(many).eval().unwrap();
        assert!(show(&value).len() < 1 << 20);
    }
}
