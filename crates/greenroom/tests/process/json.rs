//! JSON of every bad kind (N3).

use greenroom_frame::binary::kind;
use greenroom_testkit::{Home, create, process};
use serde_json::{Value, json};

use crate::support::home;

/// Sends a message; the daemon answers it with an error or hangs up, and goes on either way.
#[track_caller]
fn refused(home: &Home, what: &str, message: &[u8]) {
    let mut wire = home.wire();
    if wire.send(kind::JSON_RPC, "", message).is_ok() {
        match wire.answer(&Value::Null) {
            Some(Err(error)) => assert_eq!(error["code"], -32700, "{what}: {error}"),
            Some(Ok(answer)) => panic!("{what}: {answer}"),
            None => {}
        }
    }
    assert!(home.wire().call("daemon.status", &json!({})).unwrap().is_ok(), "after {what}");
}

/// Sends a request with these parameters and id 1; gives the answer.
#[track_caller]
fn asked(home: &Home, method: &str, params: &[u8]) -> Result<Value, Value> {
    let mut wire = home.wire();
    let head = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":"#);
    let message = [head.as_bytes(), params, b"}"].concat();
    wire.send(kind::JSON_RPC, "", &message).unwrap();
    let answer = wire.answer(&json!(1)).expect("the connection stays");
    assert!(wire.call("daemon.status", &json!({})).unwrap().is_ok(), "it is still of use");
    answer
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    let home = home();
    let _daemon = home.start();
    let deep = 1_000_000;
    let object = r#"{"a":"#.repeat(deep);
    refused(&home, "deep arrays", "[".repeat(deep).as_bytes());
    refused(&home, "deep objects", object.as_bytes());
    refused(&home, "nothing", b"");
    refused(&home, "half a request", br#"{"jsonrpc":"2.0","id":1,"meth"#);
    refused(&home, "bytes that are no text", b"\xff\xfe\x80{}");
    refused(&home, "a NUL", b"{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"daemon.status\"}");
    refused(
        &home,
        "a lone surrogate",
        br#"{"jsonrpc":"2.0","id":1,"method":"session.info","params":{"sessionId":"\ud800"}}"#,
    );
    refused(&home, "text that is no UTF-8",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.info\",\"params\":{\"sessionId\":\"\xff\"}}");
    refused(
        &home,
        "an endless number",
        br#"{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"timeoutMs":1e999}}"#,
    );
    refused(&home, "two values", br#"{"jsonrpc":"2.0","id":1,"method":"daemon.status"}{}"#);
    let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{nested}}}"#);
    refused(&home, "deep parameters", params.as_bytes());
}

#[test]
fn json_that_makes_no_sense_is_an_error_and_the_connection_goes_on() {
    let home = home();
    let daemon = home.start();
    create(&mut home.connect(), "there", "read line");
    let keys: Vec<String> = (0..1_000_000).map(|number| format!(r#""{number}":0"#)).collect();
    let many = format!("{{{}}}", keys.join(","));
    assert!(asked(&home, "session.info", many.as_bytes()).is_err());
    let wrong: [(&str, &[u8]); 9] = [
        ("session.info", br#"{"sessionId":{}}"#),
        ("session.info", br#"{"sessionId":-1}"#),
        ("session.info", br#"{"sessionId":1e300}"#),
        ("session.info", br#"{"sessionId":"\u0000"}"#),
        ("session.resize", br#"{"sessionId":1,"cols":0,"rows":-5}"#),
        ("session.resize", br#"{"sessionId":1,"cols":99999999999999999999,"rows":1}"#),
        ("session.create", br#"{"argv":["sh",{}]}"#),
        ("session.create", br#"{"argv":["a\u0000b"]}"#),
        ("no.such.method", b"{}"),
    ];
    for (method, params) in wrong {
        let answer = asked(&home, method, params);
        assert!(answer.is_err(), "{method} {}: {answer:?}", String::from_utf8_lossy(params));
    }
    // Of a key that comes twice, the last counts, as everywhere.
    let twice = asked(&home, "session.info", br#"{"sessionId":"nobody","sessionId":"there"}"#);
    assert_eq!(twice.unwrap()["name"], "there");
    assert!(process::lives(daemon.pid()));
}
