//! Reads the two tables of tricky inputs: `inputs.txt`, and `cases.json` with its recorded answers.
//!
//! The format of `inputs.txt` is described at its top. Not here: running anything.

use greenroom_model::Size;
use serde_json::Value;

use crate::case::{Case, Shown, Step};

/// A case of `cases.json` with what the references showed when it was made.
pub(crate) struct Recorded {
    pub(crate) case: Case,
    /// What xterm.js showed; if `unanimous`, also what tmux and ghostty showed.
    pub(crate) shown: Shown,
    pub(crate) unanimous: bool,
}

/// All cases of `inputs.txt`.
pub(crate) fn live() -> Vec<Case> {
    include_str!("inputs.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(case)
        .collect()
}

/// All cases of `cases.json`.
pub(crate) fn recorded() -> Vec<Recorded> {
    let cases: Value = serde_json::from_str(include_str!("cases.json")).expect("cases.json");
    let recorded = cases.as_array().expect("a list").iter().map(|value| {
        let shown = &value["references"]["xterm.js-headless"];
        let rows = shown["text"].as_str().expect("a text").split('\n');
        Recorded {
            case: recorded_case(value),
            shown: Shown::new(rows, (number(&shown["cursor"][0]), number(&shown["cursor"][1]))),
            unanimous: value["unanimous"].as_bool().expect("a flag"),
        }
    });
    recorded.collect()
}

/// `input` is a flat list: columns, rows, bytes in hex, and the same three again per resize.
fn recorded_case(value: &Value) -> Case {
    let input = value["input"].as_array().expect("a list");
    let input: Vec<&str> = input.iter().map(|field| field.as_str().expect("a text")).collect();
    let steps = input.chunks(3).map(|step| Step {
        size: format!("{}x{}", step[0], step[1]).parse().expect("a size"),
        bytes: hex(step[2]),
    });
    Case { name: value["name"].as_str().expect("a name").to_owned(), steps: steps.collect() }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).expect("a hex digit") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn number(value: &Value) -> u16 {
    value.as_u64().and_then(|number| u16::try_from(number).ok()).expect("a small number")
}

fn case(line: &str) -> Case {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let (name, steps) = fields.split_first().expect("a name");
    let steps: Vec<Step> = steps
        .chunks(2)
        .map(|step| Step { size: size(step[0], name), bytes: unescaped(step[1], name) })
        .collect();
    assert!(!steps.is_empty(), "`{name}` has no bytes");
    Case { name: (*name).to_owned(), steps }
}

fn size(text: &str, name: &str) -> Size {
    text.parse().unwrap_or_else(|error| panic!("the size of `{name}`: {error}"))
}

fn unescaped(text: &str, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            bytes.extend(next.to_string().bytes());
            continue;
        }
        match rest.next() {
            Some('e') => bytes.push(0x1b),
            Some('a') => bytes.push(0x07),
            Some('b') => bytes.push(0x08),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('s') => bytes.push(b' '),
            Some('p') => bytes.push(b'|'),
            Some('\\') => bytes.push(b'\\'),
            Some('x') => bytes.extend(hex(&rest.by_ref().take(2).collect::<String>())),
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|it| *it != '}').collect();
                let value = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                bytes.extend(value.expect("a code point").to_string().bytes());
            }
            other => panic!("`{name}` escapes {other:?}"),
        }
    }
    bytes
}
