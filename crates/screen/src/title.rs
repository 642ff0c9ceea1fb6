//! The window's title and the stack programs keep it on.

/// The longest title kept, in bytes; the rest is cut off at a character.
const MAX_TITLE: usize = 1024;

/// How many titles a program may push; xterm's bound.
pub(crate) const MAX_TITLES: usize = 10;

/// The window's title and the stack programs keep it on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Titles {
    pub(crate) current: String,
    pub(crate) stack: Vec<String>,
}

impl Titles {
    /// Sets the title; control characters are left out.
    pub(crate) fn set(&mut self, text: &str) {
        self.current = clean(text, MAX_TITLE);
    }

    pub(crate) fn push(&mut self) {
        if self.stack.len() == MAX_TITLES {
            self.stack.remove(0);
        }
        self.stack.push(self.current.clone());
    }

    /// Brings the title pushed last back; false if there is none.
    pub(crate) fn pop(&mut self) -> bool {
        let popped = self.stack.pop();
        let some = popped.is_some();
        self.current = popped.unwrap_or_else(|| std::mem::take(&mut self.current));
        some
    }

    pub(crate) fn heap(&self) -> usize {
        self.current.capacity() + self.stack.iter().map(|it| it.capacity() + 24).sum::<usize>()
    }

    pub(crate) fn clear_stack(&mut self) {
        self.stack.clear();
    }
}

/// A text without control characters (C0, DEL, C1), cut at a character at most `most` bytes long.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let mut kept = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        if kept.len() + c.len_utf8() > most {
            break;
        }
        kept.push(c);
    }
    kept
}
