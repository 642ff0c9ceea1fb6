//! What a client wants done is done, also when it is gone: a prompt that was pasted gets its Enter.
//!
//! Not here: waits, which nobody needs then, and how long it may take (`connection`).

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// How many requests are under way that do something, and do not only wait.
#[derive(Debug, Default)]
pub(crate) struct Doing(watch::Sender<usize>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct One(watch::Sender<usize>);

/// What a request does, until it is done.
#[derive(Debug, Default)]
pub(crate) struct Deed(Mutex<Option<One>>);

impl Deed {
    pub(crate) fn of(one: One) -> Deed {
        Deed(Mutex::new(Some(one)))
    }

    /// From here on it only waits.
    pub(crate) fn is_done(&self) {
        let one = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(one);
    }
}

impl Doing {
    pub(crate) fn one(&self) -> One {
        self.0.send_modify(|count| *count += 1);
        One(self.0.clone())
    }

    /// Waits until there are none.
    pub(crate) async fn over(&self) {
        // It is not closed: we have it.
        let mut count = self.0.subscribe();
        let _over = count.wait_for(|count| *count == 0).await;
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
