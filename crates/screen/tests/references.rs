//! Our screen against other terminals: xterm.js and tmux, on inputs chosen and inputs made.
//!
//! Each test compares all its cases and lists every disagreement at once: one line with the bytes
//! as in `references/inputs.txt`, one with ours, one with theirs. Where we differ on purpose is in
//! `references/known.rs`. Not here: whole recordings of programs (`recordings.rs`).

#![expect(clippy::expect_used, reason = "a test that cannot go on says what it missed")]

#[path = "support/case.rs"]
mod case;
#[path = "support/deadline.rs"]
mod deadline;
#[path = "references/dumps.rs"]
mod dumps;
#[path = "references/generated.rs"]
mod generated;
#[path = "references/inputs.rs"]
mod inputs;
#[path = "references/known.rs"]
mod known;
#[path = "support/styles.rs"]
mod styles;
#[path = "support/tmux.rs"]
mod tmux;
#[path = "support/xterm.rs"]
mod xterm;

use std::collections::HashSet;

use case::{Case, Shown};
use greenroom_screen::Screen;
use known::{DECISIONS, Decision, KNOWN, STYLED, TMUX};

/// How many inputs are made. All of them take xterm.js about a second.
const GENERATED: u64 = 300;

#[test]
fn recorded_answers_are_met() {
    let recorded = inputs::recorded();
    let unanimous: HashSet<&str> =
        recorded.iter().filter(|it| it.unanimous).map(|it| it.case.name.as_str()).collect();
    for (name, _) in decided(DECISIONS) {
        assert!(!unanimous.contains(name), "all references agree on `{name}`: follow them");
    }
    let (cases, shown): (Vec<Case>, Vec<Shown>) =
        recorded.into_iter().map(|it| (it.case, it.shown)).unzip();
    // Recorded without telling a pending wrap from a cursor in the last column.
    compare("the recorded answers", &cases, &shown, DECISIONS, Shown::within);
}

#[test]
fn chosen_inputs_look_as_in_xterm() {
    let cases = inputs::live();
    let shown: Vec<Shown> = xterm::show(&cases).into_iter().map(|it| it.shown).collect();
    compare("xterm.js", &cases, &shown, KNOWN, Shown::of);
}

#[test]
fn generated_inputs_look_as_in_xterm() {
    let cases = generated::cases(GENERATED);
    let shown: Vec<Shown> = xterm::show(&cases).into_iter().map(|it| it.shown).collect();
    compare("xterm.js", &cases, &shown, &[], Shown::of);
}

#[test]
fn chosen_inputs_look_as_in_tmux() {
    let known: HashSet<&str> = TMUX.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let cases = inputs::live();
    let mut found = Vec::new();
    for (case, theirs) in cases.iter().zip(tmux::show(&cases)) {
        let ours = Shown::of(&case.ours());
        match (ours == theirs, known.contains(case.name.as_str())) {
            (false, false) => found.push(disagreement(case, &ours, &theirs)),
            (true, true) => found.push(format!("{}\n  no longer differs from tmux", case.name)),
            (true, false) | (false, true) => {}
        }
    }
    report(&format!("{} (`TMUX` was made with 3.3a)", tmux::version()), &found);
}

#[test]
fn chosen_inputs_are_styled_as_in_xterm() {
    let known: HashSet<&str> = decided(KNOWN).map(|(name, _)| name).collect();
    let cases: Vec<Case> =
        inputs::live().into_iter().filter(|case| !known.contains(case.name.as_str())).collect();
    let mut found = Vec::new();
    for (case, answer) in cases.iter().zip(xterm::show(&cases)) {
        let (ours, theirs) = (described(&styles::of(&case.ours())), described(&answer.styles));
        let styled = STYLED.iter().flat_map(|it| it.cases.iter().map(|case| (case, it.reason)));
        let styled = styled.into_iter().find(|((name, _), _)| *name == case.name);
        let (wanted, reason) = match styled {
            Some(((_, runs), reason)) => ((*runs).to_owned(), reason),
            None => (theirs.clone(), "as xterm.js"),
        };
        if styled.is_some() && wanted == theirs {
            found.push(format!("{}\n  xterm.js now does as we decided", case.name));
        } else if ours != wanted {
            found.push(format!("{case}\n  ours   {ours}\n  wanted {wanted} ({reason})"));
        }
    }
    report("the styles of xterm.js", &found);
}

/// Every entry of a table names a case, and every case is named once.
#[test]
fn tables_name_cases_once() {
    let live: Vec<String> = inputs::live().into_iter().map(|case| case.name).collect();
    let recorded: Vec<String> = inputs::recorded().into_iter().map(|it| it.case.name).collect();
    let tmux = TMUX.iter().flat_map(|(_, names)| names.iter().copied());
    let styled = STYLED.iter().flat_map(|it| it.cases).map(|(name, _)| *name);
    check_names("KNOWN", decided(KNOWN).map(|(name, _)| name), &live);
    check_names("DECISIONS", decided(DECISIONS).map(|(name, _)| name), &recorded);
    check_names("STYLED", styled, &live);
    check_names("TMUX", tmux, &live);
    check_names("inputs.txt", live.iter().map(String::as_str), &live);
}

#[track_caller]
fn check_names<'a>(table: &str, names: impl Iterator<Item = &'a str>, cases: &[String]) {
    let mut seen = HashSet::new();
    for name in names {
        assert!(seen.insert(name), "{table} names `{name}` twice");
        assert!(cases.iter().any(|case| case == name), "{table} names `{name}`, no such case");
    }
}

/// Wants ours to equal theirs in every case, or the decision where there is one.
#[track_caller]
fn compare(
    whom: &str,
    cases: &[Case],
    theirs: &[Shown],
    decisions: &[Decision],
    shown: fn(&Screen) -> Shown,
) {
    let mut found = Vec::new();
    for (case, theirs) in cases.iter().zip(theirs) {
        let ours = shown(&case.ours());
        let Some((_, (wanted, reason))) = decided(decisions).find(|(name, _)| *name == case.name)
        else {
            if ours != *theirs {
                found.push(disagreement(case, &ours, theirs));
            }
            continue;
        };
        if wanted == *theirs {
            found.push(format!("{}\n  {whom} now does as we decided", case.name));
        } else if ours != wanted {
            found.push(format!("{case}\n  ours   {ours}\n  wanted {wanted} ({reason})"));
        }
    }
    report(whom, &found);
}

/// All cases of a table with what was decided and why.
fn decided<'a>(
    decisions: &'a [Decision],
) -> impl Iterator<Item = (&'static str, (Shown, &'static str))> + 'a {
    decisions.iter().flat_map(|Decision { reason, cases }| {
        cases
            .iter()
            .map(|&(name, text, cursor)| (name, (Shown { text: text.to_owned(), cursor }, *reason)))
    })
}

fn disagreement(case: &Case, ours: &Shown, theirs: &Shown) -> String {
    format!("{case}\n  ours   {ours}\n  theirs {theirs}")
}

/// One line for the styles of a screen: `row: runs` for each row that has some.
fn described(rows: &[Vec<styles::Run>]) -> String {
    let rows = rows.iter().enumerate().filter(|(_, runs)| !runs.is_empty());
    let rows = rows.map(|(row, runs)| {
        let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
        format!("{row}: {}", runs.join(", "))
    });
    rows.collect::<Vec<String>>().join("; ")
}

#[track_caller]
fn report(whom: &str, found: &[String]) {
    assert!(found.is_empty(), "{} differ from {whom}:\n\n{}\n", found.len(), found.join("\n"));
}
