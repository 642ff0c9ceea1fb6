//! Comparing a file with the rows of `keys`.

use std::collections::{BTreeMap, BTreeSet};

use strsim::damerau_levenshtein;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Config;
use super::keys::{KEYS, Key, Kind};
use super::nearest::nearest;
use super::problem::{Problem, shown};
use super::reference::words;

/// How many variables may be passed on: as many as the largest environments have.
const VARIABLES_MAX: usize = 200;

/// How many names a machine may have: nobody has more.
const HOSTS_MAX: usize = 100;

/// Where providers are, each a section.
const PROVIDERS: &str = "websocket.providers.";

/// A text that is being checked.
struct Checked<'a> {
    text: &'a str,
    config: Config,
    problems: Vec<Problem>,
    /// Where keys are that were taken.
    lines: BTreeMap<&'static str, usize>,
}

/// Reads `text`, or says everything that is wrong with it.
pub(super) fn check(text: &str) -> Result<Config, Vec<Problem>> {
    let (config, problems, lines) = (Config::default(), Vec::new(), BTreeMap::new());
    let mut checked = Checked { text, config, problems, lines };
    let (table, errors) = DeTable::parse_recoverable(text);
    checked.walk("", table.get_ref());
    checked.literal_is_another();
    // What the parser could not read is not what was meant: no second complaint about its line.
    let syntax: Vec<Problem> = errors.iter().map(|error| checked.syntax(error)).collect();
    let broken: BTreeSet<_> = syntax.iter().map(|it| it.line).collect();
    let mut problems = checked.problems;
    problems.retain(|it| !broken.contains(&it.line));
    problems.extend(syntax);
    problems.sort_by_key(|it| it.line);
    if problems.is_empty() { Ok(checked.config) } else { Err(problems) }
}

impl Checked<'_> {
    fn walk(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = if section.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{section}.{}", name.get_ref())
            };
            let line = self.line(name.span().start);
            if let Some(key) = KEYS.iter().find(|key| key.path == path) {
                self.set(key, value);
            } else if let Some(provider) =
                path.strip_prefix(PROVIDERS).filter(|_| !is_section(&path))
            {
                self.provider(provider, value);
            } else if !is_section(&path) {
                self.problems.push(unknown(&path, value.get_ref(), line));
            } else if let DeValue::Table(inner) = value.get_ref() {
                self.walk(&path, inner);
            } else {
                let message = format!("`{path}` is a section, not a key");
                let hint = format!("its keys are {}", listed(keys_of(&path)));
                self.problems.push(Problem::of_key(line, &path, message).with_hint(hint));
            }
        }
    }

    /// A provider that no row knows.
    fn provider(&mut self, name: &str, value: &Spanned<DeValue<'_>>) {
        let path = format!("{PROVIDERS}{name}");
        let line = self.line(value.span().start);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let command = match value.get_ref() {
            _ if !name.bytes().all(plain) => {
                Err("a provider has a name of letters and digits".to_owned())
            }
            DeValue::Table(table) if table.len() == 1 => match table.get("command") {
                Some(command) => command_of(command.get_ref()),
                None => Err("it has no `command`".to_owned()),
            },
            _ => Err("it has one key, `command`".to_owned()),
        };
        match command {
            Ok(words) => self.config.websocket.provide(name, words),
            Err(wrong) => {
                let message = format!("`{path}`: {wrong}");
                self.problems.push(Problem::of_key(line, &path, message));
            }
        }
    }

    fn set(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) {
        let line = self.line(value.span().start);
        match key.set(&mut self.config, value.get_ref()) {
            Ok(()) => {
                let text = text_of(value.get_ref());
                self.lines.insert(key.path, line);
                self.config.given.insert(key.path, text);
            }
            Err(wrong) => {
                let message = format!("`{}`: {wrong}", key.path);
                self.problems.push(Problem::of_key(line, key.path, message));
            }
        }
    }

    /// The key that types the detach key is another one: else it would detach.
    fn literal_is_another(&mut self) {
        const LITERAL: &str = "attach.literal_key";
        let attach = &self.config.attach;
        if let (Some(literal), Some(line)) = (&attach.literal_key, self.lines.get(LITERAL))
            && *literal == attach.detach_key
        {
            let message = format!("`{LITERAL}`: `{literal}` is the key that detaches");
            self.problems.push(Problem::of_key(*line, LITERAL, message));
        }
    }

    fn syntax(&self, error: &toml::de::Error) -> Problem {
        Problem::of_syntax(self.line(error.span().map_or(0, |it| it.start)), error.message())
    }

    /// The line of a byte, counted from one.
    fn line(&self, byte: usize) -> usize {
        1 + self.text.bytes().take(byte).filter(|it| *it == b'\n').count()
    }
}

