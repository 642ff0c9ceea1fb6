//! Agents that print garbage, die, or do nothing; clients that do not read.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::json;

use crate::support::{ECHO, Guest, Room};

#[tokio::test]
async fn an_agent_that_is_not_there_is_an_error_and_a_close() {
    let room = Room::new(vec![OsString::from("/nowhere/claude")]);
    let mut guest = Guest::join(&room.chats(), &[]).await;
    let error = guest.until("system", "error").await;
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("Failed to start session: "), "{message}");
    assert_eq!(guest.rest().await, [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn an_agent_that_dies_at_once_is_an_error_and_a_close() {
    let room = Room::scripted("echo boom >&2; exit 3");
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    assert_eq!(guest.until("system", "stderr").await["message"], "boom");
    let error = guest.until("system", "error").await;
    let expected = "Claude process exited unexpectedly. Session may be in use.";
    assert_eq!(error["message"], expected);
    assert_eq!(guest.until("result", "exit").await["exit_code"], 3);
    assert_eq!(guest.next().await, None);
    assert!(guest.heard.iter().all(|it| it["subtype"] != "connected"), "{:#?}", guest.heard);
}

#[tokio::test]
async fn an_agent_that_dies_later_is_told_to_everybody_after_all_it_said() {
    let room = Room::scripted(r#"read line; printf '{"type":"assistant"}\n{"type":"half'; exit 0"#);
    let chats = room.chats();
    let mut first = Guest::join(&chats, &[]).await;
    let id = first.id();
    let mut second = Guest::join(&chats, &[("session_id", &id)]).await;
    first.turn("hi").await;
    for guest in [&mut first, &mut second] {
        guest.until("assistant", "").await;
        assert_eq!(guest.until("raw", "").await["data"], r#"{"type":"half"#);
        assert_eq!(guest.until("result", "exit").await["exit_code"], 0);
        assert_eq!(guest.next().await, None);
    }
    crate::support::until("it is forgotten", || chats.list().is_empty()).await;
}

#[tokio::test]
async fn garbage_is_passed_on_as_such() {
    let room = Room::scripted(
        r#"printf 'plain\n[1,2]\n"text"\n{"no":"type"}\n\377\376\n{"type":7}\n'; cat >/dev/null"#,
    );
    let mut guest = Guest::join(&room.chats(), &[]).await;
    assert_eq!(guest.next().await.unwrap()["subtype"], "connected");
    for expected in
        ["plain", "[1,2]", "\"text\"", r#"{"no":"type"}"#, "\u{fffd}\u{fffd}", r#"{"type":7}"#]
    {
        assert_eq!(guest.until("raw", "").await["data"], expected);
    }
}

#[tokio::test]
async fn a_line_past_all_bounds_costs_only_itself() {
    let room = Room::scripted(
        r#"head -c 17000000 /dev/zero | tr '\0' x; printf '\n{"type":"after"}\n'; cat >/dev/null"#,
    );
    let mut guest = Guest::join(&room.chats(), &[]).await;
    let error = guest.until("system", "error").await;
    assert!(error["message"].as_str().unwrap().contains("too long"), "{error}");
    guest.until("after", "").await;
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_stopped_by_a_signal_and_started_again() {
    // It reads, answers nothing, and ends by SIGINT as Claude Code does.
    let room = Room::scripted("cat >/dev/null");
    let mut guest = Guest::join(&room.chats(), &[]).await;
    guest.say(json!({"type": "interrupt"})).await;
    let interrupted = guest.until("system", "interrupted").await;
    assert_eq!(interrupted["session_id"], guest.id());
    guest.until("system", "restarted").await;
    guest.say(json!({"type": "ping"})).await;
    guest.until("pong", "").await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_told_what_it_missed_and_goes_on() {
    let mut room = Room::scripted(ECHO);
    room.config.history_max = 10;
    let chats = room.chats();
    let mut slow = Guest::join(&chats, &[]).await;
    let id = slow.id();
    let mut quick = Guest::join(&chats, &[("session_id", &id)]).await;
    for number in 0..50 {
        quick.turn(&number.to_string()).await;
        quick.until("got", "").await;
    }
    let lagged = slow.until("system", "lagged").await;
    assert!(lagged["missed"].as_u64().unwrap() >= 40, "{lagged}");
    for _ in 0..10 {
        assert_eq!(slow.next().await.unwrap()["type"], "got");
    }
    quick.turn("more").await;
    let text = slow.until("got", "").await["line"]["message"]["content"][0]["text"].clone();
    assert_eq!(text, "more");
}

#[tokio::test]
async fn a_message_past_all_bounds_is_refused_and_the_next_is_taken() {
    let room = Room::scripted(ECHO);
    let mut guest = Guest::join(&room.chats(), &[]).await;
    guest.client.say("x".repeat(greenroom_agents::MESSAGE_MAX + 1)).await;
    let error = guest.until("system", "error").await;
    assert!(error["message"].as_str().unwrap().contains("bytes"), "{error}");
    guest.turn("small").await;
    guest.until("got", "").await;
}

#[tokio::test]
async fn what_the_agent_started_ends_with_it() {
    let room = Room::scripted(
        "trap '' TERM; sleep 300 & echo \"{\\\"type\\\":\\\"pid\\\",\\\"pid\\\":$!}\"; wait; cat",
    );
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    let pid = guest.until("pid", "").await["pid"].as_u64().unwrap();
    chats.close().await;
    assert_eq!(guest.next().await, None);
    let stat = format!("/proc/{pid}/stat");
    crate::support::until("the child of the agent is gone", || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    })
    .await;
    let mut late = Guest::join(&chats, &[]).await;
    late.until("system", "error").await;
    assert_eq!(late.next().await, None);
}

#[tokio::test]
async fn deep_and_odd_json_is_text_that_somebody_typed() {
    let room = Room::scripted(ECHO);
    let mut guest = Guest::join(&room.chats(), &[]).await;
    let deep = "[".repeat(100_000);
    for text in ["plain words", "7", "[1,2]", "\"x\"", "{\"no\":\"type\"}", "{broken", &deep] {
        guest.client.say(text.to_owned()).await;
        let got = guest.until("got", "").await;
        assert_eq!(got["line"]["message"]["content"][0]["text"], text);
    }
    guest.say(json!({"type": "dance"})).await;
    guest.until("system", "ignored").await;
    guest.client.say("   ".to_owned()).await;
    guest.until("system", "ignored").await;
    tokio::time::timeout(Duration::from_secs(5), guest.say(json!({"type": "ping"}))).await.unwrap();
    guest.until("pong", "").await;
}
