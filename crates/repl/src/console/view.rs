//! A screen with a frame around it.

use serde_json::Value;

use crate::plain::plain;

/// A snapshot as a picture: its text in a frame, its title, size and cursor on it.
pub(super) fn framed(snapshot: &Value) -> String {
    let number = |outer: &str, inner: &str| snapshot[outer][inner].as_u64().unwrap_or_default();
    let (rows, cols) = (number("size", "rows"), number("size", "cols"));
    let width = usize::try_from(cols).unwrap_or_default();
    let text = plain(snapshot["plain_text"].as_str().unwrap_or_default());
    let title = snapshot["title"].as_str().map(|it| format!(" {} ", plain(it))).unwrap_or_default();
    let foot = format!(
        " {cols}x{rows}, cursor at row {}, column {} ",
        number("cursor", "row"),
        number("cursor", "col")
    );
    let mut out = edge('╭', '╮', &title, width);
    for line in text.lines() {
        out.push_str(&format!("│{line}\n"));
    }
    out.push_str(edge('╰', '╯', &foot, width).trim_end());
    out
}

/// An edge of the frame with a text on it.
fn edge(left: char, right: char, text: &str, width: usize) -> String {
    let rest = "─".repeat(width.saturating_sub(text.chars().count()));
    format!("{left}{text}{rest}{right}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_screen_has_a_frame() {
        let snapshot = json!({
            "size": {"rows": 2, "cols": 40}, "cursor": {"row": 1, "col": 2},
            "plain_text": "one\ntwo", "title": "a\u{1b}b",
        });
        let lines: Vec<String> = framed(&snapshot).lines().map(str::to_owned).collect();
        assert!(lines[0].starts_with("╭ a ─"), "{lines:?}");
        assert_eq!((lines[1].as_str(), lines[2].as_str()), ("│one", "│two"));
        assert!(lines[3].contains("40x2, cursor at row 1, column 2"));
    }
}
