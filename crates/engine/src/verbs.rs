//! What can be done with a session: each verb checks who asks, finds the session and asks it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use greenroom_model::{Offset, SessionId, Size};
use greenroom_screen::Screen;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::Texts;
use crate::create::check_name;
use crate::engine::{Engine, Entry, Past};
use crate::event::HouseEvent;
use crate::points::{Point, reach};
use crate::session::{
    Guest, Handle, Kept, Look, Looker, Msg, Offer, Reply, TapWanted, Wait, Waiter, unpack,
};
use crate::{Attach, Caller, Error, Matcher, Scene, Subscription, SubscriptionId, Typed, Waited};

/// The longest wait: a day. Who wants more asks again.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

impl Engine {
    pub(crate) fn entry(&self, id: SessionId) -> Result<Entry, Error> {
        let sessions = self.house.sessions();
        sessions.get(&id).cloned().ok_or_else(|| Error::NoSession(id.to_string()))
    }

    fn living(&self, id: SessionId) -> Result<Handle, Error> {
        match self.entry(id)? {
            Entry::Living(handle) => Ok(handle),
            Entry::Ended(_) => Err(Error::Ended(id)),
        }
    }

    /// Asks a living session.
    async fn ask<T>(&self, id: SessionId, msg: impl FnOnce(Reply<T>) -> Msg) -> Result<T, Error> {
        let handle = self.living(id)?;
        let (reply, answer) = oneshot::channel();
        handle.inbox.send(msg(reply)).await.map_err(|_| Error::Ended(id))?;
        // A session that ends drops what it was asked.
        answer.await.map_err(|_| Error::Ended(id))?
    }

    /// Types something. The answer comes when the terminal has taken it: the offset before.
    ///
    /// # Errors
    /// The program does not read and the queue is full, or what is typed is longer than the queue.
    pub async fn type_in(
        &self,
        caller: &Caller,
        id: SessionId,
        typed: Typed,
        enter: bool,
    ) -> Result<Offset, Error> {
        caller.may_write()?;
        // Enter alone takes room, too.
        let room = self.room(id, typed_len(&typed) + 1)?;
        self.audit(caller, "type", Some(id));
        self.ask(id, |reply| Msg::Type { typed, enter, room, reply }).await
    }

    /// The same for who waits for room if there is none, for so long.
    ///
    /// # Errors
    /// There was no room in that time, or what is typed is longer than the queue.
    pub async fn type_patiently(
        &self,
        caller: &Caller,
        id: SessionId,
        typed: Typed,
        patience: Duration,
    ) -> Result<Offset, Error> {
        caller.may_write()?;
        let room = self.room_within(id, typed_len(&typed) + 1, patience).await?;
        self.audit(caller, "type", Some(id));
        self.ask(id, |reply| Msg::Type { typed, enter: false, room, reply }).await
    }

    /// Types a text, also more than the queue takes: then piece by piece, each when the terminal has taken the one before.
    /// Nobody else's text comes into the midst of it. How long it may be is the caller's to bound; `queued` is called when
    /// the last of it is in the queue.
    ///
    /// # Errors
    /// There was no room, or another text was typed, for so long: nothing of it is typed then. Or the session ended.
    pub async fn type_text(
        &self,
        caller: &Caller,
        id: SessionId,
        text: Bytes,
        (patience, queued): (Duration, impl FnOnce()),
    ) -> Result<(), Error> {
        caller.may_write()?;
        let handle = self.living(id)?;
        let full = |_| Error::InputFull(id);
        let _texts = tokio::time::timeout(patience, handle.texts.lock()).await.map_err(full)?;
        let most = handle.room_bytes.saturating_sub(1).max(1);
        let mut rest = text;
        let mut piece = rest.split_to(rest.len().min(most));
        let mut room = self.room_within(id, piece.len() + 1, patience).await?;
        self.audit(caller, "type", Some(id));
        // What was begun is typed to its end, however long the program does not read.
        while !rest.is_empty() {
            let typed = Typed::Bytes(piece);
            self.ask(id, |reply| Msg::Type { typed, enter: false, room, reply }).await?;
            piece = rest.split_to(rest.len().min(most));
            let (all, permits) = self.permits(id, piece.len() + 1)?;
            room = all.acquire_many_owned(permits).await.map_err(|_| Error::Ended(id))?;
        }
        let (typed, (reply, answer)) = (Typed::Bytes(piece), oneshot::channel());
        let last = Msg::Type { typed, enter: false, room, reply };
        handle.inbox.send(last).await.map_err(|_| Error::Ended(id))?;
        queued();
        answer.await.map_err(|_| Error::Ended(id))?.map(drop)
    }

