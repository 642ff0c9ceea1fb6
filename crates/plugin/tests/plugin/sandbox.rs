//! What a plugin must not have, by name, and what it has.

use crate::common::{adapter, built_in, built_in_with, probe};
use greenroom_plugin::Sight;
use serde_json::{Value, json};

/// Everything that reads files, runs programs, tells the time, loads bytecode or looks inside.
const FORBIDDEN: &[&str] = &[
    "io",
    "os",
    "debug",
    "package",
    "coroutine",
    "bit32",
    "ffi",
    "jit",
    "dofile",
    "loadfile",
    "load",
    "loadstring",
    "collectgarbage",
    "warn",
    "getfenv",
    "setfenv",
    "module",
    "newproxy",
    "string.dump",
];

#[tokio::test]
async fn forbidden_names_are_not_there() {
    for name in FORBIDDEN {
        let found = probe(&format!("return tostring({name})")).await.unwrap();
        assert_eq!(found, "nil", "{name}");
    }
}

#[tokio::test]
async fn globals_are_exactly_these() {
    let names = probe(
        "local names = {} for name in pairs(_G) do names[#names + 1] = name end \
         table.sort(names) return names",
    );
    let expected = json!([
        "_G",
        "_VERSION",
        "assert",
        "error",
        "getmetatable",
        "ipairs",
        "math",
        "next",
        "pairs",
        "pcall",
        "print",
        "ptywright",
        "rawequal",
        "rawget",
        "rawlen",
        "rawset",
        "require",
        "select",
        "setmetatable",
        "string",
        "table",
        "tonumber",
        "tostring",
        "type",
        "utf8",
        "xpcall"
    ]);
    assert_eq!(names.await.unwrap(), expected);
}

#[tokio::test]
async fn bytecode_is_refused() {
    let error = adapter("\u{1b}Lua").await.unwrap_err();
    assert!(error.to_string().contains("attempt to load a binary chunk"), "{error}");
}

