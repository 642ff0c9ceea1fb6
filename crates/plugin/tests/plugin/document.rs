//! The example of docs/plugins.md, run as a reader would.

use greenroom_plugin::{Registry, Sight};
use serde_json::{Value, json};

use crate::common::Folder;

const DOCUMENT: &str = include_str!("../../../../docs/plugins.md");

/// The block of the document that starts with this line.
fn block(first: &str) -> &str {
    let start = DOCUMENT.find(&format!("\n{first}\n")).unwrap() + 1;
    let text = &DOCUMENT[start..];
    &text[..text.find("\n```").unwrap()]
}

#[tokio::test]
async fn the_example_of_the_document_works() {
    let folder = Folder::new(
        "python",
        &[
            ("manifest.toml", block("# manifest.toml")),
            ("main.lua", block("-- main.lua")),
            ("text.lua", block("-- text.lua")),
        ],
    );
    let registry = Registry::new(vec![]).unwrap();
    assert_eq!(registry.load(&folder.manifest()).await.unwrap(), "python");
    let adapter = registry.start("python").await.unwrap();
    let state = async |screen: &str, last: Option<&str>| {
        let sight = Sight { screen: screen.into(), sequence: 5, ..Sight::default() };
        adapter.classify(&sight, last, None, 300).await.unwrap()
    };
    assert_eq!(state("", None).await.state, "starting");
    assert_eq!(state("Python 3.13\n>>> ", None).await.state, "ready");
    assert_eq!(state(">>> while True: pass\n", Some("running")).await.state, "running");
    let failed = state(">>> 1/0\nZeroDivisionError: division by zero\n>>> ", None).await;
    assert_eq!(failed.state, "ready");
    let expected = json!({"error": "ZeroDivisionError", "message": "division by zero"});
    assert_eq!(failed.metadata, Some(expected));

    let plan = adapter.intent("run", json!({"code": "1 + 1"})).await.unwrap();
    assert_eq!(plan.last_intent.as_deref(), Some("running"));
    assert_eq!(plan.actions.len(), 3);
    let error = adapter.intent("run", json!({})).await.unwrap_err().to_string();
    assert!(error.ends_with("`code` is missing"), "{error}");
    let tree = adapter.matcher("wait_turn_matcher", json!({"completed_turn_stable_ms": 300})).await;
    assert_eq!(tree.unwrap()["type"], "all");
    let sight = Sight { screen: "x\nValueError: no\n".into(), ..Sight::default() };
    let found = registry.predicate("python", "raised", &sight, json!({"name": "ValueError"})).await;
    assert_eq!(found.unwrap().unwrap().capture, Some(json!("no")));
    let none = registry.predicate("python", "raised", &sight, json!({"name": "KeyError"})).await;
    assert!(none.unwrap().is_none());
    let catalog = registry.describe("python").await.unwrap();
    let names: Vec<&Value> = catalog.intents.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["raised", "run"]);
}

#[tokio::test]
#[ignore = "prints how long one look takes"]
async fn speed() {
    let source = "return { classify = function(input) local s = input.screen \
      for i = 1, 50 do if s:find('anchor ' .. i, 1, true) then return { state = 'a' } end end \
      if s:match('\\n%s*>%s*$') then return { state = 'b' } end return { state = 'c' } end }";
    let adapter = crate::common::adapter(source).await.unwrap();
    let sight = Sight {
        screen: format!("{}\n", "x".repeat(200)).repeat(60).into(),
        transcript: "y".repeat(128 << 10).into(),
        ..Sight::default()
    };
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        adapter.classify(&sight, None, None, 300).await.unwrap();
    }
    println!("{:?} a look", began.elapsed() / 1_000);
}
