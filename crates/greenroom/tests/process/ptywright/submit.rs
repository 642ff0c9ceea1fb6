//! Prompts that an adapter types: not before there is something to type into, and no Enter that an adapter did not
//! agree to.

use std::time::{Duration, Instant};

use greenroom_testkit::{Framing, Home, Rpc, Serving, eventually};
use serde_json::{Value, json};

use super::adapters::showing;
use super::{home, private};

/// An adapter that submits a prompt, with one more export.
fn asked(home: &Home, export: &str) -> (Serving, Rpc, Value) {
    let source = format!(
        "local M, a = {{}}, ptywright.action\n\
        function M.classify() return {{ state = \"up\" }} end\n\
        function M.go() return {{ actions = {{ a.bracketed_paste(\"go\"), a.key(\"enter\") }}, last_intent = \"prompt_submitted\" }} end\n\
        function M.leave() return {{ actions = {{ a.key(\"escape\"), a.bracketed_paste(\"go\") }} }} end\n\
        {export}\nreturn M\n"
    );
    let manifest = "name = \"asked\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
        entrypoint = \"main.lua\"\npermissions = [\"session.spawn\", \"screen.read\", \"input.write\", \"matcher.wait\"]\n";
    let folder = home.path().join("asked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("main.lua"), source).unwrap();
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
    let manifest = folder.join("manifest.toml").display().to_string();
    let arguments = ["--plugin".to_owned(), manifest];
    let (server, mut rpc) = Serving::start(home, Framing::Lines, &arguments);
    let typed = home.path().join("typed");
    let mut start = super::shell(&format!("stty raw -echo; exec cat > {}", typed.display()));
    start["plugin"] = "asked".into();
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    eventually("the program reads", || typed.exists());
    (server, rpc, adapter)
}

fn typed(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join("typed")).unwrap()
}

/// An adapter that has a say and cannot say it: nothing is typed any more.
#[test]
fn who_cannot_say_whether_to_type_is_taken_for_a_no() {
    let bodies = ["while true do end", "error(\"oh\")", "return {}", "return 5"];
    for (export, intent, before) in [
        ("enter_refused", "go", &b"\x1b[200~go\x1b[201~"[..]),
        ("enter_refused", "leave", b"\x1b"),
        ("may_type", "go", b""),
    ] {
        for body in bodies {
            let home = home();
            let (_server, mut rpc, adapter) =
                asked(&home, &format!("function M.{export}() {body} end"));
            let send = json!({"adapter": adapter, "intent": intent});
            let error = rpc.refused("adapter.send", &send);
            let why = error["message"].as_str().unwrap();
            assert_eq!(error["code"], -32603, "{error}");
            let said = format!("`{export}` did not say whether to type");
            assert!(why.contains(&said), "{body}: {error}");
            eventually("what came before is typed", || typed(&home) == before);
        }
    }
}

#[test]
fn who_says_nothing_lets_type() {
    for export in ["", "function M.enter_refused() end", "function M.may_type() return true end"] {
        let home = home();
        let (_server, mut rpc, adapter) = asked(&home, export);
        rpc.call("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
        eventually("all is typed", || typed(&home) == b"\x1b[200~go\x1b[201~\r");
    }
}

/// A dialog that is not drawn yet would have swallowed the paste, and take Enter for a yes.
#[test]
fn enter_waits_until_what_was_pasted_is_to_be_seen() {
    let home = home();
    let often =
        "local asked = 0\nfunction M.enter_refused() asked = asked + 1; return asked < 4 end";
    let (_server, mut rpc, adapter) = asked(&home, often);
    rpc.call("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    eventually("all is typed", || typed(&home) == b"\x1b[200~go\x1b[201~\r");
    drop(rpc);
    let home = super::home();
    let (_server, mut rpc, adapter) = asked(&home, "function M.enter_refused() return true end");
    let error = rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    assert!(error["message"].as_str().unwrap().contains("not_pasted"), "{error}");
    assert_eq!(typed(&home), b"\x1b[200~go\x1b[201~");
}

#[test]
fn a_prompt_that_is_pending_is_not_said_to_be_in_the_composer() {
    let home = home();
    let (_server, mut rpc, adapter) =
        asked(&home, "function M.submission_state() return \"pending\" end");
    let error = rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    let why = error["message"].as_str().unwrap();
    assert_eq!(why, "whether the prompt was submitted could not be seen within 10 s", "{error}");
    assert_eq!(typed(&home), b"\x1b[200~go\x1b[201~\r");
}

/// All of it is typed, so a turn may end when its time is over; who goes on waiting waits for that prompt.
#[test]
fn a_turn_does_not_wait_longer_for_a_pending_prompt_than_for_all() {
    let home = home();
    let (_server, mut rpc, adapter) = asked(
        &home,
        "function M.wait_turn_matcher() return ptywright.matcher.contains_text(\"x\") end\n\
        function M.submission_state() return \"pending\" end",
    );
    let turn = json!({"adapter": adapter, "send": {"intent": "go"}, "wait": {"timeout_ms": 300}});
    let begun = Instant::now();
    let error = rpc.refused("adapter.turn", &turn);
    assert_eq!(error["code"], -32001, "{error}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(typed(&home), b"\x1b[200~go\x1b[201~\r");
}

#[test]
fn enter_is_pressed_again_while_a_prompt_is_unsent() {
    let home = home();
    let (_server, mut rpc, adapter) =
        asked(&home, "function M.submission_state() return \"unsent\" end");
    let error = rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    let why = error["message"].as_str().unwrap();
    assert_eq!(why, "the prompt was not submitted: it is still in the composer", "{error}");
    assert_eq!(typed(&home), b"\x1b[200~go\x1b[201~\r\r\r\r");
}

/// The composer comes half a second after the prompt was sent.
#[test]
fn a_prompt_waits_for_its_composer() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let early = home.path().join("early");
    let script = format!(
        "timeout 0.5 cat > {}; show ready; take 15 > {}; show completed; exec cat",
        early.display(),
        home.path().join("typed").display()
    );
    let adapter = showing(&mut rpc, &script);
    let send = json!({"intent": "send_prompt", "params": {"prompt": "go"}});
    let ended = rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}));
    assert_eq!(ended["state"]["state"], "completed_turn", "{ended}");
    assert_eq!(std::fs::read(&early).unwrap(), b"");
    assert_eq!(typed(&home), b"\x1b[200~go\x1b[201~\r");
}

#[test]
fn a_dialog_that_comes_before_the_composer_gets_no_prompt() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let typed = home.path().join("typed");
    let script = format!("sleep 0.3; show trust; exec cat > {}", typed.display());
    let adapter = showing(&mut rpc, &script);
    let send = json!({"intent": "send_prompt", "params": {"prompt": "go"}});
    let error = rpc.refused("adapter.turn", &json!({"adapter": adapter, "send": send}));
    let why = error["message"].as_str().unwrap();
    assert!(why.contains("dialog_open: the state is `waiting_for_trust`"), "{error}");
    let state = rpc.call("adapter.state", &json!({"adapter": adapter}))["state"].clone();
    assert_eq!(state["state"], "waiting_for_trust", "{state}");
    assert_eq!(std::fs::read(&typed).unwrap(), b"");
}

/// Nothing was typed yet, so a turn may end when its time is over.
#[test]
fn a_turn_does_not_wait_longer_for_a_composer_than_for_all() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let adapter = showing(&mut rpc, "exec sleep 600");
    let send = json!({"intent": "send_prompt", "params": {"prompt": "go"}});
    let turn = json!({"adapter": adapter, "send": send, "wait": {"timeout_ms": 300}});
    let begun = Instant::now();
    let error = rpc.refused("adapter.turn", &turn);
    assert_eq!(error["code"], -32001, "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_program_that_ends_is_told_as_ended() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let adapter = showing(&mut rpc, "show ready; take 15; exit 3");
    let send = json!({"intent": "send_prompt", "params": {"prompt": "go"}});
    let ended = rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}));
    assert_eq!(ended["state"]["state"], "error", "{ended}");
    assert_eq!(ended["state"]["metadata"]["ended"]["exit_code"], 3, "{ended}");
    for intent in ["wait_turn_matcher", "wait_ready_matcher", "wait_dialog_matcher"] {
        let wait = json!({"adapter": adapter, "intent": intent, "timeout_ms": 20_000});
        assert_eq!(rpc.call("adapter.wait", &wait)["state"]["state"], "error");
    }
}

