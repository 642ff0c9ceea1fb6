//! Where in a line of Lua a text in quotes stands: in which call, at which place.

/// What is around a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The function that is called, or nothing.
    pub(super) function: &'a str,
    /// What it is a method of: `c` in `c:send`; empty for what has no name.
    pub(super) receiver: Option<&'a str>,
    /// What stands before the text in the same brackets, between commas.
    pub(super) before: Vec<&'a str>,
    /// The member of a table that the text is given to: `type` in `{type = "`.
    pub(super) member: Option<&'a str>,
}

/// Brackets that are open.
struct Open {
    at: usize,
    /// Where what stands between two commas begins.
    items: Vec<usize>,
}

/// The place behind this, which ends before a quote.
pub(super) fn place(before: &str) -> Place<'_> {
    let trimmed = before.trim_end();
    let open = last_open(before);
    // `send "x"`: a text right behind a name is what it is called with.
    if trimmed.ends_with(is_of_name) {
        return Place { before: Vec::new(), member: None, ..called(trimmed) };
    }
    let Some(open) = open else { return Place::default() };
    let ends = open.items.iter().skip(1).map(|it| it - 1).chain([before.len()]);
    let mut items: Vec<&str> =
        open.items.iter().zip(ends).map(|(from, to)| before[*from..to].trim()).collect();
    let last = items.pop().unwrap_or_default();
    let member = last.strip_suffix('=').map(str::trim_end).filter(|it| it.chars().all(is_of_name));
    Place { before: items, member, ..called(before[..open.at].trim_end()) }
}

/// The function whose name a text ends with.
fn called(text: &str) -> Place<'_> {
    let (rest, function) = split_name(text);
    let Some(rest) = rest.strip_suffix(':') else {
        return Place { function, ..Place::default() };
    };
    Place { function, receiver: Some(path(rest)), ..Place::default() }
}

/// The path of names that a text ends with, such as `a.b`; empty if that is a part of something else.
pub(super) fn path(text: &str) -> &str {
    let start = text
        .rfind(|it| !is_of_name(it) && it != '.')
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let is_alone = !text[..start].ends_with([')', ']', '"', '\'', ':']);
    if is_alone { &text[start..] } else { "" }
}

/// A text, and the name it ends with.
pub(super) fn split_name(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(is_of_name).len())
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The innermost brackets that are open, texts aside.
fn last_open(text: &str) -> Option<Open> {
    let mut open: Vec<Open> = Vec::new();
    let mut quote = None;
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(quoted), _) if quoted == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '{' | '[') => open.push(Open { at, items: vec![at + 1] }),
            (None, ')' | '}' | ']') => drop(open.pop()),
            (None, ',') => open.last_mut().into_iter().for_each(|it| it.items.push(at + 1)),
            _ => {}
        }
    }
    open.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        text: &str,
        function: &str,
        receiver: Option<&str>,
        before: &[&str],
        member: Option<&str>,
    ) {
        let expected = Place { function, receiver, before: before.to_vec(), member };
        assert_eq!(place(text), expected, "{text}");
    }

    #[test]
    fn a_text_has_a_place() {
        check("", "", None, &[], None);
        check("x = send(", "send", None, &[], None);
        check("send ", "send", None, &[], None);
        check("a.b:send(\"key\", ", "send", Some("a.b"), &["\"key\""], None);
        check("x = tab('e1'):send ( ", "send", Some(""), &[], None);
        check("send{type = 'key', value=", "send", None, &["type = 'key'"], Some("value"));
        check("wait(any(f(1, 2), ", "any", None, &["f(1, 2)"], None);
        check("turn('run', {", "", None, &[], None);
        check("print('a,(' .. ", "print", None, &[], None);
        check("größe:wait(", "wait", Some("größe"), &[], None);
    }
}
