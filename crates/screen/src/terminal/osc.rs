//! Operating system commands: titles, colours, folders, links, marks, notifications.

use greenroom_model::Offset;

use super::Terminal;
use crate::event::{Clipboard, Event, Mark, MarkKind, Progress};
use crate::links::Link;
use crate::palette::{self, Slot};
use crate::parser::{StringSequence, osc_number};
use crate::title::clean;

/// The longest folder, host or notification reported.
const MAX_TEXT: usize = 4096;

/// How many colours one OSC 4 may set or ask for: all there are.
const MAX_COLORS: usize = 256;

impl Terminal {
    /// OSC, by its number.
    pub(super) fn operating_system(&mut self, string: &StringSequence<'_>) {
        let Some((number, rest)) = osc_number(string.payload) else { return };
        let rest = &String::from_utf8_lossy(rest);
        self.dispatch_osc(number, rest, string);
    }

    /// OSC 0 and 2.
    pub(super) fn set_title(&mut self, text: &str) {
        self.titles.set(text);
        self.happened.event(Event::Title(self.titles.current.clone()));
    }

    pub(super) fn pop_title(&mut self) {
        if self.titles.pop() {
            self.happened.event(Event::Title(self.titles.current.clone()));
        }
    }

    /// OSC 4: pairs of a number and a colour or `?`.
    pub(super) fn set_colors(&mut self, text: &str, string: &StringSequence<'_>) {
        let mut parts = text.split(';');
        for _ in 0..MAX_COLORS {
            let (Some(index), Some(color)) = (parts.next(), parts.next()) else { return };
            let Ok(index) = index.parse::<u8>() else { continue };
            self.set_color(Slot::Indexed(index), color, string.bell);
        }
    }

    /// OSC 10, 11, 12: a colour or `?`, and those after it for the slots after it.
    pub(super) fn set_special(&mut self, first: usize, text: &str, string: &StringSequence<'_>) {
        const SLOTS: [Slot; 3] = [Slot::Foreground, Slot::Background, Slot::Cursor];
        for (slot, color) in SLOTS.iter().skip(first).zip(text.split(';')) {
            self.set_color(*slot, color, string.bell);
        }
    }

    fn set_color(&mut self, slot: Slot, color: &str, bell: bool) {
        if color == "?" {
            self.report_color(slot, bell);
        } else if let Some(rgb) = palette::parse(color) {
            self.palette.set(slot, rgb);
        }
    }

    /// OSC 104: these colours, or all, as they were.
    pub(super) fn reset_colors(&mut self, text: &str) {
        if text.is_empty() {
            self.palette.reset_indexed();
        }
        for index in text.split(';').take(MAX_COLORS).filter_map(|it| it.parse().ok()) {
            self.palette.reset(Slot::Indexed(index));
        }
    }

    /// OSC 7: `file://host/path`.
    pub(super) fn set_cwd(&mut self, text: &str) {
        let Some(rest) = text.strip_prefix("file://") else { return };
        let slash = rest.find('/').unwrap_or(rest.len());
        let (host, path) = rest.split_at(slash);
        let path = percent_decode(path);
        if path.is_empty() || path.len() > MAX_TEXT || path.chars().any(char::is_control) {
            return;
        }
        let host = clean(host, MAX_TEXT);
        self.cwd = Some((host.clone(), path.clone()));
        self.happened.event(Event::Cwd { host, path });
    }

    /// OSC 8: `params;uri`; an empty address ends the link.
    pub(super) fn set_link(&mut self, text: &str) {
        let Some((params, uri)) = text.split_once(';') else { return };
        let mut number = 0;
        if !uri.is_empty() && !uri.chars().any(char::is_control) {
            let id = params.split(':').find_map(|it| it.strip_prefix("id="));
            let id = id.filter(|id| !id.is_empty()).map(|id| clean(id, MAX_TEXT));
            if self.links.is_full() {
                self.sweep_links();
            }
            number = self.links.add(Link { uri: uri.to_owned(), id });
            if number != 0 {
                self.happened.event(Event::Link(uri.to_owned()));
            }
        }
        self.pen.set_link(number);
        self.pen_id = None;
    }

    /// OSC 9: progress (`4;state;percent`) or a notification.
    pub(super) fn notify(&mut self, text: &str) {
        let Some(progress) = text.strip_prefix("4;").or((text == "4").then_some("0")) else {
            // ConEmu's other numbered commands (`9;folder`, `12`…) are no notifications.
            let number = text.split(';').next().unwrap_or(text);
            if (1..=2).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit()) {
                return;
            }
            let body = clean(text, MAX_TEXT);
            return self.happened.event(Event::Notification { title: String::new(), body });
        };
        let (state, percent) = progress.split_once(';').unwrap_or((progress, ""));
        let percent = percent.parse::<u32>().unwrap_or(0).min(100) as u8;
        let progress = match state {
            "0" => Progress::None,
            "1" => Progress::Running(percent),
            "2" => Progress::Failed(percent),
            "3" => Progress::Busy,
            "4" => Progress::Paused(percent),
            _ => return,
        };
        self.happened.event(Event::Progress(progress));
    }

    /// OSC 777: `notify;title;body`.
    pub(super) fn notify_titled(&mut self, text: &str) {
        let Some(rest) = text.strip_prefix("notify;") else { return };
        let (title, body) = rest.split_once(';').unwrap_or((rest, ""));
        let (title, body) = (clean(title, MAX_TEXT), clean(body, MAX_TEXT));
        self.happened.event(Event::Notification { title, body });
    }

    /// OSC 52. Told, never done: what the clipboard holds is not the program's to know.
    pub(super) fn clipboard(&mut self, text: &str) {
        let Some((selection, data)) = text.split_once(';') else { return };
        let selection = clean(selection, 16);
        let request = if data == "?" {
            Clipboard::Query { selection }
        } else {
            Clipboard::Set { selection, base64: clean(data, data.len()) }
        };
        self.happened.event(Event::Clipboard(request));
    }

    /// OSC 133: `A`, `B`, `C`, or `D;code`, each perhaps with more that is not ours to read.
    pub(super) fn mark(&mut self, text: &str, string: &StringSequence<'_>) {
        let mut parts = text.split(';');
        let kind = match parts.next() {
            Some("A") => MarkKind::PromptStart,
            Some("B") => MarkKind::CommandStart,
            Some("C") => MarkKind::OutputStart,
            Some("D") => MarkKind::CommandEnd(parts.next().and_then(|code| code.parse().ok())),
            _ => return,
        };
        let mark = Mark {
            kind,
            start: Offset(string.start),
            end: Offset(string.end),
            row: self.history.end() + self.cursor.y as u64,
            col: (self.cursor.x + usize::from(self.cursor.pending)) as u16,
        };
        // On the alternate screen rows have no place in the history: told, not kept.
        if !self.is_alternate() {
            self.marks.push(mark);
        }
        self.happened.event(Event::Mark(mark));
    }
}

/// Decodes `%41` and the like; what is not UTF-8 then becomes U+FFFD.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let hex = (*first == b'%').then(|| tail.get(..2)).flatten();
        match hex.filter(|pair| pair.iter().all(u8::is_ascii_hexdigit)).and_then(digits) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
