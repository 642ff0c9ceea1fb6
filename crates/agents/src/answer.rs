//! What a user answered to a request of Claude Code, in all the shapes clients send it.
//!
//! Claude Code knows two answers: `allow` with the input to use, `deny` with a message. Any other
//! word is an error that ends the turn, and an answer in another envelope is never seen.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

/// What is told to the model when a user gave no reason.
const DENIED: &str = "User denied permission";

/// How much of a reason is passed on, in characters: a paragraph.
const REASON_MAX: usize = 4000;

/// Why an answer is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerError {
    /// To what is it an answer?
    #[error("an answer needs a `request_id`")]
    NoRequest,
}

/// An answer to one request.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) request_id: String,
    pub(crate) verdict: Verdict,
    /// What is to be allowed from now on, as the client sent it.
    pub(crate) suggestions: Vec<Value>,
}

/// Whether it may.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Yes; with another input if there is one, and answers to its questions.
    Allow { input: Option<Value>, answers: Option<Value> },
    /// No, and why; and whether the turn is to end.
    Deny { message: String, interrupt: bool },
}

impl Answer {
    /// Reads a `control_response` or an `approval_response`.
    pub(crate) fn from_wire(message: &Value) -> Result<Answer, AnswerError> {
        let layers = Layers::of(message);
        let id = layers.find("request_id").or_else(|| layers.find("tool_id"));
        let request_id = id.and_then(Value::as_str).ok_or(AnswerError::NoRequest)?.to_owned();
        let verdict = if layers.is_allowed() { layers.allow() } else { layers.deny() };
        let names = ["permission_suggestions", "permissionSuggestions", "updatedPermissions"];
        let suggestions = names.iter().find_map(|name| layers.find(name)?.as_array().cloned());
        Ok(Answer { request_id, verdict, suggestions: suggestions.unwrap_or_default() })
    }

    /// The answer as Claude Code takes it, to a request with this input.
    pub(crate) fn to_wire(&self, asked: &Value, permissions: &[Value]) -> Value {
        match &self.verdict {
            Verdict::Allow { input, answers } => {
                let mut input = input.as_ref().unwrap_or(asked).clone();
                if let Some(answers) = answers {
                    input["answers"] = answers_to_wire(answers, &asked["questions"]);
                    if input["questions"].is_null() {
                        input["questions"] = asked["questions"].clone();
                    }
                }
                if !input.is_object() {
                    input = json!({});
                }
                let mut answer = json!({"behavior": "allow", "updatedInput": input});
                if !permissions.is_empty() {
                    answer["updatedPermissions"] = permissions.into();
                }
                answer
            }
            Verdict::Deny { message, interrupt: false } => {
                json!({"behavior": "deny", "message": message})
            }
            Verdict::Deny { message, interrupt: true } => {
                json!({"behavior": "deny", "message": message, "interrupt": true})
            }
        }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self.verdict, Verdict::Allow { .. })
    }
}

/// A message and what is nested in it, the innermost first: where fields may stand.
struct Layers<'a>(Vec<&'a Value>);

impl<'a> Layers<'a> {
    fn of(message: &'a Value) -> Layers<'a> {
        let mut layers = vec![message];
        let response = &message["response"];
        layers.push(response);
        if response["response"].is_object() {
            layers.push(&response["response"]);
        }
        layers.reverse();
        Layers(layers)
    }

    fn find(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|layer| layer.get(name).filter(|it| !it.is_null()))
    }

    /// The first of these that is there.
    fn find_any(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.find(name))
    }

    /// Nothing said is a yes, and a word nobody knows a no.
    fn is_allowed(&self) -> bool {
        if self.find("subtype").is_some_and(|it| it == "error") {
            return false;
        }
        let word = self.find_any(&["decision", "behavior"]).or_else(|| self.find("allow"));
        // `"response": "deny"`
        let word = word.or_else(|| self.find("response").filter(|it| it.is_string()));
        match word {
            None => true,
            Some(Value::Bool(allow)) => *allow,
            Some(word) => {
                let word = word.as_str().unwrap_or_default().to_ascii_lowercase();
                ["allow", "grant", "always"].contains(&word.as_str())
            }
        }
    }

    fn allow(&self) -> Verdict {
        let input = self.find_any(&["updatedInput", "updated_input", "tool_input"]);
        // An empty one is what clients send that know nothing of it.
        let input = input.filter(|it| it.as_object().is_some_and(|it| !it.is_empty())).cloned();
        let nested = input.as_ref().and_then(|it| it.get("answers")).cloned();
        Verdict::Allow { answers: self.find("answers").cloned().or(nested), input }
    }

    fn deny(&self) -> Verdict {
        let said = self.find_any(&["message", "reason", "error"]).and_then(Value::as_str);
        let said = said.filter(|it| !it.trim().is_empty()).unwrap_or(DENIED);
        let interrupt = self.find("interrupt") == Some(&Value::Bool(true));
        Verdict::Deny { message: said.chars().take(REASON_MAX).collect(), interrupt }
    }
}

/// Answers by the question's own text, as Claude Code looks them up. Clients give them in a row, or
/// by the text, the header or the place of the question; several choices in a list.
fn answers_to_wire(answers: &Value, questions: &Value) -> Value {
    let questions = questions.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut found = Map::new();
    if let Value::Object(given) = answers {
        // Answers to questions we do not know are passed on as they are.
        for (name, answer) in given.iter().filter(|(name, _)| !is_about(name, questions)) {
            found.insert(name.clone(), chosen(answer, &Value::Null).into());
        }
    }
    for (index, question) in questions.iter().enumerate() {
        let Some(text) = question["question"].as_str() else { continue };
        if let Some(answer) = answer_to(question, index, answers) {
            found.insert(text.to_owned(), chosen(answer, question).into());
        }
    }
    Value::Object(found)
}

fn is_about(name: &str, questions: &[Value]) -> bool {
    let mut questions = questions.iter().enumerate();
    questions.any(|(index, it)| {
        it["question"] == name || it["header"] == name || index.to_string() == name
    })
}

fn answer_to<'a>(question: &Value, index: usize, answers: &'a Value) -> Option<&'a Value> {
    let by = |name: &Value| answers.get(name.as_str()?);
    match answers {
        Value::Object(_) => {
            let place = Value::String(index.to_string());
            by(&question["question"]).or_else(|| by(&question["header"])).or_else(|| by(&place))
        }
        Value::Array(list) => {
            let about = |it: &&Value| {
                let asked = it.get("question");
                asked.is_some_and(|it| *it == question["question"] || *it == question["header"])
            };
            list.iter().find(about).or_else(|| list.get(index))
        }
        _ => (index == 0).then_some(answers),
    }
}

/// What was chosen, as text.
fn chosen(answer: &Value, question: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(several) => {
            let texts: Vec<String> = several.iter().map(|it| chosen(it, question)).collect();
            texts.join(", ")
        }
        Value::Number(number) => {
            let index = number.as_u64().and_then(|it| usize::try_from(it).ok());
            let option = index.and_then(|it| question["options"].get(it)?["label"].as_str());
            option.map_or_else(|| number.to_string(), str::to_owned)
        }
        Value::Object(fields) => {
            let names = ["answer", "answers", "selected", "label", "value"];
            let inner = names.iter().find_map(|name| fields.get(*name));
            inner.map(|it| chosen(it, question)).unwrap_or_default()
        }
        Value::Bool(it) => it.to_string(),
        Value::Null => String::new(),
    }
}
