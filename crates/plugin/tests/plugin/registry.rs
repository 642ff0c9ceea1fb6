//! How plugins come, are described, and go.

use std::os::unix::fs::symlink;

use greenroom_plugin::{Builtin, Kind, PluginError, Registry, Sight};
use serde_json::{Value, json};

use crate::common::{Folder, built_in, manifest};

/// The documented example: it says nothing of `sequence`.
const ECHO: &str = "
local M = {}
function M.classify(input)
  if input.screen:find('ready', 1, true) then
    return { state = 'ready', confidence = 0.91234, evidence = 'saw ready' }
  end
  return { state = 'starting', confidence = 0.5, evidence = 'nothing yet', candidates = {} }
end
function M.send_line(params)
  return { actions = { ptywright.action.text(params.line), ptywright.action.key('enter') },
           last_intent = 'sent' }
end
function M.wait_ready_matcher(params)
  return ptywright.matcher.contains_text('ready')
end
return M
";

fn empty() -> Registry {
    Registry::new(vec![]).unwrap()
}

async fn refused(folder: &Folder) -> String {
    let error = empty().load(&folder.manifest()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unloadable, "{error}");
    error.to_string()
}

#[tokio::test]
async fn the_echo_plugin_works() {
    let folder = Folder::new("echo", &[("main.lua", ECHO)]);
    let registry = empty();
    assert_eq!(registry.load(&folder.manifest()).await.unwrap(), "echo");
    let adapter = registry.start("echo").await.unwrap();
    let sight = Sight { screen: "all ready".into(), sequence: 7, ..Sight::default() };
    let state = adapter.classify(&sight, None, Some(5), 300).await.unwrap();
    let expected = json!({"state": "ready", "confidence": 0.912, "evidence": "saw ready",
        "sequence": 7, "candidates": []});
    assert_eq!(state.to_json(), expected);
    let plan = adapter.intent("send_line", json!({"line": "hi"})).await.unwrap();
    assert_eq!(plan.last_intent.as_deref(), Some("sent"));
    assert_eq!(plan.actions[0], json!({"type": "text", "value": "hi"}));
    let tree = adapter.matcher("wait_ready_matcher", Value::Null).await.unwrap();
    assert_eq!(tree, json!({"type": "contains_text", "value": "ready"}));
    for reserved in ["classify", "describe"] {
        let error = adapter.intent(reserved, Value::Null).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NoFunction);
    }
}

#[tokio::test]
async fn a_classifier_sees_everything_it_should() {
    let registry = built_in(
        "return { classify = function(input) return { state = 's', metadata = input } end }",
    );
    let adapter = registry.start("p").await.unwrap();
    let sight = Sight {
        screen: "s".into(),
        body_text: "b".into(),
        status_text: "t".into(),
        transcript: "x".into(),
        sequence: 3,
        markers: [("turn_start".to_owned(), 9)].into(),
        cursor: 12,
        ..Sight::default()
    };
    let state = adapter.classify(&sight, Some("sent"), Some(4), 300).await.unwrap();
    let expected = json!({"screen": "s", "body_text": "b", "status_text": "t", "transcript": "x",
        "sequence": 3, "last_intent": "sent", "stable_ms": 4, "completed_turn_stable_ms": 300,
        "markers": {"turn_start": 9}, "cursor": 12, "process_exited": false});
    let mut seen = state.metadata.unwrap();
    let clock = seen.as_object_mut().unwrap().remove("clock_ms");
    assert!(clock.is_some_and(|it| it.is_u64()));
    assert_eq!(seen, expected);
    let state = adapter.classify(&sight, None, None, 300).await.unwrap().metadata.unwrap();
    assert_eq!((state.get("last_intent"), state.get("stable_ms")), (None, None));
}

#[tokio::test]
async fn predicates_say_yes_no_or_why() {
    let registry = built_in(
        "return { yes = function() return true end, no = function() return false end,
           none = function() end, wrong = function() return 'yes' end,
           unmatched = function() return { evidence = 'e' } end,
           full = function(input) return { matched = true, evidence = input.params.anchor,
             capture = { input.screen, input.process_exited, input.stable_ms } } end }",
    );
    let sight =
        Sight { screen: "S".into(), process_exited: true, stable_ms: Some(8), ..Sight::default() };
    let ask =
        async |name: &str| registry.predicate("p", name, &sight, json!({"anchor": "a"})).await;
    assert_eq!(ask("yes").await.unwrap(), Some(greenroom_plugin::Outcome::default()));
    for name in ["no", "none", "unmatched"] {
        assert_eq!(ask(name).await.unwrap(), None, "{name}");
    }
    let full = ask("full").await.unwrap().unwrap();
    assert_eq!(full.evidence, Some(json!("a")));
    assert_eq!(full.capture, Some(json!(["S", true, 8])));
    let error = ask("wrong").await.unwrap_err().to_string();
    assert_eq!(error, "plugin `p`: `wrong` returned a string where a table with names is expected");
    assert_eq!(ask("absent").await.unwrap_err().kind(), Kind::NoFunction);
    let nobody = registry.predicate("q", "yes", &sight, Value::Null).await.unwrap_err();
    assert_eq!(nobody.to_string(), "unknown plugin: q");
}

