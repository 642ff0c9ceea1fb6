//! What is a message, what is none, and that each comes back as it was.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn requests_are_read_leniently() {
    let read = |text: &str| Request::from_wire(text.as_bytes()).unwrap();
    let full = read(r#"{"jsonrpc":"2.0","id":7,"method":"a.b","params":{"x":[1]}}"#);
    assert_eq!(full.id, Some(json!(7)));
    assert_eq!(full.params, json!({"x": [1]}));
    let bare = read(r#"{"jsonrpc":"1.0","method":"a","more":1}"#);
    assert_eq!((bare.id, bare.params), (None, Value::Null));
    assert_eq!(read(r#"{"id":{"any":["value"]},"method":"a"}"#).id, Some(json!({"any":["value"]})));
    assert_eq!(read(r#"{"id":null,"method":"a","params":null}"#).id, Some(Value::Null));
    assert_eq!(read(r#"{"id":1}"#).method, "");
}

#[test]
fn what_is_no_request_is_refused() {
    for text in [
        "",
        "{",
        "nul",
        "1",
        "\"x\"",
        "[]",
        r#"[{"method":"a"}]"#,
        r#"{"method":1}"#,
        r#"{"method":"a","params":[1]}"#,
        r#"{"method":"a","params":"x"}"#,
        r#"{"method":"a"}x"#,
        r#"{"method":"\ud800"}"#,
        r#"{"id":1e999,"method":"a"}"#,
    ] {
        assert!(Request::from_wire(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Request::from_wire(b"{\"method\":\"\xff\"}").is_err());
}

#[test]
fn depth_is_bounded() {
    let deep = |depth: usize| {
        let text = format!(
            r#"{{"method":"a","params":{{"x":{}{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        Request::from_wire(text.as_bytes())
    };
    assert!(deep(100).is_ok());
    assert!(deep(1_000_000).is_err());
}

#[test]
fn many_keys_and_repeated_keys_are_no_trouble() {
    let keys: Vec<String> = (0..100_000).map(|it| format!(r#""k{it}":0"#)).collect();
    let text = format!(r#"{{"method":"a","method":"b","params":{{{}}}}}"#, keys.join(","));
    assert_eq!(Request::from_wire(text.as_bytes()).unwrap().method, "b");
}

#[test]
fn the_bytes_are_those_of_the_contract() {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(
        text(request(1, "a\"b", &Value::Null)),
        r#"{"jsonrpc":"2.0","id":1,"method":"a\"b"}"#
    );
    assert_eq!(
        text(response(&json!("x"), &json!({"ok":true}))),
        r#"{"jsonrpc":"2.0","id":"x","result":{"ok":true}}"#
    );
    assert_eq!(
        text(error(&Value::Null, PARSE_ERROR, "Parse error", &Value::Null)),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#
    );
    assert_eq!(
        text(notification("session.bell", &json!({"sessionId":"a"}))),
        r#"{"jsonrpc":"2.0","method":"session.bell","params":{"sessionId":"a"}}"#
    );
}

#[test]
fn a_server_says_responses_errors_and_notifications() {
    let read = |bytes: Vec<u8>| Message::from_wire(&bytes).unwrap();
    let ok = read(response(&json!(1), &Value::Null));
    assert_eq!(ok, Message::Response { id: json!(1), result: Ok(Value::Null) });
    let failed = read(error(&json!(2), -5, "no", &json!({"kind":"busy"})));
    let object = ErrorObject { code: -5, message: "no".into(), data: json!({"kind":"busy"}) };
    assert_eq!(failed, Message::Response { id: json!(2), result: Err(object) });
    let told = read(notification("x", &Value::Null));
    assert_eq!(told, Message::Notification { method: "x".into(), params: Value::Null });
    assert!(Message::from_wire(br#"{"id":1}"#).is_err());
}

proptest! {
    #[test]
    fn requests_come_back_as_they_were(id in any::<u64>(), method in ".{0,30}", value in ".{0,30}") {
        let params = json!({"value": value});
        let read = Request::from_wire(&request(id, &method, &params)).unwrap();
        prop_assert_eq!(read, Request { id: Some(json!(id)), method, params });
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        drop(Request::from_wire(&bytes));
        drop(Message::from_wire(&bytes));
    }
}
