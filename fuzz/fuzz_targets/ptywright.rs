//! Any bytes as a ptywright client's, in lines, behind headers or guessed: the door neither panics nor hangs,
//! and answers the same whatever way they are cut.
//!
//! The door has an engine without a holder, so no request starts anything: what is fuzzed is framing,
//! envelope, parameters and errors.

#![no_main]

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use greenroom_door::Shutdown;
use greenroom_door_ptywright::{Client, Door, Framing, Options, serve};
use greenroom_engine::{
    Archive, AuditEntry, Done, EndedRecord, Engine, Limits, LivingRecord,
    Options as EngineOptions, SizePolicy,
};
use greenroom_model::{SessionId, Size};
use greenroom_plugin::Registry;
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::{Builder, Runtime};

/// How long one input may take; it is answered at once.
const PATIENCE: Duration = Duration::from_secs(5);

struct Nothing;

impl Archive for Nothing {
    fn created(&self, _: LivingRecord) {}
    fn renamed(&self, _: SessionId, _: String) {}
    fn ended(&self, _: EndedRecord, done: Done<()>) {
        done(Ok(()));
    }
    fn checkpoint(&self, _: SessionId, done: Done<Option<Vec<u8>>>) {
        done(Ok(None));
    }
    fn forget(&self, _: SessionId, done: Done<()>) {
        done(Ok(()));
    }
    fn audit(&self, _: AuditEntry) {}
}

fn door() -> Arc<Door> {
    let options = EngineOptions {
        holder: "/nowhere/holder".into(),
        holders: "/nowhere".into(),
        socket: "/nowhere/socket".into(),
        environment: Vec::new(),
        shell: "/bin/sh".to_owned(),
        cwd: "/".into(),
        size: Size::DEFAULT,
        history_lines: 100,
        size_policy: SizePolicy::Latest,
        lag_bytes: 1 << 20,
        clipboard_write: false,
        input_bytes: 1 << 20,
        // None: nothing a client says may start a program here.
        max_sessions: 0,
        grace: Duration::from_secs(1),
        keep_bytes: 1 << 20,
        open_files: 0,
        limits: Limits::default(),
        leashed: true,
    };
    let engine = Engine::new(options, Arc::new(Nothing), SessionId(1));
    let plugins = Registry::new(Vec::new()).expect("no plugins");
    let options = Options { allow_plugin_load: false, private: true, version: "0" };
    Arc::new(Door::new(engine, plugins, options))
}

/// What is answered to these pieces. Answers to independent requests have no order: sorted.
async fn answers(framing: Framing, pieces: &[&[u8]]) -> Vec<u8> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let client = Client { framing, name: "fuzz".to_owned(), finishes: true, socket: None };
    let serving = serve(tokio::io::split(theirs), client, door(), Shutdown::default());
    let (mut reader, mut writer) = tokio::io::split(ours);
    let speaking = async move {
        for piece in pieces {
            // The door may have hung up.
            let _gone = writer.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        let _gone = writer.shutdown().await;
        let mut all = Vec::new();
        let _gone = reader.read_to_end(&mut all).await;
        all.sort_unstable();
        all
    };
    tokio::join!(serving, speaking).1
}

thread_local! {
    static RUNTIME: RefCell<Runtime> =
        RefCell::new(Builder::new_current_thread().enable_all().build().expect("a runtime"));
}

fuzz_target!(|data: &[u8]| {
    let [framing, cut, bytes @ ..] = data else { return };
    // A file is opened before there is known to be no session: not on the machine of who fuzzes.
    if bytes.windows(14).any(|it| it == b"raw_transcript") || bytes.contains(&b'\\') {
        return;
    }
    let framing = match framing % 3 {
        0 => Framing::Lines,
        1 => Framing::Headers,
        _ => Framing::Guess,
    };
    let (head, tail) = bytes.split_at((*cut as usize).min(bytes.len()));
    RUNTIME.with_borrow(|runtime| {
        runtime.block_on(async {
            let both =
                async { (answers(framing, &[bytes]).await, answers(framing, &[head, tail]).await) };
            let (whole, cut) = tokio::time::timeout(PATIENCE, both).await.expect("it hangs");
            assert_eq!(whole, cut);
        });
    });
});
