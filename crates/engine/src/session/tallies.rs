//! Clients that want to know how much of what they sent was typed, also when a daemon ends over it.
//!
//! What a client sends waits here until the terminal takes it, and is lost with the daemon. So the
//! client keeps it until it is told that it was *taken*, and who counts is the tally (`greenroom_pty`),
//! which outlives the daemon. A client that comes back, on another connection or to another
//! daemon, is told how far it came; what was under way for it before is taken back first, so that
//! nothing is typed twice.
//!
//! Nothing of theirs is typed before it can be counted: that takes the holder a moment, the first time, and one
//! that is stopped until it goes on. What would be typed uncounted, its client would send again.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use bytes::{Buf as _, Bytes};
use greenroom_proto::ToHolder;
use greenroom_pty::{Tally, Typist};

use super::Session;
use crate::{Counted, Event, SubscriptionId};

/// How much is typed before a client is told: it need not keep more than a few of these, and hears nothing
/// of single keys.
const STEP: u64 = 64 << 10;

/// How many descriptors a tally is.
pub(super) const DESCRIPTORS: usize = 3;

/// What is counted, for whom.
#[derive(Debug)]
pub(super) struct Tallies {
    state: State,
    here: Vec<Here>,
    /// Something was typed that somebody may have to be told of.
    news: bool,
}

#[derive(Debug)]
enum State {
    /// Nobody needed it yet.
    Unasked,
    /// The holder was asked.
    Asked,
    Counts(Tally),
    /// It is not to be had.
    Never,
}

/// A client that is attached.
#[derive(Debug)]
struct Here {
    counted: Counted,
    typist: Option<Typist>,
    /// There are too many, and it has to be told.
    uncounted: bool,
    told: u64,
}

impl Tallies {
    /// For a holder that can make one, or cannot.
    pub(crate) fn new(can: bool) -> Tallies {
        let state = if can { State::Unasked } else { State::Never };
        Tallies { state, here: Vec::new(), news: false }
    }

    /// Whether nothing can be typed before the holder has answered.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(self.state, State::Asked)
    }

    /// Whether all that was begun was taken by the terminal.
    pub(super) fn is_settled(&self) -> bool {
        !matches!(&self.state, State::Counts(tally) if !tally.is_empty())
    }

    /// Types as much as the terminal takes, and counts it if it is to be counted.
    pub(super) fn write(
        &mut self,
        terminal: impl AsFd,
        token: Option<NonZeroU64>,
        bytes: &mut Bytes,
    ) -> io::Result<()> {
        let typist = token.and_then(|token| self.typist(token));
        let (Some(typist), State::Counts(tally)) = (typist, &mut self.state) else {
            return write_uncounted(terminal, bytes);
        };
        self.news = true;
        tally.pass_on(terminal.as_fd())?;
        if bytes.has_remaining() {
            match tally.put(typist, bytes) {
                Ok(put) => bytes.advance(put),
                // What cannot be counted is typed all the same.
                Err(_) => {
                    self.never();
                    return write_uncounted(terminal, bytes);
                }
            }
        }
        let State::Counts(tally) = &mut self.state else { return Ok(()) };
        tally.pass_on(terminal)
    }

    /// The count of a client, which has one from when it first types.
    fn typist(&mut self, token: NonZeroU64) -> Option<Typist> {
        let State::Counts(tally) = &self.state else { return None };
        let index = self.here.iter().position(|it| it.counted.token == token)?;
        if self.here[index].typist.is_none() && !self.here[index].uncounted {
            let is_here = |other| {
                let mut typing = self.here.iter().filter(|it| it.typist.is_some());
                typing.any(|it| it.counted.token.get() == other)
            };
            let typist = tally.typist(token.get(), is_here);
            let here = &mut self.here[index];
            (here.typist, here.uncounted) = (typist, typist.is_none());
            self.news |= typist.is_none();
        }
        self.here[index].typist
    }

    /// Nothing is counted any more.
    fn never(&mut self) {
        if let State::Counts(tally) = &self.state {
            tally.lose_count();
        }
        (self.state, self.news) = (State::Never, true);
    }

    /// Nobody will ever take what was begun.
    pub(super) fn give_up(&mut self) {
        if let State::Counts(tally) = &mut self.state
            && tally.settle().is_err()
        {
            self.never();
        }
    }

    /// Takes back what of a client's was begun and not taken.
    pub(super) fn take_back(&mut self, token: NonZeroU64) {
        let here = self.here.iter().find(|it| it.counted.token == token);
        if let (State::Counts(tally), Some(typist)) =
            (&mut self.state, here.and_then(|it| it.typist))
            && tally.take_back(typist).is_err()
        {
            self.never();
        }
    }

    /// Who has to be told how much of theirs was taken, or that nobody knows.
    fn news(&mut self) -> Vec<(NonZeroU64, Option<u64>)> {
        let mut news = Vec::new();
        if !std::mem::take(&mut self.news) {
            return news;
        }
        match &self.state {
            State::Counts(tally) => {
                let uncounted = self.here.iter().filter(|it| it.uncounted);
                news.extend(uncounted.map(|it| (it.counted.token, None)));
                for here in &mut self.here {
                    let Some(typed) = here.typist.map(|it| tally.typed(it)) else { continue };
                    if typed >= here.told + STEP {
                        here.told = typed;
                        news.push((here.counted.token, Some(typed)));
                    }
                }
            }
            State::Never => {
                news = self.here.drain(..).map(|it| (it.counted.token, None)).collect();
            }
            State::Unasked | State::Asked => {}
        }
        news
    }

    /// Notes that a client is here, and says how much of what it sent before was taken, if it wants to know
    /// and that is known by now.
    fn come(&mut self, counted: Counted) -> Option<(NonZeroU64, Option<u64>)> {
        self.here.push(Here { counted, typist: None, uncounted: false, told: 0 });
        match self.state {
            State::Counts(_) => self.count(self.here.len() - 1),
            State::Never => {
                self.here.pop();
                Some((counted.token, None))
            }
            State::Unasked | State::Asked => None,
        }
    }

    /// Goes on counting what a client types that has typed before.
    fn count(&mut self, index: usize) -> Option<(NonZeroU64, Option<u64>)> {
        let State::Counts(tally) = &self.state else { return None };
        let Counted { token, before } = self.here[index].counted;
        if !before {
            return None;
        }
        // Of somebody who was forgotten nobody knows what came before: counting would begin at the wrong end.
        let known = tally.knows(token.get());
        let typist = known.then(|| self.typist(token)).flatten();
        let State::Counts(tally) = &self.state else { return None };
        let typed = typist.map(|it| tally.typed(it));
        self.here[index].told = typed.unwrap_or(0);
        Some((token, typed))
    }

    fn leave(&mut self, token: NonZeroU64) {
        self.here.retain(|it| it.counted.token != token);
    }
}

