//! How a session is left and what is said then: our way, or that of another program.
//!
//! Not here: the detach key, which leaves in any case (`input`).

/// What ctrl+c sends on a terminal in raw mode.
const INTERRUPT: &[u8] = b"\x03";

/// How often in a row it is pressed by somebody who wants to leave.
const INSISTS: u8 = 2;

/// As which program a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    /// Left by the detach key. Why is said on the terminal; a signal is told by the exit code.
    Ours,
    /// Left by ctrl+c twice in a row, too. That it is over is said on standard error, and the exit
    /// code is 0 whatever the reason.
    Carryon,
}

impl Manners {
    /// Whether ctrl+c, twice in a row, leaves.
    pub(super) fn leaves_by_interrupts(self) -> bool {
        self == Manners::Carryon
    }
}

/// Counts ctrl+c pressed in a row, however slowly.
///
/// Only one that was read alone is a key that was pressed: in a paste it is text.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    in_a_row: u8,
}

impl Interrupts {
    /// Something was typed; true if somebody insists.
    pub(super) fn typed(&mut self, bytes: &[u8]) -> bool {
        self.in_a_row = if bytes == INTERRUPT { self.in_a_row.saturating_add(1) } else { 0 };
        self.in_a_row >= INSISTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_interrupts_in_a_row_and_one_at_a_time_insist() {
        let insists = |reads: &[&[u8]]| {
            let mut interrupts = Interrupts::default();
            reads.iter().fold(false, |_, it| interrupts.typed(it))
        };
        assert!(insists(&[b"\x03", b"\x03"]));
        assert!(insists(&[b"x", b"\x03", b"\x03"]));
        assert!(!insists(&[b"\x03"]));
        assert!(!insists(&[b"\x03\x03"]), "a paste");
        assert!(!insists(&[b"\x03", b"a", b"\x03"]));
        assert!(!insists(&[b"\x03", b"\x03\x03"]));
    }
}
