//! How wide a code point is and whether it joins the cell before it.
//!
//! One table lookup answers both for nearly every character. The few that join depending on what
//! stands before them (flags, emoji after a joiner, Hangul jamo) are decided by
//! `unicode-segmentation` on the cluster itself, so the rules of UAX #29 are written only there.
//! Indic conjuncts are not joined: programs, xterm and tmux give each consonant its own cell.
//!
//! Not here: where a character lands (`terminal::print`), what a cell holds (`row`).

mod tables;
#[cfg(test)]
mod tests;

use unicode_segmentation::UnicodeSegmentation;

/// The longest grapheme cluster kept, in bytes. A family of four with skin tones takes 41; what
/// comes past the bound (a thousand accents on one letter) is dropped, never stored.
pub(crate) const MAX_CLUSTER_BYTES: usize = 64;

/// How a code point behaves next to the one before it. The numbers are those of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Never joins.
    Plain = 0,
    /// Zero width: belongs to the cell before it.
    Extend = 1,
    /// U+200D, which may glue the next emoji on.
    Joiner = 2,
    /// Joins whatever is before it, and has a width of its own where it stands alone.
    Spacing = 3,
    /// Half of a flag.
    Regional = 4,
    /// An emoji, or a character that can look like one.
    Pictograph = 5,
    /// A leading Hangul jamo.
    HangulLead = 6,
    /// A precomposed Hangul syllable.
    HangulSyllable = 7,
    /// A vowel or trailing Hangul jamo.
    HangulTail = 8,
}

/// What the table says about one code point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class(u8);

impl Class {
    /// Looks up a code point.
    #[inline]
    pub(crate) fn of(c: char) -> Class {
        let code = c as usize;
        let block = tables::INDEX.get(code >> 8).copied().unwrap_or(0) as usize;
        Class(tables::BLOCKS.get(block << 8 | code & 0xff).copied().unwrap_or(1))
    }

    /// How many cells it takes when it stands alone: 0, 1 or 2.
    #[inline]
    pub(crate) fn width(self) -> usize {
        (self.0 & 3) as usize
    }

    /// Whether it takes its cells and joins nothing: nearly every character.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.0 >> 2 == Kind::Plain as u8
    }

    /// How it behaves next to the code point before it.
    pub(crate) fn kind(self) -> Kind {
        match self.0 >> 2 {
            1 => Kind::Extend,
            2 => Kind::Joiner,
            3 => Kind::Spacing,
            4 => Kind::Regional,
            5 => Kind::Pictograph,
            6 => Kind::HangulLead,
            7 => Kind::HangulSyllable,
            8 => Kind::HangulTail,
            _ => Kind::Plain,
        }
    }
}

/// Whether a code point of this kind could continue a cluster that ends with `last`; `only` if
/// the cluster is nothing else. Quick, and seldom wrong: [`joins`] has the last word.
#[inline]
pub(crate) fn may_join(last: char, only: bool, kind: Kind) -> bool {
    if last.is_ascii() {
        return matches!(kind, Kind::Extend | Kind::Joiner | Kind::Spacing);
    }
    let was = Class::of(last).kind();
    match kind {
        Kind::Plain => false,
        Kind::Extend | Kind::Joiner | Kind::Spacing => true,
        Kind::Regional => was == Kind::Regional && only,
        Kind::Pictograph => was == Kind::Joiner,
        Kind::HangulLead | Kind::HangulSyllable => was == Kind::HangulLead,
        Kind::HangulTail => {
            matches!(was, Kind::HangulLead | Kind::HangulSyllable | Kind::HangulTail)
        }
    }
}

/// Whether `c` continues the grapheme cluster `before`, which is one cell's text.
pub(crate) fn joins(before: &str, c: char) -> bool {
    let Some(last) = before.chars().next_back() else { return false };
    let (only, kind) = (before.len() == last.len_utf8(), Class::of(c).kind());
    if !may_join(last, only, kind) {
        return false;
    }
    if matches!(kind, Kind::Extend | Kind::Joiner | Kind::Spacing) {
        return true;
    }
    // The pair allows it; whether the whole cluster does takes the full rules.
    let mut whole = String::with_capacity(before.len() + c.len_utf8());
    whole.push_str(before);
    whole.push(c);
    whole.graphemes(true).nth(1).is_none()
}

/// How many cells a whole cluster takes: its widest part, or two if it was asked to be an emoji
/// (U+FE0F) or is a flag.
pub(crate) fn cluster_width(cluster: &str) -> usize {
    let mut widest = 1;
    let mut regional = 0;
    let mut first = None;
    for c in cluster.chars() {
        let class = Class::of(c);
        widest = widest.max(class.width());
        regional += usize::from(class.kind() == Kind::Regional);
        let base = *first.get_or_insert(class.kind());
        if c == '\u{fe0f}' && (base == Kind::Pictograph || is_keycap(cluster)) {
            widest = 2;
        }
    }
    if regional == 2 { 2 } else { widest }
}

/// Whether a cluster starts as keycaps do: digits, `#` and `*` become emoji with U+FE0F.
fn is_keycap(cluster: &str) -> bool {
    cluster.starts_with(|c: char| c.is_ascii_digit() || c == '#' || c == '*')
}
