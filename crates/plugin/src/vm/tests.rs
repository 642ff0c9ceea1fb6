//! What harm takes, by the clock that the limits go by.

use super::*;
use crate::limits::CPU_MAX;
use crate::meter::processor_time;
use crate::package::Builtin;

/// When harm must be over, of the processor's time: the rest of a tenth of a second is for pauses.
const OVER: std::time::Duration = std::time::Duration::from_millis(100);

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

/// What a failure took of the processor.
#[track_caller]
fn took<T>(body: &str, harm: impl FnOnce() -> Result<T, PluginError>) {
    let before = processor_time();
    let error = harm().err().unwrap_or_else(|| panic!("{body}: came to its end"));
    let took = processor_time() - before;
    assert!(took <= OVER, "{body}: {took:?}, {error}");
}

#[test]
fn a_call_that_does_harm_is_over_within_a_tenth_of_a_second() {
    assert!(CPU_MAX < OVER);
    for body in HARM {
        let vm = Vm::start(package(format!("return {{ f = function() {body} end }}"))).unwrap();
        for _ in 0..3 {
            took(body, || vm.call(&Call { function: "f".to_owned(), input: Input::Nothing }));
        }
    }
}

#[test]
fn so_is_a_file_that_does() {
    for body in HARM {
        let package = package(format!("local it = (function() {body} end)() return {{}}"));
        took(body, || Vm::start(Arc::clone(&package)));
    }
}
