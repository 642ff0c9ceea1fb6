//! Who gets into which conversation, and which end when nobody is there.

use std::time::Duration;

use serde_json::json;

use crate::support::{ECHO, Guest, Room, until};

#[tokio::test]
async fn the_same_number_is_the_same_conversation_and_an_odd_one_a_new() {
    let room = Room::scripted(ECHO);
    let chats = room.chats();
    let mut first = Guest::join(&chats, &[("session_id", "no-uuid")]).await;
    let connected = first.next().await.unwrap();
    assert_eq!(connected["resumed"], false);
    assert_eq!(connected["session_id"], first.id());
    assert_eq!(connected["settings"]["model"], "sonnet");
    let upper = format!("{{{}}}", first.id().to_uppercase());
    let mut second = Guest::join(&chats, &[("session_id", &upper), ("resume", "1")]).await;
    assert_eq!(second.id(), first.id());
    assert_eq!(second.next().await.unwrap()["resumed"], true);
    let listed = chats.list();
    assert_eq!((listed.len(), listed[0].clients), (1, 2));
    assert_eq!(listed[0].id.to_string(), first.id());
    assert!(chats.end(listed[0].id).await);
    assert!(!chats.end(listed[0].id).await);
    assert!(first.rest().await.iter().all(|it| it["subtype"] != "error"));
}

#[tokio::test]
async fn other_options_restart_the_agent_and_keep_everybody() {
    let room = Room::scripted(ECHO);
    let chats = room.chats();
    let mut first = Guest::join(&chats, &[]).await;
    let args = first.until("args", "").await["args"].as_str().unwrap().to_owned();
    assert!(args.contains("--permission-mode default") && args.contains("--session-id"), "{args}");
    let id = first.id();
    // Nothing said is nothing changed.
    Guest::join(&chats, &[("session_id", &id)]).await.until("system", "connected").await;
    let query = [("session_id", id.as_str()), ("mode", "plan"), ("model", "opus")];
    let mut second = Guest::join(&chats, &query).await;
    let connected = second.next().await.unwrap();
    let settings = json!({"model": "opus", "max_thinking_tokens": null, "mode": "plan"});
    assert_eq!((&connected["resumed"], &connected["settings"]), (&json!(true), &settings));
    first.until("system", "restarted").await;
    let args = first.until("args", "").await["args"].as_str().unwrap().to_owned();
    assert!(args.contains("--permission-mode plan --model opus"), "{args}");
    assert_eq!(chats.list().len(), 1);
}

#[tokio::test]
async fn begun_anew_is_another_conversation_under_the_same_number() {
    let room = Room::scripted(ECHO);
    let chats = room.chats();
    let mut first = Guest::join(&chats, &[]).await;
    let id = first.id();
    first.turn("hi").await;
    first.until("got", "").await;
    let mut second = Guest::join(&chats, &[("session_id", &id), ("force_new", "1")]).await;
    first.rest().await;
    let connected = second.next().await.unwrap();
    assert_eq!((&connected["session_id"], &connected["resumed"]), (&json!(id), &json!(false)));
    let args = second.until("args", "").await["args"].as_str().unwrap().to_owned();
    assert!(args.contains("--session-id") && !args.contains(&id), "{args}");
    until("only one is left", || chats.list().len() == 1).await;
}

#[tokio::test]
async fn who_comes_back_gets_what_was_said_meanwhile() {
    let room = Room::scripted(ECHO);
    let chats = room.chats();
    let mut first = Guest::join(&chats, &[]).await;
    let id = first.id();
    first.turn("one").await;
    first.until("got", "").await;
    let seen = first.seen().to_string();
    first.turn("two").await;
    first.until("got", "").await;
    drop(first);
    until("nobody is there", || chats.list()[0].clients == 0).await;
    let mut again = Guest::join(&chats, &[("session_id", &id), ("since", &seen)]).await;
    assert_eq!(again.next().await.unwrap()["subtype"], "connected");
    let missed = again.next().await.unwrap();
    assert_eq!(missed["line"]["message"]["content"][0]["text"], "two");
    again.turn("three").await;
    let next = again.next().await.unwrap();
    assert_eq!(next["seq"].as_u64().unwrap(), missed["seq"].as_u64().unwrap() + 1);
}

#[tokio::test]
async fn an_idle_one_ends_and_its_number_is_good_for_another() {
    let mut room = Room::scripted(ECHO);
    room.config.idle_ttl = Duration::ZERO;
    let chats = room.chats();
    let first = Guest::join(&chats, &[]).await;
    let id = first.id();
    assert_eq!(chats.list().len(), 1);
    drop(first);
    until("it ended with its last client", || chats.list().is_empty()).await;
    // Its number is good for another.
    let mut again = Guest::join(&chats, &[("session_id", &id)]).await;
    assert_eq!(again.next().await.unwrap()["session_id"], id);
}

#[tokio::test]
async fn at_the_bound_the_longest_idle_makes_room_and_nobody_else() {
    let mut room = Room::scripted(ECHO);
    room.config.sessions_max = 2;
    let chats = room.chats();
    let kept = Guest::join(&chats, &[]).await;
    let idle = Guest::join(&chats, &[]).await;
    let idle_id = idle.id();
    drop(idle);
    let third = Guest::join(&chats, &[]).await;
    until("the idle one is gone", || chats.list().iter().all(|it| it.id.to_string() != idle_id))
        .await;
    // With nobody idle it is passed, up to a bound.
    let mut more = Vec::new();
    for _ in 0..6 {
        more.push(Guest::join(&chats, &[]).await);
    }
    let mut refused = Guest::join(&chats, &[]).await;
    refused.until("system", "error").await;
    assert_eq!(refused.next().await, None);
    let alive: Vec<String> = chats.list().iter().map(|it| it.id.to_string()).collect();
    assert!(alive.contains(&kept.id()) && alive.contains(&third.id()));
}

#[tokio::test]
async fn many_who_come_at_once_share_one_agent() {
    let room = Room::scripted(ECHO);
    let chats = room.chats();
    let id = "a1b2c3d4-0000-4000-8000-000000000001";
    let query = [("session_id", id)];
    let (first, second, third) = tokio::join!(
        Guest::join(&chats, &query),
        Guest::join(&chats, &query),
        Guest::join(&chats, &query),
    );
    let mut resumed = Vec::new();
    for mut guest in [first, second, third] {
        resumed.push(guest.next().await.unwrap()["resumed"].as_bool().unwrap());
    }
    resumed.sort_unstable();
    assert_eq!(resumed, [false, true, true]);
    assert_eq!(chats.list().len(), 1);
}

#[tokio::test]
async fn one_that_works_alone_goes_on_until_it_is_done() {
    // It says something five times a second for four seconds, then nothing.
    let work = r#"
        read first
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            echo "{\"type\":\"step\",\"n\":$i}"; sleep 0.2
        done
        echo done > finished; cat >/dev/null"#;
    let mut room = Room::scripted(work);
    room.config.idle_ttl = Duration::from_secs(2);
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    guest.turn("go").await;
    guest.until("step", "").await;
    drop(guest);
    until("it ends by itself", || chats.list().is_empty()).await;
    assert!(room.project().join("finished").exists(), "it was ended at work");
}