    /// Takes room for something to be typed, if there is any now.
    fn room(&self, id: SessionId, bytes: usize) -> Result<OwnedSemaphorePermit, Error> {
        let (room, permits) = self.permits(id, bytes)?;
        room.try_acquire_many_owned(permits).map_err(|_| Error::InputFull(id))
    }

    /// The same when there is any, for so long.
    async fn room_within(
        &self,
        id: SessionId,
        bytes: usize,
        patience: Duration,
    ) -> Result<OwnedSemaphorePermit, Error> {
        let (room, permits) = self.permits(id, bytes)?;
        let room = tokio::time::timeout(patience, room.acquire_many_owned(permits)).await;
        // The room is closed when the session has ended.
        room.map_err(|_| Error::InputFull(id))?.map_err(|_| Error::Ended(id))
    }

    /// The room there is for what is typed, and how much of it so many bytes take.
    fn permits(&self, id: SessionId, bytes: usize) -> Result<(Arc<Semaphore>, u32), Error> {
        let handle = self.living(id)?;
        let most = handle.room_bytes;
        let permits = u32::try_from(bytes).ok().filter(|_| bytes <= most);
        let permits = permits.ok_or(Error::Limit { what: "bytes typed at once", most })?;
        Ok((handle.room, permits))
    }

