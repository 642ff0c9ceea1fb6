//! Work that a client's own expressions can make long, beside the daemon's thread.
//!
//! The daemon has one thread. An expression takes linear time, but for each byte as many steps as it has states, and
//! a client may bring dozens of them and a screen of millions of cells: whoever else is served would wait for it.
//!
//! Not here: Lua, which has threads of its own (`plugin`).

use std::sync::Arc;

use greenroom_engine::redact::Redaction;
use tokio::sync::Semaphore;

use crate::error::RpcError;

/// How much is looked for at a time, and how much is built: the other processors are everybody else's.
const AT_ONCE: usize = 1;

/// Where such work is done.
#[derive(Debug)]
pub(crate) struct Aside {
    looks: Arc<Semaphore>,
    /// A look may take seconds, and expressions are built in milliseconds: nobody waits for the one with the other.
    builds: Arc<Semaphore>,
}

impl Default for Aside {
    fn default() -> Aside {
        let [looks, builds] = [AT_ONCE; 2].map(|it| Arc::new(Semaphore::new(it)));
        Aside { looks, builds }
    }
}

impl Aside {
    /// Looks for something.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        run(&self.looks, work).await
    }

    /// Builds expressions.
    pub(crate) async fn build<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        run(&self.builds, work).await
    }

    /// Does what looks for secrets: here, or aside if a caller's own rules are looked for.
    pub(crate) async fn hide<T: Send + 'static>(
        &self,
        policy: Option<&Redaction>,
        work: impl FnOnce(Option<&Redaction>) -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        match policy.filter(|policy| policy.has_own_rules()).cloned() {
            Some(policy) => self.look(move || work(Some(&policy))).await,
            None => Ok(work(policy)),
        }
    }
}

/// Does some work when there is a place for it; what nobody waits for any more by then is not begun.
async fn run<T: Send + 'static>(
    places: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    let given_up = || RpcError::internal("the work was given up");
    let place = Arc::clone(places).acquire_owned().await.map_err(|_| given_up())?;
    let work = move || {
        let done = work();
        drop(place);
        done
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| given_up())
}
