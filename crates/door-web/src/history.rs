//! What a terminal begins with: the last of what was printed, or the screen with some lines above it.

use greenroom_engine::{Engine, Error, Scene, Transcript};
use greenroom_model::SessionId;
use greenroom_screen::{Depth, Filter, Policy, Screen};

use crate::hub::policy;

/// How many lines above the screen a session of another door is shown with.
pub(crate) const LINES: usize = 2_000;

/// How far the end of a line is looked for where what was printed is cut: most lines are shorter.
const LINE_BYTES: usize = 4_096;

/// What was printed up to an offset.
pub(crate) struct History {
    /// Up to here.
    pub(crate) at: u64,
    /// What a terminal is to be fed.
    pub(crate) text: String,
}

/// The last of what a session printed, at most so many bytes; of one whose output is not kept, and of
/// one that shows a full-screen program, the screen.
///
/// # Errors
/// There is no such session, or its screen was lost.
pub(crate) async fn history(
    engine: &Engine,
    session: SessionId,
    bytes: usize,
) -> Result<History, Error> {
    let policy = policy(engine);
    let look = move |scene: Scene<'_>| {
        let text = match scene.transcript {
            _ if bytes == 0 => String::new(),
            Some(transcript) => printed(transcript, scene.screen, bytes, policy),
            None => redraw(scene.screen, Depth::Lines(LINES)),
        };
        History { at: scene.screen.offset().0, text }
    };
    engine.scene(session, look).await
}

/// The screen as it is, for a terminal in any state.
///
/// # Errors
/// There is no such session, or its screen was lost.
pub(crate) async fn anew(
    engine: &Engine,
    session: SessionId,
    lines: usize,
) -> Result<History, Error> {
    let look = move |screen: &Screen| {
        let text = redraw(screen, Depth::Lines(lines));
        History { at: screen.offset().0, text }
    };
    engine.look(session, look).await
}

fn redraw(screen: &Screen, depth: Depth) -> String {
    // An empty screen that was never printed on needs nothing.
    if screen.offset().0 == 0 {
        return String::new();
    }
    String::from_utf8_lossy(&screen.redraw(depth)).into_owned()
}

fn printed(transcript: &Transcript, screen: &Screen, bytes: usize, policy: Policy) -> String {
    let (tail, cut) = tail(transcript.text(), bytes);
    let mut out = Filter::new(policy).feed(tail.as_bytes());
    let lost = cut || transcript.end() > transcript.text().chars().count() as u64;
    if screen.is_alternate() || lost {
        // What set the terminal up may be gone: the screen as it is, behind the lines before it.
        out.extend_from_slice(&screen.redraw(Depth::Screen));
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The last bytes of a text, from the beginning of a line if one is near; and whether it was cut.
fn tail(text: &str, bytes: usize) -> (&str, bool) {
    if text.len() <= bytes {
        return (text, false);
    }
    let mut from = text.len() - bytes;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let rest = &text[from..];
    let line = rest.bytes().take(LINE_BYTES).position(|byte| byte == b'\n');
    (line.map_or(rest, |end| &rest[end + 1..]), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_between_lines_and_never_in_a_character() {
        assert_eq!(tail("abc", 3), ("abc", false));
        assert_eq!(tail("one\ntwo\n", 6), ("two\n", true));
        assert_eq!(tail("äöü", 3), ("ü", true));
        assert_eq!(tail("äöü", 0), ("", true));
    }
}
