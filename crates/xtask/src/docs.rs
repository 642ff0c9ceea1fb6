//! `cargo xtask docs`: writes the generated part of docs/screen.md.
//!
//! The text around it is written by hand and stays. `tidy` fails while the part is out of date.

use anyhow::{Context as _, Result};

use crate::workspace::{read, write};

/// The document, from the root of the workspace.
pub(crate) const SCREEN: &str = "docs/screen.md";

const BEGIN: &str = "<!-- sequences -->\n";
const END: &str = "<!-- /sequences -->";

pub(crate) fn run(_: &[String]) -> Result<()> {
    let text = read(SCREEN)?;
    write(SCREEN, &with_sequences(&text, &greenroom_screen::reference())?)
}

/// Whether the document says what the code does.
pub(crate) fn is_current() -> Result<bool> {
    let text = read(SCREEN)?;
    Ok(with_sequences(&text, &greenroom_screen::reference())? == text)
}

/// The document with its generated part made anew.
fn with_sequences(text: &str, sequences: &str) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).with_context(|| lacks(BEGIN))?;
    let (_, after) = rest.split_once(END).with_context(|| lacks(END))?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", sequences.trim_end()))
}

fn lacks(marker: &str) -> String {
    format!("`{SCREEN}` lacks the line `{}`", marker.trim_end())
}

#[cfg(test)]
mod tests {
    use super::with_sequences;

    #[test]
    fn only_the_part_between_the_markers_changes() {
        let text = "before\n<!-- sequences -->\nold\n<!-- /sequences -->\nafter\n";
        let written = with_sequences(text, "new\n").unwrap();
        assert_eq!(written, "before\n<!-- sequences -->\n\nnew\n\n<!-- /sequences -->\nafter\n");
        assert_eq!(with_sequences(&written, "new\n").unwrap(), written);
    }

    #[test]
    fn a_missing_marker_is_named() {
        let error = with_sequences("<!-- sequences -->\n", "new").unwrap_err();
        assert!(error.to_string().contains("<!-- /sequences -->"));
    }
}
