//! What all doors share: safe folders and sockets, the accept loop, who the peer is, what goes out.
//!
//! A door itself knows frames and methods; here is everything that would be the same in each.
//! Not here: protocols, sessions.
//!
//! **Invariant:** no byte of a stranger is read: the peer's user is checked before the first.

mod accept;
mod folder;
mod halves;
mod outgoing;
mod socket;

pub use accept::{Peer, Shutdown, serve};
pub use folder::{FolderError, inner_folder, own_folder};
pub use halves::{Reader, Writer, halves};
pub use outgoing::{Outgoing, give_way};
pub use socket::{BindError, bind, takes_path};
