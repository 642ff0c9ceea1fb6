//! `cargo xtask tidy`: the rules of this repository that no other tool checks.
//!
//! Each rule is a function from the checkout to its complaints, one line each: what, where, and
//! what to do. The same rules run as tests, so nobody needs to remember this command.

mod checkout;
mod layers;
mod licences;
mod manifests;
mod methods;
mod sources;
#[cfg(test)]
mod tests;

use anyhow::{Result, bail};
use checkout::Checkout;

use crate::docs;

/// A rule; an `Err` means that it could not be checked.
type Rule = fn(&Checkout) -> Result<Vec<String>>;

/// All rules, in the order of their complaints.
const RULES: &[Rule] = &[
    layers::crates_only_look_down,
    layers::the_map_is_the_rule,
    licences::are_allowed,
    manifests::say_why_a_dependency_is_there,
    methods::are_documented_and_played,
    sources::open_with_their_purpose,
    sources::are_short,
    sources::are_finished,
    sources::name_no_home,
    the_document_is_current,
];

pub(crate) fn run(_: &[String]) -> Result<()> {
    let complaints = complaints()?;
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => bail!("one rule is broken"),
        count => bail!("rules are broken in {count} places"),
    }
}

fn complaints() -> Result<Vec<String>> {
    let checkout = Checkout::read()?;
    let mut all = Vec::new();
    for rule in RULES {
        all.extend(rule(&checkout)?);
    }
    Ok(all)
}

fn the_document_is_current(_: &Checkout) -> Result<Vec<String>> {
    let complaint = format!("{}: out of date; run `cargo xtask docs`", docs::SCREEN);
    Ok(if docs::is_current()? { vec![] } else { vec![complaint] })
}
