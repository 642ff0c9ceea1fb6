//! Reading a screen: text, cells, snapshots, diffs, search. Nothing here changes anything.

mod diff;
mod line;
mod search;
mod snapshot;
mod text;

pub use diff::{Diff, Position};
pub use line::{Cell, CellText, Line, Run};
pub use search::{Match, Query, QueryError, Search};
pub use snapshot::Snapshot;
pub use text::{Belongs, Command, Pos, Wrap};