#[test]
fn a_program_that_ended_before_it_could_be_typed_to_is_told_as_closed_at_once() {
    let home = home();
    let (_server, mut rpc, _) = asked(&home, "function M.may_type() return false end");
    let mut start = super::shell("exit 3");
    start["plugin"] = "asked".into();
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let begun = Instant::now();
    let error = rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    assert_eq!(error["code"], -32002, "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// Its last screen never changes, and is looked at all the same for a while.
#[test]
fn an_adapter_is_not_asked_without_a_pause_of_a_program_that_ended() {
    let home = home();
    let (_server, mut rpc, _) = asked(
        &home,
        "local asked = 0\nfunction M.enter_refused() asked = asked + 1; return true end\n\
        function M.classify() return { state = \"up\", metadata = { asked = asked } } end",
    );
    let mut start = super::shell("stty raw -echo; printf up; head -c 14 > /dev/null");
    start["plugin"] = "asked".into();
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let up = json!({"type": "contains_text", "value": "up"});
    rpc.call("adapter.wait", &json!({"adapter": adapter, "matcher": up}));
    let error = rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": "go"}));
    assert!(error["message"].as_str().unwrap().contains("not_pasted"), "{error}");
    let state = rpc.call("adapter.state", &json!({"adapter": adapter}))["state"].clone();
    let asked = state["metadata"]["asked"].as_u64().unwrap();
    assert!(asked < 100, "asked {asked} times");
}

/// Half of a plan is worse than none of it.
#[test]
fn a_plan_whose_labels_cannot_all_be_set_is_not_begun() {
    let home = home();
    let (_server, mut rpc, adapter) = asked(
        &home,
        "function M.long() return { actions = { a.text(\"A\"), a.mark_transcript((\"x\"):rep(257)), a.text(\"B\") } } end\n\
        function M.mark(params)\n\
          local all = { a.text(\"A\") }\n\
          for i = params.from, params.to do all[#all + 1] = a.mark_transcript(\"m\" .. i) end\n\
          return { actions = all }\n\
        end",
    );
    let mark = |from: u8, to: u8| json!({"adapter": adapter, "intent": "mark", "params": {"from": from, "to": to}});
    let mut refuses = |send: &Value, why: &str| {
        let error = rpc.refused("adapter.send", send);
        assert_eq!(error["code"], -32603, "{error}");
        assert!(error["message"].as_str().unwrap().ends_with(why), "{error}");
    };
    refuses(&json!({"adapter": adapter, "intent": "long"}), "a label has 1 to 256 bytes");
    refuses(&mark(1, 65), "at most 64 labels in a transcript");
    rpc.call("adapter.send", &mark(1, 64));
    eventually("the text of what was let through", || typed(&home) == b"A");
    let error = rpc.refused("adapter.send", &mark(64, 65));
    assert_eq!(error["code"], -32603, "{error}");
    rpc.call("adapter.send", &mark(1, 64));
    eventually("that and nothing else is typed", || typed(&home) == b"AA");
}
