//! Clients that type into the terminal and see its echo by themselves.
//!
//! A key takes the way of one process less, and its echo that of two, if the client does without us:
//! it writes to the terminal, and peeks at what lies in the pipe through which the holder reads (see
//! `greenroom_pty`'s tap). Everything still comes this way, too: the client knows by its offset what it
//! has drawn, and tells afterwards what it typed. A tap is lent to a client that shows the output as it
//! is, may type, and has nothing under way here that must be typed first.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use greenroom_model::Offset;
use greenroom_proto::ToHolder;
use greenroom_pty::KeyLock;

use super::{Reply, Session};
use crate::SubscriptionId;
use crate::mark::{Mark, Standing};

/// How many moments are remembered at which something was printed: what was typed at one of them is
/// told a moment later.
const MAX_STANDINGS: usize = 16;

/// How many descriptors come with a tap.
pub(super) const DESCRIPTORS: usize = 4;

/// What a client needs to type and to see by itself.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The terminal.
    pub terminal: Arc<OwnedFd>,
    /// The ends of the pipe, and the pages that its readers share.
    pub pipe: Arc<[OwnedFd; 4]>,
}

/// Somebody who wants a tap, and how many bytes they have typed here before.
#[derive(Debug)]
pub(crate) struct TapWanted {
    pub(crate) from: SubscriptionId,
    pub(crate) typed: u64,
    pub(crate) reply: Reply<Option<Offer>>,
}

/// The taps of a session.
#[derive(Debug, Default)]
pub(super) struct Taps {
    pipe: Option<Arc<[OwnedFd; 4]>>,
    /// The holder was asked for it.
    asked: bool,
    /// Where the session stood before each of the last outputs.
    standings: VecDeque<Standing>,
}

impl Taps {
    /// Something is about to be printed.
    pub(super) fn prints(&mut self, standing: impl FnOnce() -> Standing) {
        if self.pipe.is_none() {
            return;
        }
        if self.standings.len() == MAX_STANDINGS {
            self.standings.pop_front();
        }
        self.standings.push_back(standing());
    }

    /// The rows got other numbers.
    pub(super) fn renumber(&mut self) {
        self.standings.clear();
    }
}

impl Session {
    /// Lends a tap, or nothing if that is not possible now. Without a pipe the holder is asked for one: a
    /// holder of before does not answer, and nobody waits for it.
    pub(super) fn lend_tap(&mut self, wanted: TapWanted) {
        let TapWanted { from, typed, reply } = wanted;
        let pipe = self.tap_pipe();
        let sees = self.viewers.sees_output(from, typed, self.screen.size());
        let pipe = pipe.filter(|_| sees && self.keyboard.is_idle());
        let offer = pipe.map(|pipe| Offer { terminal: self.keyboard.terminal(), pipe });
        let _gone = reply.send(Ok(offer));
    }

    /// The pipe, if there is one; the holder is asked for it if not.
    pub(super) fn tap_pipe(&mut self) -> Option<Arc<[OwnedFd; 4]>> {
        if self.taps.pipe.is_none() {
            self.want_tap();
        }
        self.taps.pipe.clone()
    }

    /// Asks the holder for a tap, once.
    fn want_tap(&mut self) {
        if !std::mem::replace(&mut self.taps.asked, true) {
            self.link.say(&ToHolder::Tap);
        }
    }

    /// The holder reads through a pipe now.
    pub(super) fn tapped(&mut self, descriptors: Vec<OwnedFd>) {
        let Ok(pipe) = <[OwnedFd; DESCRIPTORS]>::try_from(descriptors) else { return };
        match KeyLock::new(&pipe[3]) {
            Ok(lock) => self.keyboard.share(lock),
            Err(error) => return tracing::warn!(%error, "a terminal is not shared"),
        }
        (self.taps.pipe, self.taps.asked) = (Some(Arc::new(pipe)), true);
    }

    /// The holder was met anew, and may not know what it was asked.
    pub(super) fn ask_tap_again(&mut self) {
        if self.taps.asked && self.taps.pipe.is_none() {
            self.link.say(&ToHolder::Tap);
        }
        self.stop_looking();
    }

    /// A client typed by itself when the session stood at an offset.
    pub(super) fn typed_by(&mut self, from: SubscriptionId, at: Offset, bytes: &Bytes) {
        if !self.viewers.may_type(from) {
            return;
        }
        self.viewer_active(from);
        let standings = self.taps.standings.iter().rev();
        let standing = standings.take_while(|it| it.offset >= at).last().copied();
        let standing = standing.unwrap_or_else(|| Standing::now(&self.screen));
        self.remember(Mark::at(standing, bytes, self.keyboard.echo()));
    }
}
