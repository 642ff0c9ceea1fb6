//! Who has logged in: a random cookie each, of which we keep the print, and until when it holds.
//!
//! They outlive the daemon, or every restart would log every browser out.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::kept;
use crate::secret::{Print, Secret};

/// How long a login holds: a day, as carryOn's.
pub(crate) const LASTS: Duration = Duration::from_secs(24 * 60 * 60);

/// How many logins are kept. More than anybody has browsers; then the oldest goes.
const MAX_LOGINS: usize = 256;

/// A login.
#[derive(Debug, Clone)]
struct Login {
    print: Print,
    until_ms: u64,
    /// The link it came by; none for the owner's own.
    share: Option<String>,
}

/// All logins.
#[derive(Debug)]
pub(crate) struct Logins {
    path: PathBuf,
    all: Mutex<Vec<Login>>,
    changed: watch::Sender<u64>,
}

/// A login that holds.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) print: Print,
    pub(crate) share: Option<String>,
    pub(crate) until_ms: u64,
}

impl Logins {
    /// Takes up those that were kept. What cannot be read is as good as nothing: people log in again.
    pub(crate) fn load(path: PathBuf) -> Logins {
        let kept = kept::read(&path).ok();
        let kept: Value = kept.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        let all = kept.as_array().into_iter().flatten().filter_map(from_kept).collect();
        Logins { path, all: Mutex::new(all), changed: watch::Sender::new(0) }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Login>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs somebody in; gives the cookie.
    pub(crate) fn add(&self, share: Option<(String, u64)>) -> io::Result<Secret> {
        let cookie = Secret::random()?;
        let mut until_ms = now_ms() + LASTS.as_millis() as u64;
        if let Some((_, ends_ms)) = &share {
            until_ms = until_ms.min(*ends_ms);
        }
        let login = Login { print: cookie.print(), until_ms, share: share.map(|it| it.0) };
        {
            let mut all = self.all();
            all.retain(|login| login.until_ms > now_ms());
            if all.len() >= MAX_LOGINS {
                all.remove(0);
            }
            all.push(login);
        }
        self.keep();
        Ok(cookie)
    }

    /// Whether a cookie holds. All are compared, each in constant time.
    pub(crate) fn find(&self, cookie: &str) -> Option<Held> {
        let (print, now) = (Print::of(cookie), now_ms());
        let mut found = None;
        for login in self.all().iter() {
            if login.print.is(&print) && login.until_ms > now {
                let Login { print, until_ms, share } = login.clone();
                found = Some(Held { print, share, until_ms });
            }
        }
        found
    }

    fn holds(&self, print: &Print) -> bool {
        let now = now_ms();
        self.all().iter().any(|login| login.print.is(print) && login.until_ms > now)
    }

    /// Forgets one.
    pub(crate) fn remove(&self, cookie: &str) {
        let print = Print::of(cookie);
        self.all().retain(|login| !login.print.is(&print));
        self.keep();
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.all().clear();
        self.keep();
    }

    /// Ends when a login does not hold any more.
    pub(crate) async fn gone(&self, held: &Held) {
        let mut changed = self.changed.subscribe();
        let left = Duration::from_millis(held.until_ms.saturating_sub(now_ms()));
        let removed = async {
            while self.holds(&held.print) {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = removed => {}
            () = tokio::time::sleep(left) => {}
        }
    }

    /// Writes them down, beside the daemon's thread.
    fn keep(&self) {
        self.changed.send_modify(|count| *count += 1);
        let all: Vec<Value> = self.all().iter().map(to_kept).collect();
        keep_later(self.path.clone(), Value::from(all));
    }
}

/// Writes a file whole, without keeping the daemon.
pub(crate) fn keep_later(path: PathBuf, value: Value) {
    tokio::task::spawn_blocking(move || {
        if let Err(error) = kept::write(&path, &format!("{value}\n")) {
            tracing::warn!(path = %path.display(), %error, "logins were not written");
        }
    });
}

fn to_kept(login: &Login) -> Value {
    json!({"print": login.print.to_string(), "untilMs": login.until_ms, "share": login.share})
}

fn from_kept(value: &Value) -> Option<Login> {
    let print = Print::from_text(value["print"].as_str()?)?;
    let share = value["share"].as_str().map(str::to_owned);
    Some(Login { print, until_ms: value["untilMs"].as_u64()?, share })
}

/// The time of the calendar: what is kept over a restart has no other.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_login_outlives_the_daemon_and_not_its_removal() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join("logins.json");
        let logins = Logins::load(path.clone());
        let cookie = logins.add(None).unwrap();
        assert!(logins.find(cookie.reveal()).is_some());
        assert!(logins.find("").is_none());
        let written = || kept::read(&path).is_ok_and(|it| it.contains("untilMs"));
        while !written() {
            tokio::task::yield_now().await;
        }
        assert!(!kept::read(&path).unwrap().contains(cookie.reveal()));
        let next = Logins::load(path);
        let held = next.find(cookie.reveal()).unwrap();
        next.clear();
        next.gone(&held).await;
        assert!(next.find(cookie.reveal()).is_none());
    }

    #[tokio::test]
    async fn there_are_only_so_many_logins() {
        let state = tempfile::tempdir().unwrap();
        let logins = Logins::load(state.path().join("logins.json"));
        let first = logins.add(None).unwrap();
        (0..MAX_LOGINS).for_each(|_| drop(logins.add(None).unwrap()));
        assert!(logins.find(first.reveal()).is_none());
        assert_eq!(logins.all().len(), MAX_LOGINS);
    }
}
