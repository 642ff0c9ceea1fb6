//! Any JSON comes back the same, but for members that are null.

use mlua::Lua;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn lua() -> Lua {
    let lua = Lua::new();
    prepare(&lua).unwrap();
    lua
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no such number", |it| it.is_finite())
            .prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::hash_map(".{0,8}", inner, 0..8)
                .prop_map(|it| it.into_iter().collect()),
        ]
    })
}

fn without_null_members(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(without_null_members).collect(),
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, member)| !member.is_null())
            .map(|(name, member)| (name, without_null_members(member)))
            .collect(),
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_comes_back(value in any_json()) {
        let lua = lua();
        let there = to_lua(&lua, &value).unwrap();
        prop_assert_eq!(from_lua(&lua, &there).unwrap(), without_null_members(value));
    }
}

#[test]
fn numbers_past_lua_integers_become_floats() {
    let lua = lua();
    let there = to_lua(&lua, &json!(u64::MAX)).unwrap();
    assert_eq!(from_lua(&lua, &there).unwrap(), json!(18446744073709551615.0));
}

#[test]
fn text_that_is_not_utf8_is_mended() {
    let lua = lua();
    let cut = lua.load("return ('é'):sub(1, 1)").eval::<LuaValue>().unwrap();
    assert_eq!(from_lua(&lua, &cut).unwrap(), json!("\u{fffd}"));
}

#[test]
fn what_is_too_deep_is_refused_on_the_way_in() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert!(to_lua(&lua(), &deep).is_err());
    let many = Value::Array(vec![Value::Null; NODES_MAX + 1]);
    assert!(to_lua(&lua(), &many).is_err());
    assert!(to_lua(&lua(), &json!("x".repeat(BYTES_MAX + 1))).is_err());
}