/// Types as much as the terminal takes.
fn write_uncounted(terminal: impl AsFd, bytes: &mut Bytes) -> io::Result<()> {
    let taken = rustix::io::write(terminal, bytes)?;
    bytes.advance(taken);
    Ok(())
}

impl Session {
    /// A client is here whose typing is counted.
    pub(super) fn counts_for(&mut self, id: SubscriptionId, counted: Counted) {
        let Counted { token, before } = counted;
        // What it sent on another way must not come behind what it sends now.
        let others = self.viewers.all.iter().filter(|it| it.typist == Some(token) && it.id != id);
        for other in others.map(|it| it.id).collect::<Vec<_>>() {
            self.detach(other);
        }
        self.keyboard.take_back(token);
        self.keyboard.tallies.leave(token);
        self.forget_who_left();
        if let Some(told) = self.keyboard.tallies.come(counted) {
            self.tell_taken([told]);
        }
        if before {
            self.want_tally();
        }
    }

    /// A client whose typing was counted has left: what it sent is still typed.
    pub(super) fn counts_no_more(&mut self, token: NonZeroU64) {
        if self.keyboard.has_none_of(token) {
            self.keyboard.tallies.leave(token);
        }
    }

    /// Forgets who left before all they sent was typed, and now is.
    fn forget_who_left(&mut self) {
        let here = |it: &Here| {
            let token = it.counted.token;
            self.viewers.all.iter().any(|viewer| viewer.typist == Some(token))
                || !self.keyboard.has_none_of(token)
        };
        let gone = self.keyboard.tallies.here.iter().filter(|it| !here(it));
        for token in gone.map(|it| it.counted.token).collect::<Vec<_>>() {
            self.keyboard.tallies.leave(token);
        }
    }

    /// Whether the holder is to be heard though somebody does not keep up: others cannot type before.
    pub(super) fn awaits_tally(&self) -> bool {
        self.keyboard.tallies.is_awaited()
    }

    /// Asks the holder for the tally, once.
    pub(super) fn want_tally(&mut self) {
        if matches!(self.keyboard.tallies.state, State::Unasked) {
            self.keyboard.tallies.state = State::Asked;
            self.link.say(&ToHolder::Tally);
        }
    }

    /// The holder was met anew, and may not know what it was asked.
    pub(super) fn ask_tally_again(&mut self) {
        if self.keyboard.tallies.is_awaited() {
            self.link.say(&ToHolder::Tally);
        }
    }

    /// The holder gave the tally, or said that it has none.
    pub(super) fn tallied(&mut self, descriptors: Vec<OwnedFd>) {
        if !matches!(self.keyboard.tallies.state, State::Unasked | State::Asked) {
            return;
        }
        let tally = <[OwnedFd; DESCRIPTORS]>::try_from(descriptors)
            .map_err(|_| io::Error::from(io::ErrorKind::NotFound))
            .and_then(|descriptors| Tally::new(descriptors, self.keyboard.terminal()));
        let state = match tally {
            Ok(tally) => State::Counts(tally),
            Err(error) => {
                tracing::warn!(session = %self.description.id, %error, "what clients type is not counted");
                State::Never
            }
        };
        self.has_tally(state);
    }

    /// Tells who has to know what was taken.
    pub(super) fn tell_tally(&mut self) {
        let news = self.keyboard.tallies.news();
        self.tell_taken(news);
    }

    fn has_tally(&mut self, state: State) {
        let tallies = &mut self.keyboard.tallies;
        (tallies.state, tallies.news) = (state, true);
        let told: Vec<_> =
            (0..tallies.here.len()).filter_map(|index| tallies.count(index)).collect();
        self.tell_taken(told);
        self.keyboard.write();
    }

    fn tell_taken(&mut self, news: impl IntoIterator<Item = (NonZeroU64, Option<u64>)>) {
        for (token, taken) in news {
            self.viewers.taken(token, &Event::Taken(taken));
            if taken.is_none() {
                self.keyboard.tallies.leave(token);
            }
        }
    }
}
