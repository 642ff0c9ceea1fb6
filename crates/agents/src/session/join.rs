//! How a client comes into a conversation, and what it finds there.

use tokio::sync::oneshot;

use super::{Flow, Session};
use crate::frames;
use crate::log::{ClientId, From};
use crate::request::Request;

/// A client that wants to come in.
#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) client: ClientId,
    pub(crate) request: Request,
    /// Told once it is in.
    pub(crate) entered: oneshot::Sender<()>,
}

impl Session {
    /// Lets a client in. One that wants other options than those of the process gets another process,
    /// and with it everybody.
    pub(super) async fn join(&mut self, join: Join) -> Flow {
        if join.entered.is_closed() {
            return Flow::Go;
        }
        let is_first = std::mem::take(&mut self.is_fresh);
        let changes = !is_first && self.options.take(&join.request.options);
        if changes && self.restart().await == Flow::Over {
            self.show(join);
            return Flow::Over;
        }
        let from = match join.request.since {
            Some(seen) => From::Seen(seen),
            None if is_first => From::Start,
            None => From::Now,
        };
        let resumed = if is_first { self.is_resumed } else { !join.request.force_new };
        let connected = frames::connected(self.id(), resumed, &self.options, self.log.last());
        self.log.enter(join.client, from, &[connected]);
        self.repeat(join.client);
        self.enter(join);
        Flow::Go
    }

    /// What is said once and matters later: what the process can do, and what it still asks.
    fn repeat(&self, client: ClientId) {
        if let Some((number, text)) = &self.init {
            self.log.repeat(client, *number, text);
        }
        let mut waiting: Vec<_> = self.waiting.values().collect();
        waiting.sort_by_key(|it| it.number);
        for it in waiting {
            self.log.repeat(client, it.number, &it.text);
        }
    }

    /// Shows a client why there is no conversation.
    pub(super) fn show(&mut self, join: Join) {
        self.log.enter(join.client, From::Start, &[]);
        self.enter(join);
    }

    fn enter(&self, join: Join) {
        let client = join.client;
        if join.entered.send(()).is_err() {
            self.log.leave(client);
        }
    }
}
