//! The plugins that come along pass their own tests, which are Lua as well: `plugins/tests`.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Lua, Variadic};

/// Where they are.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/tests/run.lua");

#[test]
fn built_in_plugins_pass_their_tests() {
    let lua = Lua::new();
    let said = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&said);
    let print = move |_: &Lua, words: Variadic<mlua::Value>| {
        let words: mlua::Result<Vec<String>> = words.iter().map(mlua::Value::to_string).collect();
        told.borrow_mut().push(words?.join("\t"));
        Ok(())
    };
    lua.globals().set("print", lua.create_function(print).unwrap()).unwrap();
    lua.globals().set("arg", lua.create_table_from([(0, TESTS)]).unwrap()).unwrap();
    // Its last word is whether all passed; this process goes on.
    let os: mlua::Table = lua.globals().get("os").unwrap();
    os.set("exit", lua.create_function(|_, passed: bool| Ok(passed)).unwrap()).unwrap();
    let source = std::fs::read_to_string(TESTS).unwrap();
    let ran = lua.load(&source).set_name("@run.lua").exec();
    let said = said.borrow().join("\n");
    ran.unwrap_or_else(|error| panic!("{error}\n{said}"));
    let summary = said.lines().last().unwrap_or_default();
    let (passed, failed) = summary.split_once(" passed, ").unwrap_or_else(|| panic!("{said}"));
    assert!(passed.parse::<usize>().unwrap() > 0 && failed == "0 failed", "{said}");
}
