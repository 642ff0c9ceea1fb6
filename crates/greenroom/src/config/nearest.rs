//! The known name somebody may have meant.

use strsim::damerau_levenshtein;

/// How many letters of a name stand for one slip: one in three may be wrong.
const LETTERS_PER_SLIP: usize = 3;

/// How much of a name is compared: the comparison takes the product of both lengths.
const COMPARED_MAX: usize = 64;

/// The name in `known` that differs least from `given`, if it is near enough to have been meant.
///
/// A name without its section, or in a wrong one, is one slip away.
pub(super) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given: String = given.chars().take(COMPARED_MAX).collect::<String>().to_lowercase();
    let slips = |name: &str| {
        let moved = 1 + damerau_levenshtein(last(&given), last(name));
        damerau_levenshtein(&given, name).min(moved)
    };
    let allowed = 1 + last(&given).len() / LETTERS_PER_SLIP;
    known
        .map(|name| (slips(name), name))
        .filter(|(slips, _)| *slips <= allowed)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// The part after the section.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
