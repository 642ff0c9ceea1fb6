//! Finding the sessions that were there before this daemon.
//!
//! The list of sessions comes from living holders, not from a file that can lie. A holder that is
//! not understood, or does not answer, is left alone and loudly complained of, and knocked at again;
//! a socket nobody has any more is removed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_model::SessionId;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use crate::Engine;
use crate::link::LinkError;
use crate::points::{Point, reach};
use crate::spawn::{Adopted, meet, open};

/// How long a holder has to introduce itself: it answers at once, unless the machine is on its knees
/// or somebody stopped it. It is knocked at again a little later.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long who asks what there is waits for those that did not answer before: a holder that can
/// answers within it, and nobody minds it of a list.
const MOMENT: Duration = Duration::from_millis(200);

/// What was found.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Sessions that go on.
    pub sessions: Vec<SessionId>,
    /// Holders that live and are not understood, or do not answer.
    pub refused: Vec<Refused>,
}

/// A holder that lives, and whose session is not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its session, by the name of the socket.
    pub session: Option<SessionId>,
    /// Its process, if the system tells.
    pub pid: Option<u32>,
    /// Where it listens.
    pub socket: PathBuf,
    /// What was wrong.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

impl Engine {
    /// Meets every holder that is not known yet, and takes its session up.
    ///
    /// To be done again a little later: a holder that the last daemon started with its last breath
    /// may not listen yet. Never twice at once, for a holder serves who came last.
    ///
    /// # Errors
    /// The folder of the holders cannot be read.
    pub async fn recover(&self) -> io::Result<Recovered> {
        let folder = self.house.options().holders.clone();
        let (mut meetings, mut fallen) = (JoinSet::new(), Vec::new());
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let known = session(&path).is_some_and(|id| self.house.knows(id));
            if session(&path).is_some_and(|id| self.house.falls_always(id)) && !known {
                fallen.push(refusal(path, None, &LinkError::Fallen));
            } else if path.extension().is_some_and(|it| it == "sock") && !known {
                meetings.spawn(async move { (knock(&path).await, path) });
            }
        }
        let mut recovered = Recovered { refused: fallen, ..Recovered::default() };
        while let Some(met) = meetings.join_next().await {
            let Ok((met, path)) = met else { continue };
            match met {
                Ok(Some(adopted)) => self.take_up(adopted, path, &mut recovered),
                Ok(None) => {}
                Err((error, pid)) => recovered.refused.push(refusal(path, pid, &error)),
            }
        }
        recovered.sessions.sort_unstable();
        recovered.refused.sort_unstable_by_key(|it| it.session);
        self.complain(&recovered.refused);
        self.remove_groups(|id| recovered.refused.iter().any(|it| it.session == Some(id)));
        self.house.refused.send_replace(recovered.refused.clone());
        reach(Point::RecoverDone);
        Ok(recovered)
    }

    /// The holders that were left alone when it was last looked.
    #[must_use]
    pub fn refused(&self) -> Vec<Refused> {
        self.house.refused.borrow().clone()
    }

    /// Has those that were left alone knocked at again, and waits a moment for that. With none of
    /// them there is nothing to wait for.
    pub async fn knock_again(&self) {
        let mut refused = self.house.refused.subscribe();
        if !refused.borrow_and_update().is_empty() {
            self.house.knock.notify_one();
            // Who does not answer now either is as it was.
            let _late = tokio::time::timeout(MOMENT, refused.changed()).await;
        }
    }

    /// Waits until somebody wants [`Engine::recover`] to be called.
    pub async fn recovery_wanted(&self) {
        self.house.knock.notified().await;
    }

    fn take_up(&self, adopted: Adopted, path: PathBuf, recovered: &mut Recovered) {
        let id = adopted.description.id;
        reach(Point::RecoverMet);
        self.house.pass_session(id);
        match open(&self.house, adopted) {
            Ok(_) => {
                reach(Point::RecoverOpened);
                recovered.sessions.push(id);
            }
            Err(error) => recovered.refused.push(refusal(path, None, &error)),
        }
    }

    /// Once for each: it is looked again and again.
    fn complain(&self, refused: &[Refused]) {
        let before = self.house.refused.borrow();
        for it in refused.iter().filter(|it| !before.contains(it)) {
            let (holder, error) = (it.socket.display(), &it.reason);
            tracing::error!(%holder, pid = it.pid, %error, "a holder is left alone");
        }
    }
}

/// The session whose holder listens there.
fn session(path: &Path) -> Option<SessionId> {
    path.file_stem()?.to_str()?.parse().ok().map(SessionId)
}

fn refusal(socket: PathBuf, pid: Option<u32>, error: &LinkError) -> Refused {
    let kill = pid.map_or_else(String::new, |pid| format!("; `kill {pid}` ends its session"));
    let hint = match (error, pid) {
        // One that is stopped heeds no signal but these.
        (LinkError::Silent, Some(pid)) => format!(
            "it may be stopped: `kill -CONT {pid}` lets it go on, `kill -9 {pid}` ends its session"
        ),
        (LinkError::Version(_), _) => {
            format!("restart the daemon with the version that made it{kill}")
        }
        _ => format!("`greenroom logs` may say more{kill}"),
    };
    Refused { session: session(&socket), pid, socket, reason: error.to_string(), hint }
}

/// Meets the holder behind a socket; none if there is none any more. With an error comes whose it is.
pub(crate) async fn knock(path: &Path) -> Result<Option<Adopted>, (LinkError, Option<u32>)> {
    let unknown = |error: io::Error| (LinkError::from(error), None);
    let stream = match UnixStream::connect(path).await {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            // Its holder was killed. Only the name is left.
            tracing::warn!(holder = %path.display(), "nobody answers; the socket is removed");
            return std::fs::remove_file(path).map(|()| None).map_err(unknown);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unknown(error)),
    };
    let peer = stream.peer_cred().map_err(unknown)?;
    // Of a listening socket it is who listens.
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    if peer.uid() != rustix::process::getuid().as_raw() {
        return Err((LinkError::Order, pid));
    }
    match tokio::time::timeout(PATIENCE, meet(stream)).await {
        Ok(met) => met.map(Some).map_err(|error| (error, pid)),
        Err(_) => Err((LinkError::Silent, pid)),
    }
}
