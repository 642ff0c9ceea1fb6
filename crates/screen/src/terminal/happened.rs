//! What happened during a feed.

use crate::event::{Event, MAX_EVENTS};

/// How many bytes of replies one feed makes. A program that asks this much without reading the
/// answers would only fill its own input; further questions go unanswered.
const MAX_REPLIES: usize = 64 * 1024;

/// How much text the events of one feed may hold together.
const MAX_EVENT_TEXT: usize = 1024 * 1024;

/// What happened during a feed; emptied when the next one begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Happened {
    pub(crate) replies: Vec<u8>,
    pub(crate) events: Vec<Event>,
    pub(crate) events_lost: u64,
    event_text: usize,
    /// Lines that left for the history.
    pub(crate) scrolled: u64,
    /// Whether the history was erased.
    pub(crate) history_cleared: bool,
}

impl Happened {
    /// Notes an event, if there is room for one more.
    pub(crate) fn event(&mut self, event: Event) {
        let text = event.text_len();
        if self.events.len() < MAX_EVENTS && self.event_text + text <= MAX_EVENT_TEXT {
            self.event_text += text;
            self.events.push(event);
        } else {
            self.events_lost += 1;
        }
    }

    /// Whether further answers would not be sent anyway.
    pub(crate) fn is_full(&self) -> bool {
        self.replies.len() + 64 > MAX_REPLIES
    }

    /// Notes a reply, whole or not at all.
    pub(crate) fn reply(&mut self, reply: &[u8]) {
        if self.replies.len() + reply.len() <= MAX_REPLIES {
            self.replies.extend_from_slice(reply);
        }
    }

    /// Forgets everything for the next feed. Keeps a little memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.replies.is_empty() {
            self.replies.clear();
            self.replies.shrink_to(256);
        }
        if !self.events.is_empty() {
            self.events.clear();
            self.events.shrink_to(16);
        }
        self.events_lost = 0;
        self.event_text = 0;
        self.scrolled = 0;
        self.history_cleared = false;
    }

    pub(crate) fn heap(&self) -> usize {
        self.replies.capacity() + self.events.capacity() * size_of::<Event>() + self.event_text
    }
}
