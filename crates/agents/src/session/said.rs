//! What becomes of what clients say.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Asked, Flow, Session};
use crate::answer::Answer;
use crate::control::Control;
use crate::frames;
use crate::log::ClientId;
use crate::process::WriteError;
use crate::settings::{self, Places};
use crate::suggestion::{self, Place, Suggestion};
use crate::{rehearsal, turn};

/// How long Claude Code may take to do what it was asked. It answers at once, but may have to start
/// first, on a busy machine.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How long it may take to stop a turn before it gets the signal.
const INTERRUPT_TIME: Duration = Duration::from_secs(5);

/// How many requests may wait for its answer.
const ASKED_MAX: usize = 256;

impl Session {
    pub(super) async fn said(&mut self, client: ClientId, tests: bool, text: &str) -> Flow {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        match value["type"].as_str() {
            // Not a message at all: what somebody typed.
            None => self.turn(client, tests, turn::line(text)),
            Some("user") => match turn::content(&value) {
                Ok(content) => self.turn(client, tests, content),
                Err(error) => self.refuse(client, &error.to_string()),
            },
            Some("command") => {
                let command = value["command"].as_str().unwrap_or_default();
                self.turn(client, tests, turn::line(command));
            }
            Some("control") => self.control(client, &value, &value, None),
            Some("control_request") => {
                let id = value["request_id"].as_str().unwrap_or_default().to_owned();
                self.control(client, &value, &value["request"], Some(id));
            }
            Some("control_response" | "approval_response") => self.answer(client, &value),
            Some("ping") => self.log.push_own(client, &frames::pong(&value)),
            Some("interrupt") => self.interrupt(client),
            Some("restart") => return self.restart().await,
            Some(other) => {
                let other: String = other.chars().take(80).collect();
                let why = format!("no message type is called `{other}`");
                self.log.push_own(client, &frames::ignored(&why));
            }
        }
        Flow::Go
    }

    fn refuse(&mut self, client: ClientId, why: &str) {
        self.log.push_own(client, &frames::error(why));
    }

    /// Writes a line to the process, and keeps it as long as it may have to be written again.
    pub(super) fn write(&mut self, line: String) -> Result<(), WriteError> {
        let process = self.process.as_ref().ok_or(WriteError::Gone)?;
        process.write(&line)?;
        if !self.opening.is_proved {
            self.opening.written.push(line);
        }
        Ok(())
    }

    fn turn(&mut self, client: ClientId, tests: bool, content: Vec<Value>) {
        if tests && let Some(events) = rehearsal::events(turn::first_text(&content)) {
            for event in events {
                self.log.push_own(client, &event);
            }
            return;
        }
        if content.is_empty() {
            let nothing = frames::ignored("there is nothing in the message");
            self.log.push_own(client, &nothing);
            return;
        }
        match self.write(frames::user(&content).to_string()) {
            // A second try is what it takes if this never reaches the conversation's file.
            Ok(()) => self.memory.remember(crate::memory::Known { begun: true, ..self.known }),
            Err(error) => self.refuse(client, &error.to_string()),
        }
    }

    fn control(&mut self, client: ClientId, whole: &Value, request: &Value, id: Option<String>) {
        match Control::from_wire(request) {
            Err(error) => self.refuse(client, &error.to_string()),
            Ok(Control::Initialize) if id.is_none() => {
                let echo = json!({"type": "system", "subtype": "echo", "payload": whole});
                self.log.push_own(client, &echo);
            }
            Ok(Control::Interrupt) => self.ask(client, Control::Interrupt, id, INTERRUPT_TIME),
            Ok(control) => self.ask(client, control, id, ANSWER_TIME),
        }
    }

    fn ask(&mut self, client: ClientId, control: Control, id: Option<String>, time: Duration) {
        if self.asked.len() >= ASKED_MAX {
            return self.refuse(client, "too much waits for an answer of Claude already");
        }
        self.requests += 1;
        let own_id = format!("greenroom-{}", self.requests);
        match self.write(frames::request(&own_id, &control.to_request()).to_string()) {
            Ok(()) => {
                let asked = Asked { control, client, request_id: id, until: Instant::now() + time };
                self.asked.insert(own_id, asked);
            }
            Err(WriteError::Full) if control == Control::Interrupt => self.signal(client),
            Err(error) => self.refuse(client, &error.to_string()),
        }
    }

    fn interrupt(&mut self, client: ClientId) {
        self.ask(client, Control::Interrupt, None, INTERRUPT_TIME);
    }

    pub(super) fn interrupted(&mut self, client: ClientId) {
        self.log.push_own(client, &frames::happened("interrupted", self.id()));
    }

    /// Stops a turn the hard way. Claude Code ends by it, and is started again.
    pub(super) fn signal(&mut self, client: ClientId) {
        if let Some(process) = &self.process {
            process.interrupt();
            self.signalled = Some(Instant::now());
        }
        self.interrupted(client);
    }

    /// Stops to wait for what should have been answered by now.
    pub(super) fn give_up(&mut self, now: Instant) {
        let late: Vec<String> =
            self.asked.iter().filter(|it| it.1.until <= now).map(|it| it.0.clone()).collect();
        for asked in late.iter().filter_map(|id| self.asked.remove(id)).collect::<Vec<_>>() {
            match asked.control {
                Control::Interrupt => self.signal(asked.client),
                control => {
                    let why = format!("Claude did not confirm `{}` in time", control.subtype());
                    self.refuse(asked.client, &why);
                }
            }
        }
    }

    fn answer(&mut self, client: ClientId, message: &Value) {
        let answer = match Answer::from_wire(message) {
            Ok(answer) => answer,
            Err(error) => return self.refuse(client, &error.to_string()),
        };
        let id = &answer.request_id;
        let Some(waiting) = self.waiting.remove(id) else {
            if !rehearsal::is_made_up(id) {
                let id: String = id.chars().take(80).collect();
                self.log.push_own(client, &frames::ignored(&format!("no request `{id}` waits")));
            }
            return;
        };
        let suggestions = if answer.is_allowed() { answer.suggestions.as_slice() } else { &[] };
        let suggestions = suggestion::from_wire(suggestions);
        let session: Vec<Value> = suggestions.iter().map(|it| it.1.to_wire()).collect();
        let response = answer.to_wire(&waiting.input, &session);
        if let Err(error) = self.write(frames::response(id, &response).to_string()) {
            self.refuse(client, &error.to_string());
            self.waiting.insert(id.clone(), waiting);
            return;
        }
        // The others need not answer it any more.
        self.log.push(&frames::settled(id));
        for (place, suggestion) in suggestions {
            self.apply(client, place, suggestion);
        }
    }

    /// What counts from now on besides what the process was told.
    fn apply(&mut self, client: ClientId, place: Option<Place>, suggestion: Suggestion) {
        if let Suggestion::Mode(mode) = suggestion {
            self.options.mode = Some(mode);
            if let Some(confirmation) = Control::Mode(mode).confirmation() {
                self.log.push(&confirmation);
            }
        }
        let Some(place) = place else { return };
        let user = settings::user_folder(&self.config.environment);
        let places = Places { project: self.config.folder.clone(), user };
        let log = Arc::clone(&self.log);
        tokio::spawn(async move {
            let keep = move || settings::keep(&places, place, &suggestion);
            match tokio::task::spawn_blocking(keep).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => log.push_own(client, &frames::error(&error.to_string())),
                Err(error) => tracing::warn!(%error, "a permission was not kept"),
            }
        });
    }
}
