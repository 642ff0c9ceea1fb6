//! Answers in all shapes, and what Claude Code gets of them.

use super::*;

/// What a request was about.
fn asked() -> Value {
    json!({"file_path": "a.txt", "content": "hi"})
}

#[track_caller]
fn check(message: Value, expected: Value) {
    let answer = Answer::from_wire(&message).unwrap();
    assert_eq!(answer.request_id, "r1", "{message}");
    assert_eq!(answer.to_wire(&asked(), &[]), expected, "{message}");
}

fn allow(input: Value) -> Value {
    json!({"behavior": "allow", "updatedInput": input})
}

fn deny(message: &str) -> Value {
    json!({"behavior": "deny", "message": message})
}

fn flat(response: Value) -> Value {
    json!({"type": "control_response", "request_id": "r1", "response": response})
}

#[test]
fn every_way_to_allow_is_one() {
    let other = json!({"content": "other"});
    check(flat(json!({"behavior": "allow"})), allow(asked()));
    check(flat(json!({"behavior": "allow", "updatedInput": other})), allow(other.clone()));
    check(flat(json!({"decision": "grant", "updated_input": other})), allow(other.clone()));
    check(flat(json!({"decision": "always", "updatedInput": {}})), allow(asked()));
    check(flat(json!({"allow": true})), allow(asked()));
    check(flat(json!("allow")), allow(asked()));
    check(flat(json!({})), allow(asked()));
    check(json!({"type": "control_response", "request_id": "r1"}), allow(asked()));
    check(json!({"request_id": "r1", "behavior": "ALLOW"}), allow(asked()));
    check(
        json!({"request_id": "r1", "decision": "allow", "tool_input": other}),
        allow(other.clone()),
    );
    check(json!({"tool_id": "r1", "decision": "allow", "tool_input": other}), allow(other.clone()));
    let nested = json!({"behavior": "allow", "updatedInput": other});
    let nested = json!({"subtype": "success", "request_id": "r1", "response": nested});
    check(json!({"type": "control_response", "response": nested}), allow(other));
}

#[test]
fn every_way_to_deny_is_one_and_says_why() {
    for word in ["deny", "reject", "block", "Deny", "whatever", ""] {
        check(flat(json!({"behavior": word})), deny(DENIED));
        check(json!({"request_id": "r1", "decision": word}), deny(DENIED));
    }
    check(flat(json!({"allow": false, "message": "not now"})), deny("not now"));
    check(json!({"request_id": "r1", "decision": "deny", "reason": "no"}), deny("no"));
    check(flat(json!({"decision": "deny", "behavior": "allow"})), deny(DENIED));
    let nested = json!({"subtype": "error", "request_id": "r1", "error": "gone"});
    check(json!({"type": "control_response", "response": nested}), deny("gone"));
    let ending = flat(json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    check(ending, json!({"behavior": "deny", "message": "stop", "interrupt": true}));
}

#[test]
fn an_answer_to_nothing_is_refused() {
    let error = Answer::from_wire(&json!({"response": {"behavior": "allow"}}));
    assert_eq!(error, Err(AnswerError::NoRequest));
    let error = Answer::from_wire(&json!({"request_id": 7}));
    assert_eq!(error, Err(AnswerError::NoRequest));
}

#[test]
fn suggestions_are_found_by_all_their_names() {
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    for name in ["permission_suggestions", "permissionSuggestions", "updatedPermissions"] {
        let mut response = json!({"behavior": "allow"});
        response[name] = json!([mode]);
        let mut beside = json!({"request_id": "r1", "decision": "allow"});
        beside[name] = json!([mode]);
        for message in [flat(response), beside] {
            let answer = Answer::from_wire(&message).unwrap();
            assert_eq!(answer.suggestions, std::slice::from_ref(&mode), "{message}");
            let wire = answer.to_wire(&asked(), std::slice::from_ref(&mode));
            assert_eq!(wire["updatedPermissions"], json!([mode]));
        }
    }
}

#[test]
fn answers_reach_the_questions_they_are_for() {
    let options = json!([{"label": "Red"}, {"label": "Blue"}]);
    let asked = json!({"questions": [
        {"question": "Pick a color", "header": "Color", "options": options},
        {"question": "Which ones?", "header": "Ones", "multiSelect": true, "options": options},
    ]});
    let expected = json!({"Pick a color": "Blue", "Which ones?": "Red, Blue"});
    let shapes = [
        json!({"Pick a color": "Blue", "Which ones?": "Red, Blue"}),
        json!({"Color": "Blue", "Ones": ["Red", "Blue"]}),
        json!({"0": "Blue", "1": ["Red", "Blue"]}),
        json!(["Blue", ["Red", "Blue"]]),
        json!([1, [0, 1]]),
        json!([{"question": "Which ones?", "answer": ["Red", "Blue"]},
               {"question": "Pick a color", "answer": "Blue"}]),
        json!([{"selected": ["Blue"]}, {"selected": ["Red", "Blue"]}]),
    ];
    for answers in shapes {
        let messages = [
            json!({"request_id": "r1", "answers": answers}),
            flat(json!({"answers": answers})),
            flat(json!({"behavior": "allow", "updatedInput": {"answers": answers}})),
        ];
        for message in messages {
            let wire = Answer::from_wire(&message).unwrap().to_wire(&asked, &[]);
            assert_eq!(wire["updatedInput"]["answers"], expected, "{message}");
            assert_eq!(wire["updatedInput"]["questions"], asked["questions"], "{message}");
            assert_eq!(wire["behavior"], "allow");
        }
    }
    let free = json!({"request_id": "r1", "answers": {"Pick a color": "Other", "extra": "x"}});
    let wire = Answer::from_wire(&free).unwrap().to_wire(&asked, &[]);
    assert_eq!(wire["updatedInput"]["answers"], json!({"Pick a color": "Other", "extra": "x"}));
}
