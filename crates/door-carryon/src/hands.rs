//! Frames that are no requests, taken one after the other while requests go on.
//!
//! Almost every frame is taken at once. One that types at a program which does not read takes as
//! long as that; what comes behind it waits here, up to a bound, and only then is the connection not
//! read any more.

use std::collections::VecDeque;
use std::future::{self, Future};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use greenroom_frame::binary::Frame;

use crate::connection::{Connection, take};

/// How many bytes may wait behind a frame that takes long: a large paste, and requests after it are
/// still heard.
const MAX_BEHIND: usize = 1 << 20;

/// What a frame costs beside its bytes, so that many small ones are bounded, too.
const FRAME_COST: usize = 64;

/// What is being taken, and what waits behind it.
#[derive(Default)]
pub(crate) struct Hands {
    at_work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    behind: VecDeque<Frame>,
    bytes: usize,
}

impl Hands {
    /// Whether more can be given.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes < MAX_BEHIND
    }

    /// Takes a frame, at once if that is possible.
    pub(crate) async fn give(&mut self, connection: &Arc<Connection>, frame: Frame) {
        connection.came.fetch_add(1, Ordering::Relaxed);
        if self.at_work.is_some() {
            self.bytes += cost(&frame);
            self.behind.push_back(frame);
        } else {
            self.begin(connection, frame).await;
        }
    }

    async fn begin(&mut self, connection: &Arc<Connection>, frame: Frame) {
        let mut work: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(take(Arc::clone(connection), frame));
        let done = future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_ready()));
        match done.await {
            true => connection.taken.send_modify(|taken| *taken += 1),
            false => self.at_work = Some(work),
        }
    }

    /// Goes on with what takes long and then with what is behind it; never ends while nothing does.
    pub(crate) async fn done(&mut self, connection: &Arc<Connection>) {
        match &mut self.at_work {
            Some(work) => work.await,
            None => return future::pending().await,
        }
        self.at_work = None;
        connection.taken.send_modify(|taken| *taken += 1);
        while self.at_work.is_none()
            && let Some(frame) = self.behind.pop_front()
        {
            self.bytes -= cost(&frame);
            self.begin(connection, frame).await;
        }
    }

    /// Takes all that is left.
    pub(crate) async fn finish(&mut self, connection: &Arc<Connection>) {
        while self.at_work.is_some() {
            self.done(connection).await;
        }
    }
}

fn cost(frame: &Frame) -> usize {
    FRAME_COST + frame.id.len() + frame.payload.len()
}
