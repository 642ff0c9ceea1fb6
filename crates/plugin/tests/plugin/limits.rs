//! Plugins that would go on for ever.

use std::time::{Duration, Instant};

use crate::common::{Folder, adapter, built_in, probe};
use greenroom_plugin::limits::{FAILURES_MAX, RESTARTS_MAX, STRIKES_MAX};
use greenroom_plugin::{Kind, Limit, PluginError, Registry, Sight};
use serde_json::Value;

/// Generous: these are debug builds on a shared machine.
const SOON: Duration = Duration::from_millis(2_500);

#[track_caller]
fn is_limit(error: &PluginError, expected: Limit) {
    let PluginError::Limit { limit, .. } = error else { panic!("{error}") };
    assert_eq!(*limit, expected);
}

/// A loop goes over one of the two; which depends on the machine.
#[track_caller]
fn is_too_much(error: &PluginError) {
    let PluginError::Limit { limit, .. } = error else { panic!("{error}") };
    assert!(matches!(limit, Limit::Instructions | Limit::Processor), "{limit}");
}

#[tokio::test]
async fn loops_end_whatever_they_catch() {
    for body in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "local function f() return f() end f()",
        "repeat local ok = pcall(error, 'x') until false",
        "local t = setmetatable({}, { __index = function(t, k) while true do end end }) return t.x",
        "local function f() while true do pcall(f) end end f()",
        "for _ in ('x'):gmatch('') do while true do pcall(string.gsub, 'x', 'x', function() while true do end end) end end",
        "while true do pcall(require, 'nope') end",
        "while true do pcall(ptywright.json.encode, {}) end",
        "table.sort({ 3, 2, 1 }, function() while true do end end)",
    ] {
        let began = Instant::now();
        let error = probe(body).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Stopped, "{body}: {error}");
        assert!(began.elapsed() < SOON, "{body}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn native_loops_end_as_well() {
    for body in [
        "return (('a'):rep(50000)):find(('.-'):rep(10) .. 'b')",
        "return (('a'):rep(50000)):match(('a*'):rep(20) .. 'b')",
        "return (('a'):rep(50000)):gsub(('a?'):rep(100) .. ('a'):rep(100) .. 'b', '')",
        "for _ in (('a'):rep(50000)):gmatch(('.-'):rep(10) .. 'b') do end",
        "return (('('):rep(50000)):find('%b()')",
        "return table.move({}, 1, 1 << 60, 2)",
        "return table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)",
        "return table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)",
        "return table.concat(setmetatable({}, { __index = table.concat }), '', 1, 1 << 60)",
        "local s = ('x'):rep(4000000) while true do s:upper() end",
        "local s = ('x'):rep(4000000) while true do utf8.len(s) end",
        "local s = ('1'):rep(4000000) while true do tonumber(s) end",
        "local s = ('1'):rep(4000000) while true do local it = s + 1 end",
        "local s = ('x'):rep(4000000) while true do ('%q'):format(s) end",
        "local t = {} for i = 1, 100000 do t[i] = i end while true do table.unpack(t) end",
        "local t = {} for i = 1, 100000 do t[i] = -i end while true do table.sort(t, math.ult) end",
        "local s = ('x'):rep(4000000) while true do local it = s .. 'y' end",
        "local s, t = ('x'):rep(3000000), {} while true do local it = t[s .. 'y'] end",
        "while true do pcall(ptywright.json.encode, { ('x'):rep(1000000) }) end",
    ] {
        let began = Instant::now();
        let error = probe(body).await.unwrap_err();
        assert!(matches!(error, PluginError::Limit { .. }), "{body}: {error}");
        assert!(began.elapsed() < SOON, "{body}: {:?}", began.elapsed());
    }
    assert_eq!(probe("return (''):rep(1 << 60)").await.unwrap(), "");
}

