//! Which session somebody means.

use greenroom_model::SessionId;

use crate::engine::Entry;
use crate::{Engine, Error, Info, State};

/// How much of a UUID or id must be given: less would be chance.
const MIN_PREFIX: usize = 4;

impl Engine {
    /// The session a selector means: a number (`7` or `s7`), a name, an id (`native-…`), a UUID, or
    /// the beginning of one of the last two.
    ///
    /// A number or an id wins over a name, a name over a beginning, and a living session over an ended one. Of
    /// several that ended under a name the newest is meant, that with the highest number: a name is used
    /// again and again, and what was made with it last is what people remember.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn find(&self, selector: &str) -> Result<SessionId, Error> {
        match self.find_only(selector) {
            Err(Error::Ambiguous { ids, .. }) if self.have_ended_as(selector, &ids) => {
                ids.last().copied().ok_or_else(|| Error::NoSession(selector.to_owned()))
            }
            other => other,
        }
    }

    /// The same for what cannot be undone: of several that ended under a name, none is meant.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn find_only(&self, selector: &str) -> Result<SessionId, Error> {
        if let Some(id) = number(selector).filter(|&id| self.get(id).is_some()) {
            return Ok(id);
        }
        find_in(&self.list(), selector)
    }

    /// Whether all of these are called that and have ended.
    fn have_ended_as(&self, name: &str, ids: &[SessionId]) -> bool {
        let has_ended = |it: Info| it.name == name && it.state != State::Running;
        ids.iter().all(|&id| self.get(id).is_some_and(has_ended))
    }

    /// The info of the session of a number.
    #[must_use]
    pub fn get(&self, id: SessionId) -> Option<Info> {
        self.house.sessions().get(&id).map(Entry::info)
    }

    /// The info of the session a selector means.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn info(&self, selector: &str) -> Result<Info, Error> {
        let id = self.find(selector)?;
        self.get(id).ok_or_else(|| Error::NoSession(selector.to_owned()))
    }
}

fn find_in(all: &[Info], selector: &str) -> Result<SessionId, Error> {
    let is_named = |info: &&Info| info.name == selector;
    let begins = |info: &&Info| {
        let native = info.native_id();
        selector.len() >= MIN_PREFIX
            && (info.uuid().starts_with(selector)
                || native.starts_with(selector) && selector.len() > "native-".len()
                || native.trim_start_matches("native-").starts_with(selector))
    };
    // A program that means exactly this session is not to meet another that is called so.
    let is_it = |info: &&Info| info.uuid() == selector || info.native_id() == selector;
    if let Some(exact) = all.iter().find(is_it) {
        return Ok(exact.id);
    }
    let named: Vec<&Info> = all.iter().filter(is_named).collect();
    let candidates = if named.is_empty() { all.iter().filter(begins).collect() } else { named };
    one_of(&candidates, selector)
}

/// The number a selector is, if it is one: `7` or `s7`.
pub(crate) fn number(selector: &str) -> Option<SessionId> {
    let digits = selector.strip_prefix('s').unwrap_or(selector);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok().map(SessionId))?
}

fn one_of(candidates: &[&Info], selector: &str) -> Result<SessionId, Error> {
    let living: Vec<SessionId> =
        candidates.iter().filter(|it| it.state == State::Running).map(|it| it.id).collect();
    let all: Vec<SessionId> = candidates.iter().map(|it| it.id).collect();
    match (&living[..], &all[..]) {
        ([id], _) | ([], [id]) => Ok(*id),
        ([], []) => Err(Error::NoSession(selector.to_owned())),
        ([], ids) | (ids, _) => {
            Err(Error::Ambiguous { selector: selector.to_owned(), ids: ids.to_vec() })
        }
    }
}