#[tokio::test]
async fn vms_share_nothing() {
    let registry = built_in(
        "local count = 0 return { bump = function() count = count + 1 return { matched = true,
           capture = count } end, go = function() count = count + 1
           return { actions = {}, last_intent = tostring(count) } end }",
    );
    let (one, two) = (registry.start("p").await.unwrap(), registry.start("p").await.unwrap());
    for expected in ["1", "2"] {
        let plan = one.intent("go", Value::Null).await.unwrap();
        assert_eq!(plan.last_intent.as_deref(), Some(expected));
    }
    assert_eq!(two.intent("go", Value::Null).await.unwrap().last_intent.as_deref(), Some("1"));
    let bumped = registry.predicate("p", "bump", &Sight::default(), Value::Null).await.unwrap();
    assert_eq!(bumped.unwrap().capture, Some(json!(1)));
}

#[tokio::test]
async fn describe_says_what_the_plugin_says() {
    let registry = built_in(
        "return { describe = function() return { intents = { { name = 'z', more = { 1 } }, { name = 'a' } },
           wait_matchers = {}, states = { { name = 's' } } } end, other = function() end }",
    );
    let catalog = registry.describe("p").await.unwrap();
    assert_eq!(json!(catalog.intents), json!([{"name": "z", "more": [1]}, {"name": "a"}]));
    assert_eq!(json!(catalog.states), json!([{"name": "s"}]));
    assert!(catalog.wait_matchers.is_empty());
}

#[tokio::test]
async fn describe_looks_itself_if_it_must() {
    let registry = built_in(
        "local M = { b = print, a = function() end, classify = function() end, value = 5 }
         function M.wait_turn_matcher() end return M",
    );
    let catalog = registry.describe("p").await.unwrap();
    assert_eq!(json!(catalog.intents), json!([{"name": "a"}, {"name": "b"}]));
    assert_eq!(json!(catalog.wait_matchers), json!([{"name": "wait_turn_matcher"}]));
    assert!(catalog.states.is_empty());
}

#[tokio::test]
async fn modules_are_found_in_the_folder_and_run_once() {
    let folder = Folder::new(
        "m",
        &[
            (
                "main.lua",
                "local a = require('lib.a') local same = require 'lib.a' == a
            return { f = function() return { matched = true, capture = { a.n, same,
              select(2, pcall(require, '../x')), select(2, pcall(require, 'dyn' .. 'amic')),
              pcall(require, 'absent') } } end }",
            ),
            ("lib/a.lua", "runs = (runs or 0) + 1 return { n = require('lib.b') + runs }"),
            ("lib/b.lua", "return 10"),
            ("dynamic.lua", "return 1"),
        ],
    );
    let registry = empty();
    registry.load(&folder.manifest()).await.unwrap();
    // Nothing is read again.
    std::fs::remove_dir_all(folder.path()).unwrap();
    let found = registry.predicate("m", "f", &Sight::default(), Value::Null).await.unwrap();
    let capture = found.unwrap().capture.unwrap();
    assert_eq!(capture[0], 11);
    assert_eq!(capture[1], true);
    assert_eq!(capture[2], "no module `../x` in the plugin");
    assert_eq!(capture[3], "no module `dynamic` in the plugin");
    assert_eq!(capture[4], false);
}

#[tokio::test]
async fn paths_that_leave_the_folder_are_refused() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let folder = Folder::new("m", &[]);
    for (entrypoint, why) in [
        ("../main.lua", "must not contain `..`"),
        ("a/../../main.lua", "must not contain `..`"),
        ("/etc/passwd", "must be relative to the manifest"),
        ("link.lua", "resolves outside the folder"),
        ("up/main.lua", "resolves outside the folder"),
        ("folder", "is no file"),
        ("missing.lua", "cannot read"),
    ] {
        folder.write("manifest.toml", &manifest("m", "").replace("main.lua", entrypoint));
        if entrypoint == "link.lua" {
            symlink(outside.path(), folder.path().join("link.lua")).unwrap();
            symlink(std::env::temp_dir(), folder.path().join("up")).unwrap();
            std::fs::create_dir(folder.path().join("folder")).unwrap();
        }
        let error = if entrypoint == "up/main.lua" {
            let name = outside.path().file_name().unwrap().to_str().unwrap();
            folder.write(
                "manifest.toml",
                &manifest("m", "").replace("main.lua", &format!("up/{name}")),
            );
            refused(&folder).await
        } else {
            refused(&folder).await
        };
        assert!(error.contains(why), "{entrypoint}: {error}");
    }
}

