//! Finding the sessions that were there before this daemon.
//!
//! The list of sessions comes from living holders, not from a file that can lie. A holder that is
//! not understood is left alone and loudly complained of; a socket nobody answers at is removed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_model::SessionId;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use crate::Engine;
use crate::link::LinkError;
use crate::spawn::{Adopted, meet, open};

/// How long a holder has to introduce itself: it answers at once, unless the machine is on its knees
/// or somebody stopped it. It is knocked at again a little later.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was found.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Sessions that go on.
    pub sessions: Vec<SessionId>,
    /// Holders that live but could not be understood, with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

impl Engine {
    /// Meets every holder that is not known yet, and takes its session up.
    ///
    /// To be done again a little later: a holder that the last daemon started with its last breath
    /// may not listen yet.
    ///
    /// # Errors
    /// The folder of the holders cannot be read.
    pub async fn recover(&self) -> io::Result<Recovered> {
        let folder = self.house.options().holders.clone();
        let mut meetings = JoinSet::new();
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let id = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok().map(SessionId));
            let known = id.is_some_and(|id| self.house.knows(id));
            if path.extension().is_some_and(|it| it == "sock") && !known {
                meetings.spawn(async move { (knock(&path).await, path) });
            }
        }
        let mut recovered = Recovered::default();
        while let Some(met) = meetings.join_next().await {
            let Ok((met, path)) = met else { continue };
            match met {
                Ok(Some(adopted)) => self.take_up(adopted, path, &mut recovered),
                Ok(None) => {}
                Err(error) => refuse(&mut recovered, path, &error),
            }
        }
        recovered.sessions.sort_unstable();
        Ok(recovered)
    }

    fn take_up(&self, adopted: Adopted, path: PathBuf, recovered: &mut Recovered) {
        let id = adopted.description.id;
        self.house.pass_session(id);
        match open(&self.house, adopted) {
            Ok(_) => recovered.sessions.push(id),
            Err(error) => refuse(recovered, path, &error),
        }
    }
}

fn refuse(recovered: &mut Recovered, path: PathBuf, error: &LinkError) {
    tracing::error!(holder = %path.display(), %error, "a holder is left alone");
    recovered.refused.push((path, error.to_string()));
}

/// Meets the holder behind a socket; none if there is none any more.
async fn knock(path: &Path) -> Result<Option<Adopted>, LinkError> {
    let stream = match UnixStream::connect(path).await {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            // Its holder was killed. Only the name is left.
            tracing::warn!(holder = %path.display(), "nobody answers; the socket is removed");
            return std::fs::remove_file(path).map(|()| None).map_err(LinkError::from);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Err(LinkError::Order);
    }
    match tokio::time::timeout(PATIENCE, meet(stream)).await {
        Ok(met) => met.map(Some),
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    }
}
