//! A screen as clients get it, written straight as JSON: a large one has twelve thousand cells, and a
//! tree of values of that size takes longer than everything else together.
//!
//! The cells are in `cells`.

mod cells;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use greenroom_engine::Scene;
use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_model::Size;
use greenroom_screen::{Cursor, Modes, Snapshot};
use serde::Deserialize;

use self::cells::{Cells, Hidden};

use crate::Pixels;
use crate::answer::{Close, Envelope, Rest};
use crate::aside::takes_long;
use crate::error::RpcError;
use crate::json::{push_bool, push_number, push_text};
use crate::redaction::shown;

/// The most lines of history one read brings.
const MAX_HISTORY: u64 = 100_000;

/// The most cells one answer has: a screen of 400x160. Each takes some two hundred bytes.
const MAX_CELLS: usize = 64_000;

/// What a client wants of a snapshot, beyond the contract.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(expecting = "an object")]
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
    pixels: Pixels,
    /// The rows whose cells are wanted.
    rows: Range<u16>,
    cursor: Cursor,
    modes: Modes,
    title: String,
    /// The cells, if any are wanted: to copy them takes longer than all else here.
    snapshot: Option<Arc<Snapshot>>,
    contents: Excerpt,
    history: Option<Excerpt>,
    pub(crate) sequence: u64,
    alternate: bool,
}

impl Shot {
    /// Takes what is wanted of a session, in its turn.
    pub(crate) fn take(scene: Scene<'_>, wanted: &Wanted, pixels: Pixels) -> Shot {
        let screen = scene.screen;
        let history = wanted.history_lines.map(|lines| scene.history(lines.min(MAX_HISTORY)));
        let size = screen.size();
        let rows = wanted.rows(size);
        // Too many for one answer are not taken along.
        let has_cells = (1..=MAX_CELLS).contains(&(rows.len() * usize::from(size.cols())));
        Shot {
            size,
            pixels,
            rows,
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
    pub(crate) fn check(&self) -> Result<(), RpcError> {
        let cells = self.rows.len() * usize::from(self.size.cols());
        if cells <= MAX_CELLS {
            return Ok(());
        }
        let why = format!(
            "{cells} cells are too many for one answer, at most {MAX_CELLS}: ask for fewer with \
             row_start and row_end, or for none with cells: false"
        );
        Err(RpcError::params(why))
    }

    /// How long its text is.
    pub(crate) fn bytes(&self) -> usize {
        self.contents.text().len()
    }

    /// The same for who asked for it.
    pub(crate) fn view(self, policy: Option<Redaction>) -> View {
        match policy.as_ref().is_some_and(|policy| takes_long(policy, self.bytes())) {
            true => View::Shown(self.shown(policy.as_ref())),
            false => View::Taken(self, policy),
        }
    }

    /// What somebody with this policy may see of it.
    fn shown(mut self, policy: Option<&Redaction>) -> Shown {
        let contents = self.contents.shown(policy);
        let has_secrets = matches!(contents, Cow::Owned(_));
        let contents = contents.into_owned();
        let cells = self.snapshot.take().map(|snapshot| {
            // Cells are looked at for secrets only if there are any in the text.
            let hidden = match policy.filter(|_| has_secrets) {
                Some(policy) => Hidden::find(&snapshot, self.contents.before(), policy),
                None => Hidden::default(),
            };
            Cells::new(snapshot, self.rows.clone(), hidden)
        });
        let title = shown(policy, &self.title).into_owned();
        let history = self.history.take().map(|it| it.shown(policy).into_owned());
        Shown { shot: self, cells, contents, title, history }
    }
}

/// A screen for who asked for it.
#[derive(Debug)]
pub(crate) enum View {
    /// What they may not see is hidden when it is written: until then it shares what others see.
    Taken(Shot, Option<Redaction>),
    /// It is hidden already, for that took long.
    Shown(Shown),
}

impl View {
    fn shown(self) -> Shown {
        match self {
            View::Taken(shot, policy) => shot.shown(policy.as_ref()),
            View::Shown(shown) => shown,
        }
    }

    /// Writes a message that has it for a result.
    pub(crate) fn into_message(self, envelope: Envelope<'_>, out: &mut Vec<u8>) -> Option<Rest> {
        envelope.push(out);
        self.into_wire(envelope.close, out)
    }

    /// Writes it as JSON and closes the message, or begins to, if there are cells. Those that are too many for one
    /// answer are left out.
    pub(crate) fn into_wire(self, close: Close, out: &mut Vec<u8>) -> Option<Rest> {
        self.shown().into_wire(close, out)
    }
}

/// A screen as somebody may see it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Without its texts.
    shot: Shot,
    cells: Option<Cells>,
    contents: String,
    title: String,
    history: Option<String>,
}

impl Shown {
    fn into_wire(mut self, close: Close, out: &mut Vec<u8>) -> Option<Rest> {
        self.push_begin(out);
        let Some(mut cells) = self.cells.take() else {
            self.push_end(out);
            close.push(out);
            return None;
        };
        let mut end = Vec::new();
        self.push_end(&mut end);
        close.push(&mut end);
        Some(Box::new(move |out| {
            let is_more = cells.push_row(out);
            if !is_more {
                out.extend_from_slice(&end);
            }
            is_more
        }))
    }

