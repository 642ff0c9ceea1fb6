//! Finding or making the session that a client of `/ws/pty` wants.

use bytes::Bytes;
use greenroom_engine::{Attach, Caller, End, Error, ErrorKind, Event, Info, New, Program, State};
use greenroom_model::{Offset, SessionId, Size};
use greenroom_screen::Filter;

use crate::hub::{Guest, policy};
use crate::{Door, made};

/// Closing: there is no such provider.
const UNKNOWN_PROVIDER: u16 = 4003;

/// Closing: there can be no such session.
const NO_SESSION: u16 = 4004;

/// How much of a reason a browser is shown: a frame that closes holds 123 bytes.
const REASON_BYTES: usize = 120;

/// The longest name that is taken.
const NAME_CHARS: usize = 64;

/// What a client asked for.
#[derive(Debug, Default)]
pub(super) struct Opening {
    id: Option<String>,
    provider: Option<String>,
    name: Option<String>,
    resume: bool,
    force_new: bool,
    since: Option<u64>,
}

/// Why there is no conversation.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) code: u16,
    pub(super) reason: String,
}

impl Refused {
    fn new(code: u16, mut reason: String) -> Refused {
        while reason.len() > REASON_BYTES {
            reason.pop();
        }
        Refused { code, reason }
    }
}

/// What a conversation is about.
#[derive(Default)]
pub(super) struct Opened {
    /// What the contract calls it.
    pub(super) id: String,
    pub(super) provider: Option<String>,
    pub(super) session: Option<SessionId>,
    pub(super) size: Size,
    /// It was there before.
    pub(super) resumed: bool,
    /// What was to be resumed was not there.
    pub(super) not_found: bool,
    /// What the client missed since it was here, if it wants to go on there and that is still known.
    pub(super) missed: Option<Vec<(String, u64)>>,
    /// A seat, if the session lives.
    pub(super) guest: Option<Guest>,
    /// How it ended, if it has.
    pub(super) ended: Option<End>,
    /// Why it could not be started.
    pub(super) failed: Option<Error>,
}

impl Opening {
    /// Reads a query. Of a name that is there twice the first counts; what is empty is not there.
    pub(super) fn new(query: Vec<(String, String)>) -> Opening {
        let get = |name: &str| {
            let found = query.iter().find(|it| it.0 == name).map(|it| it.1.trim().to_owned());
            found.filter(|it| !it.is_empty())
        };
        let flag = |name: &str| get(name).is_some_and(|it| it == "1" || it == "true");
        Opening {
            id: get("session_id"),
            provider: get("provider"),
            name: get("session_name"),
            resume: flag("resume"),
            force_new: flag("force_new"),
            since: get("since").and_then(|it| it.parse().ok()),
        }
    }

    /// Finds or makes the session.
    pub(super) async fn open(&self, door: &Door, caller: &Caller) -> Result<Opened, Refused> {
        let provider = self.provider(door)?;
        let id = match &self.id {
            Some(text) => uuid::Uuid::parse_str(text).map_err(|_| {
                Refused::new(NO_SESSION, "Invalid session_id (must be a UUID)".to_owned())
            })?,
            None => uuid::Uuid::new_v4(),
        };
        let id = id.to_string();
        // One at a time: two clients that want one session must not make two.
        let _turn = door.making.lock().await;
        let found = made::find(&door.engine, &id).filter(|_| self.id.is_some());
        match found {
            Some(info) if info.state == State::Running => {
                if !self.force_new {
                    match self.join(door, caller, &info, &id, true).await {
                        Ok(opened) => return Ok(opened),
                        // It ended this moment.
                        Err(error) if error.kind() == ErrorKind::Ended => {}
                        Err(error) => return Err(Refused::new(NO_SESSION, error.to_string())),
                    }
                } else if let Err(error) = door.engine.kill(caller, info.id, None).await {
                    return Err(Refused::new(NO_SESSION, error.to_string()));
                }
            }
            Some(info) if self.resume && !self.force_new => return Ok(past(&info, id)),
            _ => {}
        }
        self.make(door, caller, id, provider).await
    }

    /// The provider that is wanted, which must be configured.
    fn provider(&self, door: &Door) -> Result<(String, Vec<String>), Refused> {
        let options = door.options();
        let wanted = self.provider.as_deref();
        let found = match wanted {
            Some(name) => options.providers.iter().find(|it| it.name == name),
            None => options.providers.first(),
        };
        if let Some(found) = found {
            return Ok((found.name.clone(), found.command.clone()));
        }
        let names: Vec<String> =
            options.providers.iter().map(|it| format!("'{}'", it.name)).collect();
        let (wanted, names) = (wanted.unwrap_or_default(), names.join(", "));
        let wanted: String = wanted.chars().filter(|it| !it.is_control()).take(32).collect();
        let reason = format!("Unknown provider: {wanted}. Available: [{names}]");
        Err(Refused::new(UNKNOWN_PROVIDER, reason))
    }

