//! A part of a text that knows what is right before and behind it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Weak};

use super::Redaction;

/// A part of a text, and what is right before it and perhaps behind it: nobody could tell otherwise that it begins with
/// the rest of a secret, or ends with its beginning. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    whole: Arc<str>,
    from: usize,
    to: usize,
    /// How many columns it has, if it is from a screen: a row that is full may go on in the next.
    cols: Option<u16>,
}

impl Excerpt {
    /// What follows a place in a text.
    #[must_use]
    pub fn new(whole: impl Into<Arc<str>>, from: usize) -> Excerpt {
        let whole = whole.into();
        let (from, to) = (whole.floor_char_boundary(from), whole.len());
        Excerpt { whole, from, to, cols: None }
    }

    /// The same without what follows another place.
    #[must_use]
    pub fn until(self, to: usize) -> Excerpt {
        let to = self.whole.floor_char_boundary(to).max(self.from);
        Excerpt { to, ..self }
    }

    /// The same of a screen with so many columns.
    #[must_use]
    pub fn of_screen(whole: impl Into<Arc<str>>, from: usize, cols: u16) -> Excerpt {
        Excerpt { cols: Some(cols), ..Excerpt::new(whole, from) }
    }

    /// The text, secrets and all.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.whole[self.from..self.to]
    }

    /// What came right before it.
    #[must_use]
    pub fn before(&self) -> &str {
        &self.whole[..self.from]
    }

    /// What it takes to have it again, if somebody else has it as well.
    pub(crate) fn fade(&self) -> Option<Faded> {
        let shared = Arc::strong_count(&self.whole) > 1;
        shared.then(|| Faded {
            whole: Arc::downgrade(&self.whole),
            range: self.from..self.to,
            cols: self.cols,
        })
    }

    /// The text without what came before it.
    #[must_use]
    pub fn alone(&self) -> Arc<str> {
        let is_all = self.text().len() == self.whole.len();
        if is_all { Arc::clone(&self.whole) } else { self.text().into() }
    }

    /// What a policy hides of it and of what is around it.
    #[must_use]
    pub fn secrets(&self, policy: &Redaction) -> Vec<&str> {
        let pieces = policy.pieces(&self.whole, self.cols);
        pieces.into_iter().map(|piece| &self.whole[piece.range]).collect()
    }

    /// The text as somebody with this policy may see it.
    #[must_use]
    pub fn shown(&self, policy: Option<&Redaction>) -> Cow<'_, str> {
        match policy {
            Some(policy) => policy.apply_within(&self.whole, self.from..self.to, self.cols),
            None => Cow::Borrowed(self.text()),
        }
    }
}

/// An excerpt, as long as somebody has it.
#[derive(Debug)]
pub(crate) struct Faded {
    whole: Weak<str>,
    range: Range<usize>,
    cols: Option<u16>,
}

impl Faded {
    pub(crate) fn again(&self) -> Option<Excerpt> {
        let (Range { start, end }, whole) = (self.range.clone(), self.whole.upgrade()?);
        Some(Excerpt { whole, from: start, to: end, cols: self.cols })
    }
}
