//! Reading a screen and its history, and finding something there.

use std::sync::Arc;

use greenroom_screen::{Depth, Match, Query, Screen, Search, Wrap};
use serde_json::{Value, json};

use super::Answer;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;
use crate::tmux;

/// How many matches are looked for at once: more than a row has, and a few megabytes.
const AT_ONCE: usize = 100_000;

/// How many matches a search gives at most.
const MAX_MATCHES: u64 = 10_000;

/// Which rows somebody wants to read.
#[derive(Debug, Clone, Copy)]
enum What {
    Screen,
    History,
    All,
}

pub(super) async fn read(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let what = match params.text("what") {
        None | Some("screen") => What::Screen,
        Some("history") => What::History,
        Some("all") => What::All,
        Some(other) => {
            let text = format!("`what` is `screen`, `history` or `all`, not `{other}`");
            return Err(RpcError::invalid(text));
        }
    };
    let wrap = match params.text("wrap") {
        Some("join") => Wrap::Joined,
        None | Some("rows") => Wrap::Rows,
        Some(other) => {
            return Err(RpcError::invalid(format!("`wrap` is `join` or `rows`, not `{other}`")));
        }
    };
    let (lines, styled) = (params.number("lines"), params.flag("styled"));
    let look = move |screen: &Screen| show(screen, text(screen, what, wrap, lines, styled));
    Ok(it.door.engine.look(info.id, look).await?.into())
}

fn text(screen: &Screen, what: What, wrap: Wrap, lines: Option<u64>, styled: bool) -> String {
    let top = screen.top_row();
    let end = top + u64::from(screen.size().rows());
    let rows = match what {
        What::Screen => top..end,
        What::History => screen.first_row()..top,
        What::All => screen.first_row()..end,
    };
    let text = if styled {
        String::from_utf8_lossy(&screen.styled(rows)).into_owned()
    } else if matches!(what, What::Screen) && wrap == Wrap::Rows {
        screen.text()
    } else {
        screen.text_of(rows, wrap)
    };
    let text = text.trim_end_matches('\n');
    match lines {
        Some(lines) => last_lines(text, lines).to_owned(),
        None => text.to_owned(),
    }
}

/// The last lines of a text.
fn last_lines(text: &str, lines: u64) -> &str {
    let Some(before) = usize::try_from(lines).ok().and_then(|it| it.checked_sub(1)) else {
        return "";
    };
    match text.rmatch_indices('\n').nth(before) {
        Some((at, _)) => &text[at + 1..],
        None => text,
    }
}

fn show(screen: &Screen, text: String) -> Value {
    let (size, cursor) = (screen.size(), screen.cursor());
    json!({
        "text": text,
        "cols": size.cols(),
        "rows": size.rows(),
        "cursor": {"row": cursor.row, "col": cursor.col, "visible": cursor.visible},
        "title": screen.title(),
        "alternate": screen.is_alternate(),
        "offset": screen.offset().0,
        "historyLines": screen.history_len(),
    })
}

pub(super) async fn search(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let fold = params.flag("ignoreCase");
    let query = match (params.text("text"), params.text("regex")) {
        (Some(text), _) if fold => Query::folded(text),
        (Some(text), _) => Query::literal(text),
        (None, Some(pattern)) => Query::regex(pattern, fold),
        (None, None) => return Err(RpcError::missing("text")),
    };
    let query = query.map_err(|error| RpcError::invalid(error.to_string()))?;
    let limit = params.number("limit").unwrap_or(1000).min(MAX_MATCHES) as usize;
    let look = move |screen: &Screen| matches(screen, &query, limit);
    Ok(json!({"matches": it.door.engine.look(info.id, look).await?}).into())
}

/// The newest matches, a piece of the history at a time: a letter may be there millions of times.
fn newest(screen: &Screen, query: &Query, limit: usize) -> Vec<Match> {
    let (mut newest, mut from) = (Vec::new(), screen.first_row());
    loop {
        let mut found = screen.search(query, Search { from, limit: AT_ONCE });
        let is_last = found.len() < AT_ONCE;
        if let Some(row) = found.last().map(|it| it.start.row).filter(|_| !is_last) {
            // Its other matches come with the next piece, if there is more in this one than that row.
            let is_whole = row > from;
            found.retain(|it| !is_whole || it.start.row < row);
            from = if is_whole { row } else { row + 1 };
        }
        newest.append(&mut found);
        newest.drain(..newest.len().saturating_sub(limit));
        if is_last {
            return newest;
        }
    }
}

fn matches(screen: &Screen, query: &Query, limit: usize) -> Vec<Value> {
    let newest = newest(screen, query, limit);
    let matches = newest.iter().map(|found| {
        let rows = found.end.row - found.start.row;
        let length = rows * u64::from(screen.size().cols()) + u64::from(found.end.col);
        let line = screen.line(found.start.row).map(|line| line.text()).unwrap_or_default();
        json!({
            "row": found.start.row,
            "col": found.start.col,
            "line": line,
            "length": length - u64::from(found.start.col),
        })
    });
    matches.collect()
}

pub(super) async fn scrollback(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    // carryOn answers with nothing for a session it does not know.
    if params.0.get("sessionId").is_none_or(Value::is_null) {
        return Err(RpcError::missing("sessionId"));
    }
    if let Some(name) = params.of_tmux(&it.door.engine) {
        return Ok(Value::from(tmux::scrollback(&it.door, name).await?).into());
    }
    let Ok(info) = params.session(&it.door.engine) else { return Ok(json!("").into()) };
    // A redraw has no questions in it, whatever the program asked.
    let look = |screen: &Screen| screen.redraw(Depth::All);
    let bytes = it.door.engine.look(info.id, look).await?;
    Ok(Value::from(String::from_utf8_lossy(&bytes)).into())
}

#[cfg(test)]
mod tests {
    use greenroom_screen::Options;

    use super::*;

    #[test]
    fn of_more_matches_than_are_looked_for_at_once_the_newest_are_given() {
        let mut screen = Screen::new("80x24".parse().unwrap(), Options::default());
        // Rows of 79 letters; every thousandth has another behind them.
        for row in 0..3000 {
            screen.feed("x".repeat(79).as_bytes());
            screen.feed(if row % 1000 == 0 { b"y\r\n" } else { b"\r\n" });
        }
        let found = |text: &str, limit: usize| -> Vec<(u64, u16)> {
            let found = newest(&screen, &Query::literal(text).unwrap(), limit);
            found.iter().map(|it| (it.start.row, it.start.col)).collect()
        };
        const { assert!(3000 * 79 > 2 * AT_ONCE, "it takes more than two pieces") };
        assert_eq!(found("x", 3), [(2999, 76), (2999, 77), (2999, 78)]);
        assert_eq!(found("x", usize::MAX).len(), 3000 * 79);
        assert_eq!(found("y", 2), [(1000, 79), (2000, 79)]);
        assert_eq!(found("z", 2), []);
    }
}