    /// Adds what comes before the cells.
    fn push_begin(&self, out: &mut Vec<u8>) {
        let Shot { size, pixels, cursor, sequence, .. } = self.shot;
        out.extend_from_slice(br#"{"size":{"rows":"#);
        push_number(out, size.rows());
        out.extend_from_slice(br#","cols":"#);
        push_number(out, size.cols());
        out.extend_from_slice(br#","pixel_width":"#);
        push_number(out, pixels.width);
        out.extend_from_slice(br#","pixel_height":"#);
        push_number(out, pixels.height);
        out.extend_from_slice(br#"},"cursor":{"row":"#);
        push_number(out, cursor.row);
        out.extend_from_slice(br#","col":"#);
        push_number(out, cursor.col);
        out.extend_from_slice(br#","visible":"#);
        push_bool(out, cursor.visible);
        out.extend_from_slice(br#"},"sequence":"#);
        push_number(out, sequence);
        out.extend_from_slice(br#","plain_text":"#);
        push_text(out, &self.contents);
        out.extend_from_slice(br#","cells":["#);
    }

    /// Adds what comes behind them.
    fn push_end(&self, out: &mut Vec<u8>) {
        let Shot { alternate, modes, .. } = self.shot;
        out.extend_from_slice(br#"],"alternate_screen":"#);
        push_bool(out, alternate);
        out.extend_from_slice(br#","application_cursor":"#);
        push_bool(out, modes.contains(Modes::APP_CURSOR));
        out.extend_from_slice(br#","application_keypad":"#);
        push_bool(out, modes.contains(Modes::APP_KEYPAD));
        out.extend_from_slice(br#","title":"#);
        match self.title.as_str() {
            "" => out.extend_from_slice(b"null"),
            title => push_text(out, title),
        }
        if let Some(history) = &self.history {
            out.extend_from_slice(br#","history":"#);
            push_text(out, history);
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use greenroom_screen::{Options, Screen};
    use serde_json::{Value, json};

    use super::*;
    use crate::answer::Answer;

    fn shot(size: &str, bytes: &[u8], wanted: &Value, redact: bool) -> Value {
        shot_by(size, bytes, wanted, redact.then(Redaction::standard))
    }

    fn shot_by(size: &str, bytes: &[u8], wanted: &Value, policy: Option<&Redaction>) -> Value {
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
        let shot = Shot::take(scene, &wanted, Pixels::default());
        let view = shot.view(policy.cloned());
        let answer = Answer::later(move |envelope, out| view.into_message(envelope, out));
        let mut message = Vec::new();
        if let Some(mut rest) = answer.into_wire(&json!(1), "\n", &mut message) {
            while rest(&mut message) {}
        }
        serde_json::from_slice::<Value>(&message).unwrap()["result"].take()
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
    fn a_cell_in_which_a_secret_begins_is_hidden_whole() {
        let bytes = "\x1b[?2027h👨\u{200d}👩\u{200d}👧 x".as_bytes();
        let policy = Redaction::with("R", &["👩".to_owned()], &[]).unwrap();
        let shot = shot_by("9x1", bytes, &json!({}), Some(&policy));
        assert_eq!(shot["cells"][0]["text"], "R", "{shot}");
        assert!(!shot.to_string().contains("👩"), "{shot}");
    }

    #[test]
    fn an_expression_for_the_end_means_that_of_the_text_in_cells_as_well() {
        for pattern in ["line2 foo$", "foo\\z", "(?m)foo$", "bar\\sline2"] {
            let policy = Redaction::with("R", &[], &[pattern.to_owned()]).unwrap();
            let shot = shot_by("20x4", b"a foo bar\r\nline2 foo", &json!({}), Some(&policy));
            let cells = shot["cells"].as_array().unwrap().iter();
            let text: String = cells.map(|it| it["text"].as_str().unwrap()).collect();
            let (is_shown, text) = (shot["plain_text"].to_string().contains("line2 foo"), text);
            assert_eq!(text.contains("line2 foo"), is_shown, "{pattern}: {shot}");
            assert!(!is_shown, "{pattern}: {shot}");
        }
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
    fn a_secret_that_begins_above_the_history_that_is_read_is_hidden() {
        let key: String = (10..50).map(|line| format!("KEY{line}abcdefghijklmnop\r\n")).collect();
        let key =
            format!("-----BEGIN RSA PRIVATE KEY-----\r\n{key}-----END RSA PRIVATE KEY-----\r\n");
        let token = format!("export GITHUB_TOKEN={}\r\n1\r\n2\r\n3\r\n", "a1b2c3d4".repeat(16));
        for (bytes, secret) in [(key, "abcdef"), (token, "a1b2")] {
            for lines in [1, 2, 3] {
                let wanted = json!({"history_lines": lines, "cells": false});
                let shot = shot("40x3", bytes.as_bytes(), &wanted, true);
                assert!(!shot.to_string().contains(secret), "{lines}: {shot}");
            }
        }
    }

    #[test]
    fn a_secret_that_goes_on_below_the_history_is_hidden() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlMTIzNA\r\nnext";
        let url = "https://user:correct-horse-battery-staple@host\r\nnext";
        for (bytes, secret) in [(jwt, "OiJI"), (url, "correct")] {
            let wanted = json!({"history_lines": 9, "cells": false});
            let shot = shot("24x2", bytes.as_bytes(), &wanted, true);
            assert!(!shot.to_string().contains(secret), "{shot}");
        }
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
