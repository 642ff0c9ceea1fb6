//! Links that show one session to somebody: for a time, to look at or to type into.
//!
//! What is kept is the print of a link's secret; the secret is shown once, when the link is made.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::kept;
use crate::logins::{keep_later, now_ms};
use crate::secret::{Print, Secret};

/// How many links there may be: more is a mistake, not a wish.
const MAX_SHARES: usize = 256;

/// How many digits of its print a link is called by.
const NAME_DIGITS: usize = 8;

/// A link.
#[derive(Debug, Clone)]
pub struct Share {
    /// What it is called when it is to be removed.
    pub id: String,
    /// The session's UUID.
    pub session: String,
    /// Whether who has it may type.
    pub write: bool,
    /// Until when it holds, in milliseconds since 1970.
    pub until_ms: u64,
    print: Print,
}

/// All links.
#[derive(Debug)]
pub(crate) struct Shares {
    path: PathBuf,
    all: Mutex<Vec<Share>>,
    changed: watch::Sender<u64>,
}

impl Shares {
    /// Takes up those that were kept.
    pub(crate) fn load(path: PathBuf) -> Shares {
        let kept = kept::read(&path).ok();
        let kept: Value = kept.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        let all = kept.as_array().into_iter().flatten().filter_map(from_kept).collect();
        Shares { path, all: Mutex::new(all), changed: watch::Sender::new(0) }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Share>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that hold.
    pub(crate) fn list(&self) -> Vec<Share> {
        let now = now_ms();
        self.all().iter().filter(|share| share.until_ms > now).cloned().collect()
    }

    /// Makes one; gives it with its secret.
    pub(crate) fn add(
        &self,
        session: String,
        write: bool,
        lasts: Duration,
    ) -> io::Result<(Share, Secret)> {
        let secret = Secret::random()?;
        let print = secret.print();
        let id = print.to_string()[..NAME_DIGITS].to_owned();
        let lasts_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        let until_ms = now_ms().saturating_add(lasts_ms);
        let share = Share { id, session, write, until_ms, print };
        {
            let mut all = self.all();
            all.retain(|share| share.until_ms > now_ms());
            if all.len() >= MAX_SHARES {
                return Err(io::Error::other(format!("too many links: at most {MAX_SHARES}")));
            }
            all.push(share.clone());
        }
        self.keep();
        Ok((share, secret))
    }

    /// Removes one; false if there is none of that name.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let before = self.all().len();
        self.all().retain(|share| share.id != id);
        self.keep();
        self.all().len() < before
    }

    /// The link somebody has the secret of, if it holds. All are compared, in constant time.
    pub(crate) fn find(&self, secret: &str) -> Option<Share> {
        let print = Print::of(secret);
        let mut found = None;
        for share in &self.list() {
            if share.print.is(&print) {
                found = Some(share.clone());
            }
        }
        found
    }

    /// The link of a name, if it holds.
    pub(crate) fn get(&self, id: &str) -> Option<Share> {
        self.list().into_iter().find(|share| share.id == id)
    }

    /// Ends when a link does not hold any more.
    pub(crate) async fn gone(&self, share: &Share) {
        let mut changed = self.changed.subscribe();
        let left = Duration::from_millis(share.until_ms.saturating_sub(now_ms()));
        let removed = async {
            while self.get(&share.id).is_some() {
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

    fn keep(&self) {
        self.changed.send_modify(|count| *count += 1);
        let all: Vec<Value> = self.all().iter().map(to_kept).collect();
        keep_later(self.path.clone(), Value::from(all));
    }
}

fn to_kept(share: &Share) -> Value {
    json!({"print": share.print.to_string(), "session": share.session, "write": share.write,
        "untilMs": share.until_ms})
}

fn from_kept(value: &Value) -> Option<Share> {
    let print = Print::from_text(value["print"].as_str()?)?;
    Some(Share {
        id: print.to_string()[..NAME_DIGITS].to_owned(),
        session: value["session"].as_str()?.to_owned(),
        write: value["write"].as_bool()?,
        until_ms: value["untilMs"].as_u64()?,
        print,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_holds_until_it_is_removed_or_late() {
        let state = tempfile::tempdir().unwrap();
        let shares = Shares::load(state.path().join("shares.json"));
        let (share, secret) = shares.add("u".to_owned(), false, Duration::from_secs(60)).unwrap();
        assert_eq!(shares.find(secret.reveal()).unwrap().id, share.id);
        assert!(shares.find(&share.id).is_none());
        assert!(shares.remove(&share.id));
        assert!(!shares.remove(&share.id));
        shares.gone(&share).await;
        let (late, secret) = shares.add("u".to_owned(), true, Duration::ZERO).unwrap();
        shares.gone(&late).await;
        assert!(shares.find(secret.reveal()).is_none());
    }
}
