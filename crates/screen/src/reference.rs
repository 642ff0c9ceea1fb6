//! The list of supported sequences, as docs/screen.md shows it.

use std::fmt::Write as _;

use crate::modes;
use crate::terminal::sequences::{COMMANDS, CSI, ESCAPES, STRINGS, Sequence};

/// What single controls do; they have no table to dispatch from.
const CONTROLS: &[Sequence] = &[
    Sequence { form: "BEL", name: "bell", does: "reported as an event" },
    Sequence { form: "BS", name: "backspace", does: "moves the cursor left" },
    Sequence { form: "HT", name: "tab", does: "moves the cursor to the next tab stop" },
    Sequence { form: "LF, VT, FF", name: "line feed", does: "moves down, scrolling at the bottom" },
    Sequence { form: "CR", name: "return", does: "moves the cursor to the first column" },
    Sequence { form: "SO, SI", name: "shifts", does: "use G1, G0" },
    Sequence { form: "CAN, SUB", name: "cancel", does: "break a sequence off" },
    Sequence {
        form: "ESC ( ) * + - . /",
        name: "SCS",
        does: "designate G0 to G3: ASCII, DEC Special Graphics, British",
    },
];

/// Every sequence and mode the screen knows, as Markdown tables.
///
/// ```
/// let reference = greenroom_screen::reference();
/// assert!(reference.contains("| `CSI ? Pm h` | DECSET |"));
/// assert!(reference.contains("| `CSI ? 2004 h` | bracketed paste |"));
/// ```
#[must_use]
pub fn reference() -> String {
    let mut out = String::new();
    let groups = [
        ("Controls", CONTROLS),
        ("Escape sequences", ESCAPES),
        ("Control sequences", CSI),
        ("Operating system commands", COMMANDS),
        ("Other strings", STRINGS),
    ];
    for (heading, sequences) in groups {
        let mut sorted: Vec<_> = sequences.iter().collect();
        sorted.sort_by_key(|it| (it.form.trim_start_matches("OSC ").len(), it.form));
        // Writing to a string cannot fail.
        let _ok = write!(
            out,
            "### {heading}\n\n| written | name | what it does |\n| --- | --- | --- |\n"
        );
        for Sequence { form, name, does } in sorted {
            let _ok = writeln!(out, "| `{form}` | {name} | {does} |");
        }
        out.push('\n');
    }
    out.push_str("### Modes\n\n| set with | what it is |\n| --- | --- |\n");
    for entry in modes::TABLE {
        let mark = if entry.mode.private { "? " } else { "" };
        let _ok = writeln!(out, "| `CSI {mark}{} h` | {} |", entry.mode.number, entry.name);
    }
    out
}