impl Key {
    /// Puts a value where it belongs, or says what would be allowed.
    fn set(&self, config: &mut Config, value: &DeValue<'_>) -> Result<(), String> {
        match (&self.kind, value) {
            (Kind::Flag { set, .. }, DeValue::Boolean(flag)) => set(config, *flag),
            (Kind::Number { min, max, set, .. }, DeValue::Integer(digits)) => {
                let number = u64::from_str_radix(digits.as_str(), digits.radix()).ok();
                let number = number.filter(|it| (min..=max).contains(&it));
                let outside = || format!("`{}` is not {}", shown(digits.as_str()), self.allowed());
                set(config, number.ok_or_else(outside)?);
            }
            (Kind::Text { set, .. }, DeValue::String(text)) => return set(config, text),
            (Kind::Choice { of }, DeValue::String(text)) => {
                let chosen = of.iter().find(|(word, _)| *word == text.as_ref());
                let none = || format!("`{}` is not {}", shown(text), self.allowed());
                chosen.ok_or_else(none)?.1(config);
            }
            (Kind::Variables { set }, DeValue::Array(items)) => {
                let names = items.iter().map(|it| variable(it.get_ref()));
                let names: Vec<String> = names.collect::<Result<_, _>>()?;
                if names.len() > VARIABLES_MAX {
                    return Err(format!("at most {VARIABLES_MAX} names are allowed"));
                }
                set(config, names);
            }
            (Kind::Hosts { set }, DeValue::Array(items)) => {
                let names = items.iter().map(|it| host(it.get_ref()));
                let names: Vec<String> = names.collect::<Result<_, _>>()?;
                if names.len() > HOSTS_MAX {
                    return Err(format!("at most {HOSTS_MAX} names are allowed"));
                }
                set(config, names);
            }
            (Kind::Command { set, .. }, value @ (DeValue::String(_) | DeValue::Array(_))) => {
                set(config, command_of(value)?);
            }
            (_, other) => {
                return Err(format!("{} is not {}", type_of(other), self.allowed()));
            }
        }
        Ok(())
    }

    /// What it may be, for people.
    pub(super) fn allowed(&self) -> String {
        match &self.kind {
            Kind::Flag { .. } => "true or false".to_owned(),
            Kind::Number { min, max, .. } => format!("a number from {min} to {max}"),
            Kind::Text { .. } => "a text in quotes".to_owned(),
            Kind::Choice { of } => {
                format!("one of {}", listed(of.iter().map(|(word, _)| *word)))
            }
            Kind::Variables { .. } => "a list of names of variables".to_owned(),
            Kind::Hosts { .. } => "a list of names of machines".to_owned(),
            Kind::Command { .. } => "a command: a list of texts, or one text".to_owned(),
        }
    }
}

/// The name of a variable, as shells allow it.
fn variable(value: &DeValue<'_>) -> Result<String, String> {
    let DeValue::String(name) = value else {
        return Err(format!("{} is not the name of a variable", type_of(value)));
    };
    let letters = name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if letters && name.bytes().next().is_some_and(|it| !it.is_ascii_digit()) {
        return Ok(name.to_string());
    }
    Err(format!("`{}` is not the name of a variable", shown(name)))
}

/// A program and its arguments, as a list or as one text.
fn command_of(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let found = match value {
        DeValue::String(text) => words(text),
        DeValue::Array(items) => {
            let texts = items.iter().map(|it| match it.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                other => Err(format!("{} is not a word of a command", type_of(other))),
            });
            texts.collect::<Result<Vec<_>, _>>()?
        }
        other => return Err(format!("{} is not a command", type_of(other))),
    };
    match found.first() {
        Some(program) if !program.is_empty() => Ok(found),
        _ => Err("the command is empty".to_owned()),
    }
}

/// The name of a machine, without a port.
fn host(value: &DeValue<'_>) -> Result<String, String> {
    let DeValue::String(name) = value else {
        return Err(format!("{} is not the name of a machine", type_of(value)));
    };
    let plain = |it: u8| it.is_ascii_alphanumeric() || b".-_".contains(&it);
    if !name.is_empty() && name.bytes().all(plain) {
        return Ok(name.to_string());
    }
    Err(format!("`{}` is not the name of a machine", shown(name)))
}

/// The type of a value, for people.
fn type_of(value: &DeValue<'_>) -> String {
    let name = value.type_str();
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// How many letters of a section's name stand for one slip.
const LETTERS_PER_SLIP: usize = 4;

fn unknown(path: &str, value: &DeValue<'_>, line: usize) -> Problem {
    let section = value.is_table();
    let near = if section {
        nearest(path, sections())
    } else {
        // A section that was mistyped and given a value has no key near it. Sections are few and
        // short, so it must be nearer than a key would have to be.
        let close = |it: &&str| damerau_levenshtein(path, it) * LETTERS_PER_SLIP <= path.len();
        nearest(path, KEYS.iter().map(|it| it.path))
            .or_else(|| nearest(path, sections()).filter(close))
    };
    let what = if section { "section" } else { "key" };
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`greenroom config check --print-default` shows what there is".to_owned(),
    };
    let message = format!("unknown {what} `{}`", shown(path));
    Problem::of_key(line, path, message).with_hint(hint)
}

fn sections() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter_map(|key| key.path.rsplit_once('.')).map(|(section, _)| section)
}

/// Whether there are keys in it, or in a section of it.
fn is_section(path: &str) -> bool {
    let within = |it: &str| it.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    sections().any(|it| it == path || within(it))
}

fn keys_of(section: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .map(|key| key.path)
        .filter(move |path| path.rsplit_once('.').is_some_and(|(before, _)| before == section))
}

/// Names as a person lists them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value that was taken, in the form of [`Key::default_text`].
fn text_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix())
            .map_or_else(|_| digits.to_string(), |number| number.to_string()),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Array(items) => {
            items.iter().map(|it| text_of(it.get_ref())).collect::<Vec<_>>().join(", ")
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => String::new(),
    }
}
