//! The page in a browser, as far as this door has to do with it: the program supplies it.

use std::future::Future;
use std::pin::Pin;

/// What the page is to be, by the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Whether it is served at all.
    pub enabled: bool,
    /// Where.
    pub port: u16,
    /// Whether other machines may reach it.
    pub expose: bool,
    /// The bcrypt hash of what a login asks for; empty for none.
    pub password: String,
}

/// Whether the page is now as was wanted; else why not, for people.
pub type Applied = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// The page, which the program supplies.
pub trait Local: Send + Sync {
    /// Serves the page as is wanted from now on, or stops.
    fn apply(&self, wanted: Page) -> Applied;
    /// Whether it is served.
    fn is_running(&self) -> bool;
    /// How many browsers look at sessions.
    fn connections(&self) -> usize;
    /// Forgets who has logged in: the password is another one.
    fn log_out(&self);
}

/// No page at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPage;

impl Local for NoPage {
    fn apply(&self, wanted: Page) -> Applied {
        let answer = match wanted.enabled {
            true => Err("this version has no page in a browser".to_owned()),
            false => Ok(()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn is_running(&self) -> bool {
        false
    }

    fn connections(&self) -> usize {
        0
    }

    fn log_out(&self) {}
}
