//! Positions in the log: who gets what, and who has missed something.

use serde_json::json;

use super::*;

fn log() -> Log {
    Log::new(4, 1 << 20)
}

/// What a client can take at once, without the numbers; `.` is the end.
fn drain(log: &Log, client: ClientId) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(next) = log.kept().take(client) {
        let Some(text) = next else {
            all.push(".".to_owned());
            break;
        };
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value.as_object_mut().unwrap().remove("seq");
        all.push(value["n"].as_str().unwrap_or(&value.to_string()).to_owned());
    }
    all
}

fn n(name: &str) -> Value {
    json!({"n": name})
}

#[test]
fn who_comes_back_gets_what_it_missed_and_no_more() {
    let log = log();
    let (seen, _) = log.push(&n("a"));
    log.push(&n("b"));
    log.enter(1, From::Seen(seen), &[n("hello")]);
    log.push_own(1, &n("own"));
    log.push(&n("c"));
    assert_eq!(drain(&log, 1), ["hello", "b", "own", "c"]);
    log.enter(2, From::Now, &[n("hello")]);
    log.close();
    assert_eq!(drain(&log, 2), ["hello", "."]);
    log.enter(3, From::Start, &[]);
    assert_eq!(drain(&log, 3), ["a", "b", "c", "."]);
}

#[test]
fn who_is_too_slow_is_told_how_much_it_missed() {
    let log = log();
    log.enter(1, From::Now, &[]);
    for name in ["a", "b", "c", "d", "e", "f"] {
        log.push(&n(name));
    }
    let lagged = r#"{"missed":2,"subtype":"lagged","type":"system"}"#;
    assert_eq!(drain(&log, 1), [lagged, "c", "d", "e", "f"]);
}

#[test]
fn numbers_of_another_log_are_not_taken_for_ours() {
    let lagged = r#"{"missed":null,"subtype":"lagged","type":"system"}"#;
    let log = log();
    log.push(&n("a"));
    log.enter(1, From::Seen(u64::MAX), &[]);
    assert_eq!(drain(&log, 1), [lagged, "a"]);
    let before = log.last() - 2;
    for (client, seen) in [(2, 7), (3, before)] {
        log.enter(client, From::Seen(seen), &[]);
        assert_eq!(drain(&log, client), [lagged, "a"]);
    }
    let later = Log::new(4, 1 << 20);
    assert!(later.last() + NUMBERS_PER_MS >= log.last());
}

#[test]
fn bytes_are_bounded_and_the_last_message_is_kept_all_the_same() {
    let log = Log::new(100, 64);
    log.enter(1, From::Now, &[]);
    log.push(&n("a"));
    log.push(&n(&"x".repeat(1000)));
    assert_eq!(log.len(), 1);
    assert_eq!(drain(&log, 1).len(), 2);
}

#[test]
fn a_message_is_repeated_only_to_who_does_not_get_it_anyway() {
    let log = log();
    let (number, text) = log.push(&n("a"));
    log.enter(1, From::Now, &[]);
    log.repeat(1, number, &text);
    log.enter(2, From::Start, &[]);
    log.repeat(2, number, &text);
    assert_eq!((drain(&log, 1), drain(&log, 2)), (vec!["a".to_owned()], vec!["a".to_owned()]));
}

#[test]
fn who_asks_and_never_reads_is_cut_off() {
    let log = log();
    log.enter(1, From::Now, &[]);
    for _ in 0..=OWN_MAX {
        log.push_own(1, &n("pong"));
    }
    assert_eq!(drain(&log, 1), ["."]);
}

#[test]
fn a_number_is_put_in_and_the_rest_left_as_it_was() {
    let text = r#"{"z": 1, "a":"\u00e9"}"#;
    let value = serde_json::from_str(text).unwrap();
    assert_eq!(numbered(text, &value, 7), r#"{"seq":7,"z": 1, "a":"\u00e9"}"#);
    assert_eq!(numbered("{}", &json!({}), 7), r#"{"seq":7}"#);
    let text = r#"{"seq":"theirs"}"#;
    let value = serde_json::from_str(text).unwrap();
    assert_eq!(numbered(text, &value, 7), r#"{"seq":7}"#);
}
