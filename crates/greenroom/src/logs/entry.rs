//! One thing that was said, as a line of JSON and in memory.

use std::fmt::{self, Write};
use std::time::SystemTime;

use greenroom_door_carryon::LogEntry;
use greenroom_engine::redact::{Excerpt, HOLD_MAX, Redaction};
use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// The longest message, in bytes: a path, an error with its causes and some numbers fit, and a
/// structure printed by mistake does not fill the log.
const MESSAGE_MAX: usize = 8 * 1024;

/// How much of a text is looked at: what begins within a message is known for a secret by no more.
const RAW_MAX: usize = MESSAGE_MAX + HOLD_MAX;

/// What stands where a message was cut.
const CUT: &str = "…";

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When, in milliseconds since 1970.
    pub(crate) timestamp_ms: u64,
    /// How grave.
    pub(crate) level: Level,
    /// Which part of the program.
    pub(crate) component: String,
    /// What, with its fields as ` key=value`; no control characters.
    pub(crate) message: String,
}

impl Entry {
    /// What happened just now. What looks like a secret is hidden: plugins log what they like, and errors repeat
    /// what they were given.
    pub(super) fn of(event: &Event<'_>) -> Entry {
        let mut text = Text::default();
        event.record(&mut text);
        let target = event.metadata().target();
        let component = target.rsplit("::").next().unwrap_or(target);
        Entry::new(*event.metadata().level(), component, text.finish())
    }

    /// Something the logs themselves have to say.
    pub(super) fn new(level: Level, component: &str, message: String) -> Entry {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Entry {
            timestamp_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            level,
            component: component.to_owned(),
            message,
        }
    }

    /// The line of a file for people, with its end.
    pub(super) fn to_text(&self) -> String {
        let at = i64::try_from(self.timestamp_ms).ok();
        let at = at.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
        format!("{at:.3} {:>5} {}: {}\n", self.level.as_str(), self.component, self.message)
    }

    /// As a door shows it.
    pub(crate) fn to_wire(&self) -> LogEntry {
        LogEntry {
            timestamp_ms: self.timestamp_ms,
            level: match self.level {
                Level::ERROR => "error",
                Level::WARN => "warn",
                Level::INFO => "info",
                Level::DEBUG => "debug",
                Level::TRACE => "trace",
            },
            component: self.component.clone(),
            message: self.message.clone(),
        }
    }

    /// The line of the file, with its end.
    pub(super) fn to_json(&self) -> String {
        format!(
            "{{\"timestamp\":{},\"level\":\"{}\",\"component\":\"{}\",\"message\":\"{}\"}}\n",
            self.timestamp_ms,
            self.level.as_str().to_ascii_lowercase(),
            Quoted(&self.component),
            Quoted(&self.message),
        )
    }
}

/// A text between the quotes of JSON.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                control if control.is_control() => write!(f, "\\u{:04x}", control as u32)?,
                plain => f.write_char(plain)?,
            }
        }
        Ok(())
    }
}

/// The message of an event while its fields come in, without secrets, fit for a terminal and bounded.
#[derive(Debug, Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    /// The message, then the fields.
    fn finish(self) -> String {
        let mut whole = self.message;
        let mut rest = Bounded(&mut whole);
        // The bound is met by writing nothing more; that is no error here.
        rest.write_str(&self.fields).ok();
        let gap = whole.strip_prefix(' ').map(str::to_owned);
        gap.unwrap_or(whole)
    }

    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let (out, name) = match field.name() {
            "message" => (&mut self.message, String::new()),
            // With its value: it may be the name that makes that a secret.
            name => (&mut self.fields, format!(" {name}=")),
        };
        if out.len() >= MESSAGE_MAX {
            return;
        }
        let mut raw = Raw(String::new());
        raw.write_fmt(value).ok();
        write_safely(&name, &raw.0, Bounded(out)).ok();
    }
}

/// Writes a value behind its name, without secrets.
///
/// These are looked for in the text as it came: escaped, the end of a line would be a letter before what is on
/// the next one, and what was cut before would be no secret any more.
fn write_safely(name: &str, raw: &str, mut out: Bounded<'_>) -> fmt::Result {
    // White space between them would keep the value from its name.
    let value = raw.trim_start();
    let (gap, _) = raw.split_at(raw.len() - value.len());
    let room = MESSAGE_MAX.saturating_sub(gap.len());
    let excerpt = Excerpt::new(format!("{name}{value}"), 0).until(room);
    let hide = Redaction::standard();
    let shown = excerpt.shown(Some(hide));
    let shown = shown.strip_prefix(name).unwrap_or(&shown);
    out.write_str(name)?;
    let marker = hide.replacement();
    if shown.starts_with(marker) && !hide.apply(value).starts_with(marker) {
        // By its name it is one secret, however many words and lines it has.
        return out.write_str(marker);
    }
    let mut escaped = Escaped(out);
    escaped.write_str(gap)?;
    escaped.write_str(shown)?;
    match name.len() + value.len() > room {
        true => escaped.0.cut(),
        false => Ok(()),
    }
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.add(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }
}

/// Writes what would change a terminal or its reading order as an escape instead.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if letter.is_control() || turns {
                write!(self.0, "{}", letter.escape_default())?;
            } else {
                self.0.write_char(letter)?;
            }
        }
        Ok(())
    }
}

/// A text as it came, that stops growing at [`RAW_MAX`], and stops whoever formats into it.
struct Raw(String);

impl Write for Raw {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_within(RAW_MAX, &mut self.0, text)
    }
}

/// A text that stops growing at [`MESSAGE_MAX`], says so, and stops whoever formats into it.
struct Bounded<'a>(&'a mut String);

impl Bounded<'_> {
    /// Says that something is missing.
    fn cut(&mut self) -> fmt::Result {
        if !self.0.ends_with(CUT) {
            self.0.push_str(CUT);
        }
        Err(fmt::Error)
    }
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_within(MESSAGE_MAX, self.0, text).or_else(|_| self.cut())
    }
}

/// Appends as much as there is room for; an error if that is not all.
fn push_within(max: usize, text: &mut String, more: &str) -> fmt::Result {
    let fits = more.floor_char_boundary(max.saturating_sub(text.len()));
    text.push_str(more.get(..fits).unwrap_or_default());
    if fits == more.len() { Ok(()) } else { Err(fmt::Error) }
}
