//! The links (OSC 8) that cells refer to by number.

use std::collections::HashMap;

/// How many links a screen keeps at a time. A build log that links every file has a few thousand;
/// text printed past the bound simply is no link.
const MAX_LINKS: usize = 8192;

/// The longest address kept: what browsers take. A longer one makes no link.
pub(crate) const MAX_URI: usize = 2083;

/// The longest `id=` kept.
const MAX_ID: usize = 256;

/// How much text all links together may hold.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Where a link leads.
///
/// ```
/// use greenroom_screen::{Link, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b]8;id=1;file:///tmp/log\x07log\x1b]8;;\x07");
/// let id = screen.line(0).unwrap().cells().next().unwrap().style.link.unwrap();
/// let link = Link { uri: "file:///tmp/log".into(), id: Some("1".into()) };
/// assert_eq!(screen.link(id), Some(&link));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// The address, exactly as the program gave it: data from a stranger, never to be opened
    /// without asking.
    pub uri: String,
    /// The `id` the program gave, which makes cells apart from each other one link.
    pub id: Option<String>,
}

impl Link {
    fn bytes(&self) -> usize {
        self.uri.len() + self.id.as_ref().map_or(0, String::len)
    }
}

/// The links that cells refer to by number; number zero is no link.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    links: Vec<Option<Link>>,
    numbers: HashMap<Link, u16>,
    /// Numbers that may be given again.
    free: Vec<u16>,
    bytes: usize,
    /// How many links to refuse before looking for unused ones again, so that a flood of links
    /// cannot make every one of them pay for the search.
    patience: usize,
}

impl Links {
    pub(crate) fn get(&self, number: u16) -> Option<&Link> {
        self.links.get(number as usize)?.as_ref()
    }

    /// All links with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u16, &Link)> {
        self.links.iter().enumerate().filter_map(|(n, link)| Some((n as u16, link.as_ref()?)))
    }

    /// How large a list of flags by number must be.
    pub(crate) fn slots(&self) -> usize {
        self.links.len()
    }

    /// Whether there is room for one more link of a usual length.
    pub(crate) fn is_full(&mut self) -> bool {
        let full = self.numbers.len() >= MAX_LINKS || self.bytes + MAX_URI + MAX_ID > MAX_BYTES;
        if full && self.patience > 0 {
            self.patience -= 1;
            return false;
        }
        full
    }

    /// The number of a link, new or known; zero if it cannot be kept.
    pub(crate) fn add(&mut self, link: Link) -> u16 {
        if link.uri.len() > MAX_URI || link.id.as_ref().is_some_and(|id| id.len() > MAX_ID) {
            return 0;
        }
        if let Some(&number) = self.numbers.get(&link) {
            return number;
        }
        if self.numbers.len() >= MAX_LINKS || self.bytes + link.bytes() > MAX_BYTES {
            return 0;
        }
        if self.links.is_empty() {
            self.links.push(None);
        }
        let number = self.free.pop().map_or(self.links.len(), usize::from);
        if number == self.links.len() {
            self.links.push(None);
        }
        self.bytes += link.bytes();
        self.numbers.insert(link.clone(), number as u16);
        self.links[number] = Some(link);
        number as u16
    }

    /// Puts a link back under its number, when a checkpoint is restored.
    pub(crate) fn restore(&mut self, number: u16, link: Link) -> bool {
        let at = number as usize;
        if at == 0 || at > MAX_LINKS || self.get(number).is_some() || link.uri.len() > MAX_URI {
            return false;
        }
        if self.links.len() <= at {
            self.links.resize(at + 1, None);
        }
        self.bytes += link.bytes();
        self.numbers.insert(link.clone(), number);
        self.links[at] = Some(link);
        true
    }

    /// Forgets the links whose number `used` does not have.
    pub(crate) fn sweep(&mut self, used: &[bool]) {
        for (number, slot) in self.links.iter_mut().enumerate().skip(1) {
            if !used.get(number).copied().unwrap_or(false)
                && let Some(link) = slot.take()
            {
                self.bytes -= link.bytes();
                self.numbers.remove(&link);
                self.free.push(number as u16);
            }
        }
        self.patience = MAX_LINKS / 8;
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.links.capacity() * size_of::<Option<Link>>()
            + self.numbers.capacity() * (size_of::<Link>() + 8)
            + 2 * self.bytes
    }
}
