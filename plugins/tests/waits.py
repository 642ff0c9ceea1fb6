#!/usr/bin/env python3
"""Holds the wait matchers of the plugins against their fixtures.

Lua has no regular expressions, so this borrows Python's, which agree with the host's on all that is
used here but the name of the end of the text.
"""
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

# Which states each wait of claude-code is for. A state in neither list may go either way.
CLAUDE = {
    "wait_turn_matcher": (
        {"completed_turn", "waiting_for_permission", "waiting_for_trust", "waiting_for_plan_approval",
         "waiting_for_model_select", "waiting_for_login", "usage_screen", "local_ui_screen", "error", "question",
         "waiting_for_external_editor"},
        {"thinking", "ready"}),
    "wait_dialog_matcher": (
        {"waiting_for_permission", "waiting_for_trust", "waiting_for_plan_approval", "waiting_for_model_select", "question"},
        {"completed_turn", "thinking", "usage_screen", "error", "unsent", "ready", "filled"}),
    "wait_ready_matcher": ({"completed_turn", "ready", "filled"}, {
        "thinking", "waiting_for_permission", "waiting_for_trust", "waiting_for_login", "usage_screen", "question"}),
    "wait_cancel_settled_matcher": ({"ready", "filled", "completed_turn", "waiting_for_permission", "question", "usage_screen"}, {"thinking"}),
}
# That of a shell may hold while a command runs: the host goes on for as long as `classify` says so.
SHELL = {"wait_turn_matcher": ({"prompt", "continuation"}, {"starting"})}


def matches(tree, screen, transcript):
    kind, value = tree["type"], tree.get("value")
    if kind == "all":
        return all(matches(inner, screen, transcript) for inner in value)
    if kind == "any":
        return any(matches(inner, screen, transcript) for inner in value)
    if kind == "screen_stable":
        return True
    if kind == "process_exited":
        return False
    if kind == "contains_text":
        return value in screen
    where = screen if kind == "screen_regex" else transcript
    assert kind in ("screen_regex", "transcript_regex"), kind
    return re.search(value.replace(r"\z", r"\Z"), where) is not None


def state_of(name, expected):
    """The state, with the several meanings of `waiting_for_user_input` told apart."""
    if expected["evidence"] == "question dialog detected":
        return "question"
    if expected["evidence"].startswith("submitted prompt still visible"):
        return "unsent"
    if name.endswith("_vim"):
        # The mode stands where `esc to interrupt` would: only `classify` knows.
        return "modal"
    if expected["state"] == "waiting_for_user_input":
        # An idle composer below a turn that ended counts as that, too.
        if name.startswith(("composer", "cancelled_prompt")):
            return "filled"
        return "ready" if name.startswith("ready") else "idle"
    return expected["state"]


def check(plugin, wanted):
    out = subprocess.run(["lua5.4", HERE / "matchers.lua", HERE.parent / plugin], capture_output=True, text=True, check=True)
    trees, failed, count = json.loads(out.stdout), 0, 0
    for path in sorted((HERE.parent / plugin / "fixtures").glob("*.expected.json")):
        name = path.name.removesuffix(".expected.json")
        state = state_of(name, json.loads(path.read_text()))
        transcript = path.with_name(name + ".transcript")
        transcript = transcript.read_text() if transcript.exists() else ""
        # The host gives a screen without the blank rows and the newline at its end.
        screen = path.with_name(name + ".txt").read_text().rstrip("\n")
        for wait, (yes, no) in wanted.items():
            held = matches(trees[wait], screen, transcript)
            count += 1
            if state in yes and not held or state in no and held:
                failed += 1
                print(f"FAILED {plugin} {name} ({state}): {wait} {'held' if held else 'did not hold'}")
    print(f"{plugin}: {count} waits, {failed} failed")
    return failed


raise SystemExit(check("claude-code", CLAUDE) + check("shell", SHELL))
