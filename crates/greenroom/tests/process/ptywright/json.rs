//! JSON of every bad kind (N3).

use greenroom_testkit::{Framing, Home, process};
use serde_json::{Value, json};

use super::{create, home};

/// Sends a message that is a parse error; the connection goes on.
#[track_caller]
fn refused(home: &Home, what: &str, message: &[u8]) {
    for framing in [Framing::Lines, Framing::Headers] {
        let mut rpc = home.ptywright(framing);
        // The framing is known from here on.
        rpc.call("session.list", &json!({}));
        rpc.send(message).unwrap();
        let answer = rpc.answer(&Value::Null).expect(what);
        assert_eq!(answer.unwrap_err()["code"], -32700, "{what}");
        rpc.call("session.list", &json!({}));
    }
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    let home = home();
    let daemon = home.start();
    let deep = 1_000_000;
    refused(&home, "deep arrays", "[".repeat(deep).as_bytes());
    refused(&home, "deep objects", r#"{"a":"#.repeat(deep).as_bytes());
    refused(&home, "half a request", br#"{"jsonrpc":"2.0","id":1,"meth"#);
    refused(&home, "bytes that are no text", b"\xff\xfe\x80{}");
    refused(&home, "a NUL", b"{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"session.list\"}");
    refused(&home, "a mark of the order of bytes", b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\"}");
    let with = |params: &[u8]| {
        let head = br#"{"jsonrpc":"2.0","id":1,"method":"session.snapshot","params":"#;
        [head.as_slice(), params, b"}"].concat()
    };
    refused(&home, "a lone surrogate", &with(br#"{"session":"\ud800"}"#));
    refused(&home, "text that is no UTF-8", &with(b"{\"session\":\"\xff\"}"));
    refused(&home, "an endless number", &with(br#"{"session":"s1","row_start":1e999}"#));
    let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    refused(&home, "deep parameters", &with(nested.as_bytes()));
    let twice = br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"session.list"}"#;
    refused(&home, "a member of a request twice", twice);
    assert!(process::lives(daemon.pid()));
}

#[test]
fn json_that_makes_no_sense_is_an_error_and_the_connection_goes_on() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "read line");
    let keys: Vec<String> = (0..500_000).map(|number| format!(r#""{number}":0"#)).collect();
    let many = format!("{{{}}}", keys.join(","));
    let mut id = 0;
    let mut asked = |method: &str, params: &str| {
        id += 1;
        let id = json!(format!("raw {id}"));
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        rpc.send(request.as_bytes()).unwrap();
        rpc.answer(&id).expect("the connection stays")
    };
    for (method, params) in [
        ("session.snapshot", many.as_str()),
        ("session.snapshot", r#"{"session":{}}"#),
        ("session.snapshot", r#"{"session":"\u0000"}"#),
        ("session.snapshot", r#"{"session":"s1","row_start":-1}"#),
        ("session.snapshot", r#"{"session":"s1","redaction":[]}"#),
        ("session.resize", r#"{"session":"s1","cols":0,"rows":5}"#),
        ("session.resize", r#"{"session":"s1","cols":99999999999999999999,"rows":1}"#),
        ("session.resize", r#"{"session":"s1","cols":1e300,"rows":1}"#),
        (
            "session.wait",
            r#"{"session":"s1","matcher":{"type":"process_exited"},"timeout_ms":1.5}"#,
        ),
        ("session.wait", r#"{"session":"s1","matcher":{"type":"process_exited"},"timeout_ms":-1}"#),
        ("session.input", r#"{"session":"s1","action":{"type":"text","value":["x"]}}"#),
    ] {
        let error = asked(method, params).unwrap_err();
        assert_eq!(error["code"], -32602, "{method} {}", &params[..params.len().min(80)]);
    }
    for params in [
        r#"{"program":"a\u0000b"}"#,
        r#"{"program":"true","args":["a\u0000b"]}"#,
        r#"{"program":"true","env":{"A\u0000":"x"}}"#,
        r#"{"program":"true","env":{"A":"x\u0000"}}"#,
        r#"{"program":"true","env":{"A=B":"x"}}"#,
        r#"{"program":"true","cwd":"/\u0000"}"#,
    ] {
        let error = asked("session.create", params).unwrap_err();
        assert!([-32602, -32603].contains(&error["code"].as_i64().unwrap()), "{params}: {error}");
    }
    // Of a parameter that comes twice, the last counts, as everywhere.
    let twice = asked("session.snapshot", r#"{"session":"nobody","session":"s1","cells":false}"#);
    assert_eq!(twice.unwrap()["plain_text"], "");
    assert!(process::lives(daemon.pid()));
}
