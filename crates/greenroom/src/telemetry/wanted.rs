//! What the standard environment variables want to be told, and to whom.
//!
//! Without a variable that names a collector, nothing is: the standard's own default, a collector on
//! this machine, would have every daemon knock at a port that is mostly nobody's. Not here: variables
//! that the libraries read themselves (docs/web.md lists them all).

use std::path::PathBuf;
use std::time::Duration;

/// How long a collector has for an answer, by the standard.
const PATIENCE: Duration = Duration::from_secs(10);

/// In which form something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As the standard has it by default.
    Protobuf,
    /// For collectors that people read along with.
    Json,
}

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Spans.
    pub(super) traces: Option<Form>,
    /// Numbers.
    pub(super) metrics: Option<Form>,
    /// How long a collector has for an answer.
    pub(super) patience: Duration,
    /// Whether one is reached by TLS.
    pub(super) tls: bool,
    /// Who vouches for a collector, in a file, if not whom this machine trusts.
    pub(super) certificate: Option<PathBuf>,
    /// What cannot be done.
    pub(super) complaints: Vec<String>,
}

impl Wanted {
    /// Whether anybody is to be told anything.
    pub(super) fn any(&self) -> bool {
        self.traces.is_some() || self.metrics.is_some()
    }
}

/// What an environment wants.
pub(super) fn wanted(variable: impl Fn(&str) -> Option<String>) -> Wanted {
    // An empty one is as good as none, by the standard.
    let set = |name: &str| variable(name).filter(|it| !it.trim().is_empty());
    let mut complaints = Vec::new();
    let disabled = set("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let mut signal = |name: &str| match signal(name, &set) {
        Ok(form) => form.filter(|_| !disabled),
        Err(complaint) => {
            complaints.extend((!disabled).then_some(complaint));
            None
        }
    };
    let (traces, metrics) = (signal("TRACES"), signal("METRICS"));
    let patience = set("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|it| it.trim().parse().ok());
    let endpoints =
        ["", "_TRACES", "_METRICS"].map(|it| format!("OTEL_EXPORTER_OTLP{it}_ENDPOINT"));
    let is_tls = |it: String| it.trim().to_ascii_lowercase().starts_with("https:");
    Wanted {
        traces,
        metrics,
        patience: patience.map_or(PATIENCE, Duration::from_millis),
        tls: endpoints.iter().filter_map(|it| set(it)).any(is_tls),
        certificate: set("OTEL_EXPORTER_OTLP_CERTIFICATE").map(PathBuf::from),
        complaints,
    }
}

/// Whether one kind of thing is wanted, and in which form.
fn signal(name: &str, set: &impl Fn(&str) -> Option<String>) -> Result<Option<Form>, String> {
    let of = |what: &str| {
        let own = format!("OTEL_EXPORTER_OTLP_{name}_{what}");
        set(&own).or_else(|| set(&format!("OTEL_EXPORTER_OTLP_{what}")))
    };
    let exporter = format!("OTEL_{name}_EXPORTER");
    let on = match set(&exporter).as_deref().map(str::trim) {
        Some("none") => false,
        Some("otlp") => true,
        Some(other) => {
            return Err(format!("`{exporter}={other}`: only `otlp` and `none` are known"));
        }
        None => of("ENDPOINT").is_some(),
    };
    match of("PROTOCOL").as_deref().map(str::trim) {
        Some("http/protobuf") | None => Ok(on.then_some(Form::Protobuf)),
        Some("http/json") => Ok(on.then_some(Form::Json)),
        Some(other) if on => Err(format!(
            "`OTEL_EXPORTER_OTLP_PROTOCOL={other}`: only `http/protobuf` and `http/json` are known"
        )),
        Some(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], traces: bool, metrics: bool, complaints: usize) {
        let variable =
            |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let wanted = wanted(variable);
        let told = (wanted.traces.is_some(), wanted.metrics.is_some());
        assert_eq!(told, (traces, metrics), "{variables:?}");
        assert_eq!(wanted.complaints.len(), complaints, "{wanted:?}");
    }

    #[test]
    fn nothing_is_told_unless_a_collector_is_named() {
        const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[], false, false, 0);
        check(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "")], false, false, 0);
        check(&[ENDPOINT], true, true, 0);
        check(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://x")], false, true, 0);
        check(&[("OTEL_TRACES_EXPORTER", "otlp")], true, false, 0);
        check(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")], false, true, 0);
        check(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")], false, false, 0);
    }

    #[test]
    fn what_is_not_known_is_said_and_not_done() {
        const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], false, false, 2);
        check(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")], false, true, 1);
        check(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")], true, true, 0);
        check(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "prometheus")], true, false, 1);
        check(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], false, false, 0);
    }

    #[test]
    fn only_a_collector_by_tls_needs_certificates() {
        let with = |endpoint: &'static str| {
            wanted(move |name| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| endpoint.to_owned()))
        };
        assert!(with("HTTPS://collector").tls);
        assert!(!with("http://collector").tls);
    }
}
