//! The nouns every part of greenroom speaks, and nothing else.
//!
//! No I/O, no wire format, no dependency: a type lives here when two crates that may not know
//! each other have to mean the same thing by it.
//!
//! ```
//! use greenroom_model::{Key, KeyEvent, Mods, Size};
//!
//! let size: Size = "80x24".parse().unwrap();
//! let key: KeyEvent = "ctrl+enter".parse().unwrap();
//! assert_eq!(size.cols(), 80);
//! assert_eq!(key, KeyEvent::new(Key::Enter, Mods::CTRL));
//! ```

mod eager;
mod ended;
mod key;
mod mouse;
mod offset;
mod session;
mod size;

pub use eager::Eager;
pub use ended::ExitStatus;
pub use key::{FKey, Key, KeyAction, KeyError, KeyEvent, Keypad, Media, Modifier, Mods};
pub use mouse::{MouseAction, MouseButton, MouseEvent};
pub use offset::Offset;
pub use session::SessionId;
pub use size::{Size, SizeError};