/// What closes a variable on the way out of a broken limit is not run, however many there are.
#[tokio::test]
async fn nothing_is_closed_on_the_way_out() {
    let begin = "local mt, n = {}, 0 local t = setmetatable({}, mt) \
        mt.__close = function() n = n + 1 while true do end end";
    for rest in [
        "local it <close> = t while true do end",
        "local it <close> = t local s = ('x'):rep(4000000) while true do local it = s .. 'y' end",
        "for _ in next, { 1 }, nil, t do while true do end end",
        "local function f(i) local a <close> = t local b <close> = t local c <close> = t \
           if i > 0 then f(i - 1) end while true do end end f(150)",
        "local function f() for _ in next, { 1 }, nil, t do f() end end f()",
        "pcall(function() local it <close> = t error('x') end)",
    ] {
        let began = Instant::now();
        let error = probe(&format!("{begin} {rest}")).await.unwrap_err();
        assert!(began.elapsed() < SOON, "{rest}: {:?}", began.elapsed());
        assert!(matches!(error, PluginError::Limit { .. }), "{rest}: {error}");
    }
}

#[tokio::test]
async fn memory_is_bounded() {
    for body in [
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e6 do t[i] = { i } t[i][1] = t end return #t, error(('x'):rep(16e6))",
    ] {
        let error = probe(body).await.unwrap_err();
        assert!(matches!(error, PluginError::Limit { .. } | PluginError::Lua { .. }), "{error}");
    }
    is_limit(
        &probe("local s = 'x' while true do s = s .. s end").await.unwrap_err(),
        Limit::Memory,
    );
    let error = probe("return ('x'):rep(1e9)").await.unwrap_err().to_string();
    assert!(error.contains("main.lua:1: resulting string too large"), "{error}");
}

#[tokio::test]
async fn recursion_is_an_error_not_a_crash() {
    for body in [
        "local function f() return 1 + f() end return f()",
        "local function f() return pcall(f) end return f()",
        "local function f() return (('x'):gsub('x', f)) end return f()",
        "local t = {} setmetatable(t, { __index = function(t, k) return t[k .. 'x'] end }) return t.a",
        "local function f(a, b) table.sort({ 1, 2, 3 }, f) return true end return f()",
        "return ('x'):find(('('):rep(1000))",
        "return ('x'):rep(1000):find(('x?'):rep(1000))",
    ] {
        // Some end with a value: what counts is that they end.
        drop(probe(body).await);
    }
    assert!(probe("local function f() return 1 + f() end return f()").await.is_err());
}

