//! What harm takes, by the clock that the limits go by.
//!
//! It is the least of some attempts that counts: what others take of a shared machine only adds to it, and a
//! bound that does not hold holds in none.

use super::*;
use crate::limits::CPU_MAX;
use crate::meter::processor_time;
use crate::package::Builtin;

/// When harm must be over, of the processor's time: the rest of a tenth of a second is for pauses.
const OVER: Duration = Duration::from_millis(100);

const MANIFEST: &str = "name = \"p\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
    entrypoint = \"main.lua\"\npermissions = []\n";

/// All kinds of it; none returns anything.
const HARM: [&str; 8] = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "repeat local ok = pcall(error, 'x') until false",
    "return ('x'):rep(1e9)",
    "local all = {} for i = 1, 1e9 do all[i] = ('x'):rep(1000) .. i end",
    "local s = ('x'):rep(4000000) while true do local it = s .. 'y' end",
    "local function f(n) return 1 + f(n + 1) end return f(1)",
    "error({ nobody = 'knows' })",
];

fn package(source: String) -> Arc<Package> {
    let files = Box::leak(Box::new([("main.lua", &*source.leak())]));
    Arc::new(Package::built_in(Builtin { manifest: MANIFEST, files }).unwrap())
}

/// How often each harm is done.
const ATTEMPTS: usize = 3;

/// Fails if every attempt took too much of the processor, or one came to its end.
#[track_caller]
fn is_over_soon<T>(body: &str, harm: impl Fn() -> Result<T, PluginError>) {
    let took = (0..ATTEMPTS).map(|_| {
        let before = processor_time();
        assert!(harm().is_err(), "{body}: came to its end");
        processor_time() - before
    });
    // All of them: what one leaves behind must not keep the next from being stopped.
    let took: Vec<Duration> = took.collect();
    assert!(took.iter().any(|it| *it <= OVER), "{body}: {took:?}");
}

#[test]
fn a_call_that_does_harm_is_over_within_a_tenth_of_a_second() {
    assert!(CPU_MAX < OVER);
    for body in HARM {
        let vm = Vm::start(package(format!("return {{ f = function() {body} end }}"))).unwrap();
        is_over_soon(body, || vm.call(&Call { function: "f".to_owned(), input: Input::Nothing }));
    }
}

#[test]
fn so_is_a_file_that_does() {
    for body in HARM {
        let package = package(format!("local it = (function() {body} end)() return {{}}"));
        is_over_soon(body, || Vm::start(Arc::clone(&package)));
    }
}

/// Each instruction copies megabytes: hardly any lies behind it when its time is over.
#[test]
fn who_hardly_ran_is_asked_once_more_and_a_predicate_is_not() {
    let source = "local s, calls = ('x'):rep(4000000), 0 \
        return { calls = function() return calls end, \
            slow = function() calls = calls + 1 while true do local it = s .. 'y' end end }";
    let ask =
        |vm: &Vm, function: &str, input| vm.call(&Call { function: function.to_owned(), input });
    let predicate = || Input::Predicate { sight: Sight::default(), params: Value::Null };
    for (input, calls) in [(Input::Nothing, 2), (predicate(), 1)] {
        let vm = Vm::start(package(source.to_owned())).unwrap();
        let error = ask(&vm, "slow", input).unwrap_err();
        assert!(matches!(error, PluginError::Limit { limit: Limit::Processor, .. }), "{error}");
        assert_eq!(ask(&vm, "calls", Input::Nothing).unwrap(), calls);
    }
}

#[test]
fn who_is_asked_once_more_may_not_log_as_much_again() {
    let source = "local s = ('x'):rep(4000000) return { slow = function() \
        for i = 1, 10 do print(i) end while true do local it = s .. 'y' end end }";
    let vm = Vm::start(package(source.to_owned())).unwrap();
    let slow = Call { function: "slow".to_owned(), input: Input::Nothing };
    vm.call(&slow).unwrap_err();
    assert!(!vm.meter.may_log(), "both attempts together have logged all they may");
}
