//! A screen as clients get it, written straight as JSON: a large one has twelve thousand cells, and a
//! tree of values of that size takes longer than everything else together.
//!
//! The cells are in `cells`.

mod cells;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use greenroom_engine::Scene;
use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_model::Size;
use greenroom_screen::{Cursor, Modes, Snapshot, Wrap};
use serde::Deserialize;

use self::cells::{Cells, Hidden};

use crate::Pixels;
use crate::error::RpcError;
use crate::redaction::shown;

/// The most lines of history one read brings.
const MAX_HISTORY: u64 = 100_000;

/// The most cells one answer has: a screen of 400x160. Each takes some two hundred bytes.
const MAX_CELLS: usize = 64_000;

/// What a client wants of a snapshot, beyond the contract.
#[derive(Debug, Default, Clone, Deserialize)]
pub(crate) struct Wanted {
    /// Without cells a snapshot is a hundredth of the size.
    #[serde(default)]
    cells: Option<bool>,
    /// The first row whose cells are wanted.
    #[serde(default)]
    row_start: Option<u16>,
    /// The row after the last.
    #[serde(default)]
    row_end: Option<u16>,
    /// How many lines above the screen.
    #[serde(default)]
    history_lines: Option<u64>,
}

impl Wanted {
    /// The rows whose cells are wanted.
    fn rows(&self, size: Size) -> Range<u16> {
        if !self.cells.unwrap_or(true) {
            return 0..0;
        }
        let first = self.row_start.unwrap_or(0).min(size.rows());
        first..self.row_end.unwrap_or(u16::MAX).clamp(first, size.rows())
    }
}

/// What a screen shows at one moment, to be written later.
#[derive(Debug)]
pub(crate) struct Shot {
    size: Size,
    cursor: Cursor,
    modes: Modes,
    title: String,
    /// The cells, if any are wanted: to copy them takes longer than all else here.
    snapshot: Option<Arc<Snapshot>>,
    contents: Excerpt,
    history: Option<String>,
    pub(crate) sequence: u64,
    alternate: bool,
}

impl Shot {
    /// Takes what is wanted of a session, in its turn.
    pub(crate) fn take(scene: Scene<'_>, wanted: &Wanted) -> Shot {
        let screen = scene.screen;
        let history = wanted.history_lines.map(|lines| {
            let top = screen.top_row();
            let first = top.saturating_sub(lines.min(MAX_HISTORY)).max(screen.first_row());
            screen.text_of(first..top, Wrap::Joined)
        });
        let size = screen.size();
        // Too many for one answer are not taken along.
        let cells = wanted.rows(size).len() * usize::from(size.cols());
        let has_cells = (1..=MAX_CELLS).contains(&cells);
        Shot {
            size,
            cursor: screen.cursor(),
            modes: screen.modes(),
            title: screen.title().to_owned(),
            snapshot: has_cells.then(|| scene.snapshot()),
            contents: scene.excerpt().clone(),
            history,
            sequence: scene.sequence,
            alternate: screen.is_alternate(),
        }
    }

    /// Whether the cells that are wanted fit into one answer.
    pub(crate) fn check(&self, wanted: &Wanted) -> Result<(), RpcError> {
        let cells = wanted.rows(self.size).len() * usize::from(self.size.cols());
        if cells <= MAX_CELLS {
            return Ok(());
        }
        let why = format!(
            "{cells} cells are too many for one answer, at most {MAX_CELLS}: ask for fewer with \
             row_start and row_end, or for none with cells: false"
        );
        Err(RpcError::params(why))
    }

    /// As JSON, in pieces of which those with cells are made when they are asked for. Cells that are too
    /// many for one answer are left out.
    pub(crate) fn into_wire(
        self,
        wanted: &Wanted,
        pixels: Pixels,
        policy: Option<&Redaction>,
    ) -> impl Iterator<Item = Bytes> + Send + use<> {
        let contents = self.contents.shown(policy);
        let (begin, end) = (self.begin(&contents, pixels), self.end(policy));
        let has_secrets = matches!(contents, Cow::Owned(_));
        let rows = wanted.rows(self.size);
        let cells = self.snapshot.map(|snapshot| {
            // Cells are looked at for secrets only if there are any in the text.
            let hidden = match policy.filter(|_| has_secrets) {
                Some(policy) => Hidden::find(&snapshot, self.contents.before(), policy),
                None => Hidden::default(),
            };
            Cells::new(snapshot, rows, hidden)
        });
        iter::once(begin.into()).chain(cells.into_iter().flatten()).chain([end.into()])
    }

