//! The end of a session: everybody is told, the archive keeps it, and only then the holder goes.

use std::time::Duration;

use greenroom_proto::ToHolder;
use tokio::sync::{mpsc, oneshot};

use super::{Msg, Session, pack};
use crate::archive::{EndedRecord, LivingRecord};
use crate::engine::House;
use crate::event::HouseEvent;
use crate::{End, Error, Event, State};

/// How long to wait before the archive is tried again; it doubles up to the longest.
const RETRY: Duration = Duration::from_millis(500);

/// A disk that is full may be so for days; trying costs next to nothing.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// How long a holder has to hear that it may go.
const FAREWELL: Duration = Duration::from_secs(5);

impl Session {
    /// Ends the session. All its output has been taken.
    pub(super) async fn finish(mut self, end: End, inbox: mpsc::Receiver<Msg>) {
        let id = self.description.id;
        for look in self.held.drain(..) {
            look(&self.screen);
        }
        let packed = pack(&self.screen);
        let record = self.record(end, packed);
        // From here on the house answers from the record; who asked the session before is told so.
        self.house.ended(record.clone());
        drop(inbox);
        let screen = &self.screen;
        self.waits.end(screen, end, || match end {
            End::Exited(_) => Error::Ended(id),
            End::Lost => Error::Lost(id),
        });
        for killer in self.killers.drain(..) {
            let _gone = killer.send(Ok(()));
        }
        self.viewers.tell_end(&Event::Ended(end));
        self.house.tell(HouseEvent::Ended(id, end));
        archive(&self.house, record).await;
        self.house.archived(id);
        self.farewell().await;
    }

    fn record(&mut self, end: End, packed: Vec<u8>) -> EndedRecord {
        let ended_ms = crate::engine::now_ms();
        let mut info = self.face.lock();
        info.state = State::Ended(end, ended_ms);
        info.viewers.clear();
        EndedRecord {
            living: LivingRecord::of(&info),
            attached_ms: info.attached_ms,
            title: info.title.clone(),
            ended_ms,
            end,
            offset: info.offset,
            checkpoint: Some(packed),
        }
    }

    /// Lets the holder go.
    async fn farewell(&mut self) {
        self.link.say(&ToHolder::Release);
        let flushed = async {
            while !self.link.is_flushed() {
                if self.link.ready(false).await.is_err() || self.link.flush().is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(FAREWELL, flushed).await.is_err() {
            tracing::warn!(session = %self.description.id, "the holder did not hear that it may go");
        }
    }
}

/// Hands the record to the archive until it is kept.
async fn archive(house: &House, record: EndedRecord) {
    let mut pause = RETRY;
    loop {
        let (answer, answered) = oneshot::channel();
        let done = Box::new(|result| drop(answer.send(result)));
        house.archive.ended(record.clone(), done);
        match answered.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                tracing::warn!(session = %record.living.id, %error, "an ended session is not kept yet");
            }
            // The archive is closed; the holder keeps the session for the next daemon.
            Err(_) => return std::future::pending().await,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_RETRY);
    }
}
