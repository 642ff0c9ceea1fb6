//! A client's place in a conversation: texts in, texts out.

use std::sync::Arc;

use tokio::sync::mpsc;
use uuid::Uuid;

use crate::frames;
use crate::log::{ClientId, From, Log};
use crate::session::Message;

/// The longest message of a client that is taken, in bytes: a question with a few pictures.
pub const MESSAGE_MAX: usize = 32 << 20;

/// A client in a conversation. Dropping it leaves.
#[derive(Debug)]
pub struct Client {
    id: ClientId,
    session: Uuid,
    test_events: bool,
    log: Arc<Log>,
    inbox: Option<mpsc::Sender<Message>>,
}

impl Client {
    pub(crate) fn new(
        id: ClientId,
        session: Uuid,
        test_events: bool,
        log: Arc<Log>,
        inbox: mpsc::Sender<Message>,
    ) -> Client {
        Client { id, session, test_events, log, inbox: Some(inbox) }
    }

    /// One that is in no conversation, and is told why.
    pub(crate) fn refused(session: Uuid, why: &str) -> Client {
        let log = Arc::new(Log::new(1, 0));
        log.enter(0, From::Start, &[frames::error(why)]);
        log.close();
        Client { id: 0, session, test_events: false, log, inbox: None }
    }

    /// The conversation.
    #[must_use]
    pub fn session(&self) -> Uuid {
        self.session
    }

    /// The next message to the client; nothing when the connection is to be closed. May be given up
    /// at any time without losing one.
    pub async fn next(&self) -> Option<Arc<str>> {
        self.log.next(self.id).await
    }

    /// Takes a message of the client. Returns once the conversation has room for it.
    pub async fn say(&self, text: String) {
        let Some(inbox) = &self.inbox else { return };
        if text.len() > MESSAGE_MAX {
            let why = format!("a message has more than {MESSAGE_MAX} bytes; it was not sent");
            self.log.push_own(self.id, &frames::error(&why));
            return;
        }
        let said = Message::Said { client: self.id, test_events: self.test_events, text };
        // A conversation that has ended says so by itself.
        inbox.send(said).await.unwrap_or_default();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.log.leave(self.id);
    }
}