    /// What comes before the cells.
    fn begin(&self, contents: &str, pixels: Pixels) -> String {
        let (size, cursor) = (self.size, self.cursor);
        let mut out = String::with_capacity(1024 + contents.len());
        // Writing to a text does not fail.
        let _ok = write!(
            out,
            r#"{{"size":{{"rows":{},"cols":{},"pixel_width":{},"pixel_height":{}}},"#,
            size.rows(),
            size.cols(),
            pixels.width,
            pixels.height
        );
        let _ok = write!(
            out,
            r#""cursor":{{"row":{},"col":{},"visible":{}}},"sequence":{},"plain_text":"#,
            cursor.row, cursor.col, cursor.visible, self.sequence
        );
        push_text(&mut out, contents);
        out.push_str(r#","cells":["#);
        out
    }

    /// What comes behind them.
    fn end(&self, policy: Option<&Redaction>) -> String {
        let mut out = String::new();
        let _ok = write!(
            out,
            r#"],"alternate_screen":{},"application_cursor":{},"application_keypad":{},"title":"#,
            self.alternate,
            self.modes.contains(Modes::APP_CURSOR),
            self.modes.contains(Modes::APP_KEYPAD)
        );
        match self.title.as_str() {
            "" => out.push_str("null"),
            title => push_text(&mut out, &shown(policy, title)),
        }
        if let Some(history) = &self.history {
            out.push_str(r#","history":"#);
            push_text(&mut out, &shown(policy, history));
        }
        out.push('}');
        out
    }
}

/// A text as JSON has it, written in its place.
fn push_text(out: &mut String, text: &str) {
    let mut bytes = std::mem::take(out).into_bytes();
    // A text can always be written, and stays one.
    let _ok = serde_json::to_writer(&mut bytes, text);
    *out = String::from_utf8(bytes).unwrap_or_default();
}

/// What is between the quotes of a text.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    // A text can always be written.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use greenroom_screen::{Options, Screen};
    use serde_json::{Value, json};

    use super::*;

    fn shot(size: &str, bytes: &[u8], wanted: &Value, redact: bool) -> Value {
        let mut screen = Screen::new(size.parse().unwrap(), Options::default());
        screen.feed(bytes);
        let scene = Scene {
            screen: &screen,
            transcript: None,
            sequence: 7,
            quiet: std::time::Duration::ZERO,
            end: None,
            texts: &greenroom_engine::Texts::default(),
        };
        let wanted = Wanted::deserialize(wanted).unwrap();
        let policy = redact.then(Redaction::standard);
        let wire = Shot::take(scene, &wanted).into_wire(&wanted, Pixels::default(), policy);
        serde_json::from_slice(&wire.collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn a_snapshot_has_the_shape_of_the_contract() {
        let shot = shot("3x2", "\x1b]0;t\x07\x1b[1;31ma\x1b[m漢".as_bytes(), &json!({}), false);
        let plain = json!({"foreground": "default", "background": "default", "bold": false,
            "dim": false, "italic": false, "underline": false, "inverse": false});
        let mut red = plain.clone();
        red["foreground"] = "idx:1".into();
        red["bold"] = true.into();
        let cell = |row: u16, col: u16, text: &str, wide: bool, tail: bool, style: &Value| {
            json!({"row": row, "col": col, "text": text, "wide": wide,
                "wide_continuation": tail, "style": style})
        };
        let expected = json!({
            "size": {"rows": 2, "cols": 3, "pixel_width": 0, "pixel_height": 0},
            "cursor": {"row": 0, "col": 2, "visible": true},
            "sequence": 7,
            "plain_text": "a漢",
            "cells": [
                cell(0, 0, "a", false, false, &red),
                cell(0, 1, "漢", true, false, &plain),
                cell(0, 2, "", false, true, &plain),
                cell(1, 0, "", false, false, &plain),
                cell(1, 1, "", false, false, &plain),
                cell(1, 2, "", false, false, &plain),
            ],
            "alternate_screen": false,
            "application_cursor": false,
            "application_keypad": false,
            "title": "t",
        });
        assert_eq!(shot, expected);
    }

    #[test]
    fn less_can_be_asked_for() {
        let bytes = b"1\r\n2\r\n3\r\n\"4\\";
        assert_eq!(shot("9x2", bytes, &json!({"cells": false}), true)["cells"], json!([]));
        let one = shot("9x2", bytes, &json!({"row_start": 1, "row_end": 2}), true);
        assert_eq!(one["cells"].as_array().unwrap().len(), 9);
        assert_eq!(one["cells"][0]["row"], 1);
        assert_eq!(one["cells"][0]["text"], "\"");
        let none = shot("9x2", bytes, &json!({"row_start": 5, "row_end": 1}), true);
        assert_eq!(none["cells"], json!([]));
        let history = shot("9x2", bytes, &json!({"history_lines": 1, "cells": false}), true);
        assert_eq!(history["history"], "2\n");
    }

    #[test]
    fn a_secret_is_in_no_cell_and_moves_no_other() {
        let bytes = b"\x1b[2;1Htoken=abcdefgh next";
        let shot = shot("12x4", bytes, &json!({}), true);
        assert!(!shot.to_string().contains("abcdefgh"), "{shot}");
        let row = |row: u64| -> String {
            let cells = shot["cells"].as_array().unwrap().iter();
            cells.filter(|it| it["row"] == row).map(|it| it["text"].as_str().unwrap()).collect()
        };
        assert_eq!((row(1), row(2)), ("token=[REDAC".to_owned(), "TE next".to_owned()));
        assert_eq!(shot["plain_text"], "\ntoken=[REDACTED] next");
    }

    #[test]
    fn a_secret_whose_beginning_scrolled_away_is_hidden() {
        let bytes = b"token=abcdefghijklmnopqrstuvwxyz\r\nnext";
        let shot = shot("12x2", bytes, &json!({"history_lines": 9}), true);
        assert_eq!(shot["plain_text"], "[REDACTED]\nnext");
        assert_eq!(shot["history"], "token=[REDACTED]");
        let cells = shot["cells"].as_array().unwrap().iter();
        let text: String = cells.map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!(text, "[REDACTEnext");
    }

    #[test]
    fn a_terminal_of_one_column_has_no_more_cells() {
        for bytes in ["", "ab", "漢"] {
            let shot = shot("1x2", bytes.as_bytes(), &json!({}), true);
            let cells = shot["cells"].as_array().unwrap();
            assert_eq!(cells.iter().map(|it| &it["col"]).collect::<Vec<_>>(), [0, 0], "{bytes}");
        }
    }
}
