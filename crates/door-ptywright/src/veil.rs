//! Hides secrets in what somebody made of texts: what patterns caught, what plugins say.
//!
//! A secret, or a piece of one, is known by the texts: they have it, and would not have it without their secrets.
//!
//! Not here: what is a secret in a text (`engine::redact`).

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_plugin::State;
use serde_json::{Map, Value};

/// How much of what a pattern caught is told.
const CAPTURE_CHARS: usize = 4096;

/// How long a piece of a secret is at least that a plugin's state is kept from telling: its own words are
/// shorter, most of them, and a program that prints them behind `token=` must not take them away.
const PIECE_BYTES: usize = 12;

/// How long a whole secret is at least that is looked for inside of what a plugin says.
const SECRET_BYTES: usize = 6;

/// How many of those that are shorter than a piece are looked for: more than a person has on a screen.
const SHORT_MAX: usize = 256;

/// Hides secrets in what somebody made of texts.
///
/// Most waits catch nothing, so neither the texts nor what is to be seen of them is there before it is needed.
pub(crate) struct Veil<'a, F> {
    policy: Option<&'a Redaction>,
    texts: LazyCell<[Excerpt; 2], F>,
    shown: OnceCell<[String; 2]>,
    secrets: OnceCell<Secrets>,
}

/// The secrets of texts that are not to be seen anywhere in them, to be found in others.
#[derive(Default)]
struct Secrets {
    /// Those that are shorter than a piece, but for words.
    short: HashSet<String>,
    pieces: HashSet<[u8; PIECE_BYTES]>,
}

impl Secrets {
    fn of<'t>(secrets: impl Iterator<Item = &'t str>, shown: &[String]) -> Secrets {
        let mut all = Secrets::default();
        for secret in secrets {
            let secret = secret.trim();
            all.pieces.extend(pieces(secret).map(|(_, piece)| piece));
            let is_short = (SECRET_BYTES..PIECE_BYTES).contains(&secret.len());
            if is_short && !is_word(secret) && all.short.len() < SHORT_MAX {
                all.short.insert(secret.to_owned());
            }
        }
        if !all.pieces.is_empty() {
            for (_, piece) in shown.iter().flat_map(|text| pieces(text)) {
                all.pieces.remove(&piece);
            }
        }
        all.short.retain(|secret| !shown.iter().any(|text| text.contains(secret)));
        all
    }

    /// Where there are some in a text, or pieces of some, sorted and apart.
    fn find_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for secret in &self.short {
            found.extend(text.match_indices(secret).map(|(at, _)| at..at + secret.len()));
        }
        if !self.pieces.is_empty() {
            let known = pieces(text).filter(|(_, piece)| self.pieces.contains(piece));
            found.extend(known.map(|(at, _)| {
                text.floor_char_boundary(at)..text.ceil_char_boundary(at + PIECE_BYTES)
            }));
        }
        found.sort_by_key(|it| it.start);
        found.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        found
    }
}

/// All pieces of a text, and where they begin.
fn pieces(text: &str) -> impl Iterator<Item = (usize, [u8; PIECE_BYTES])> {
    let windows = text.as_bytes().windows(PIECE_BYTES).enumerate();
    windows.filter_map(|(at, window)| Some((at, *window.first_chunk()?)))
}

/// Whether it may be its author's own: a program must not take it away by printing it as a secret.
fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-'))
}

