//! Where `tracing` hands its events over.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError};

use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::writer::Message;
use super::{Entry, Format, Shared};

/// Puts every event in the ring and in the queue to the disk. Waits for neither.
pub(super) struct Collect {
    shared: Arc<Shared>,
    queue: SyncSender<Message>,
    format: Format,
}

impl Collect {
    pub(super) fn new(shared: Arc<Shared>, queue: SyncSender<Message>, format: Format) -> Collect {
        Collect { shared, queue, format }
    }
}

impl<S: Subscriber> Layer<S> for Collect {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let entry = Entry::of(event);
        let line = (self.format)(&entry);
        if self.shared.followed.receiver_count() > 0 {
            // Who stopped following meanwhile misses nothing.
            let _nobody = self.shared.followed.send(entry.to_wire());
        }
        self.shared.ring.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        if self.queue.try_send(Message::Line(line)).is_err() {
            self.shared.dropped.add(1);
        }
    }
}
