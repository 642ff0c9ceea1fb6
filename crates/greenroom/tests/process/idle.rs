//! Nothing happens, and nobody wakes up (B3).

use std::time::{Duration, Instant};

use greenroom_client::Connection;
use greenroom_testkit::{Daemon, count, create, eventually, eventually_ok, process, session_list};
use serde_json::json;

use crate::support::{call, home, pid, wait_for_text};

/// How many sessions are there.
const SESSIONS: usize = 200;

/// How long nobody may wake up. Whatever comes back regularly comes back within it.
fn window() -> Duration {
    Duration::from_secs(count(2, 10) as u64)
}

fn wake_ups(daemon: &Daemon, holders: &[u32]) -> u64 {
    process::switches(daemon.pid()) + holders.iter().map(|it| process::switches(*it)).sum::<u64>()
}

#[test]
fn idle_sessions_and_clients_wake_nobody_up() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let mut holders = Vec::new();
    for number in 0..SESSIONS {
        let session = create(&mut connection, &format!("idle-{number}"), "echo up; read line");
        holders.push(pid(&session, "holderPid"));
    }
    for number in 0..SESSIONS {
        wait_for_text(&mut connection, &format!("idle-{number}"), "up");
    }
    // Half of them look at a session, the others only are there.
    let clients: Vec<Connection> = (0..count(200, 1_000))
        .map(|number| {
            let mut client = home.connect();
            if number % 2 == 0 {
                let session = format!("idle-{}", number % SESSIONS);
                call(&mut client, "session.attach", json!({"sessionId": session, "stream": true}));
            }
            client
        })
        .collect();

    let mut quietest = u64::MAX;
    eventually_ok("nobody wakes up", || {
        let (before, begin) = (wake_ups(&daemon, &holders), Instant::now());
        let busy = process::cpu_ticks(daemon.pid());
        eventually("the time to look is over", || begin.elapsed() >= window());
        let woken = wake_ups(&daemon, &holders) - before;
        quietest = quietest.min(woken);
        let busy = process::cpu_ticks(daemon.pid()) - busy;
        match woken + busy {
            0 => Ok(()),
            _ => Err(format!("({quietest} times in {:?} at least)", window())),
        }
    });
    drop(clients);
    assert_eq!(session_list(&mut connection, false).len(), SESSIONS);
}
