//! Arguments, and the words for modes.

use super::*;

#[test]
fn arguments_come_in_the_order_of_the_contract() {
    let id = Uuid::nil();
    let options = Options {
        mode: Some(Mode::AcceptEdits),
        model: Some("opus".to_owned()),
        allowed_tools: vec!["Read".to_owned(), "Bash(ls:*)".to_owned()],
        disallowed_tools: vec!["Write".to_owned()],
        max_thinking_tokens: Some(1000),
        max_turns: Some(3),
        max_budget_usd: Some(0.5),
        files: vec!["a:b".to_owned(), "c:d".to_owned()],
    };
    let expected = "--output-format stream-json --input-format stream-json --verbose \
        --permission-mode acceptEdits --model opus --permission-prompt-tool stdio \
        --allowedTools Read,Bash(ls:*) --disallowedTools Write --max-thinking-tokens 1000 \
        --max-turns 3 --max-budget-usd 0.5 --file a:b --file c:d \
        --setting-sources user,project,local --resume 00000000-0000-0000-0000-000000000000";
    assert_eq!(options.arguments(Conversation::Stored(id)).join(" "), expected);
    let least = "--output-format stream-json --input-format stream-json --verbose \
        --permission-prompt-tool stdio --setting-sources user,project,local \
        --session-id 00000000-0000-0000-0000-000000000000";
    assert_eq!(Options::default().arguments(Conversation::New(id)).join(" "), least);
}

#[test]
fn modes_are_known_by_the_words_of_the_page_and_of_claude_code() {
    let cases = [
        ("ask", "default", "ask"),
        ("default", "default", "ask"),
        ("delegate", "default", "ask"),
        ("act", "acceptEdits", "act"),
        ("acceptEdits", "acceptEdits", "act"),
        ("plan", "plan", "plan"),
        ("bypassPermissions", "bypassPermissions", "act"),
        ("dontAsk", "dontAsk", "act"),
    ];
    for (word, wire, shown) in cases {
        let mode = Mode::from_wire(word).unwrap();
        assert_eq!((mode.to_wire(), mode.shown()), (wire, shown), "{word}");
    }
    assert_eq!(Mode::from_wire("Ask"), None);
}

#[test]
fn what_was_not_said_changes_nothing() {
    let mut own = Options { model: Some("opus".to_owned()), ..Options::default() };
    assert!(!own.take(&Options::default()));
    assert!(!own.take(&Options { model: Some("opus".to_owned()), ..Options::default() }));
    assert!(own.take(&Options { mode: Some(Mode::Plan), ..Options::default() }));
    assert_eq!((own.mode, own.model.as_deref()), (Some(Mode::Plan), Some("opus")));
}
