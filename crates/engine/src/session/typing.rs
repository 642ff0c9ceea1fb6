//! What is typed, by whom ever: on its way to the keyboard, and remembered for who waits for an answer.

use std::time::Duration;

use bytes::Bytes;
use greenroom_model::Offset;
use greenroom_screen::Modes;
use tokio::time::Instant;

use super::{Reply, Session, Typed};
use crate::SubscriptionId;
use crate::mark::Mark;

/// The note of where something was typed last.
const MARK: &str = "mark";

/// How long after the last key the holder is told where it was typed: not in the way of an echo.
const TYPED_REST: Duration = Duration::from_millis(200);

impl Session {
    pub(super) fn type_in(
        &mut self,
        typed: Typed,
        enter: bool,
        reserved: usize,
        reply: Reply<Offset>,
    ) {
        let mut bytes = match typed {
            Typed::Bytes(bytes) => bytes.to_vec(),
            Typed::Text(text) => text.replace("\r\n", "\r").replace('\n', "\r").into_bytes(),
            Typed::Paste(text) => self.screen.paste(&text),
            Typed::Keys(keys) => keys.iter().flat_map(|key| self.screen.key(key)).collect(),
        };
        if enter {
            bytes.push(b'\r');
        }
        let offset = self.mark(&bytes);
        // Who sends a line waits for what comes of it, and nobody for its echo.
        self.mark_due = Some(self.active);
        self.keyboard.type_with_reply(Bytes::from(bytes), reserved, (reply, offset));
    }

    pub(super) fn input(&mut self, from: SubscriptionId, bytes: Bytes) {
        self.viewers.typed(from, bytes.len());
        if !self.viewers.may_type(from) {
            self.keyboard.release(bytes.len());
            return;
        }
        self.viewer_active(from);
        self.mark(&bytes);
        let typist = self.viewers.typist(from);
        if typist.is_some() {
            self.want_tally();
        }
        self.keyboard.type_in(bytes, typist);
        self.eager.asked(std::time::Instant::now());
    }

    /// Remembers where the session stands before something is typed.
    fn mark(&mut self, bytes: &[u8]) -> Offset {
        self.remember(Mark::now(&self.screen, bytes, self.keyboard.echo()));
        self.screen.offset()
    }

    /// Remembers what was typed, for who waits already and who will.
    pub(super) fn remember(&mut self, mark: Mark) {
        self.waits.marks().for_each(|it| it.also_typed(&mark));
        self.marks.add(mark, &self.screen);
        self.waits.marks().for_each(|it| it.learn(&self.marks));
        self.active = Instant::now();
        self.mark_due = Some(self.active + TYPED_REST);
    }

    /// Has the holder remember where something was typed last, for the next daemon's waits.
    pub(super) fn remember_mark(&mut self) {
        let due = self.mark_due.take();
        if let Some(mark) = self.marks.last().filter(|_| due.is_some()) {
            let note = mark.to_note();
            self.note(MARK, note);
            self.describe();
        }
    }

    /// Knows where something was typed last in the days of an earlier daemon.
    pub(super) fn recall_mark(&mut self) {
        let note = self.description.notes.iter().find(|note| note.0 == MARK);
        note.and_then(|note| Mark::from_note(&note.1))
            .into_iter()
            .for_each(|it| self.marks.add(it, &self.screen));
        self.see_editor();
    }

    /// Sees whether a program edits lines, of which nobody was told.
    pub(super) fn see_editor(&mut self) {
        if self.screen.modes().contains(Modes::BRACKETED_PASTE) {
            self.marks.edited();
        }
    }

    /// A program asks for brackets around what is pasted: it edits lines, and will show what it finds typed.
    pub(super) fn edits(&mut self) {
        self.marks.edited();
        self.waits.marks().for_each(Mark::edited);
    }
}