    /// Types for an attached client, and waits until there is room.
    ///
    /// # Errors
    /// The session has ended.
    pub async fn input(
        &self,
        caller: &Caller,
        id: SessionId,
        from: SubscriptionId,
        bytes: Bytes,
    ) -> Result<(), Error> {
        caller.may_write()?;
        let handle = self.living(id)?;
        // No piece may be larger than all the room there is.
        let most = handle.room_bytes.clamp(1, 64 << 10);
        let mut rest = bytes;
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(most));
            let permits = piece.len() as u32;
            let room = Arc::clone(&handle.room).acquire_many_owned(permits).await;
            let room = room.map_err(|_| Error::Ended(id))?;
            let sent = handle.inbox.send(Msg::Input { from, bytes: piece, room }).await;
            sent.map_err(|_| Error::Ended(id))?;
        }
        Ok(())
    }

    /// Lends an attached client that typed so many bytes the terminal, to type by itself; nothing if
    /// that is not possible now.
    ///
    /// # Errors
    /// The session has ended, or the caller may not.
    pub async fn tap(
        &self,
        caller: &Caller,
        id: SessionId,
        from: SubscriptionId,
        typed: u64,
    ) -> Result<Option<Offer>, Error> {
        caller.may_write()?;
        self.ask(id, |reply| Msg::Tap(TapWanted { from, typed, reply })).await
    }

    /// Says that an attached client typed by itself, when the session stood at an offset.
    ///
    /// # Errors
    /// The session has ended, or the caller may not.
    pub async fn typed(
        &self,
        caller: &Caller,
        id: SessionId,
        from: SubscriptionId,
        (at, bytes): (Offset, Bytes),
    ) -> Result<(), Error> {
        caller.may_write()?;
        let handle = self.living(id)?;
        let sent = handle.inbox.send(Msg::Typed { from, at, bytes }).await;
        sent.map_err(|_| Error::Ended(id))
    }

    /// Gives a session a size, whoever is attached.
    ///
    /// # Errors
    /// It has ended, or the caller may not.
    pub async fn resize(&self, caller: &Caller, id: SessionId, size: Size) -> Result<(), Error> {
        caller.may_write()?;
        self.audit(caller, "resize", Some(id));
        self.ask(id, |reply| Msg::Resize(size, reply)).await
    }

    /// Says that an attached client's terminal has a new size.
    ///
    /// # Errors
    /// The session has ended.
    pub async fn sized(
        &self,
        id: SessionId,
        subscription: SubscriptionId,
        size: Size,
    ) -> Result<(), Error> {
        let handle = self.living(id)?;
        let sent = handle.inbox.send(Msg::Sized(subscription, size)).await;
        sent.map_err(|_| Error::Ended(id))
    }

    /// Sends a signal to what runs in the foreground.
    ///
    /// # Errors
    /// It has ended, or the caller may not.
    pub async fn signal(&self, caller: &Caller, id: SessionId, signal: i32) -> Result<(), Error> {
        caller.may_write()?;
        self.audit(caller, "signal", Some(id));
        self.ask(id, |reply| Msg::Signal(signal, reply)).await
    }

    /// Ends a session and everything it started; answers when it has ended.
    ///
    /// # Errors
    /// The caller may not. A session that has ended is no error.
    pub async fn kill(
        &self,
        caller: &Caller,
        id: SessionId,
        grace: Option<Duration>,
    ) -> Result<(), Error> {
        caller.may_manage()?;
        self.audit(caller, "kill", Some(id));
        let grace = grace.unwrap_or(self.house.options().grace);
        match self.ask(id, |reply| Msg::Kill(grace, reply)).await {
            Ok(()) => {
                self.no_encore(id);
                Ok(())
            }
            Err(Error::Ended(_)) => Ok(()),
            other => other,
        }
    }

    /// Gives a session another name, with `unique` only if no other that runs is called that; answers
    /// with the old one.
    ///
    /// # Errors
    /// That is no name or is taken, the session has ended, or the caller may not.
    pub async fn rename(
        &self,
        caller: &Caller,
        id: SessionId,
        name: String,
        unique: bool,
    ) -> Result<String, Error> {
        caller.may_manage()?;
        check_name(&name)?;
        // That it has ended is said first, whatever its name would be.
        self.living(id)?;
        // Nobody else may have it before the session does.
        let _claim = self.house.claim(id, &name, unique)?;
        self.audit(caller, "rename", Some(id));
        self.ask(id, |reply| Msg::Rename(name, reply)).await
    }

    /// Shows a session to a client, from one offset on.
    ///
    /// # Errors
    /// It has ended, and the client was not attached to it before.
    pub async fn attach(
        &self,
        caller: &Caller,
        id: SessionId,
        mut attach: Attach,
    ) -> Result<Subscription, Error> {
        attach.read_only |= !caller.rights.write;
        let client = caller.id;
        self.audit(caller, "attach", Some(id));
        let asked = self.ask(id, |reply| Msg::Attach { client, attach, reply }).await;
        match (asked, attach.from) {
            // It has ended, perhaps this very moment; who was attached before still gets the end.
            (Err(Error::Ended(_)), Some(_)) => match self.entry(id)? {
                Entry::Ended(past) => self.attach_ended(id, &past, attach).await,
                Entry::Living(_) => Err(Error::Ended(id)),
            },
            (asked, _) => asked,
        }
    }

    /// Ends a subscription before its receiver is dropped.
    pub async fn detach(&self, id: SessionId, subscription: SubscriptionId) {
        if let Ok(handle) = self.living(id) {
            // A session that has ended shows nothing to anybody.
            let _ended = handle.inbox.send(Msg::Detach(subscription)).await;
        }
    }

    /// Waits for something to happen, after an offset if one is given, and looks in the very turn in which
    /// it does.
    ///
    /// # Errors
    /// The time is over, or the session ends without it.
    pub async fn wait<T: Send + 'static>(
        &self,
        id: SessionId,
        matcher: Matcher,
        timeout: Option<Duration>,
        after: Option<Offset>,
        look: impl FnOnce(&Waited, Scene<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        match self.entry(id)? {
            Entry::Living(_) => {
                let waiter = |reply| Box::new(Looker { reply, look }) as Box<dyn Waiter>;
                self.wait_for(id, (matcher, timeout, after), waiter).await
            }
            Entry::Ended(past) => self.wait_ended(id, &past, &matcher, look).await,
        }
    }

    /// The same for who can look elsewhere as well: gives nothing as soon as a look has taken so long that others
    /// notice.
    ///
    /// # Errors
    /// The time is over, or the session ends without it.
    pub async fn wait_as_guest<T: Send + 'static>(
        &self,
        id: SessionId,
        matcher: Matcher,
        timeout: Option<Duration>,
        look: impl FnOnce(&Waited, Scene<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>, Error> {
        match self.entry(id)? {
            Entry::Living(_) => {
                let waiter = |reply| Box::new(Guest { reply, look }) as Box<dyn Waiter>;
                self.wait_for(id, (matcher, timeout, None), waiter).await
            }
            Entry::Ended(past) => self.wait_ended(id, &past, &matcher, look).await.map(Some),
        }
    }

    async fn wait_for<T>(
        &self,
        id: SessionId,
        (matcher, timeout, after): (Matcher, Option<Duration>, Option<Offset>),
        waiter: impl FnOnce(Reply<T>) -> Box<dyn Waiter>,
    ) -> Result<T, Error> {
        if !matcher.is_modest() {
            return Err(Error::Invalid("too many matchers in one wait".to_owned()));
        }
        let until = Some(Instant::now() + timeout.unwrap_or(MAX_WAIT).min(MAX_WAIT));
        let mut nudge = Nudge(Some(self.living(id)?.inbox));
        let wait = |reply| Msg::Wait(Wait { matcher, until, waiter: waiter(reply) }, after);
        let waited = self.ask(id, wait).await;
        nudge.0 = None;
        waited
    }

    /// The sequence of a session, told anew whenever it changes; closed at its end. One that has ended
    /// is closed from the beginning.
    ///
    /// # Errors
    /// There is no such session.
    pub fn changes(&self, id: SessionId) -> Result<watch::Receiver<u64>, Error> {
        match self.entry(id)? {
            Entry::Living(handle) => Ok(handle.changes),
            Entry::Ended(past) => Ok(watch::channel(past.info.offset.0 + past.info.resizes).1),
        }
    }

    /// Has something remembered with a session while it lives, by name, also by the next daemon. For one
    /// that has ended it is too late.
    pub async fn note(&self, id: SessionId, name: String, value: String) {
        if let Ok(handle) = self.living(id) {
            let _ended = handle.inbox.send(Msg::Note(name, value)).await;
        }
    }

    /// Has the last of what a session prints kept as text, if it is not already.
    ///
    /// # Errors
    /// There is no such session. One that has ended is no error.
    pub async fn transcribe(&self, id: SessionId, chars: usize) -> Result<(), Error> {
        match self.ask(id, |reply| Msg::Transcribe(chars, reply)).await {
            Err(Error::Ended(_)) => Ok(()),
            other => other,
        }
    }

    /// Looks at a screen, living or ended, between two turns.
    ///
    /// # Errors
    /// There is no such session, or its screen was lost.
    pub async fn look<T: Send + 'static>(
        &self,
        id: SessionId,
        look: impl FnOnce(&Screen) -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.scene(id, |scene| look(scene.screen)).await
    }

    /// Looks at all that can be seen of a session, living or ended, between two turns.
    ///
    /// # Errors
    /// There is no such session, or its screen was lost.
    pub async fn scene<T: Send + 'static>(
        &self,
        id: SessionId,
        look: impl FnOnce(Scene<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let look: Look = Box::new(move |scene: Scene<'_>| drop(reply.send(look(scene))));
        let late = match self.entry(id)? {
            Entry::Ended(_) => Some(look),
            Entry::Living(handle) => match handle.inbox.send(Msg::Look(look)).await {
                // It ended while we asked.
                Err(SendError(Msg::Look(look))) => Some(look),
                _ => None,
            },
        };
        if let Some(look) = late {
            let Entry::Ended(past) = self.entry(id)? else { return Err(Error::Ended(id)) };
            let kept = self.past_kept(id, &past).await?;
            look(past.scene(&kept, &Texts::default()));
        }
        answer.await.map_err(|_| Error::Ended(id))
    }

    pub(crate) async fn past_kept(&self, id: SessionId, past: &Past) -> Result<Kept, Error> {
        let kept = match &past.checkpoint {
            Some(checkpoint) => Some(checkpoint.clone()),
            None => {
                let (answer, answered) = oneshot::channel();
                let done = Box::new(|result| drop(answer.send(result)));
                self.house.archive.checkpoint(id, done);
                answered.await.map_err(|_| Error::Stopping)??
            }
        };
        let kept = kept.ok_or(Error::Lost(id))?;
        unpack(&kept).map_err(|error| Error::Invalid(error.to_string()))
    }

    /// Whether there is no session of this number any more, and none to come back: one that failed by a mistake of
    /// ours is taken up again.
    #[must_use]
    pub fn is_gone(&self, id: SessionId) -> bool {
        !self.house.has(id) && !self.house.has_fallen(id)
    }

    /// Forgets an ended session.
    ///
    /// # Errors
    /// It runs, or the archive cannot.
    pub async fn forget(&self, caller: &Caller, id: SessionId) -> Result<(), Error> {
        caller.may_manage()?;
        let Entry::Ended(past) = self.entry(id)? else { return Err(Error::Running(id)) };
        self.no_encore(id);
        reach(Point::ForgetWanted);
        let (answer, answered) = oneshot::channel();
        let done = Box::new(|result| drop(answer.send(result)));
        self.house.archive.forget(id, done);
        answered.await.map_err(|_| Error::Stopping)??;
        reach(Point::ForgetStored);
        self.house.forget(id);
        reach(Point::ForgetListed);
        self.audit(caller, "forget", Some(id));
        self.house.tell(HouseEvent::Forgotten(Box::new(past.info.clone())));
        Ok(())
    }

    /// The archive let go of these by its own rules.
    pub fn expired(&self, ids: &[SessionId]) {
        for id in ids {
            if let Some(entry) = self.house.forget(*id) {
                self.house.tell(HouseEvent::Forgotten(Box::new(entry.info())));
            }
        }
    }
}

fn typed_len(typed: &Typed) -> usize {
    match typed {
        Typed::Bytes(bytes) => bytes.len(),
        Typed::Text(text) | Typed::Paste(text) => text.len(),
        Typed::Keys(keys) => keys.len(),
    }
}

/// Has a session look at its waits when one of them is not wanted any more: it would go on looking at the
/// terminal for it.
struct Nudge(Option<mpsc::Sender<Msg>>);

impl Drop for Nudge {
    fn drop(&mut self) {
        if let Some(inbox) = &self.0 {
            // A session with so much to do looks anyway.
            let _full = inbox.try_send(Msg::Look(Box::new(|_| {})));
        }
    }
}