#[tokio::test]
async fn answers_are_bounded() {
    let check = async |body: &str, expected: &str| {
        let error = probe(body).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("local t = {} t.t = t return t", "nested deeper").await;
    check("local t = {} for _ = 1, 30 do t = { t, t } end return t", "parts").await;
    check("return { ('x'):rep(3e6) .. ('x'):rep(3e6) }", "bytes").await;
    check("return { 0 / 0 }", "not finite").await;
    check("return { print }", "a function has no JSON form").await;
    check("return { 1, x = 2 }", "no JSON form").await;
    check("return { [1] = 1, [3] = 3 }", "no JSON form").await;
}

#[tokio::test]
async fn a_plugin_that_goes_over_again_and_again_is_disabled() {
    let source = "return { f = function() while true do end end, g = function() return { actions = {} } end }";
    let adapter = adapter(source).await.unwrap();
    for _ in 1..STRIKES_MAX {
        is_too_much(&adapter.intent("f", Value::Null).await.unwrap_err());
    }
    adapter.intent("g", Value::Null).await.unwrap();
    for _ in 0..STRIKES_MAX {
        is_too_much(&adapter.intent("f", Value::Null).await.unwrap_err());
    }
    let error = adapter.intent("g", Value::Null).await.unwrap_err();
    let reason = format!("limit exceeded, {STRIKES_MAX} times in a row");
    assert!(error.to_string().starts_with("plugin `p` is disabled: `f`: "), "{error}");
    assert!(error.to_string().ends_with(&reason), "{error}");
    assert_eq!(error.kind(), Kind::Stopped);
}

/// Each instruction takes milliseconds: few are counted before the time is over.
const SLOW: &str = "local s = ('x'):rep(4000000) \
    return { slow = function() while true do local it = s .. 'y' end end, ok = function() return true end }";

#[tokio::test]
async fn slow_instructions_end_soon_and_nobody_waits_for_them() {
    let registry = built_in(SLOW);
    let sight = Sight::default();
    let began = Instant::now();
    let mut ticks = 0;
    let mut slow = std::pin::pin!(registry.predicate("p", "slow", &sight, Value::Null));
    let error = loop {
        tokio::select! {
            answer = &mut slow => break answer.unwrap_err(),
            () = tokio::time::sleep(Duration::from_millis(5)) => ticks += 1,
        }
    };
    is_too_much(&error);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    // The thread of the test, like the daemon's, went on meanwhile.
    assert!(ticks > 2, "{ticks}");
    assert!(registry.predicate("p", "ok", &sight, Value::Null).await.unwrap().is_some());
}

#[tokio::test]
async fn a_shared_vm_is_replaced_but_not_for_ever() {
    let source =
        "return { bad = function() while true do end end, ok = function() return true end }";
    let registry = built_in(source);
    let ask = async |function: &str| {
        registry.predicate("p", function, &Sight::default(), Value::Null).await
    };
    for _ in 0..=RESTARTS_MAX {
        assert!(ask("ok").await.unwrap().is_some());
        for _ in 0..STRIKES_MAX {
            is_too_much(&ask("bad").await.unwrap_err());
        }
    }
    let error = ask("ok").await.unwrap_err().to_string();
    assert!(error.starts_with("plugin `p` is disabled: `bad`: "), "{error}");
}

#[tokio::test]
async fn a_shared_vm_that_cannot_be_started_is_not_tried_for_ever() {
    let registry = built_in("while true do end");
    let ask = async || registry.predicate("p", "ok", &Sight::default(), Value::Null).await;
    for _ in 0..=RESTARTS_MAX {
        is_too_much(&ask().await.unwrap_err());
    }
    for error in [ask().await.unwrap_err(), registry.describe("p").await.unwrap_err()] {
        assert!(matches!(error, PluginError::Disabled { .. }), "{error}");
        let said = "plugin `p` is disabled: `chunk`: ";
        assert!(error.to_string().starts_with(said), "{error}");
    }
}

#[tokio::test]
async fn callers_that_go_away_leave_the_vm_usable() {
    let registry = built_in(
        "return { bad = function() while true do end end, ok = function() return true end }",
    );
    for _ in 0..2 {
        let sight = Sight::default();
        let bad = registry.predicate("p", "bad", &sight, Value::Null);
        drop(tokio::time::timeout(Duration::from_millis(1), bad).await);
    }
    assert!(registry.predicate("p", "ok", &Sight::default(), Value::Null).await.unwrap().is_some());
}

/// The kinds of harm that errors are, and no limit: who asks is told each time, and nothing is given up.
#[tokio::test]
async fn a_plugin_that_fails_at_every_call_says_why_each_time() {
    let registry = built_in("return { f = function(input) error({ it = 'is a table' }) end }");
    for _ in 0..100 {
        let asked = registry.predicate("p", "f", &Sight::default(), Value::Null).await;
        assert_eq!(asked.unwrap_err().kind(), Kind::Failed);
    }
}

#[tokio::test]
async fn a_file_that_fails_says_why_each_time_and_one_that_was_corrected_is_loaded() {
    let folder = Folder::new("p", &[("main.lua", "local function f() return 1 + f() end f()")]);
    let registry = Registry::new(vec![]).unwrap();
    // More than may fail before the next one waits.
    for _ in 0..FAILURES_MAX + 2 {
        let error = registry.load(&folder.manifest()).await.unwrap_err().to_string();
        assert!(error.contains("stack overflow"), "{error}");
    }
    folder.write("main.lua", "return {}");
    assert_eq!(registry.load(&folder.manifest()).await.unwrap(), "p");
}

#[tokio::test]
async fn nobody_waits_for_another_plugin_that_cannot_be_loaded() {
    let bad = Folder::new("bad", &[("main.lua", "error('no')")]);
    let good = Folder::new("good", &[("main.lua", "return {}")]);
    let registry = Registry::new(vec![]).unwrap();
    let (registry, manifest) = (&registry, bad.manifest());
    let failing = async {
        loop {
            registry.load(&manifest).await.unwrap_err();
        }
    };
    let loading = async {
        for _ in 0..20 {
            registry.load(&good.manifest()).await.unwrap();
            registry.unload("good").unwrap();
        }
    };
    tokio::select! {
        () = failing => {}
        () = loading => {}
    }
}

#[tokio::test]
async fn a_long_file_may_take_its_time_to_compile() {
    let numbers = "7, 7,".repeat(200_000);
    let source = format!("local M = {{ data = {{ {numbers} }} }}\nreturn M\n");
    adapter(&source).await.unwrap();
}
