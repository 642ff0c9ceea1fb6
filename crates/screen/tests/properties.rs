//! What holds for every input.
//!
//! Streams come from a grammar (`grammar`) so that they reach past the parser; the state compared
//! is all that can be seen from outside, and the dump of everything.

#![expect(clippy::unwrap_used, reason = "what cannot be missing in a test shows where it is")]

#[path = "properties/grammar.rs"]
mod grammar;
#[path = "properties/seen.rs"]
mod seen;

use greenroom_model::Size;
use greenroom_screen::{Depth, Filter, Match, Options, Policy, Pos, Query, Screen, Search, Wrap};
use proptest::prelude::*;
use seen::seen;

fn options() -> Options {
    Options { history_lines: 200, checksums: true, graphics: true, ..Options::default() }
}

fn fed(size: Size, bytes: &[u8]) -> Screen {
    let mut screen = Screen::new(size, options());
    screen.feed(bytes);
    screen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_state(
        size in grammar::size(),
        bytes in grammar::stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let whole = fed(size, &bytes);
        let mut pieces = Screen::new(size, options());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut replies = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            replies.extend_from_slice(pieces.feed(&bytes[from..cut]).replies());
            from = cut;
        }
        prop_assert_eq!(whole.checkpoint(), pieces.checkpoint());
        let mut again = Screen::new(size, options());
        prop_assert_eq!(again.feed(&bytes).replies(), &replies);
    }

    #[test]
    fn byte_by_byte_gives_the_same_state(size in grammar::size(), bytes in grammar::stream()) {
        let mut slow = Screen::new(size, options());
        for byte in bytes.iter() {
            slow.feed(&[*byte]);
        }
        prop_assert_eq!(fed(size, &bytes).checkpoint(), slow.checkpoint());
    }

    #[test]
    fn a_checkpoint_restores_everything(
        size in grammar::size(),
        bytes in grammar::stream(),
        more in grammar::stream(),
    ) {
        let mut screen = fed(size, &bytes);
        let checkpoint = screen.checkpoint();
        let mut copy = Screen::restore(&checkpoint).unwrap();
        prop_assert_eq!(copy.checkpoint(), checkpoint);
        prop_assert_eq!(seen(&copy), seen(&screen));
        let replies = screen.feed(&more).replies().to_vec();
        prop_assert_eq!(copy.feed(&more).replies(), replies);
        prop_assert_eq!(seen(&copy), seen(&screen));
    }

    #[test]
    fn a_dump_draws_everything_again(size in grammar::size(), bytes in grammar::stream()) {
        let screen = fed(size, &bytes);
        let dump = screen.dump(Depth::All);
        let mut copy = Screen::new(size, options());
        let asked = copy.feed(&dump).replies().len();
        prop_assert!(asked == 0 || screen.modes().contains(greenroom_screen::Modes::SIZE_REPORTS) || dump.contains(&b's'));
        prop_assert_eq!(seen(&copy), seen(&screen));
        // What cannot be seen (tab stops, saved cursors, character sets…) is in the dump too. A
        // blank behind which a wrap is pending comes back as a written one, so the first copy is
        // what the second is compared with.
        let second = copy.dump(Depth::All);
        let mut again = Screen::new(size, options());
        again.feed(&second);
        prop_assert_eq!(again.dump(Depth::All).escape_ascii().to_string(), second.escape_ascii().to_string());
    }

    #[test]
    fn a_resize_and_back_changes_nothing(
        size in grammar::size(),
        other in grammar::size(),
        third in grammar::size(),
        bytes in grammar::lines(),
    ) {
        let mut screen = fed(size, &bytes);
        let before = seen(&screen);
        screen.resize(other);
        screen.resize(third);
        screen.resize(size);
        prop_assert_eq!(seen(&screen), before);
    }

    #[test]
    fn a_resize_keeps_every_character(
        size in grammar::size(),
        other in grammar::size(),
        bytes in grammar::lines(),
    ) {
        let mut screen = fed(size, &bytes);
        let all = |screen: &Screen| {
            let rows = screen.top_row() + u64::from(screen.size().rows());
            screen.text_of(0..rows, Wrap::Joined).trim_end().to_owned()
        };
        let before = all(&screen);
        screen.resize(other);
        prop_assert_eq!(all(&screen), before);
    }

    #[test]
    fn anything_goes_at_any_size(
        size in grammar::size(),
        steps in prop::collection::vec((grammar::stream(), grammar::size()), 0..5),
    ) {
        let mut screen = Screen::new(size, options());
        for (bytes, size) in steps {
            screen.feed(&bytes);
            screen.resize(size);
            seen::check(&screen);
            let copy = Screen::restore(&screen.checkpoint()).unwrap();
            prop_assert_eq!(seen(&copy), seen(&screen));
        }
    }

    #[test]
    fn a_search_finds_what_a_naive_one_finds(
        size in grammar::size(),
        bytes in grammar::lines(),
        needle in "[a-c é漢]{1,2}",
    ) {
        let screen = fed(size, &bytes);
        let query = Query::literal(&needle).unwrap();
        let everything = Search { limit: usize::MAX, ..Search::default() };
        prop_assert_eq!(screen.search(&query, everything), naive(&screen, &needle));
        let query = Query::regex(&needle.replace(' ', r"\s"), false).unwrap();
        prop_assert_eq!(screen.search(&query, everything), naive(&screen, &needle));
    }

    #[test]
    fn a_filter_passes_the_same_whatever_the_cut(bytes in grammar::stream(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(bytes.len() + 1);
        let mut whole = Filter::new(Policy::default());
        let mut pieces = Filter::new(Policy::default());
        let mut passed = pieces.feed(&bytes[..cut]);
        passed.extend(pieces.feed(&bytes[cut..]));
        prop_assert_eq!(whole.feed(&bytes).escape_ascii().to_string(), passed.escape_ascii().to_string());
    }

    #[test]
    fn what_a_filter_passes_is_never_answered_and_draws_the_same(size in grammar::size(), bytes in grammar::stream()) {
        // What repeats or joins the character before does so over a sequence that is taken out.
        prop_assume!(!regex::bytes::Regex::new(r"\x1b\[[0-9;:]*b|\xF0\x9F\x87").unwrap().is_match(&bytes));
        let passed = Filter::new(Policy::default()).feed(&bytes);
        let mut viewer = Screen::new(size, options());
        prop_assert_eq!(viewer.feed(&passed).replies().escape_ascii().to_string(), "");
        let screen = fed(size, &bytes);
        prop_assert_eq!(viewer.text(), screen.text());
    }

    #[test]
    fn a_diff_brings_a_copy_up_to_date(size in grammar::size(), first in grammar::stream(), then in grammar::stream()) {
        let mut screen = fed(size, &first);
        let position = screen.position();
        let mut copy = rows(&screen);
        screen.feed(&then);
        let diff = screen.diff(position);
        let gone = (diff.scrolled as usize).min(copy.len());
        copy.rotate_left(gone);
        let kept = copy.len() - gone;
        copy[kept..].fill(String::new());
        for row in diff.rows() {
            copy[(row.number() - diff.position.top_row()) as usize] = seen::row(&screen, &row);
        }
        prop_assert_eq!(copy, rows(&screen));
    }
}

