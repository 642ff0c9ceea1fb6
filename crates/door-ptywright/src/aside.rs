//! Work that a client's own expressions can make long, beside the daemon's thread.
//!
//! The daemon has one thread. An expression takes linear time, but for each byte as many steps as it has states, and
//! a client may bring dozens of them and a screen of millions of cells: whoever else is served would wait for it.
//!
//! Not here: Lua, which has threads of its own (`plugin`).

use std::sync::Arc;

use greenroom_engine::redact::Redaction;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::RpcError;

/// How much is looked for at a time, and how much is built. Two, so that who takes very long is in the way of nobody else
/// but of who does as well.
const AT_ONCE: usize = 2;

/// How long a text is that a caller's literals are looked for in on the daemon's thread: a few milliseconds.
const SHORT: usize = 256 << 10;

tokio::task_local! {
    /// Whose request a task is of: each connection has one look and one build at a time, or one that asks for hundreds
    /// would stand before everybody.
    pub(crate) static TURNS: Turns;
}

/// The turns of a connection. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    look: Arc<Semaphore>,
    build: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Turns {
        let [look, build] = [1; 2].map(|it| Arc::new(Semaphore::new(it)));
        Turns { look, build }
    }
}

/// Where such work is done.
#[derive(Debug)]
pub(crate) struct Aside {
    looks: Arc<Semaphore>,
    /// A look may take seconds, and expressions are built in milliseconds: nobody waits for the one with the other.
    builds: Arc<Semaphore>,
}

/// A place for one who looks, until it is dropped and all that was begun in it is done. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    _turn: Option<Arc<OwnedSemaphorePermit>>,
    _place: Arc<OwnedSemaphorePermit>,
}

impl Default for Aside {
    fn default() -> Aside {
        let [looks, builds] = [AT_ONCE; 2].map(|it| Arc::new(Semaphore::new(it)));
        Aside { looks, builds }
    }
}

impl Aside {
    /// Waits for a place to look.
    pub(crate) async fn place(&self) -> Result<Place, RpcError> {
        Place::of(&self.looks, |turns| &turns.look).await
    }

    /// Looks for something.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        self.place().await?.run(work).await
    }

    /// Builds expressions.
    pub(crate) async fn build<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        let place = Place::of(&self.builds, |turns| &turns.build).await?;
        place.run(work).await
    }

    /// Does what looks for secrets in a text of so many bytes: here, or aside if a caller's own rules may take long there.
    pub(crate) async fn hide<T: Send + 'static>(
        &self,
        policy: Option<&Redaction>,
        bytes: usize,
        work: impl FnOnce(Option<&Redaction>) -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        match policy.filter(|policy| takes_long(policy, bytes)).cloned() {
            Some(policy) => self.look(move || work(Some(&policy))).await,
            None => Ok(work(policy)),
        }
    }
}

impl Place {
    async fn of(
        places: &Arc<Semaphore>,
        turn: impl Fn(&Turns) -> &Arc<Semaphore>,
    ) -> Result<Place, RpcError> {
        let turn = TURNS.try_with(|turns| Arc::clone(turn(turns))).ok();
        let turn = match turn {
            Some(turn) => Some(turn.acquire_owned().await.map_err(|_| given_up())?),
            None => None,
        };
        let place = Arc::clone(places).acquire_owned().await.map_err(|_| given_up())?;
        Ok(Place { _turn: turn.map(Arc::new), _place: Arc::new(place) })
    }

    /// Does some work there. It is done also if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        let place = self.clone();
        let work = move || {
            let done = work();
            drop(place);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| given_up())
    }
}

/// Whether it may take long to look for a caller's own rules in a text of so many bytes.
pub(crate) fn takes_long(policy: &Redaction, bytes: usize) -> bool {
    policy.has_expressions() || (policy.has_own_rules() && bytes > SHORT)
}

fn given_up() -> RpcError {
    RpcError::internal("the work was given up")
}
