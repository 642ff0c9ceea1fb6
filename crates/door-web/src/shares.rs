//! Links that show one session to somebody: for a time, to look at or to type into.
//!
//! What is kept (`remembered`) is the print of a link's secret; the secret is shown once, when the link
//! is made.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::remembered::{Entry, Remembered, now_ms};
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

impl Entry for Share {
    fn print(&self) -> &Print {
        &self.print
    }

    fn until_ms(&self) -> u64 {
        self.until_ms
    }

    fn to_kept(&self) -> Value {
        json!({"print": self.print.to_string(), "session": self.session, "write": self.write,
            "untilMs": self.until_ms})
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
}

/// All links.
#[derive(Debug)]
pub(crate) struct Shares(Remembered<Share>);

impl Shares {
    /// Takes up those that were kept.
    pub(crate) fn load(path: PathBuf) -> Shares {
        Shares(Remembered::load(path))
    }

    /// Those that hold.
    pub(crate) fn list(&self) -> Vec<Share> {
        self.0.list()
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
        self.0.change(|all| {
            if all.len() >= MAX_SHARES {
                return Err(io::Error::other(format!("too many links: at most {MAX_SHARES}")));
            }
            all.push(share.clone());
            Ok(())
        })?;
        Ok((share, secret))
    }

    /// Removes one; false if there is none of that name.
    pub(crate) fn remove(&self, id: &str) -> bool {
        self.0.retain(|share| share.id != id) > 0
    }

    /// Removes those to some sessions, by their UUIDs.
    pub(crate) fn forget(&self, forgotten: impl Fn(&str) -> bool) {
        // Without any there is nothing to write.
        if self.list().iter().any(|share| forgotten(&share.session)) {
            self.0.retain(|share| !forgotten(&share.session));
        }
    }

    /// The link somebody has the secret of, if it holds.
    pub(crate) fn find(&self, secret: &str) -> Option<Share> {
        self.0.find(secret)
    }

    /// The link of a name, if it holds.
    pub(crate) fn get(&self, id: &str) -> Option<Share> {
        self.list().into_iter().find(|share| share.id == id)
    }

    /// Ends when a link does not hold any more.
    pub(crate) async fn gone(&self, share: &Share) {
        self.0.gone(share).await;
    }
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