/// The rows of the screen.
fn rows(screen: &Screen) -> Vec<String> {
    screen.snapshot().rows().map(|line| seen::row(screen, &line)).collect()
}

/// Every occurrence of `needle`, line by line, cell by cell.
fn naive(screen: &Screen, needle: &str) -> Vec<Match> {
    let mut found = Vec::new();
    let mut line: Vec<(String, Pos, Pos)> = Vec::new();
    let end = screen.top_row() + u64::from(screen.size().rows());
    for number in screen.first_row()..end {
        let row = screen.line(number).unwrap();
        let used = row.written();
        for cell in row.cells().filter(|cell| cell.col < used) {
            let start = Pos { row: number, col: cell.col };
            let end = Pos { row: number, col: cell.col + u16::from(cell.width) };
            line.push((cell.text().to_string(), start, end));
        }
        if row.is_wrapped() && number + 1 < end {
            continue;
        }
        let text: String = line.iter().map(|(glyph, _, _)| glyph.as_str()).collect();
        let at = |byte: usize| {
            let mut before = 0;
            line.iter().find(|(glyph, _, _)| {
                before += glyph.len();
                byte < before
            })
        };
        for (from, _) in text.match_indices(needle) {
            let (first, last) = (at(from).unwrap(), at(from + needle.len() - 1).unwrap());
            // A match that ends within a cluster ends before the cluster's cell.
            let whole: usize = line.iter().take_while(|it| *it != last).map(|it| it.0.len()).sum();
            let inside = from + needle.len() < whole + last.0.len();
            found.push(Match { start: first.1, end: if inside { last.1 } else { last.2 } });
        }
        line.clear();
    }
    found
}
