//! What becomes of what the process lets hear: most of it is passed on as it is.

use std::mem;
use std::time::Duration;

use serde_json::Value;

use super::{Flow, Session, Trouble, Waiting};
use crate::control::Control;
use crate::frames;
use crate::options::Mode;
use crate::process::Heard;

/// How many requests of a process are kept until they are answered. Claude Code has a few at a time.
const WAITING_MAX: usize = 256;

/// What Claude Code says when it is to go on with a conversation that is not stored.
const MISSING: &str = "No conversation found with session ID";

/// What it says, behind the number, when it is to begin one that is.
const STORED: &str = "is already in use";

/// How long after a signal the end of a process is taken for its effect. Claude Code ends at once.
const SIGNAL_TIME: Duration = Duration::from_secs(10);

/// The tool by which it asks the user something.
const QUESTIONS: &str = "AskUserQuestion";

impl Session {
    pub(super) fn hear(&mut self, heard: Option<Heard>) -> Flow {
        match heard {
            Some(Heard::Line(text)) => self.line(&text),
            Some(Heard::TooLong) => {
                self.log.push(&frames::error("a line of Claude was too long; it was left out"));
            }
            Some(Heard::Complaint(text)) => self.complaint(&text),
            Some(Heard::Ended(code)) => return self.ended(code),
            None => return self.ended(None),
        }
        Flow::Go
    }

    fn complaint(&mut self, text: &str) {
        let frame = frames::complaint(text);
        match trouble(text).filter(|_| !self.opening.is_proved) {
            Some(trouble) => self.hold(frame, trouble),
            None => {
                self.log.push(&frame);
            }
        }
    }

    /// It may be enough to start it the other way; until that is known, nobody hears of it.
    fn hold(&mut self, frame: Value, trouble: Trouble) {
        self.opening.held.push(frame);
        self.opening.trouble = Some(trouble);
    }

    fn line(&mut self, text: &str) {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let Some(kind) = value["type"].as_str() else {
            self.log.push(&frames::raw(text));
            return;
        };
        if kind == "result"
            && value["is_error"] == true
            && let Some(trouble) = trouble(&value["errors"].to_string())
        {
            return self.result_in_trouble(text, value, trouble);
        }
        self.prove();
        match kind {
            "control_response" if self.answered(&value["response"]) => {}
            "control_request" => self.requested(text, &value),
            "control_cancel_request" => {
                let id = value["request_id"].as_str().unwrap_or_default();
                self.waiting.remove(id);
                self.log.push_text(text, &value);
            }
            "system" => self.system(text, &value),
            _ => {
                self.log.push_text(text, &value);
            }
        }
    }

    fn result_in_trouble(&mut self, text: &str, value: Value, trouble: Trouble) {
        if !self.opening.is_proved {
            return self.hold(value, trouble);
        }
        if let Trouble::Missing(why) = trouble {
            self.log.push(&frames::not_found(&why));
        }
        self.log.push_text(text, &value);
    }

    /// It said something that makes sense, so it was started the right way.
    fn prove(&mut self) {
        if self.opening.is_proved {
            return;
        }
        self.opening.is_proved = true;
        self.opening.written = Vec::new();
        self.is_second_try = false;
    }

    fn system(&mut self, text: &str, value: &Value) {
        let pushed = self.log.push_text(text, value);
        match value["subtype"].as_str() {
            Some("init") => {
                self.init = Some(pushed);
                self.remember(true);
            }
            Some("status") => {
                let mode = value["permissionMode"].as_str().and_then(Mode::from_wire);
                self.options.mode = mode.or(self.options.mode);
            }
            _ => {}
        }
    }

    fn requested(&mut self, text: &str, value: &Value) {
        let request = &value["request"];
        let id = value["request_id"].as_str().unwrap_or_default();
        let asks = request["subtype"] == "can_use_tool" && request["tool_name"] == QUESTIONS;
        let (number, text) = if asks {
            self.log.push(&frames::questions(id, request))
        } else {
            self.log.push_text(text, value)
        };
        if self.waiting.len() < WAITING_MAX {
            let input = request["input"].clone();
            self.waiting.insert(id.to_owned(), Waiting { input, number, text });
        }
    }