    async fn make(
        &self,
        door: &Door,
        caller: &Caller,
        id: String,
        (provider, command): (String, Vec<String>),
    ) -> Result<Opened, Refused> {
        if !made::make_room(door, caller).await {
            return Err(Refused::new(NO_SESSION, "Maximum sessions reached".to_owned()));
        }
        let not_found = self.resume && self.id.is_some();
        let notes = [(made::ID, id.clone()), (made::PROVIDER, provider.clone())];
        let mut new = New {
            name: self.name.as_deref().and_then(name),
            program: Program::Command(command),
            size: Some(Size::DEFAULT),
            transcript: Some(door.options().history_bytes.max(1)),
            notes: notes.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            ..New::default()
        };
        let mut made = door.engine.create(caller, new.clone()).await;
        if new.name.is_some() && made.as_ref().is_err_and(|it| it.kind() == ErrorKind::Invalid) {
            // Whatever is wrong with a name is no reason to have no terminal.
            new.name = None;
            made = door.engine.create(caller, new).await;
        }
        let joined = match made {
            Ok(info) => self.join(door, caller, &info, &id, false).await,
            Err(error) => Err(error),
        };
        match joined {
            Ok(opened) => Ok(Opened { not_found, ..opened }),
            Err(error) if matches!(error.kind(), ErrorKind::Limit | ErrorKind::Denied) => {
                Err(Refused::new(NO_SESSION, error.to_string()))
            }
            Err(error) => Ok(Opened {
                id,
                provider: Some(provider),
                failed: Some(error),
                ..Opened::default()
            }),
        }
    }

    /// Sits down at a session that lives.
    async fn join(
        &self,
        door: &Door,
        caller: &Caller,
        info: &Info,
        id: &str,
        resumed: bool,
    ) -> Result<Opened, Error> {
        let joined = door.hubs.join(&door.engine, caller, info.id).await;
        let guest = match joined {
            Ok(guest) => guest,
            // It was made and has ended before anybody saw it: what it printed is its history.
            Err(error) if error.kind() == ErrorKind::Ended && !resumed => {
                let ended = door.engine.get(info.id).unwrap_or_else(|| info.clone());
                return Ok(Opened { resumed: false, ..past(&ended, id.to_owned()) });
            }
            Err(error) => return Err(error),
        };
        let missed = match self.since.filter(|_| resumed) {
            Some(since) => missed(door, caller, info.id, since, &guest).await,
            None => None,
        };
        Ok(Opened {
            id: id.to_owned(),
            provider: made::provider(info).map(str::to_owned),
            session: Some(info.id),
            size: info.size,
            resumed,
            missed,
            guest: Some(guest),
            ..Opened::default()
        })
    }
}

/// A session that has ended: what it printed can be seen, and how it ended.
fn past(info: &Info, id: String) -> Opened {
    let ended = match info.state {
        State::Ended(end, _) => Some(end),
        State::Running => None,
    };
    Opened {
        id,
        provider: made::provider(info).map(str::to_owned),
        session: Some(info.id),
        size: info.size,
        resumed: true,
        ended,
        ..Opened::default()
    }
}

/// What was printed since an offset, in pieces with the offsets to go on from; none if that is not known
/// any more.
async fn missed(
    door: &Door,
    caller: &Caller,
    session: SessionId,
    since: u64,
    guest: &Guest,
) -> Option<Vec<(String, u64)>> {
    let attach = Attach { from: Some(Offset(since)), ..Attach::default() };
    let mut events = door.engine.attach(caller, session, attach).await.ok()?;
    let id = events.id;
    let mut filter = Filter::new(policy(&door.engine));
    let (mut at, mut pieces, mut known) = (since, Vec::new(), events.start.0 == since);
    while let Some(event) = events.try_next() {
        match event {
            Event::Output { end, bytes } => {
                let passed = Bytes::from(filter.feed(&bytes));
                at = end.0;
                let next = at - filter.undecided().min(at);
                if !passed.is_empty() {
                    pieces.push((String::from_utf8_lossy(&passed).into_owned(), next));
                }
            }
            Event::Redraw { .. } => known = false,
            _ => {}
        }
    }
    door.engine.detach(session, id).await;
    if known {
        guest.seat.saw(at);
    }
    known.then_some(pieces)
}

/// A name as the engine takes it: without what a list could not show.
fn name(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|it| !it.is_control()).take(NAME_CHARS).collect();
    Some(text.trim().to_owned()).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_leniently() {
        let query = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
            Opening::new(pairs.collect())
        };
        let opening = query(&[("session_id", ""), ("resume", "yes"), ("force_new", "true")]);
        assert!(opening.id.is_none() && !opening.resume && opening.force_new);
        let opening = query(&[("since", "x"), ("provider", "shell"), ("provider", "claude")]);
        assert_eq!((opening.since, opening.provider.as_deref()), (None, Some("shell")));
    }

    #[test]
    fn a_reason_fits_the_frame_that_closes() {
        assert!(Refused::new(4003, "ä".repeat(200)).reason.len() <= REASON_BYTES);
    }
}
