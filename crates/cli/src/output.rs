//! What is written to standard output and standard error.
//!
//! Every write gives its error back: a reader that went away (`ls | head`) ends the verb quietly
//! instead of ending the program with a panic. Colour only on a terminal and without `NO_COLOR`.

use std::borrow::Cow;
use std::io::{self, Write as _};

use serde_json::Value;

use crate::failure::Failure;

/// Where verbs write to.
pub(crate) struct Output {
    json: bool,
    colour: bool,
}

/// How a text is shown on a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// What names something.
    Strong,
    /// What matters less.
    Faint,
    /// All is well.
    Good,
    /// Something is not.
    Bad,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Bad => "31",
        }
    }
}

impl Output {
    pub(crate) fn new(json: bool, no_colour: bool) -> Output {
        let colour = !json && !no_colour && rustix::termios::isatty(rustix::stdio::stdout());
        Output { json, colour }
    }

    /// Whether programs read it.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a line for people.
    pub(crate) fn line(&self, line: &str) -> io::Result<()> {
        self.bytes(format!("{line}\n").as_bytes())
    }

    /// Writes a value for programs, on one line.
    pub(crate) fn value(&self, value: &Value) -> io::Result<()> {
        self.line(&without_controls(&value.to_string()))
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    /// Shows the help or the version that was asked for, to its last byte.
    pub(crate) fn help(&self, help: &clap::Error) -> io::Result<()> {
        help.print()?;
        io::stdout().flush()
    }

    /// Writes a remark that is no result: for people only, to standard error.
    pub(crate) fn remark(&self, text: &str) {
        if !self.json {
            // Nobody can be told that nobody can be told.
            io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap_or_default();
        }
    }

    /// Says what went wrong, to standard error.
    pub(crate) fn failure(&self, failure: &Failure) {
        let text = match self.json {
            true => format!("{}\n", failure.for_programs()),
            false => failure.for_people(),
        };
        io::stderr().write_all(text.as_bytes()).unwrap_or_default();
    }

    /// Passes on what another program complained about, to standard error.
    pub(crate) fn complaint(&self, text: &str) {
        io::stderr().write_all(text.as_bytes()).unwrap_or_default();
    }

    /// The text with its style, if this is a terminal that shows styles.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        match style.code() {
            code if self.colour && !code.is_empty() => format!("\x1b[{code}m{text}\x1b[m"),
            _ => text.to_owned(),
        }
    }
}

/// JSON without the controls that it may have as they are: a terminal that it is printed on must not obey them.
fn without_controls(json: &str) -> Cow<'_, str> {
    let is_control = |c: char| ('\u{7f}'..='\u{9f}').contains(&c);
    if !json.contains(is_control) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_control(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_controls() {
        let value = Value::from("a\u{9b}31m\u{7f}\u{1b}é");
        let written = without_controls(&value.to_string()).into_owned();
        assert_eq!(written, r#""a\u009b31m\u007f\u001bé""#);
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
