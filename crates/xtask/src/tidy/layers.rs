//! Which of our crates may use which: the rows of the picture in ARCHITECTURE.md.
//!
//! A crate uses lower rows only. [`MAY_USE`] is the rule; the table with the header
//! `| crate | may use |` in ARCHITECTURE.md must say the same.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::checkout::Checkout;

/// What each crate may use of ours, for its tests as well. A crate without a row is an error.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("screen", &["model"]),
    ("frame", &[]),
    ("proto", &["model"]),
    ("pty", &["model"]),
    ("engine", &["model", "proto", "pty", "screen"]),
    ("store", &["model"]),
    ("tmux", &["model", "pty"]),
    ("holder", &["model", "proto", "pty"]),
    ("client", &["frame", "model", "proto", "pty", "screen"]),
    ("door", &[]),
    ("plugin", &["pty"]),
    ("agents", &["frame"]),
    ("repl", &["frame"]),
    ("cli", &["client", "frame", "model", "repl"]),
    ("door-carryon", &["door", "engine", "frame", "model", "pty", "screen", "tmux"]),
    ("door-ptywright", &["door", "engine", "frame", "model", "plugin", "screen"]),
    ("door-web", &["agents", "door", "engine", "frame", "model", "pty", "screen"]),
    (
        "greenroom",
        &[
            "cli",
            "client",
            "door",
            "door-carryon",
            "door-ptywright",
            "door-web",
            "engine",
            "frame",
            "holder",
            "model",
            "plugin",
            "proto",
            "pty",
            "screen",
            "store",
            "testkit",
            "tmux",
        ],
    ),
    ("testkit", &["client", "frame", "model"]),
    ("bench", &["client", "frame", "model", "pty", "screen"]),
    ("xtask", &["screen", "testkit"]),
];

/// What every package of ours is called before its short name.
const PREFIX: &str = "greenroom-";

const MAP: &str = "ARCHITECTURE.md";

pub(super) fn crates_only_look_down(checkout: &Checkout) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for (name, used) in our_crates(checkout)? {
        let Some((_, allowed)) = MAY_USE.iter().find(|row| row.0 == name) else {
            complaints.push(format!("`{name}` has no row in `MAY_USE` (xtask/src/tidy/layers.rs)"));
            continue;
        };
        for used in used.iter().filter(|it| !allowed.contains(&it.as_str())) {
            complaints.push(format!(
                "`{name}` must not use `{used}`: it may use {allowed:?} ({MAP}, Layers)"
            ));
        }
    }
    Ok(complaints)
}

/// Our crates by their short names, each with those it depends on.
fn our_crates(checkout: &Checkout) -> Result<Vec<(String, Vec<String>)>> {
    let ours = checkout.packages()?.iter().filter(|package| package["source"].is_null());
    ours.map(|package| {
        let dependencies = package["dependencies"].as_array().context("listing dependencies")?;
        let used = dependencies.iter().filter(|it| it["source"].is_null());
        Ok((short_name(package)?, used.map(short_name).collect::<Result<_>>()?))
    })
    .collect()
}

fn short_name(package: &Value) -> Result<String> {
    let name = package["name"].as_str().context("reading the name of a package")?;
    Ok(name.strip_prefix(PREFIX).unwrap_or(name).to_owned())
}

pub(super) fn the_map_is_the_rule(checkout: &Checkout) -> Result<Vec<String>> {
    let Some(map) = checkout.file(MAP) else { return Ok(vec![]) };
    let Some(drawn) = drawn(&map.text) else {
        return Ok(vec![format!("{MAP}: no table with the header `| crate | may use |`")]);
    };
    let mut complaints = Vec::new();
    for (name, allowed) in MAY_USE {
        if !drawn.iter().any(|(drawn, uses)| drawn == name && same(uses, allowed)) {
            complaints.push(format!("{MAP}: the table should say: `{name}` may use {allowed:?}"));
        }
    }
    for (name, _) in drawn.iter().filter(|(name, _)| !MAY_USE.iter().any(|row| row.0 == *name)) {
        complaints.push(format!("{MAP}: the table has a row for `{name}`, `MAY_USE` has none"));
    }
    Ok(complaints)
}

fn same(drawn: &[&str], allowed: &[&str]) -> bool {
    drawn.len() == allowed.len() && drawn.iter().all(|it| allowed.contains(it))
}

/// The rows of the table in the document; a crate that may use none has no name in its cell.
pub(super) fn drawn(map: &str) -> Option<Vec<(&str, Vec<&str>)>> {
    let mut lines = map.lines().map(cells);
    lines.find(|row| row.as_slice() == ["crate", "may use"])?;
    let rows = lines.skip(1).take_while(|row| row.len() == 2);
    Some(rows.map(|row| (row[0].trim_matches('`'), names(row[1]))).collect())
}

/// The crates named in a cell; `–` and `nothing` name none.
fn names(cell: &str) -> Vec<&str> {
    let names = cell.split(',').map(|it| it.trim().trim_matches('`'));
    names
        .filter(|it| it.starts_with(|c: char| c.is_ascii_lowercase()) && *it != "nothing")
        .collect()
}

fn cells(line: &str) -> Vec<&str> {
    match line.trim().strip_prefix('|').and_then(|it| it.strip_suffix('|')) {
        Some(inside) => inside.split('|').map(str::trim).collect(),
        None => vec![],
    }
}
