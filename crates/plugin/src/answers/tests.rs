//! Shapes of answers, right and wrong.

use serde_json::json;

use super::*;

#[test]
fn a_state_keeps_all_that_was_said() {
    let answer = json!({"state": "s", "confidence": 0.12349, "evidence": "e", "sequence": 4.0,
        "candidates": [{"state": "t", "confidence": 2}], "metadata": {"k": [1]},
        "host_marks": [{"label": "l"}], "events": [{"kind": "error", "seq": 1}], "other": 1});
    let state = State::from_answer(answer, 9).unwrap();
    let expected = json!({"state": "s", "confidence": 0.123, "evidence": "e", "sequence": 4,
        "candidates": [{"state": "t", "confidence": 1.0}], "metadata": {"k": [1]},
        "host_marks": [{"label": "l"}], "events": [{"kind": "error", "seq": 1}]});
    assert_eq!(state.to_json(), expected);
}

#[test]
fn a_state_is_filled_in() {
    let state = State::from_answer(json!({"state": "s", "candidates": {}}), 9).unwrap();
    let expected = json!({"state": "s", "confidence": 1.0, "evidence": "", "sequence": 9,
        "candidates": []});
    assert_eq!(state.to_json(), expected);
}

#[test]
fn wrong_states_say_what_is_wrong() {
    let check = |answer: Value, expected: &str| {
        assert_eq!(State::from_answer(answer, 0).unwrap_err(), expected);
    };
    check(json!(null), "nil where a table with names is expected");
    check(json!({}), "no `state`");
    check(json!({"state": 5}), "a number as `state`, a string is expected");
    check(json!({"state": "s", "confidence": "x"}), "a `confidence` that is no number");
    check(json!({"state": "s", "sequence": -1}), "a `sequence` that is no whole number");
    check(json!({"state": "s", "candidates": 1}), "a number as `candidates`, a list is expected");
    check(json!({"state": "s", "host_marks": [{}]}), "a host mark without `label`");
}

#[test]
fn a_failed_classifier_is_a_state_too() {
    let state = State::plugin_error(&"boom", 3).to_json();
    let expected = json!({"state": "plugin_error", "confidence": 0.0,
        "evidence": "plugin failed: boom", "sequence": 3, "candidates": []});
    assert_eq!(state, expected);
}

#[test]
fn nested_empty_lists_of_matchers_are_lists() {
    let tree = json!({"type": "any", "value": [{"type": "all", "value": {}}]});
    let expected = json!({"type": "any", "value": [{"type": "all", "value": []}]});
    assert_eq!(matcher(tree).unwrap(), expected);
    assert_eq!(matcher(json!({})).unwrap_err(), "a matcher without `type`");
    assert_eq!(matcher(json!(null)).unwrap_err(), "a matcher without `type`");
}
