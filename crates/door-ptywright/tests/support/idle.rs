//! An engine that has no sessions and no holder, for what needs none.

use std::sync::Arc;
use std::time::Duration;

use greenroom_engine::{
    Archive, AuditEntry, Done, EndedRecord, Engine, Limits, LivingRecord, Options, SizePolicy,
};
use greenroom_model::{SessionId, Size};

/// Remembers nothing.
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

pub(crate) fn engine() -> Engine {
    let options = Options {
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
        max_sessions: 1,
        grace: Duration::from_secs(1),
        keep_bytes: 1 << 20,
        open_files: 0,
        limits: Limits::default(),
        leashed: true,
    };
    Engine::new(options, Arc::new(Nothing), SessionId(1))
}
