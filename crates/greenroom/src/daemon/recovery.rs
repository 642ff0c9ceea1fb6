//! Which sessions there are when a daemon comes: those whose holders answer, and those that have ended.
//!
//! What the store knows is compared with what is found, in both directions: the last daemon may have been
//! killed before it had said all. Holders that answer late are taken up when they do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use greenroom_engine::points::{Point, reach};
use greenroom_engine::{Engine, Refused};
use greenroom_model::SessionId;
use greenroom_store::Keeper;

use super::affairs::Affairs;
use super::{LOG, asked};
use crate::archive;

/// When to look for late holders: a holder whose daemon is gone listens within milliseconds or
/// ends, unless the machine is on its knees.
const LATE_HOLDERS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(900), Duration::from_secs(3)];

/// How often holders that did not answer, or were not understood, are knocked at: somebody who let
/// one go on finds its session before they wonder, and it costs nothing.
const KNOCK_EVERY: Duration = Duration::from_secs(60);

/// Takes up the sessions that live, and remembers those that do not.
pub(super) async fn recover(engine: &Engine, keeper: &Keeper) -> Result<()> {
    let found = engine.recover().await.context("looking for holders")?;
    let ended = asked(|answer| keeper.list_ended(answer)).await?;
    engine.remember(ended.into_iter().map(archive::ended));
    reach(Point::StartRemembered);
    record(engine, keeper, &found.sessions).await?;
    let refused = |id: &SessionId| found.refused.iter().any(|it| it.session == Some(*id));
    let gone = |id: &SessionId| !found.sessions.contains(id) && !refused(id);
    lose(engine, keeper, gone).await?;
    reach(Point::StartLost);
    tracing::info!(target: LOG, sessions = found.sessions.len(), "sessions were taken up");
    Ok(())
}

/// Has the store know the sessions that were taken up, and by the names they have: the last daemon may have
/// been killed before it said so.
async fn record(engine: &Engine, keeper: &Keeper, sessions: &[SessionId]) -> Result<()> {
    let known: BTreeMap<SessionId, String> = asked(|answer| keeper.living(answer))
        .await?
        .into_iter()
        .map(|it| (it.id, it.name))
        .collect();
    for info in engine.list().iter().filter(|info| sessions.contains(&info.id)) {
        if known.get(&info.id) != Some(&info.name) {
            engine.record(info.id);
        }
    }
    Ok(())
}

/// Remembers living sessions of the store as lost: their holders are gone.
async fn lose(engine: &Engine, keeper: &Keeper, gone: impl Fn(&SessionId) -> bool) -> Result<()> {
    let living = asked(|answer| keeper.living(answer)).await?;
    for session in living.into_iter().filter(|session| gone(&session.id)) {
        let record = archive::lost(session);
        tracing::warn!(target: LOG, session = %record.living.id, "its holder is gone: the session is lost");
        engine.remember([record.clone()]);
        reach(Point::StartLosing);
        let stored = greenroom_store::Ended {
            session: store_session(&record),
            ended_ms: record.ended_ms,
            end: greenroom_store::End::Lost("the holder is gone".to_owned()),
        };
        keeper.ended(stored, None, |_| {});
    }
    Ok(())
}

fn store_session(record: &greenroom_engine::EndedRecord) -> greenroom_store::Session {
    let living = &record.living;
    greenroom_store::Session {
        id: living.id,
        uuid: living.uuid,
        name: living.name.clone(),
        created_ms: living.created_ms,
        attached_ms: record.attached_ms,
        cwd: living.cwd.clone(),
        command: living.command.clone(),
        size: living.size,
        title: record.title.clone(),
        offset: record.offset,
        resizes: living.resizes,
        notes: living.notes.clone(),
    }
}

/// Looks for holders that an earlier daemon started and that were not listening yet when this one
/// came, and knocks again at those that did not answer, and at all when somebody wants it. Without
/// such nothing wakes up here after the last look.
pub(super) async fn look_again(affairs: &Arc<Affairs>) {
    let engine = &affairs.engine;
    let mut early = LATE_HOLDERS.into_iter();
    loop {
        let refused = engine.refused();
        let every = Some(KNOCK_EVERY).filter(|_| !refused.is_empty());
        let pause = async {
            match early.next().or(every) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = pause => {}
            () = engine.recovery_wanted() => {}
        }
        if let Err(error) = look(affairs, &refused).await {
            tracing::warn!(target: LOG, %error, "late holders could not be looked for");
        }
    }
}

/// Takes up holders that answer by now, and gives up on those of the refused that are gone.
async fn look(affairs: &Affairs, refused: &[Refused]) -> Result<()> {
    let found = affairs.engine.recover().await?;
    if !found.sessions.is_empty() {
        tracing::warn!(target: LOG, sessions = found.sessions.len(), "late holders were taken up");
        record(&affairs.engine, &affairs.keeper, &found.sessions).await?;
    }
    let is_in = |id: &SessionId, all: &[Refused]| all.iter().any(|it| it.session == Some(*id));
    let gone = |id: &SessionId| {
        is_in(id, refused) && !is_in(id, &found.refused) && !found.sessions.contains(id)
    };
    if refused.iter().filter_map(|it| it.session).any(|id| gone(&id)) {
        lose(&affairs.engine, &affairs.keeper, gone).await?;
    }
    Ok(())
}
