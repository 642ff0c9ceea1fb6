//! The functions of `string` that could run for ever, rewritten so that they cannot.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Error, Lua, MultiValue, String as LuaString, Table, Value as LuaValue};

use super::native::BYTES_PER_INSTRUCTION;
use super::pattern::{BYTES_PER_STEP, Captured, Matcher, SPECIAL};
use crate::limits::STRING_MAX;
use crate::meter::Meter;

/// The functions, by their names in `string`.
pub(super) fn table(lua: &Lua, meter: &Rc<Meter>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let it = Rc::clone(meter);
    let find = move |lua: &Lua, (text, pattern, init, plain): FindArgs| {
        find(lua, &it, &text, &pattern, init, Some(plain.unwrap_or(false)))
    };
    table.raw_set("find", lua.create_function(find)?)?;
    let it = Rc::clone(meter);
    let matched = move |lua: &Lua, (text, pattern, init, _): FindArgs| {
        self::find(lua, &it, &text, &pattern, init, None)
    };
    table.raw_set("match", lua.create_function(matched)?)?;
    let it = Rc::clone(meter);
    let gmatch = move |lua: &Lua, (text, pattern, init): (LuaString, LuaString, Option<i64>)| {
        gmatch(lua, Rc::clone(&it), text, pattern, init)
    };
    table.raw_set("gmatch", lua.create_function(gmatch)?)?;
    let it = Rc::clone(meter);
    let gsub = move |lua: &Lua, args: GsubArgs| gsub(lua, &it, &args);
    table.raw_set("gsub", lua.create_function(gsub)?)?;
    let it = Rc::clone(meter);
    let rep = move |lua: &Lua, (text, count, separator): (LuaString, i64, Option<LuaString>)| {
        rep(lua, &it, &text.as_bytes(), count, separator.as_ref())
    };
    table.raw_set("rep", lua.create_function(rep)?)?;
    Ok(table)
}

type FindArgs = (LuaString, LuaString, Option<i64>, Option<bool>);
type GsubArgs = (LuaString, LuaString, LuaValue, Option<i64>);

/// `find` if `plain` is given, else `match`.
fn find(
    lua: &Lua,
    meter: &Meter,
    text: &LuaString,
    pattern: &LuaString,
    init: Option<i64>,
    plain: Option<bool>,
) -> mlua::Result<MultiValue> {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let nothing = || Ok(MultiValue::from_vec(vec![LuaValue::Nil]));
    let Some(init) = offset(init, text.len()) else { return nothing() };
    if plain.is_some_and(|plain| plain || !pattern.iter().any(|it| SPECIAL.contains(it))) {
        meter.step((text.len() - init + pattern.len()) / BYTES_PER_STEP)?;
        let found = memchr::memmem::find(&text[init..], &pattern).map(|at| init + at);
        return match found {
            Some(at) => lua.pack_multi((at + 1, at + pattern.len())),
            None => nothing(),
        };
    }
    let (anchored, pattern) = unanchored(&pattern);
    let mut matcher = Matcher::new(&text, pattern, meter);
    let found = match anchored {
        true => matcher.at(init)?.map(|end| (init, end)),
        false => matcher.from(init)?,
    };
    let Some((start, end)) = found else { return nothing() };
    let mut values = MultiValue::new();
    if plain.is_some() {
        values.push_back(lua.pack(start + 1)?);
        values.push_back(lua.pack(end)?);
    }
    captures(lua, &matcher, start, end, plain.is_none(), &mut values)?;
    Ok(values)
}

fn unanchored(pattern: &[u8]) -> (bool, &[u8]) {
    pattern.strip_prefix(b"^").map_or((false, pattern), |rest| (true, rest))
}

/// Where a search begins; none if that is past the end.
fn offset(init: Option<i64>, length: usize) -> Option<usize> {
    let init = init.unwrap_or(1);
    let from_end = || usize::try_from(init.unsigned_abs()).unwrap_or(usize::MAX);
    let at = match init {
        1.. => usize::try_from(init - 1).unwrap_or(usize::MAX),
        0 => 0,
        _ => length.saturating_sub(from_end()),
    };
    (at <= length).then_some(at)
}

fn captures(
    lua: &Lua,
    matcher: &Matcher<'_>,
    start: usize,
    end: usize,
    whole_if_none: bool,
    values: &mut MultiValue,
) -> mlua::Result<()> {
    for index in 0..matcher.count(whole_if_none) {
        values.push_back(capture(lua, matcher, index, start, end)?);
    }
    Ok(())
}

fn capture(
    lua: &Lua,
    matcher: &Matcher<'_>,
    index: usize,
    start: usize,
    end: usize,
) -> mlua::Result<LuaValue> {
    match matcher.capture(index, start, end)? {
        Captured::Text(text) => lua.pack(lua.create_string(text)?),
        Captured::Position(at) => lua.pack(at),
    }
}

