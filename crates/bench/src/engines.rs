//! Every contender behind one trait, each used the way its documentation says.
//!
//! One file a library. A peer's event listener does nothing, its history is as long as ours,
//! and what it would need around it in a real program (a lock, a renderer) is left out, so
//! each shows its best.

use greenroom_model::Size;

mod alacritty;
mod avt;
pub mod ours;
mod rio;
mod scan;
mod vt100;

/// A terminal that takes bytes and can be looked at.
pub trait Engine {
    /// Takes the next bytes of the child's output.
    fn feed(&mut self, bytes: &[u8]);

    /// The visible rows as text, without trailing blanks.
    fn rows(&self) -> Vec<String>;
}

/// Who takes part, in the order of the report's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// `greenroom-screen`.
    Ours,
    /// Alacritty's terminal library, the most used one.
    Alacritty,
    /// Rio's, the fastest one.
    Rio,
    /// The one most test tools use.
    Vt100,
    /// asciinema's.
    Avt,
    /// Looks at every byte and does nothing: the limit.
    Scan,
}

impl Contender {
    /// All of them; a contender's number is its place here.
    pub const ALL: [Contender; 6] = [
        Contender::Ours,
        Contender::Alacritty,
        Contender::Rio,
        Contender::Vt100,
        Contender::Avt,
        Contender::Scan,
    ];

    /// Those that keep a screen.
    pub fn terminals() -> impl Iterator<Item = Contender> {
        Contender::ALL.into_iter().filter(|contender| *contender != Contender::Scan)
    }

    /// The name and version the report shows. The versions are those of Cargo.toml.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Contender::Ours => "greenroom",
            Contender::Alacritty => "alacritty_terminal 0.26",
            Contender::Rio => "rio-vt 0.5",
            Contender::Vt100 => "vt100 0.18",
            Contender::Avt => "avt 0.19",
            Contender::Scan => "byte scan",
        }
    }

    /// Makes an empty terminal with room for `history` lines that scrolled off.
    #[must_use]
    pub fn start(self, size: Size, history: usize) -> Box<dyn Engine> {
        match self {
            Contender::Ours => Box::new(ours::Ours::new(size, history)),
            Contender::Alacritty => Box::new(alacritty::Alacritty::new(size, history)),
            Contender::Rio => Box::new(rio::Rio::new(size, history)),
            Contender::Vt100 => Box::new(vt100::Vt100::new(size, history)),
            Contender::Avt => Box::new(avt::Avt::new(size, history)),
            Contender::Scan => Box::new(scan::Scan::default()),
        }
    }
}

#[cfg(test)]
mod tests;
