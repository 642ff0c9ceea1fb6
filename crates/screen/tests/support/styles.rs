//! The styles of a screen as runs of cells, in the words `references/xterm/run.mjs` uses.
//!
//! Neighbours: `xterm` reads the same runs from xterm.js; `recordings.rs` prints them. Not here: the
//! colour of an underline, which xterm.js mixes up with the text's, and links.

use std::fmt;

use greenroom_screen::{Attrs, Color, Screen, Style, Underline};

/// The attributes that are compared, in the order `run.mjs` lists them.
const ATTRS: &[(Attrs, &str)] = &[
    (Attrs::BOLD, "bold"),
    (Attrs::DIM, "dim"),
    (Attrs::ITALIC, "italic"),
    (Attrs::BLINK, "blink"),
    (Attrs::INVERSE, "inverse"),
    (Attrs::HIDDEN, "hidden"),
    (Attrs::STRIKE, "strike"),
    (Attrs::OVERLINE, "overline"),
];

/// Neighbouring cells of one row in one style that is not the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) col: u16,
    pub(crate) len: u16,
    pub(crate) fg: String,
    pub(crate) bg: String,
    pub(crate) attrs: Vec<String>,
}

/// The runs of every row of our screen.
pub(crate) fn of(screen: &Screen) -> Vec<Vec<Run>> {
    let mut rows = Vec::new();
    for row in screen.snapshot().rows() {
        let mut runs: Vec<Run> = Vec::new();
        let mut col = 0;
        for cell in row.cells() {
            let width = u16::from(cell.width);
            let next = run(col, width, &cell.style);
            match runs.last_mut() {
                Some(last) if last.same_style(&next) => last.len += width,
                Some(_) | None => runs.push(next),
            }
            col += width;
        }
        runs.retain(|run| !run.is_default());
        rows.push(runs);
    }
    rows
}

fn run(col: u16, len: u16, style: &Style) -> Run {
    let attrs = ATTRS.iter().filter(|(attr, _)| style.attrs.contains(*attr));
    let attrs = attrs.map(|(_, name)| *name).chain(underline(style.underline));
    Run {
        col,
        len,
        fg: colour(style.fg),
        bg: colour(style.bg),
        attrs: attrs.map(str::to_owned).collect(),
    }
}

fn underline(underline: Underline) -> Option<&'static str> {
    match underline {
        Underline::None => None,
        Underline::Single => Some("underline"),
        Underline::Double => Some("double"),
        Underline::Curly => Some("curly"),
        Underline::Dotted => Some("dotted"),
        Underline::Dashed => Some("dashed"),
    }
}

fn colour(colour: Color) -> String {
    match colour {
        Color::Default => "default".to_owned(),
        Color::Indexed(index) => index.to_string(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

impl Run {
    fn same_style(&self, other: &Run) -> bool {
        (&self.fg, &self.bg, &self.attrs) == (&other.fg, &other.bg, &other.attrs)
    }

    fn is_default(&self) -> bool {
        self.fg == "default" && self.bg == "default" && self.attrs.is_empty()
    }
}

/// As in `expected.txt`: `4+10 fg=2 bold` is ten cells from column 4.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.col, self.len)?;
        for (ground, colour) in [("fg", &self.fg), ("bg", &self.bg)] {
            if colour != "default" {
                write!(f, " {ground}={colour}")?;
            }
        }
        self.attrs.iter().try_for_each(|attr| write!(f, " {attr}"))
    }
}