impl<'a, F: FnOnce() -> [Excerpt; 2]> Veil<'a, F> {
    /// The texts are the screen's and the transcript's.
    pub(crate) fn new(policy: Option<&'a Redaction>, texts: F) -> Veil<'a, F> {
        Veil {
            policy,
            texts: LazyCell::new(texts),
            shown: OnceCell::new(),
            secrets: OnceCell::new(),
        }
    }

    /// Hides what was caught, and what a plugin says of it, wherever that is in an outcome.
    pub(crate) fn outcome(&self, outcome: &mut Value) {
        self.hide_members(outcome, &["capture", "evidence"], 1);
        if let Some(Value::String(caught)) = outcome.get_mut("capture")
            && let Some((end, _)) = caught.char_indices().nth(CAPTURE_CHARS)
        {
            caught.truncate(end);
        }
        match outcome.get_mut("matched") {
            Some(Value::Array(parts)) => parts.iter_mut().for_each(|it| self.outcome(it)),
            Some(part) => self.outcome(part),
            None => {}
        }
    }

    /// A state, as clients get it.
    pub(crate) fn state(&self, state: &State) -> Value {
        let mut state = state.to_json();
        self.hide_members(&mut state, &["evidence", "metadata", "events"], PIECE_BYTES);
        let Some(policy) = self.policy else { return state };
        self.hide_name(&mut state["state"], policy);
        for (list, name) in [("candidates", "state"), ("host_marks", "label")] {
            let entries = state.get_mut(list).and_then(Value::as_array_mut);
            entries.into_iter().flatten().for_each(|it| self.hide_name(&mut it[name], policy));
        }
        state
    }

    /// Hides secrets in some members of an object, and pieces of secrets that have at least so many bytes.
    fn hide_members(&self, object: &mut Value, names: &[&str], least: usize) {
        let Some(policy) = self.policy else { return };
        for name in names {
            object.get_mut(name).into_iter().for_each(|it| self.hide(it, policy, least));
        }
    }

    /// Hides a name that is a secret, or that a plugin has made of a piece of one.
    fn hide_name(&self, name: &mut Value, policy: &Redaction) {
        if let Value::String(name) = name
            && let Some(shown) = self.name(name, policy)
        {
            *name = shown;
        }
    }

    /// What is shown instead of a name; none if that is its author's own.
    ///
    /// Clients branch on names, so a program must not take one away by printing it behind `token=`: words such
    /// as `waiting_for_trust` stay, and a secret of nothing but small letters does as well.
    fn name(&self, name: &str, policy: &Redaction) -> Option<String> {
        match policy.apply(name) {
            Cow::Borrowed(_) if name.len() < PIECE_BYTES || is_word(name) => None,
            _ => self.said(name, policy, PIECE_BYTES),
        }
    }

    /// What is shown instead of what a plugin says; none if there is no secret in it, and it is no piece of one
    /// that has at least so many bytes.
    fn said(&self, text: &str, policy: &Redaction, least: usize) -> Option<String> {
        let applied = policy.apply(text);
        if matches!(applied, Cow::Borrowed(_)) && text.len() >= least && self.is_in_secret(text) {
            return Some(policy.replacement().to_owned());
        }
        let found = self.secrets(policy).find_in(&applied);
        if found.is_empty() {
            return match applied {
                Cow::Owned(shown) => Some(shown),
                Cow::Borrowed(_) => None,
            };
        }
        let mut shown = applied.into_owned();
        for range in found.into_iter().rev() {
            shown.replace_range(range, policy.replacement());
        }
        Some(shown)
    }

    fn secrets(&self, policy: &Redaction) -> &Secrets {
        self.secrets.get_or_init(|| {
            let secrets: Vec<&str> = self.texts.iter().flat_map(|it| it.secrets(policy)).collect();
            // Most texts have none.
            if secrets.is_empty() {
                Secrets::default()
            } else {
                Secrets::of(secrets.into_iter(), self.shown())
            }
        })
    }

    /// What is to be seen of the texts.
    fn shown(&self) -> &[String; 2] {
        self.shown
            .get_or_init(|| self.texts.each_ref().map(|it| it.shown(self.policy).into_owned()))
    }

    /// Hides secrets in the names of an object's members. All of its members stay.
    fn hide_names(&self, members: &mut Map<String, Value>, policy: &Redaction) {
        if !members.keys().any(|name| self.name(name, policy).is_some()) {
            return;
        }
        // How many there are of each name by now: thousands may be shown as the same.
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (name, value) in std::mem::take(members) {
            let shown = self.name(&name, policy).unwrap_or(name);
            let count = counts.entry(shown.clone()).or_default();
            let free = loop {
                *count += 1;
                let name = if *count == 1 { shown.clone() } else { format!("{shown} {count}") };
                if !members.contains_key(&name) {
                    break name;
                }
            };
            members.insert(free, value);
        }
    }

    /// Hides secrets in every text of a value, names included.
    fn hide(&self, value: &mut Value, policy: &Redaction, least: usize) {
        match value {
            Value::String(text) => {
                if let Some(shown) = self.said(text, policy, least) {
                    *text = shown;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|it| self.hide(it, policy, least)),
            Value::Object(members) => {
                members.values_mut().for_each(|it| self.hide(it, policy, least));
                self.hide_names(members, policy);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether it is a piece of a secret.
    fn is_in_secret(&self, piece: &str) -> bool {
        let mut texts = self.texts.iter().zip(self.shown());
        texts.any(|(text, shown)| text.text().contains(piece) && !shown.contains(piece))
    }
}

#[cfg(test)]
mod tests {
    use greenroom_plugin::{Candidate, HostMark};
    use serde_json::json;

    use super::*;

    const SCREEN: &str = "user bob token=abcdefgh1234 done";

    fn texts() -> [Excerpt; 2] {
        // The tail of a transcript that begins in a secret.
        [Excerpt::new(SCREEN, 0), Excerpt::new("token=zyxwvuts9876 more", 10)]
    }

    fn outcome(mut outcome: Value) -> Value {
        Veil::new(Some(Redaction::standard()), texts).outcome(&mut outcome);
        outcome
    }

    #[test]
    fn what_is_caught_of_a_secret_is_hidden() {
        let caught = |capture: &str| {
            let any =
                json!({"kind": "any", "matched": {"kind": "screen_regex", "capture": capture}});
            outcome(any)["matched"]["capture"].clone()
        };
        assert_eq!(caught("bob"), "bob");
        assert_eq!(caught("abcdefgh1234"), "[REDACTED]");
        assert_eq!(caught("cdefg"), "[REDACTED]");
        assert_eq!(caught("vuts9876"), "[REDACTED]");
        assert_eq!(caught("token=abcdefgh1234 done"), "token=[REDACTED] done");
        assert_eq!(caught(&"x".repeat(9999)).as_str().unwrap().len(), CAPTURE_CHARS);
    }

    #[test]
    fn what_a_plugin_says_of_a_secret_is_hidden() {
        let said = json!({"kind": "lua", "plugin": "p", "predicate": "f", "capture": ["bob", "efgh"],
            "evidence": {"why": "saw token=abcdefgh1234", "token": "abcdefgh1234", "who": "bob", "n": 2}});
        let shown = json!({"kind": "lua", "plugin": "p", "predicate": "f", "capture": ["bob", "[REDACTED]"],
            "evidence": {"why": "saw token=[REDACTED]", "token": "[REDACTED]", "who": "bob", "n": 2}});
        assert_eq!(outcome(json!({"kind": "all", "matched": [said]}))["matched"][0], shown);
    }

    #[test]
    fn a_secret_inside_of_what_a_plugin_says_is_hidden() {
        let texts = || {
            let screen = "password=hunter2abc pin=a1b2c3 mode=plan secret=thinking";
            let key =
                "-----BEGIN RSA PRIVATE KEY-----\nKEY05abcdefghijklmnop\nKEY06abcdefghijklmnop\n";
            let torn = "token=abcdefghijkl\x1b[0mm1nopqrstuvwx";
            [Excerpt::new(screen, 0), Excerpt::new(format!("api_key=Zq9x8y\n{torn}\n{key}"), 0)]
        };
        let said = [
            ("value: hunter2abc", "value: [REDACTED]"),
            ("hunter2abc", "[REDACTED]"),
            ("it is hunter2abc, and hunter2abc", "it is [REDACTED], and [REDACTED]"),
            ("é Zq9x8y é", "é [REDACTED] é"),
            ("ev KEY05abcdefghijklmnop", "ev [REDACTED]"),
            ("é6abcdefghijklé", "é[REDACTED]é"),
            // What touches is hidden as well.
            ("KEY05abcdefghijklmnopKEY06abcdefghijklmnop", "[REDACTED]"),
            ("hunter2abcZq9x8y", "[REDACTED]"),
            ("it is abcdefghijklm1nopqrstuvwx", "it is [REDACTED]"),
            ("thinking about plan a1b2c3", "thinking about plan a1b2c3"),
            ("password=hunter2abc", "password=[REDACTED]"),
        ];
        for (said, shown) in said {
            let veil = Veil::new(Some(Redaction::standard()), texts);
            let state = State {
                evidence: said.to_owned(),
                metadata: Some(json!({"a": [said]})),
                ..named("s")
            };
            let state = veil.state(&state);
            assert_eq!(
                (&state["evidence"], &state["metadata"]["a"][0]),
                (&json!(shown), &json!(shown))
            );
            let mut outcome = json!({"kind": "lua", "capture": said, "evidence": {"why": said}});
            veil.outcome(&mut outcome);
            assert_eq!(outcome["capture"], shown);
        }
    }

    /// A state whose plugin puts these words wherever it names something.
    fn named(name: &str) -> State {
        let candidate = Candidate { state: name.to_owned(), confidence: 0.5 };
        State {
            state: name.to_owned(),
            confidence: 1.0,
            evidence: String::new(),
            sequence: 1,
            candidates: vec![candidate],
            metadata: Some(json!({name: {"in": [{name: 1}]}, "[REDACTED]": 2})),
            host_marks: vec![HostMark { label: name.to_owned() }],
            events: vec![json!({"kind": "error", name: 1})],
        }
    }

    #[test]
    fn what_a_plugin_makes_of_a_secret_is_hidden_in_names_as_well() {
        let veil = Veil::new(Some(Redaction::standard()), texts);
        for name in ["abcdefgh1234", "token=abcdefgh1234", "it is sk-abcdefghijklmnopqrstu"] {
            let state = veil.state(&named(name));
            let text = state.to_string();
            assert!(!text.contains("abcdefgh"), "{text}");
            assert_eq!(state["metadata"].as_object().unwrap().len(), 2, "{text}");
        }
        let state = veil.state(&named("abcdefgh1234"));
        assert_eq!(
            (&state["state"], &state["host_marks"][0]["label"]),
            (&json!("[REDACTED]"), &json!("[REDACTED]"))
        );
        assert_eq!(state["metadata"]["[REDACTED] 2"]["in"][0], json!({"[REDACTED]": 1}));
    }

    #[test]
    fn thousands_of_names_that_are_secrets_stay_apart() {
        let names = (0..20_000).map(|it| (format!("sk-{}{it}", "x".repeat(20)), json!(it)));
        let members: Map<String, Value> = names.collect();
        let state = State { metadata: Some(Value::Object(members)), ..named("s") };
        let shown = Veil::new(Some(Redaction::standard()), texts).state(&state);
        let shown = shown["metadata"].as_object().unwrap();
        assert_eq!(shown.len(), 20_000);
        assert!(shown.keys().all(|name| name.starts_with("[REDACTED]")));
    }

    #[test]
    fn a_program_takes_no_name_away() {
        let texts =
            || ["waiting_for_trust", "turn_start"].map(|it| Excerpt::new(format!("token={it}"), 0));
        for name in ["waiting_for_trust", "turn_start"] {
            let state = named(name);
            assert_eq!(
                Veil::new(Some(Redaction::standard()), texts).state(&state),
                state.to_json()
            );
        }
    }

    #[test]
    fn who_may_see_everything_does() {
        let veil = Veil::new(None, texts);
        let mut caught = json!({"capture": "abcdefgh1234"});
        veil.outcome(&mut caught);
        assert_eq!(caught["capture"], "abcdefgh1234");
    }
}
