//! What the holder says: output, mostly, on its way to journal, screen and viewers.

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::{FromHolder, ToHolder};
use greenroom_screen as screen;
use tokio::time::Instant;

use super::{Session, tallies, tap};
use crate::Event;
use crate::event::HouseEvent;
use crate::link::LinkError;
use crate::mark::Standing;

/// What programs that edit lines switch on while they do.
const BRACKETED_PASTE: screen::Mode = screen::Mode { private: true, number: 2004 };

impl Session {
    /// Takes what the holder said; the child's status if it has ended.
    pub(super) fn hear(&mut self) -> Result<Option<ExitStatus>, LinkError> {
        let flushed = self.link.flush();
        // What was said before the holder went is still to be read.
        let filled = flushed.map_err(LinkError::from).and_then(|()| self.link.fill());
        while let Some(message) = self.link.next()? {
            match message {
                FromHolder::Output { at, bytes } => self.output(at, bytes)?,
                FromHolder::Ended(status) => return Ok(Some(status)),
                FromHolder::Tap => {
                    let descriptors = self.link.take_descriptors(tap::DESCRIPTORS);
                    self.tapped(descriptors);
                }
                FromHolder::Tally { given } => {
                    let count = if given { tallies::DESCRIPTORS } else { 0 };
                    let descriptors = self.link.take_descriptors(count);
                    self.tallied(descriptors);
                }
                FromHolder::Hello(_)
                | FromHolder::Description(_)
                | FromHolder::Checkpoint { .. }
                | FromHolder::Failed { .. } => return Err(LinkError::Order),
            }
        }
        filled.map(|()| None)
    }

    /// Takes output, which may begin before what the screen has seen already.
    pub(super) fn output(&mut self, at: Offset, bytes: Bytes) -> Result<(), LinkError> {
        // A holder that was met anew begins with what it has, also if it was received before.
        let known =
            usize::try_from(self.received - at).map_or(bytes.len(), |it| it.min(bytes.len()));
        let (at, bytes) = (at + known as u64, bytes.slice(known..));
        if bytes.is_empty() {
            return Ok(());
        }
        let seen = self.screen.offset();
        let end = at + bytes.len() as u64;
        self.received = end;
        self.heard += bytes.len();
        if self.viewers.all.is_empty() && !self.keeps_for_absent() {
            // Nobody will ask what came before.
            self.journal.skip_to(end);
        } else {
            self.journal.push(bytes.clone());
        }
        if end <= seen {
            return Ok(());
        }
        if at > seen {
            return Err(LinkError::Order);
        }
        let new = bytes.slice((seen - at) as usize..);
        if seen < self.past {
            // Cut where the past ends, so that what is new is treated as new.
            let past = ((self.past - seen) as usize).min(new.len());
            self.feed(new.slice(..past), true);
            self.feed(new.slice(past..), false);
        } else {
            self.feed(new, false);
        }
        Ok(())
    }

    fn feed(&mut self, bytes: Bytes, past: bool) {
        if bytes.is_empty() {
            return;
        }
        if let Some(transcript) = &mut self.transcript {
            transcript.feed(&bytes);
        }
        self.taps.prints(|| Standing::now(&self.screen));
        let top = self.screen.top_row();
        let fed = self.screen.feed(&bytes);
        let replies = fed.replies().to_vec();
        let events = if past { Vec::new() } else { fed.events().to_vec() };
        self.changed = true;
        self.active = Instant::now();
        self.eager.answered();
        self.answer(&replies);
        let end = self.screen.offset();
        let passed = self.filter.as_mut().map(|filter| Bytes::from(filter.feed(&bytes)));
        let (decided, lag) = (self.decided(), self.options.lag_bytes);
        self.viewers.output((&bytes, end), (passed, decided), (lag, top));
        self.happened(&events);
        self.saves.printed(end, self.active);
        let mut face = self.face.lock();
        face.offset = end;
        face.alternate = self.screen.is_alternate();
        if past {
            face.remember(&self.screen);
            drop(face);
            self.see_editor();
        }
    }

    /// Answers the program's queries, unless an earlier daemon did.
    fn answer(&mut self, replies: &[u8]) {
        let now = self.screen.offset();
        if replies.is_empty() || now <= self.answered {
            return;
        }
        self.answered = now;
        // First the note, then the answer: a daemon that dies in between leaves a question open,
        // which a program survives; an answer typed twice may be taken for a command.
        self.link.say(&ToHolder::Answered(now));
        self.keyboard.answer(replies);
    }

    /// Passes on what the program said beside its text; bells and titles once a turn.
    fn happened(&mut self, events: &[screen::Event]) {
        let id = self.description.id;
        let (mut bell, mut title) = (false, None);
        for event in events {
            match event {
                screen::Event::Bell => bell = true,
                screen::Event::Title(text) => title = Some(text.clone()),
                screen::Event::Cwd { path, .. } => {
                    self.face.lock().cwd.clone_from(path);
                    self.publish(&Event::Cwd(path.clone()));
                }
                screen::Event::Progress(progress) => self.publish(&Event::Progress(*progress)),
                screen::Event::Notification { title, body } => {
                    let (title, body) = (title.clone(), body.clone());
                    self.publish(&Event::Notification { title, body });
                }
                screen::Event::Mark(mark) => self.publish(&Event::Mark(*mark)),
                screen::Event::Mode { mode, set: true } if *mode == BRACKETED_PASTE => self.edits(),
                // Clipboards, links and pictures reach terminals in the output, as far as the
                // filter lets them; modes are the screen's; a program does not size its terminal.
                _ => {}
            }
        }
        if let Some(title) = title {
            self.face.lock().title.clone_from(&title);
            self.publish(&Event::Title(title.clone()));
            self.house.tell(HouseEvent::Title(id, title));
        }
        if bell {
            self.publish(&Event::Bell);
            self.house.tell(HouseEvent::Bell(id));
        }
    }
}
