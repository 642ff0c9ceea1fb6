//! The browser's door, as far as this one has to do with it: the program supplies it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use greenroom_engine::Info;
use serde_json::{Value, json};

/// What is wanted of the browser's door; what is not said stays as the configuration has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opening {
    /// Where.
    pub port: Option<u16>,
    /// Whether other machines may reach it.
    pub expose: Option<bool>,
}

/// What came of it; else why not, for people.
pub type Told = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// The browser's door, which the program supplies.
pub trait Web: Send + Sync {
    /// Listens from now on; says where, with the token.
    fn open(&self, wanted: Opening) -> Told;
    /// Listens no more.
    fn close(&self) -> Told;
    /// Whether and where it listens, without the token.
    fn status(&self) -> Value;
    /// Makes a link to a session.
    fn share(&self, session: &Info, write: bool, lasts: Duration) -> Told;
    /// The links that hold.
    fn shares(&self) -> Value;
    /// Removes a link; false if there is none of that name.
    fn unshare(&self, id: &str) -> bool;
}

/// No door for browsers at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWeb;

fn none() -> Told {
    Box::pin(std::future::ready(Err("this daemon has no door for browsers".to_owned())))
}

impl Web for NoWeb {
    fn open(&self, _: Opening) -> Told {
        none()
    }

    fn close(&self) -> Told {
        none()
    }

    fn status(&self) -> Value {
        json!({"running": false})
    }

    fn share(&self, _: &Info, _: bool, _: Duration) -> Told {
        none()
    }

    fn shares(&self) -> Value {
        json!([])
    }

    fn unshare(&self, _: &str) -> bool {
        false
    }
}