#[tokio::test]
async fn what_runs_uncounted_is_refused() {
    for name in ["__gc", "__close"] {
        let error = probe(&format!("setmetatable({{}}, {{ {name} = print }})")).await.unwrap_err();
        let expected = format!("main.lua:1: `{name}` is not available to plugins");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    assert_eq!(probe("return getmetatable('')").await.unwrap(), false);
}

#[tokio::test]
async fn string_has_exactly_these() {
    let names = probe(
        "local names = {} for name in pairs(string) do names[#names + 1] = name end \
         table.sort(names) return table.concat(names, ' ')",
    );
    assert_eq!(
        names.await.unwrap(),
        "byte char find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper"
    );
}

#[tokio::test]
async fn helpers_are_there_only_with_their_permission() {
    let source = "return { classify = function() \
        local names = {} \
        for _, group in pairs({ 'action', 'matcher' }) do \
          for name in pairs(ptywright[group]) do names[#names + 1] = group .. '.' .. name end \
        end table.sort(names) return { state = table.concat(names, ' ') } end }";
    let check = async |permissions: &str, expected: &str| {
        let adapter = built_in_with(source, permissions).start("p").await.unwrap();
        let state = adapter.classify(&Sight::default(), None, None, 300).await.unwrap();
        assert_eq!(state.state, expected, "{permissions}");
    };
    check("", "").await;
    check("\"screen.read\", \"transcript.read\", \"session.spawn\"", "").await;
    check("\"session.kill\"", "action.kill action.signal").await;
    check("\"session.resize\"", "action.resize").await;
    check(
        "\"input.write\"",
        "action.bracketed_paste action.eof action.interrupt action.key action.mark_transcript \
         action.paste action.stream_text action.text",
    )
    .await;
    check(
        "\"matcher.wait\"",
        "matcher.all matcher.any matcher.contains_text matcher.cursor_at matcher.lua \
         matcher.process_exited matcher.screen_regex matcher.screen_stable \
         matcher.transcript_contains matcher.transcript_regex",
    )
    .await;
}

#[tokio::test]
async fn an_action_without_its_permission_is_refused_however_it_was_made() {
    let source = "return { stop = function() return { actions = { { type = 'kill' } } } end }";
    let adapter = built_in_with(source, "\"input.write\"").start("p").await.unwrap();
    let error = adapter.intent("stop", Value::Null).await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p`: action `kill` needs the permission `session.kill`");
}

#[tokio::test]
async fn helpers_make_what_the_protocol_says() {
    let adapter = adapter(
        "local a, m = ptywright.action, ptywright.matcher
         return {
           go = function(params) return { last_intent = '', actions = {
             a.text(params.text), a.paste('p'), a.bracketed_paste('b'), a.key('enter'), a.interrupt(),
             a.eof(), a.kill(), a.signal('term'), a.mark_transcript('turn_start'), a.resize(6 / 2, 4),
             a.stream_text('s', { delay_ms = 1 }) } } end,
           wait_matcher = function() return m.all({ m.any(m.contains_text('c'), m.screen_regex('r')),
             m.transcript_contains('t'), m.transcript_regex('x'), m.screen_stable(300.0),
             m.process_exited(), m.cursor_at(1, 4 / 2), m.lua('p', 'f', { k = 1 }), m.any({}), m.all() }) end,
           raw_matcher = function() return { type = 'all', value = {} } end,
           bad = function() local it = a.text(5) return it end,
         }",
    )
    .await
    .unwrap();
    let plan = adapter.intent("go", json!({"text": "hé"})).await.unwrap();
    assert_eq!(plan.last_intent.as_deref(), Some(""));
    assert_eq!(
        json!(plan.actions),
        json!([
            {"type": "text", "value": "hé"}, {"type": "paste", "value": "p"},
            {"type": "bracketed_paste", "value": "b"}, {"type": "key", "value": "enter"},
            {"type": "interrupt"}, {"type": "eof"}, {"type": "kill"},
            {"type": "signal", "value": "term"},
            {"type": "mark_transcript", "value": {"label": "turn_start"}},
            {"type": "resize", "value": {"rows": 3, "cols": 4, "pixel_width": 0, "pixel_height": 0}},
            {"type": "stream_text", "value": {"text": "s", "delay_ms": 1}}
        ])
    );
    let tree = adapter.matcher("wait_matcher", Value::Null).await.unwrap();
    assert_eq!(
        tree,
        json!({"type": "all", "value": [
            {"type": "any", "value": [
                {"type": "contains_text", "value": "c"}, {"type": "screen_regex", "value": "r"}]},
            {"type": "transcript_contains", "value": "t"}, {"type": "transcript_regex", "value": "x"},
            {"type": "screen_stable", "value": {"min_ms": 300}}, {"type": "process_exited"},
            {"type": "cursor_at", "value": {"row": 1, "col": 2}},
            {"type": "lua", "value": {"plugin": "p", "predicate": "f", "params": {"k": 1}}},
            {"type": "any", "value": []}, {"type": "all", "value": []}
        ]})
    );
    let raw = adapter.matcher("raw_matcher", Value::Null).await.unwrap();
    assert_eq!(raw, json!({"type": "all", "value": []}));
    let error = adapter.intent("bad", Value::Null).await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p`: `bad`: main.lua:11: `text` takes a string, not a number");
}

#[tokio::test]
async fn json_goes_both_ways_and_logging_is_harmless() {
    let text = r#"{"a":[1,2.5,"x",true,[],{}]}"#;
    let body = format!(
        "for _ = 1, 100 do ptywright.log('x', nil, 3, {{}}) print('y') end \
         return ptywright.json.encode(ptywright.json.decode('{text}'))"
    );
    assert_eq!(probe(&body).await.unwrap(), text);
    assert_eq!(
        probe("return ptywright.json.decode('[null]')[1] == ptywright.json.null").await.unwrap(),
        true
    );
    let error = probe("return ptywright.json.decode('{')").await.unwrap_err().to_string();
    assert!(error.starts_with("plugin `p`: `classify`: main.lua:1: EOF while parsing"), "{error}");
}

#[tokio::test]
async fn errors_name_plugin_function_and_line() {
    let source = "return {\n classify = function()\n  return nil .. 'x'\n end }";
    let adapter = adapter(source).await.unwrap();
    let error = adapter.classify(&Sight::default(), None, None, 300).await.unwrap_err().to_string();
    let expected = "plugin `p`: `classify`: main.lua:3: attempt to concatenate a nil value";
    assert_eq!(error, expected);
    let error = adapter.intent("nope", Value::Null).await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p` has no function `nope`");
    let long = probe("error(('x'):rep(100000) .. '\\n\\27[31m')").await.unwrap_err().to_string();
    assert!(long.len() < 500 && !long.contains('\u{1b}'), "{long}");
}

/// Addresses differ from run to run.
#[tokio::test]
async fn an_error_that_is_no_text_is_told_by_what_it_is() {
    for (body, told) in [
        ("error({})", "main.lua:1: an error that is a table"),
        ("error(print)", "main.lua:1: an error that is a function"),
        ("('x'):gsub('x', function() error({}) end)", "main.lua:1: an error that is a table"),
        ("error(setmetatable({}, { __tostring = function() return 'mine' end }))", "mine"),
        ("error('table: 0x', 0)", "table: 0x"),
        ("error('table: 0x7f of that', 0)", "table: 0x7f of that"),
    ] {
        let error = probe(body).await.unwrap_err().to_string();
        assert_eq!(error, format!("plugin `p`: `classify`: {told}"), "{body}");
    }
    let error = adapter("error({})").await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p`: `chunk`: main.lua:1: an error that is a table");
}

#[tokio::test]
async fn a_chunk_must_compile_and_return_a_table() {
    let error = adapter("return {").await.unwrap_err().to_string();
    assert!(error.starts_with("plugin `p`: `chunk`: main.lua:1: "), "{error}");
    let error = adapter("return 5").await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p`: `chunk` returned integer, a table of functions is expected");
}

#[tokio::test]
async fn caught_errors_are_text_and_handlers_run() {
    let caught = probe("local _, e = pcall(string.rep, 'x', 1e9) return e").await.unwrap();
    assert_eq!(caught, "main.lua:1: resulting string too large");
    let handled = probe("return { xpcall(error, function(e) return 'h:' .. e end, 'boom') }").await;
    assert_eq!(handled.unwrap(), json!([false, "h:boom"]));
    let passed = probe("return { xpcall(function(a, b) return a + b end, error, 1, 2) }").await;
    assert_eq!(passed.unwrap(), json!([true, 3]));
}

#[tokio::test]
async fn list_functions_do_as_in_lua() {
    let check = async |body: &str, expected: Value| {
        assert_eq!(probe(body).await.unwrap(), expected, "{body}");
    };
    check(
        "local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return t",
        json!([0, 1, 2, 3]),
    )
    .await;
    check("local t = {1, 2, 3} local r = table.remove(t, 1) return {r, t}", json!([1, [2, 3]]))
        .await;
    check("local t = {1, 2} table.remove(t) return t", json!([1])).await;
    check("return tostring(table.remove({}))", json!("nil")).await;
    check("return table.move({1, 2, 3}, 1, 3, 2)", json!([1, 1, 2, 3])).await;
    check("return table.move({1, 2, 3}, 2, 3, 1)", json!([2, 3, 3])).await;
    check("return table.move({1, 2}, 1, 2, 1, {})", json!([1, 2])).await;
    check("return table.concat({1, 'a', 2}, '-', 2, 3)", json!("a-2")).await;
    check("return pcall(table.insert, {1}, 5, 1)", json!(false)).await;
}

#[tokio::test]
async fn one_broken_plugin_harms_no_other() {
    let registry = built_in("return { classify = function() return { state = 'fine' } end }");
    let broken = crate::common::Folder::new(
        "b",
        &[("main.lua", "return { f = function() error('x') end }")],
    );
    registry.load(&broken.manifest()).await.unwrap();
    assert!(registry.predicate("b", "f", &Sight::default(), Value::Null).await.is_err());
    let fine = registry.start("p").await.unwrap();
    let state = fine.classify(&Sight::default(), None, None, 300).await.unwrap();
    assert_eq!(state.state, "fine");
}
