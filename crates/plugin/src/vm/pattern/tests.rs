//! Every answer is compared with Lua's own.

use std::rc::Rc;

use mlua::{Lua, MultiValue, Value};
use proptest::prelude::*;

use crate::meter::Meter;
use crate::vm::strings;

/// Runs an expression with Lua's `string` and with ours, and wants the same, errors included.
#[track_caller]
fn check(expression: &str) {
    let (theirs, ours) = (run(expression, false), run(expression, true));
    assert_eq!(theirs, ours, "{expression}");
}

fn run(expression: &str, ours: bool) -> Result<String, ()> {
    let lua = Lua::new();
    let meter = Rc::new(Meter::new());
    meter.start(crate::limits::FIRST_RUN, crate::limits::CPU_MAX);
    if ours {
        let string: mlua::Table = lua.globals().get("string").unwrap();
        for pair in strings::table(&lua, &meter).unwrap().pairs::<String, Value>() {
            let (name, function) = pair.unwrap();
            string.set(name, function).unwrap();
        }
    }
    let values: MultiValue = lua.load(format!("return {expression}")).eval().map_err(drop)?;
    Ok(values.iter().map(|it| format!("{it:?};")).collect())
}

#[test]
fn matches_as_lua_does() {
    for text in
        ["", "hello world", "THE (quick) fox", "key = value", "a,b,,c", "x\\ny\\n", "\\0z\\0"]
    {
        for pattern in [
            "",
            "^",
            "$",
            "o",
            ".",
            "o.",
            "l+",
            "l*",
            "l-",
            "l?",
            "(l)(l)",
            "()",
            "(.)(.*)$",
            "%a+",
            "%s",
            "%S+",
            "^%s*(.-)%s*$",
            "[a-f]",
            "[^a-f]+",
            "[%w_]+",
            "[]]",
            "[^]]",
            "[a-]",
            "[%]]",
            "%b()",
            "%f[%w]%w+",
            "(%w+)%s*=%s*(%w+)",
            "(.)%1",
            "%",
            "[",
            "[a",
            "(",
            ")",
            "%b",
            "%bx",
            "%f",
            "%1",
            "(()",
            "^h",
            "h$",
            "a$b",
            "%x%x",
            "%p",
            "%c",
            "%u+",
            "%L",
            "%z",
            "%.",
            "[%a-z]",
            "[^,]*",
            "\\0",
            "()()",
            "(a*(.)%w(%s*))",
            "%d*",
        ] {
            check(&format!("(\"{text}\"):find(\"{pattern}\")"));
            check(&format!("(\"{text}\"):match(\"{pattern}\")"));
            check(&format!("(\"{text}\"):gsub(\"{pattern}\", '<%0>')"));
            check(&format!("(\"{text}\"):gsub(\"{pattern}\", '%1%%', 2)"));
            check(&format!(
                "(function() local all = '' for a, b in (\"{text}\"):gmatch(\"{pattern}\") do \
                 all = all .. '|' .. tostring(a) .. tostring(b) end return all end)()"
            ));
        }
    }
}

#[test]
fn arguments_count_as_in_lua() {
    for expression in [
        "('hello'):find('l', -2)",
        "('hello'):find('l', 0)",
        "('hello'):find('', 6)",
        "('hello'):find('', 7)",
        "('hello'):find('', 100)",
        "('hello'):find('h', -100)",
        "('a.b'):find('.', 1, true)",
        "('a.b'):find('.', 2, true)",
        "(5):rep(3)",
        "('x'):rep(3, ',')",
        "('x'):rep(0)",
        "('x'):rep(-1)",
        "(''):rep(5, 'y')",
        "('hello'):gsub('l', { l = 'L' })",
        "('hello'):gsub('l', { l = false })",
        "('hello'):gsub('l', { l = {} })",
        "('hello'):gsub('%w', function(c) if c == 'e' then return 3 end end)",
        "('hello'):gsub('l', 5)",
        "('hello'):gsub('l', nil)",
        "('hello'):gsub('l', '%2')",
        "('hello'):gsub('(l)(o)', '%2%1')",
        "('hello'):gsub('l', '%x')",
        "('hello'):gsub('', '-')",
        "('hello'):gsub('^h', 'x')",
        "('hello'):gsub('l', 'x', 0)",
        "('hello'):gsub('()', '%1')",
        "('abc'):gmatch('b', 3)()",
        "('abc'):gmatch('', 4)()",
        "('abc'):gmatch('', 9)()",
        "string.find(12345, 34)",
        "('x'):find()",
        "('a' .. ('b'):rep(300)):match('a' .. ('b?'):rep(150))",
    ] {
        check(expression);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pattern_does_as_in_lua(
        text in "[ab()\\]\\[ ]{0,8}",
        pattern in "[ab.%\\-*+?()\\[\\]^$1f ]{0,7}",
    ) {
        check(&format!("([[\n{text}x]]):find([[\n{pattern}x]])"));
        check(&format!("([=[\n{text}]=]):gsub([=[\n{pattern}]=], '<%0>')"));
    }
}
