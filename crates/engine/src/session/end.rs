//! The end of a session: everybody is told, the archive keeps it, and only then the holder goes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use greenroom_model::SessionId;
use greenroom_proto::ToHolder;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::{Msg, Session, pack};
use crate::Texts;
use crate::archive::{EndedRecord, LivingRecord};
use crate::encore::Encore;
use crate::engine::House;
use crate::event::HouseEvent;
use crate::link::Link;
use crate::points::{Point, reach};
use crate::{End, Error, Event, Scene, State, limited, relink};

/// How long to wait before the archive is tried again; it doubles up to the longest.
const RETRY: Duration = Duration::from_millis(500);

/// A disk that is full may be so for days; trying costs next to nothing.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// How long clients have to take the last bytes.
const LAST_BYTES: Duration = Duration::from_secs(10);

/// How much a session must have printed for it to be worth giving its memory back.
const MUCH: u64 = 1 << 20;

/// How long a holder has to hear that it may go.
const FAREWELL: Duration = Duration::from_secs(5);

impl Session {
    /// Ends the session. All its output has been taken.
    pub(super) async fn finish(mut self, end: End, mut inbox: mpsc::Receiver<Msg>) {
        let (id, socket) = (self.description.id, self.socket());
        reach(Point::EndHeard);
        self.hear_last(&mut inbox);
        let packed = pack(&self.screen, self.transcript.as_ref());
        let record = self.record(end, packed);
        let expected = self.absent_due();
        let journal = std::mem::take(&mut self.journal);
        let encore = expected.map(|_| Arc::new(Encore::new(journal)));
        let _leaving = self.house.leave(id);
        // From here on the house answers from the record.
        self.house.ended(record.clone(), &self.face.get(), encore.clone());
        reach(Point::EndListed);
        drop(inbox);
        let mut waits = std::mem::take(&mut self.waits);
        let texts = Texts::default();
        let scene = Scene { end: Some(end), ..self.scene(Instant::now(), &texts) };
        waits.end(scene, || match end {
            End::Exited(_) => Error::Ended(id),
            End::Lost => Error::Lost(id),
        });
        for killer in self.killers.drain(..) {
            let _gone = killer.send(Ok(()));
        }
        self.redraw_last();
        self.viewers.tell_end(&Event::Ended(end));
        self.house.tell(HouseEvent::Ended(id, end));
        // Who follows what changes hears of the end by this: a disk that is full is no reason to keep it from them.
        drop(self.changes);
        reach(Point::EndTold);
        // Only the holder keeps the terminal: if it was killed, the child must get its hangup.
        self.keyboard.close();
        drop(self.keyboard);
        self.ahead.stop();
        archive(&self.house, record).await;
        self.house.archived(id);
        reach(Point::EndStored);
        // The holder stays while somebody has not got the last bytes, which only it would still have
        // if this daemon were killed now.
        let _late = tokio::time::timeout(LAST_BYTES, self.viewers.gone()).await;
        if let Some((until, encore)) = expected.zip(encore) {
            // The holder stays, in case the next daemon has to give the encore.
            encore.given(until).await;
            self.house.no_encore(id);
        }
        farewell(&mut self.link, id, &socket).await;
        reach(Point::EndGone);
        limited::remove(&self.options, id).await;
        if self.screen.offset().0 > MUCH {
            drop(self.screen);
            greenroom_pty::return_free_memory();
        }
    }

    /// Takes what was asked before the end: whoever looks or waits gets an answer.
    fn hear_last(&mut self, inbox: &mut mpsc::Receiver<Msg>) {
        inbox.close();
        while let Ok(msg) = inbox.try_recv() {
            match msg {
                Msg::Look(_) | Msg::Wait(..) => self.apply(msg),
                // Their answers are dropped, which says that the session has ended.
                Msg::Type { .. }
                | Msg::Input { .. }
                | Msg::Tap(_)
                | Msg::Typed { .. }
                | Msg::Resize(..)
                | Msg::Sized(..)
                | Msg::Signal(..)
                | Msg::Kill(..)
                | Msg::Rename(..)
                | Msg::Transcribe(..)
                | Msg::Note(..)
                | Msg::Attach { .. }
                | Msg::Detach(_) => {}
            }
        }
        self.show_looks(Instant::now(), &Texts::default());
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

/// Lets the holder go.
async fn farewell(link: &mut Link, id: SessionId, socket: &Path) {
    link.say(&ToHolder::Release);
    reach(Point::EndReleased);
    if tokio::time::timeout(FAREWELL, relink::flush(link, socket)).await.is_err() {
        tracing::warn!(session = %id, "the holder did not hear that it may go");
        return;
    }
    // Until it has gone, somebody who looks for holders would meet it again.
    let gone = async {
        while link.ready(true).await.is_ok() && link.fill().is_ok() {
            while let Ok(Some(_)) = link.next() {}
        }
    };
    let _late = tokio::time::timeout(FAREWELL, gone).await;
}
