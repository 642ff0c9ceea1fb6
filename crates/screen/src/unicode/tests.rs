//! The table against the crate it was made from, and clusters by example.

use unicode_width::UnicodeWidthChar;

use super::{Class, Kind, cluster_width, joins};

#[test]
fn every_character_is_as_wide_as_unicode_says() {
    for c in '\0'..=char::MAX {
        // xterm and tmux show a soft hyphen; so do we.
        let expected = if c == '\u{ad}' { 1 } else { c.width().unwrap_or(0).min(2) };
        assert_eq!(Class::of(c).width(), expected, "U+{:04X}", c as u32);
    }
}

#[test]
fn plain_characters_have_a_width() {
    let bad = ('\u{a0}'..=char::MAX).find(|&c| {
        let class = Class::of(c);
        class.kind() == Kind::Plain && class.width() == 0
    });
    assert_eq!(bad, None);
}

/// Feeds the characters of `text` one by one and counts the clusters.
#[track_caller]
fn check(text: &str, clusters: usize, width: usize) {
    let mut found: Vec<String> = Vec::new();
    for c in text.chars() {
        match found.last_mut() {
            Some(last) if joins(last, c) => last.push(c),
            _ => found.push(c.to_string()),
        }
    }
    assert_eq!(found.len(), clusters, "{found:?}");
    assert_eq!(found.iter().map(|it| cluster_width(it)).sum::<usize>(), width, "{found:?}");
}

#[test]
fn what_looks_like_one_character_is_one() {
    check("e\u{301}", 1, 1);
    check("👩\u{200d}👩\u{200d}👧", 1, 2);
    check("👍🏽", 1, 2);
    check("❤\u{fe0f}", 1, 2);
    check("1\u{fe0f}\u{20e3}", 1, 2);
    check("\u{1112}\u{1161}\u{11ab}", 1, 2);
    check("🇫🇷🇩🇪", 2, 4);
    check("👍👍", 2, 4);
    check("한국", 2, 4);
    check("a\u{903}", 1, 1);
}

#[test]
fn consonants_of_a_conjunct_have_cells_of_their_own() {
    check("क\u{94d}ष", 2, 2);
}