    /// Takes the answer to a request of ours; false if it is to none.
    fn answered(&mut self, response: &Value) -> bool {
        let id = response["request_id"].as_str().unwrap_or_default();
        let Some(asked) = self.asked.remove(id) else { return false };
        let error = (response["subtype"] != "success").then(|| response["error"].as_str());
        if let Some(own_id) = &asked.request_id {
            let mut response = response.clone();
            response["request_id"] = own_id.as_str().into();
            let answer = serde_json::json!({"type": "control_response", "response": response});
            self.log.push_own(asked.client, &answer);
        }
        match (asked.control, error) {
            (Control::Interrupt, None) => self.interrupted(asked.client),
            (Control::Interrupt, Some(_)) => self.signal(asked.client),
            (control, None) => self.done(&control, asked.client, &response["response"]),
            (_, Some(_)) if asked.request_id.is_some() => {}
            (control, Some(why)) => {
                let why = why.unwrap_or("Claude did not say why");
                let why = format!("`{}` was not done: {why}", control.subtype());
                self.log.push_own(asked.client, &frames::error(&why));
            }
        }
        true
    }

    fn done(&mut self, control: &Control, client: u64, answer: &Value) {
        match control {
            Control::Mode(mode) => self.options.mode = Some(*mode),
            Control::Model(model) => self.options.model.clone_from(model),
            Control::Thinking(tokens) => self.options.max_thinking_tokens = *tokens,
            Control::Other(_) => {
                let subtype = control.subtype();
                let done = serde_json::json!({
                    "type": "control", "subtype": subtype, "response": answer,
                });
                self.log.push_own(client, &done);
            }
            Control::Initialize | Control::Interrupt => {}
        }
        if let Some(confirmation) = control.confirmation() {
            self.log.push(&confirmation);
        }
    }

    fn ended(&mut self, code: Option<i32>) -> Flow {
        self.process = None;
        if let Some(trouble) = self.opening.trouble.take()
            && !self.is_second_try
            && self.turns_around(&trouble)
        {
            return self.try_again();
        }
        if self.signalled.is_some_and(|it| it.elapsed() < SIGNAL_TIME) {
            self.settle_all();
            let flow = self.spawn();
            if flow == Flow::Go {
                self.log.push(&frames::happened("restarted", self.id()));
            }
            return flow;
        }
        for held in mem::take(&mut self.opening.held) {
            self.log.push(&held);
        }
        if code != Some(0) {
            let why = "Claude process exited unexpectedly. Session may be in use.";
            self.log.push(&frames::error(why));
        }
        self.log.push(&frames::exit(code));
        Flow::Over
    }

    /// Whether starting it the other way may help.
    fn turns_around(&mut self, trouble: &Trouble) -> bool {
        match trouble {
            Trouble::Missing(why) if self.known.begun => {
                self.log.push(&frames::not_found(why));
                self.remember(false);
                true
            }
            Trouble::Stored if !self.known.begun => {
                self.remember(true);
                true
            }
            Trouble::Missing(_) | Trouble::Stored => false,
        }
    }

    fn try_again(&mut self) -> Flow {
        let written = mem::take(&mut self.opening.written);
        self.is_second_try = true;
        if self.spawn() == Flow::Over {
            return Flow::Over;
        }
        for line in written {
            if self.write(line).is_err() {
                break;
            }
        }
        Flow::Go
    }
}

fn trouble(text: &str) -> Option<Trouble> {
    if text.contains(MISSING) {
        return Some(Trouble::Missing(MISSING.to_owned()));
    }
    (text.contains("Session ID") && text.contains(STORED)).then_some(Trouble::Stored)
}