fn gmatch(
    lua: &Lua,
    meter: Rc<Meter>,
    text: LuaString,
    pattern: LuaString,
    init: Option<i64>,
) -> mlua::Result<mlua::Function> {
    let next = Cell::new(offset(init, text.as_bytes().len()));
    let last = Cell::new(None);
    lua.create_function(move |lua, ()| {
        let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
        let mut values = MultiValue::new();
        let Some(from) = next.get() else { return Ok(values) };
        let mut matcher = Matcher::new(&text, &pattern, &meter);
        let mut from = from;
        while let Some((start, end)) = matcher.from(from)? {
            if last.get() != Some(end) {
                next.set(Some(end));
                last.set(Some(end));
                captures(lua, &matcher, start, end, true, &mut values)?;
                return Ok(values);
            }
            from = start + 1;
        }
        next.set(None);
        Ok(values)
    })
}

fn gsub(
    lua: &Lua,
    meter: &Meter,
    (text, pattern, replacement, most): &GsubArgs,
) -> mlua::Result<(LuaString, i64)> {
    let replacement = match replacement {
        it @ (LuaValue::Table(_) | LuaValue::Function(_)) => it.clone(),
        it => match lua.coerce_string(it.clone())? {
            Some(text) => LuaValue::String(text),
            None => {
                let got = it.type_name();
                let why = format!(
                    "bad argument #3 to 'gsub' (string/function/table expected, got {got})"
                );
                return Err(Error::runtime(why));
            }
        },
    };
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let (anchored, pattern) = unanchored(&pattern);
    let mut matcher = Matcher::new(&text, pattern, meter);
    let mut made = Vec::with_capacity(text.len());
    let (mut at, mut last, mut count) = (0, None, 0);
    while most.is_none_or(|most| count < most) {
        match matcher.at(at)? {
            Some(end) if last != Some(end) => {
                count += 1;
                replace(lua, &matcher, &replacement, (at, end), &text, &mut made)?;
                (at, last) = (end, Some(end));
            }
            _ if at < text.len() => {
                made.push(text[at]);
                at += 1;
            }
            _ => break,
        }
        if made.len() > STRING_MAX {
            return Err(Error::runtime("resulting string too large"));
        }
        if anchored {
            break;
        }
    }
    made.extend_from_slice(&text[at..]);
    meter.spend(made.len() as u64 / BYTES_PER_INSTRUCTION)?;
    Ok((lua.create_string(&made)?, count))
}

/// Adds what replaces one match.
fn replace(
    lua: &Lua,
    matcher: &Matcher<'_>,
    replacement: &LuaValue,
    (start, end): (usize, usize),
    text: &[u8],
    made: &mut Vec<u8>,
) -> mlua::Result<()> {
    let value: LuaValue = match replacement {
        LuaValue::String(template) => {
            return fill(matcher, &template.as_bytes(), (start, end), made);
        }
        LuaValue::Table(table) => table.get(capture(lua, matcher, 0, start, end)?)?,
        LuaValue::Function(function) => {
            let mut values = MultiValue::new();
            captures(lua, matcher, start, end, true, &mut values)?;
            function.call(values)?
        }
        _ => LuaValue::Nil,
    };
    match value {
        LuaValue::Nil | LuaValue::Boolean(false) => made.extend_from_slice(&text[start..end]),
        other => {
            let kind = other.type_name();
            let text = lua
                .coerce_string(other)?
                .ok_or_else(|| Error::runtime(format!("invalid replacement value (a {kind})")))?;
            made.extend_from_slice(&text.as_bytes());
        }
    }
    Ok(())
}

/// Adds a template, with its `%1` filled in.
fn fill(
    matcher: &Matcher<'_>,
    template: &[u8],
    (start, end): (usize, usize),
    made: &mut Vec<u8>,
) -> mlua::Result<()> {
    let mut bytes = template.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            made.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'%') => made.push(b'%'),
            Some(digit @ b'0'..=b'9') => {
                let index = usize::from(digit - b'0');
                let captured = match index.checked_sub(1) {
                    Some(index) => matcher.capture(index, start, end)?,
                    None => matcher.whole(start, end),
                };
                match captured {
                    Captured::Text(text) => made.extend_from_slice(text),
                    Captured::Position(at) => made.extend_from_slice(at.to_string().as_bytes()),
                }
            }
            _ => return Err(Error::runtime("invalid use of '%' in replacement string")),
        }
        if made.len() > STRING_MAX {
            return Err(Error::runtime("resulting string too large"));
        }
    }
    Ok(())
}

fn rep(
    lua: &Lua,
    meter: &Meter,
    text: &[u8],
    count: i64,
    separator: Option<&LuaString>,
) -> mlua::Result<LuaString> {
    let separator = separator.map(LuaString::as_bytes);
    let separator = separator.as_deref().unwrap_or_default();
    let count = usize::try_from(count).unwrap_or(0);
    let length = (text.len() + separator.len()).checked_mul(count);
    match length {
        Some(0) => return lua.create_string(""),
        Some(length) if length <= STRING_MAX => {
            meter.spend(length as u64 / BYTES_PER_INSTRUCTION)?;
        }
        _ => return Err(Error::runtime("resulting string too large")),
    }
    if separator.is_empty() {
        return lua.create_string(text.repeat(count));
    }
    let mut made = [text, separator].concat().repeat(count - 1);
    made.extend_from_slice(text);
    lua.create_string(&made)
}
