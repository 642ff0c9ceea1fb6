//! Who has logged in: a random cookie each, of which we keep the print, and until when it holds.
//!
//! They outlive the daemon (`remembered`), or every restart would log every browser out.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::remembered::{Entry, Remembered, now_ms};
use crate::secret::{Print, Secret};

/// How long a login holds: a day, as carryOn's.
pub(crate) const LASTS: Duration = Duration::from_secs(24 * 60 * 60);

/// How many logins are kept. More than anybody has browsers; then the oldest goes.
const MAX_LOGINS: usize = 256;

/// A login.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    print: Print,
    until_ms: u64,
    /// The link it came by; none for the owner's own.
    pub(crate) share: Option<String>,
}

impl Entry for Login {
    fn print(&self) -> &Print {
        &self.print
    }

    fn until_ms(&self) -> u64 {
        self.until_ms
    }

    fn to_kept(&self) -> Value {
        json!({"print": self.print.to_string(), "untilMs": self.until_ms, "share": self.share})
    }

    fn from_kept(value: &Value) -> Option<Login> {
        let print = Print::from_text(value["print"].as_str()?)?;
        let share = value["share"].as_str().map(str::to_owned);
        Some(Login { print, until_ms: value["untilMs"].as_u64()?, share })
    }
}

/// All logins.
#[derive(Debug)]
pub(crate) struct Logins(Remembered<Login>);

impl Logins {
    /// Takes up those that were kept.
    pub(crate) fn load(path: PathBuf) -> Logins {
        Logins(Remembered::load(path))
    }

    /// Logs somebody in, by a link until its end at most; gives the cookie.
    pub(crate) fn add(&self, share: Option<(String, u64)>) -> io::Result<Secret> {
        let cookie = Secret::random()?;
        let mut until_ms = now_ms() + LASTS.as_millis() as u64;
        if let Some((_, ends_ms)) = &share {
            until_ms = until_ms.min(*ends_ms);
        }
        let login = Login { print: cookie.print(), until_ms, share: share.map(|it| it.0) };
        self.0.change(|all| {
            if all.len() >= MAX_LOGINS {
                all.remove(0);
            }
            all.push(login);
        });
        Ok(cookie)
    }

    /// The login of a cookie, if it holds.
    pub(crate) fn find(&self, cookie: &str) -> Option<Login> {
        self.0.find(cookie)
    }

    /// Forgets one.
    pub(crate) fn remove(&self, cookie: &str) {
        let print = Print::of(cookie);
        self.0.retain(|login| !login.print.is(&print));
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.0.retain(|_| false);
    }

    /// Ends when a login does not hold any more.
    pub(crate) async fn gone(&self, login: &Login) {
        self.0.gone(login).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept;

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
        assert_eq!(logins.0.list().len(), MAX_LOGINS);
    }
}
