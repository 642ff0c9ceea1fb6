//! The repository keeps its rules, and the rules see what they should.

use super::complaints;
use super::layers::drawn;
use super::manifests::unexplained;
use super::sources::{has_call, has_home};

#[test]
fn the_repository_keeps_its_rules() {
    let complaints = complaints().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_table_of_layers_is_read() {
    let map = "# Map\n\n| crate | may use |\n| --- | --- |\n| `model` | – |\n| screen | `model` |\n\
               | bench | model, screen |\n\nmore | text\n";
    let expected =
        vec![("model", vec![]), ("screen", vec!["model"]), ("bench", vec!["model", "screen"])];
    assert_eq!(drawn(map), Some(expected));
    assert_eq!(drawn("no table"), None);
}

#[test]
fn a_dependency_without_a_reason_is_found() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\ngood = \"1\" # why\nbad = \"1\"\n\
                    long = { version = \"1\", features = [\n    \"a\",\n] } # why\n\
                    longer = { version = \"1\", features = [\n    \"a\", # not here\n] }\n\n\
                    [dev-dependencies.table]\nversion = \"1\"\n\n[features]\nnone = []\n";
    assert_eq!(unexplained(manifest), [(6, "bad"), (12, "longer"), (14, "table")]);
}

#[test]
fn a_crate_that_is_only_placed_needs_no_reason() {
    assert_eq!(unexplained("[workspace.dependencies]\na = { path = \"crates/a\" }\n"), []);
}

#[test]
fn unfinished_work_is_found() {
    // In two parts, or this file would be found as well.
    assert!(has_call(concat!("    to", "do!(\"later\")"), "todo!"));
    assert!(!has_call("no todo! here", "todo!"));
    assert!(!has_call("my_todo!()", "todo!"));
}

#[test]
fn a_home_folder_is_found() {
    assert!(has_home(concat!("see /ho", "me/anna/notes")));
    assert!(has_home(concat!("\"/ro", "ot/.cargo\"")));
    assert!(!has_home("the folder /home/ alone"));
    assert!(!has_home("https://example.org/home/page"));
}
