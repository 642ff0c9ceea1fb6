//! A room to talk in, and clients that wait for what they are to hear.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_agents::{Chats, Client, Config, Request};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A project, a state file, and what talks there.
pub(crate) struct Room {
    pub(crate) folder: TempDir,
    pub(crate) config: Config,
}

impl Room {
    pub(crate) fn new(command: Vec<OsString>) -> Room {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let variable =
            |name: &str, value: &Path| (OsString::from(name), value.as_os_str().to_owned());
        let path = std::env::var_os("PATH").unwrap();
        let config = Config {
            command,
            folder: folder.path().join("project"),
            environment: vec![
                variable("HOME", &folder.path().join("home")),
                (OsString::from("PATH"), path),
            ],
            idle_ttl: Duration::from_secs(600),
            sessions_max: 20,
            history_max: 1000,
            state_file: Some(folder.path().join("conversations.json")),
        };
        Room { folder, config }
    }

    /// One whose agent is a shell script.
    pub(crate) fn scripted(script: &str) -> Room {
        // Our arguments follow the name of the script.
        Room::new(["sh", "-c", script, "agent"].map(OsString::from).to_vec())
    }

    pub(crate) fn chats(&self) -> Chats {
        Chats::new(self.config.clone())
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.config.folder.clone()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What is being saved in the background may come in between.
        let from = std::time::Instant::now();
        while std::fs::remove_dir_all(self.folder.path()).is_err() && self.folder.path().exists() {
            assert!(from.elapsed() < PATIENCE, "the folder of a test cannot be removed");
        }
    }
}

/// An agent that shows its arguments and every line it gets.
pub(crate) const ECHO: &str = r#"
    echo "{\"type\":\"args\",\"args\":\"$*\"}"
    while IFS= read -r line; do printf '{"type":"got","line":%s}\n' "$line"; done"#;

/// A client that remembers what it heard.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) heard: Vec<Value>,
}

impl Guest {
    pub(crate) async fn join(chats: &Chats, query: &[(&str, &str)]) -> Guest {
        let request = Request::from_query(query.iter().copied());
        Guest { client: chats.join(request).await, heard: vec![] }
    }

    pub(crate) fn id(&self) -> String {
        self.client.session().to_string()
    }

    pub(crate) async fn say(&self, message: Value) {
        self.client.say(message.to_string()).await;
    }

    pub(crate) async fn turn(&self, text: &str) {
        self.say(json!({"type": "user", "message": text})).await;
    }

    /// The next message; nothing when the connection is closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let next = tokio::time::timeout(PATIENCE, self.client.next()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing came after {:#?}", self.heard))?;
        let value: Value = serde_json::from_str(&next).unwrap();
        self.heard.push(value.clone());
        Some(value)
    }

    /// Waits for a message of this type and subtype.
    pub(crate) async fn until(&mut self, kind: &str, subtype: &str) -> Value {
        while let Some(value) = self.next().await {
            if value["type"] == kind && (subtype.is_empty() || value["subtype"] == subtype) {
                return value;
            }
        }
        panic!("closed before `{kind}` `{subtype}`: {:#?}", self.heard);
    }

    /// Everything until it is closed.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(value) = self.next().await {
            all.push(value);
        }
        all
    }

    /// The number of the last message that had one.
    pub(crate) fn seen(&self) -> u64 {
        self.heard.iter().rev().find_map(|it| it["seq"].as_u64()).unwrap()
    }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let from = std::time::Instant::now();
    while !is_so() {
        assert!(from.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
