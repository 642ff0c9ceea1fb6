//! What can be said of a session without asking its task.

use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_model::{Offset, SessionId, Size};
use greenroom_screen::Screen;

use crate::{ClientId, End, SubscriptionId};

/// Whether a session lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The child runs.
    Running,
    /// It came to an end, at this time in milliseconds since 1970.
    Ended(End, u64),
}

/// Somebody who looks at a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// Which subscription.
    pub subscription: SubscriptionId,
    /// Whose.
    pub client: ClientId,
    /// Whether they only look.
    pub read_only: bool,
    /// Their terminal's size, if they have one.
    pub size: Option<Size>,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

/// What can be said of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its number.
    pub id: SessionId,
    /// Its name over machines and time.
    pub uuid: [u8; 16],
    /// What people call it.
    pub name: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When somebody attached last; zero for never.
    pub attached_ms: u64,
    /// The folder it was started in, or the one its shell said it is in.
    pub cwd: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its size.
    pub size: Size,
    /// Its title, as the program set it: a stranger's text.
    pub title: String,
    /// Whether it lives.
    pub state: State,
    /// How much was printed.
    pub offset: Offset,
    /// How often its size changed.
    pub resizes: u64,
    /// Whether a full-screen program shows.
    pub alternate: bool,
    /// The child's process.
    pub pid: u32,
    /// The holder's process.
    pub holder_pid: u32,
    /// Who looks.
    pub viewers: Vec<Viewer>,
    /// What its maker wanted to be remembered with it, by name.
    pub notes: Vec<(String, String)>,
}

impl Info {
    /// Takes what the program said of itself from a screen that was restored.
    pub(crate) fn remember(&mut self, screen: &Screen) {
        screen.title().clone_into(&mut self.title);
        if let Some((_, path)) = screen.cwd() {
            path.clone_into(&mut self.cwd);
        }
    }

    /// The id of the form `native-` and twelve hexadecimal digits.
    #[must_use]
    pub fn native_id(&self) -> String {
        let hex: String = self.uuid[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("native-{hex}")
    }

    /// The whole UUID.
    #[must_use]
    pub fn uuid(&self) -> String {
        uuid::Uuid::from_bytes(self.uuid).to_string()
    }
}

/// A session's info, shared between its task, which writes, and everybody who lists.
///
/// The lock is held for a copy, never across an await.
#[derive(Debug)]
pub(crate) struct Face(Mutex<Info>);

impl Face {
    pub(crate) fn new(info: Info) -> Face {
        Face(Mutex::new(info))
    }

    pub(crate) fn get(&self) -> Info {
        self.lock().clone()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Info> {
        // Nothing panics while it is held; if something did, the value is whole all the same.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
