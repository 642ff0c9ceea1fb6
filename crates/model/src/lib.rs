//! The nouns every part of greenroom speaks, and nothing else.
//!
//! No I/O, no wire format, no dependency: a type lives here when two crates that may not know
//! each other have to mean the same thing by it.

mod ended;
mod key;
mod mouse;
mod offset;
mod session;
mod size;

pub use ended::ExitStatus;
pub use key::{FKey, Key, KeyAction, KeyError, KeyEvent, Keypad, Media, Modifier, Mods};
pub use mouse::{MouseAction, MouseButton, MouseEvent};
pub use offset::Offset;
pub use session::SessionId;
pub use size::{Size, SizeError};
