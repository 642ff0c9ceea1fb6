//! The conversations in `tests/transcripts`, which the document of the protocol shows.
//!
//! `?` is the query a client connects with, `>` what it sends, `<` what it gets; `>>` what the agent
//! gets then, `<<` what it prints. Numbers, and the name of the conversation, are left out.

use std::ffi::OsString;
use std::path::Path;

use greenroom_agents::{Chats, Request};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

use crate::support::{Guest, PATIENCE, Room};

/// An agent whose lines go through our hands.
struct Puppet {
    prints: Sender,
    gets: Lines<BufReader<Receiver>>,
}

impl Puppet {
    fn new(room: &mut Room) -> Puppet {
        let pipe = |name: &str| {
            let path = room.folder.path().join(name);
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            path
        };
        let (prints, gets) = (pipe("prints"), pipe("gets"));
        let script = "cat \"$0\" & exec cat > \"$1\"";
        let words = ["sh", "-c", script].map(OsString::from);
        let paths = [prints.clone().into_os_string(), gets.clone().into_os_string()];
        room.config.command = words.into_iter().chain(paths).collect();
        // Both ends, so that neither opening nor the agent's end is waited for.
        let mut open = OpenOptions::new();
        open.read_write(true);
        Puppet {
            prints: open.open_sender(prints).unwrap(),
            gets: BufReader::new(open.open_receiver(gets).unwrap()).lines(),
        }
    }
}

/// Takes out what differs from run to run.
fn masked(mut value: Value, id: &str) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("seq");
        fields.remove("last_seq");
    }
    let text = value.to_string().replace(id, "SESSION");
    serde_json::from_str(&text).unwrap()
}

fn query(text: &str) -> Vec<(&str, &str)> {
    text.split('&').filter_map(|pair| pair.split_once('=')).collect()
}

async fn play(path: &Path) {
    let mut room = Room::new(vec![]);
    let mut puppet = Puppet::new(&mut room);
    let chats: Chats = room.chats();
    let mut guest: Option<Guest> = None;
    let text = std::fs::read_to_string(path).unwrap();
    for (number, line) in (1..).zip(text.lines()) {
        let at = format!("{}:{number}", path.display());
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let parsed = || -> Value { serde_json::from_str(rest).unwrap_or_else(|_| panic!("{at}")) };
        match mark {
            "#" | "" => {}
            "?" => {
                let request = Request::from_query(query(rest));
                let client = chats.join(request).await;
                guest = Some(Guest { client, heard: vec![] });
            }
            ">" => guest.as_ref().unwrap().client.say(rest.to_owned()).await,
            "<<" => puppet.prints.write_all(format!("{rest}\n").as_bytes()).await.unwrap(),
            "<" => {
                let guest = guest.as_mut().unwrap();
                let next = guest.next().await.unwrap_or_else(|| panic!("{at}: closed"));
                assert_eq!(masked(next, &guest.id()), parsed(), "{at}");
            }
            ">>" => {
                let next = tokio::time::timeout(PATIENCE, puppet.gets.next_line()).await;
                let next = next.unwrap_or_else(|_| panic!("{at}: the agent got nothing"));
                let next: Value = serde_json::from_str(&next.unwrap().unwrap()).unwrap();
                assert_eq!(next, parsed(), "{at}");
            }
            _ => panic!("{at}: what is `{mark}`?"),
        }
    }
    chats.close().await;
}

#[tokio::test]
async fn transcripts_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    let mut files: Vec<_> =
        files.filter(|it| it.extension().is_some_and(|it| it == "txt")).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        play(&file).await;
    }
}