#[tokio::test]
async fn a_module_that_leaves_the_folder_is_refused() {
    let outside = Folder::new("o", &[("secret.lua", "return 'secret'")]);
    let folder = Folder::new("m", &[("main.lua", "return { x = require('secret') }")]);
    symlink(outside.path().join("secret.lua"), folder.path().join("secret.lua")).unwrap();
    assert_eq!(refused(&folder).await, "`secret.lua` resolves outside the folder of the manifest");
}

#[tokio::test]
async fn a_link_that_stays_in_the_folder_is_fine() {
    let folder = Folder::new("m", &[("real.lua", "return {}")]);
    symlink("real.lua", folder.path().join("main.lua")).unwrap();
    empty().load(&folder.manifest()).await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let folder = Folder::new("m", &[("main.lua", &"-".repeat(2 << 20))]);
    assert!(refused(&folder).await.contains("`main.lua` is larger than"));
    let requires: String = (0..100).map(|it| format!("require('m{it}') ")).collect();
    let folder = Folder::new("m", &[("main.lua", &requires)]);
    for it in 0..100 {
        folder.write(&format!("m{it}.lua"), "return 1");
    }
    assert!(refused(&folder).await.contains("more than 64 Lua files"));
    folder.write("manifest.toml", &"#".repeat(1 << 20));
    assert!(refused(&folder).await.contains("manifest.toml` is larger than"));
}

#[tokio::test]
async fn a_manifest_that_is_none_is_refused() {
    let folder = Folder::new("m", &[("main.lua", "return {}")]);
    for (text, why) in [
        ("name = ", "manifest: "),
        ("name = 'x'", "manifest: missing field `kind`"),
        ("name = ''\nkind = 'adapter'\nversion = '1'", "plugin name must not be empty"),
        ("name = 'x'\nkind = 'adapter'\nversion = '1'", "plugin `x` has no Lua entrypoint"),
        (&manifest("x", "\"root\""), "manifest: unknown variant `root`"),
        (&manifest("x", "").replace("\"lua\"", "\"wasm\""), "plugin `x` has no Lua entrypoint"),
    ] {
        folder.write("manifest.toml", text);
        let error = refused(&folder).await;
        assert!(error.starts_with(why), "{error}");
    }
    let error = empty().load("/nowhere/manifest.toml".as_ref()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot read `/nowhere/manifest.toml`"), "{error}");
    let folder = Folder::new("m", &[("main.lua", "return {")]);
    let error = empty().load(&folder.manifest()).await.unwrap_err().to_string();
    assert!(error.starts_with("plugin `m`: `chunk`: main.lua:1: "), "{error}");
}

#[tokio::test]
async fn a_named_pipe_does_not_hold_anybody_up() {
    let folder = Folder::new("m", &[]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("main.lua")).status();
    assert!(made.unwrap().success());
    assert_eq!(refused(&folder).await, "`main.lua` is no file");
}

#[tokio::test]
async fn plugins_with_live_adapters_stay() {
    let folder = Folder::new("echo", &[("main.lua", ECHO)]);
    let registry = built_in(ECHO);
    registry.load(&folder.manifest()).await.unwrap();
    let names: Vec<String> = registry.manifests().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["p", "echo"]);
    assert_eq!(registry.builtins().len(), 1);
    let error = registry.load(&folder.manifest()).await.unwrap_err().to_string();
    assert_eq!(error, "plugin `echo` is already registered");

    let adapter = registry.start("echo").await.unwrap();
    let error = registry.unload("echo").unwrap_err();
    assert!(matches!(error, PluginError::LiveAdapters { count: 1, .. }));
    assert_eq!(error.to_string(), "plugin `echo` has live adapters; call adapter.close first");
    drop(adapter);
    registry.unload("echo").unwrap();
    assert_eq!(registry.unload("echo").unwrap_err().to_string(), "unknown plugin: echo");
    assert!(registry.manifest("echo").is_none());
    assert_eq!(registry.start("echo").await.unwrap_err().kind(), Kind::Unknown);
    let error = registry.unload("p").unwrap_err().to_string();
    assert_eq!(error, "plugin `p` is built in and cannot be unloaded");
    registry.load(&folder.manifest()).await.unwrap();
}

#[test]
fn a_built_in_plugin_must_be_whole() {
    let manifest =
        "name = 'x'\nkind = 'adapter'\nversion = '1'\nruntime = 'lua'\nentrypoint = 'a.lua'";
    let error = Registry::new(vec![Builtin { manifest, files: &[] }]).unwrap_err();
    assert_eq!(error.to_string(), "`a.lua` is not built in");
}
