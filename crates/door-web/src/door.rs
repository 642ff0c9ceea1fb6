//! The door: what all its listeners and connections share.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use greenroom_agents::Chats;
use greenroom_engine::{Caller, Engine, HouseEvent, Info};
use tokio::sync::broadcast::error::RecvError;

use crate::auth::{Grant, Who};
use crate::hub::Hubs;
use crate::logins::Logins;
use crate::metrics::{Metrics, Number};
use crate::pace::Pace;
use crate::secret::Secret;
use crate::shares::{Share, Shares};
use crate::sockets::Sockets;
use crate::strangers::Strangers;
use crate::{Around, Options, chat, kept, made};

/// The door: what all its listeners and connections share.
pub struct Door {
    pub(crate) engine: Engine,
    pub(crate) sockets: Sockets,
    options: Mutex<Arc<Options>>,
    pub(crate) around: Around,
    pub(crate) token: Secret,
    pub(crate) logins: Logins,
    pub(crate) shares: Shares,
    pub(crate) pace: Pace,
    pub(crate) strangers: Strangers,
    pub(crate) metrics: Metrics,
    pub(crate) hubs: Hubs,
    pub(crate) chats: Chats,
    /// Held while a session is found or made.
    pub(crate) making: tokio::sync::Mutex<()>,
    /// One password is looked at at a time: each takes a tenth of a second of a processor.
    pub(crate) hashing: tokio::sync::Semaphore,
}

impl Door {
    /// Makes a door; the token is made if there is none.
    ///
    /// # Errors
    /// The token cannot be read or written.
    pub fn new(engine: Engine, options: Options, around: Around) -> io::Result<Arc<Door>> {
        let token = kept::token(&around.state)?;
        let logins = Logins::load(kept::logins(&around.state));
        let shares = Shares::load(kept::shares(&around.state));
        let chats = Chats::new(chat::config(&options, &engine, &around.state));
        let door = Door {
            engine,
            sockets: Sockets::default(),
            options: Mutex::new(Arc::new(options)),
            around,
            token,
            logins,
            shares,
            pace: Pace::default(),
            strangers: Strangers::default(),
            metrics: Metrics::default(),
            hubs: Hubs::default(),
            chats,
            making: tokio::sync::Mutex::default(),
            hashing: tokio::sync::Semaphore::new(1),
        };
        Ok(Arc::new(door))
    }

    /// Does what must be done while the daemon runs: sessions made here that nobody uses go, links to
    /// sessions that are forgotten, and at the end the agents.
    pub async fn tend(self: Arc<Self>) {
        let agents = async {
            self.around.shutdown.begun().await;
            self.chats.close().await;
        };
        tokio::join!(made::tend(&self), self.forget_links(), agents);
    }

    /// Forgets links with the sessions they are for.
    async fn forget_links(&self) {
        let mut events = self.engine.events();
        // Those that were forgotten while there was no door.
        self.forget_absent();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = self.around.shutdown.begun() => return,
            };
            match event {
                Ok(HouseEvent::Forgotten(info)) => self.shares.forget(|it| it == info.uuid()),
                // Whatever it was that was missed: what is not there is forgotten.
                Err(RecvError::Lagged(_)) => self.forget_absent(),
                Ok(_) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Forgets links to sessions that are not there. While a holder does not answer, whose session it
    /// has is not known, and none is forgotten.
    fn forget_absent(&self) {
        if self.engine.refused().is_empty() {
            let there: BTreeSet<String> = self.engine.list().iter().map(Info::uuid).collect();
            self.shares.forget(|it| !there.contains(it));
        }
    }

    /// The options in force.
    #[must_use]
    pub fn options(&self) -> Arc<Options> {
        Arc::clone(&self.options.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sessions.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Puts other options in force.
    pub fn set_options(&self, options: Options) {
        self.chats.set_config(chat::config(&options, &self.engine, &self.around.state));
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(options);
    }

    /// The token, for who asks on the owner's own socket.
    #[must_use]
    pub fn token(&self) -> &str {
        self.token.reveal()
    }

    /// Makes a link to a session; gives it with its secret, which is not to be had again.
    ///
    /// # Errors
    /// There are too many.
    pub fn share(
        &self,
        session: String,
        write: bool,
        lasts: Duration,
    ) -> io::Result<(Share, String)> {
        let (share, secret) = self.shares.add(session, write, lasts)?;
        Ok((share, secret.reveal().to_owned()))
    }

    /// The links that hold.
    #[must_use]
    pub fn shares(&self) -> Vec<Share> {
        self.shares.list()
    }

    /// Removes a link, and cuts off who uses it; false if there is none of that name.
    pub fn unshare(&self, id: &str) -> bool {
        self.shares.remove(id)
    }

    /// Forgets who has logged in, and cuts them off.
    pub fn log_out(&self) {
        self.logins.clear();
    }

    /// How many WebSockets are open.
    #[must_use]
    pub fn sockets(&self) -> usize {
        let open = self.metrics.sockets.load(std::sync::atomic::Ordering::Relaxed);
        usize::try_from(open).unwrap_or(usize::MAX)
    }

    /// What a number is at now.
    #[must_use]
    pub fn number(&self, number: &Number) -> u64 {
        number.value(&self.metrics)
    }

    /// A new connection, as the engine knows it.
    #[must_use]
    pub fn caller(&self, who: &Who, name: &str) -> Caller {
        Caller { id: self.engine.next_client(), rights: who.rights(), name: name.into() }
    }

    /// Ends when somebody may not be here any more: their login or their link does not hold, or the
    /// daemon ends.
    pub async fn over(&self, who: &Who) {
        let login = async {
            match &who.held {
                Some(held) => self.logins.gone(held).await,
                None => std::future::pending().await,
            }
        };
        let link = async {
            match &who.grant {
                Grant::One(share) => self.shares.gone(share).await,
                Grant::All => std::future::pending().await,
            }
        };
        tokio::select! {
            () = login => {}
            () = link => {}
            () = self.around.shutdown.begun() => {}
        }
    }
}
