//! OpenTelemetry: what a collector hears, and that without one nobody is told anything.

mod collector;

use std::fs;
use std::time::Instant;

use greenroom_testkit::{Daemon, Home, Signal, create, eventually};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use prost::Message as _;

use self::collector::{Collector, Heard};
use crate::support::{home, wait_for_end};
use crate::web::{SOON, Site};

/// A daemon that serves browsers, with these variables.
fn site(variables: &[(&str, &str)]) -> Site {
    let home = home();
    home.configure("[doors.web]\nenabled = true\nport = 0\nmetrics = true\n");
    let daemon = daemon(&home, variables);
    Site::of(home, daemon)
}

fn daemon(home: &Home, variables: &[(&str, &str)]) -> Daemon {
    let mut command = home.command(["daemon", "start", "--foreground"]);
    command.envs(variables.iter().copied());
    let mut daemon = Daemon::begin(home, command);
    daemon.wait_until_it_answers(home);
    daemon
}

/// The names of a daemon's threads that tell a collector.
fn tellers(daemon: &Daemon) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap().flatten();
    let names = tasks.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
    names.filter(|it| it.starts_with("OpenTelemetry")).collect()
}

fn text<'a>(words: &'a [KeyValue], name: &str) -> Option<&'a any_value::Value> {
    words.iter().find(|it| it.key == name)?.value.as_ref()?.value.as_ref()
}

fn string(value: &str) -> any_value::Value {
    any_value::Value::StringValue(value.to_owned())
}

/// A span as this test looks at it.
struct Span {
    name: String,
    words: Vec<KeyValue>,
    lasted: bool,
}

fn spans(heard: &[Heard]) -> Vec<Span> {
    let bodies = heard.iter().filter(|it| it.path == "/v1/traces");
    let requests = bodies.map(|it| ExportTraceServiceRequest::decode(&it.body[..]).unwrap());
    let scopes = requests.flat_map(|it| it.resource_spans).flat_map(|it| it.scope_spans);
    let spans = scopes.flat_map(|it| it.spans);
    spans
        .map(|it| Span {
            lasted: it.start_time_unix_nano > 0 && it.end_time_unix_nano >= it.start_time_unix_nano,
            name: it.name,
            words: it.attributes,
        })
        .collect()
}

/// The last value of a number.
fn number(heard: &[Heard], name: &str) -> Option<i64> {
    let bodies = heard.iter().filter(|it| it.path == "/v1/metrics");
    let requests = bodies.map(|it| ExportMetricsServiceRequest::decode(&it.body[..]).unwrap());
    let scopes = requests.flat_map(|it| it.resource_metrics).flat_map(|it| it.scope_metrics);
    let last = scopes.flat_map(|it| it.metrics).rfind(|it| it.name == name)?;
    let points = match last.data? {
        metric::Data::Gauge(it) => it.data_points,
        metric::Data::Sum(it) => it.data_points,
        _ => return None,
    };
    match points.first()?.value? {
        number_data_point::Value::AsInt(it) => Some(it),
        number_data_point::Value::AsDouble(_) => None,
    }
}

/// Quick enough for a test; a person's collector is told every few seconds.
const QUICK: [(&str, &str); 2] =
    [("OTEL_METRIC_EXPORT_INTERVAL", "100"), ("OTEL_BSP_SCHEDULE_DELAY", "100")];

#[test]
fn a_collector_hears_numbers_and_spans() {
    let collector = Collector::start();
    let endpoint = collector.url();
    let mut variables = QUICK.to_vec();
    variables.extend([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=green"),
        ("OTEL_SERVICE_NAME", "room"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=mine"),
    ]);
    let site = site(&variables);
    assert_eq!(site.ask("GET /health?token=se-cret", &[], "").status, 200);
    assert_eq!(site.ask("GET /api/me", &[], "").status, 401);
    assert_eq!(site.ask("DELETE /api/sessions/se-cret", &[], "").status, 401);
    let mut connection = site.home.connect();
    create(&mut connection, "living", "read line");
    create(&mut connection, "se-cret", "exit 3");
    wait_for_end(&mut connection, "se-cret");
    assert!(!tellers(&site.daemon).is_empty());
    eventually("everything is told", || {
        let heard = collector.heard();
        let spans = spans(&heard);
        let has = |name: &str| spans.iter().any(|it| it.name == name);
        ["GET /health", "GET /api/me", "DELETE /api/sessions/{id}", "session.create", "session"]
            .into_iter()
            .all(has)
            && number(&heard, "greenroom.sessions") == Some(1)
            && number(&heard, "greenroom.web.requests") == Some(3)
            && number(&heard, "greenroom.web.refused") == Some(2)
    });
    let heard = collector.heard();
    let spans = spans(&heard);
    let of = |name: &str| spans.iter().find(|it| it.name == name).unwrap();
    let health = of("GET /health");
    assert_eq!(text(&health.words, "http.route"), Some(&string("/health")));
    let status = text(&of("GET /api/me").words, "http.response.status_code");
    assert_eq!(status, Some(&any_value::Value::IntValue(401)));
    let code = text(&of("session").words, "process.exit.code");
    assert_eq!(code, Some(&any_value::Value::IntValue(3)));
    assert!(spans.iter().all(|it| it.lasted));
    // What somebody named, typed or asked for stays here.
    let secret = b"se-cret";
    for told in &heard {
        assert!(!told.body.windows(secret.len()).any(|it| it == secret), "{}", told.path);
        assert_eq!(told.header("x-tenant"), Some("green"));
        assert_eq!(told.header("content-type"), Some("application/x-protobuf"));
    }
    let told = heard.iter().find(|it| it.path == "/v1/traces").unwrap();
    let told = ExportTraceServiceRequest::decode(&told.body[..]).unwrap();
    let words = &told.resource_spans[0].resource.as_ref().unwrap().attributes;
    assert_eq!(text(words, "service.name"), Some(&string("room")));
    assert_eq!(text(words, "service.version"), Some(&string("mine")));
    assert_eq!(text(words, "deployment.environment.name"), Some(&string("test")));
}

#[test]
fn what_is_left_at_the_end_is_told_and_in_json_if_that_is_wanted() {
    let collector = Collector::start();
    let metrics = format!("{}/mine", collector.url());
    // Nothing is due before the daemon ends.
    let variables = [
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", metrics.as_str()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "3600000"),
    ];
    let mut site = site(&variables);
    site.ask("GET /health", &[], "");
    site.daemon.signal(Signal::TERM);
    assert_eq!(site.daemon.wait_for_end().code(), Some(0));
    let heard = collector.heard();
    assert_eq!(heard.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["/mine"]);
    assert_eq!(heard[0].header("content-type"), Some("application/json"));
    let body: serde_json::Value = serde_json::from_slice(&heard[0].body).unwrap();
    assert!(body.to_string().contains("greenroom.web.requests"), "{body}");
}

#[test]
fn nobody_is_told_unless_the_environment_names_somebody() {
    let collector = Collector::start();
    let endpoint = collector.url();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    let quiet: [&[(&str, &str)]; 4] = [
        &[],
        &[endpoint, ("OTEL_SDK_DISABLED", "true")],
        &[endpoint, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
        &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
    ];
    for variables in quiet {
        let mut site = site(&[&QUICK[..], variables].concat());
        assert_eq!(site.ask("GET /health", &[], "").status, 200);
        assert!(tellers(&site.daemon).is_empty(), "{variables:?}");
        site.daemon.signal(Signal::TERM);
        assert_eq!(site.daemon.wait_for_end().code(), Some(0));
    }
    assert_eq!(collector.connections(), 0);
    assert!(collector.heard().is_empty());
}

#[test]
fn a_collector_that_does_not_answer_keeps_nobody() {
    let collector = Collector::silent();
    let endpoint = collector.url();
    let mut variables = QUICK.to_vec();
    variables.push(("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()));
    let mut site = site(&variables);
    eventually("it is spoken to", || collector.connections() > 0);
    let begin = Instant::now();
    assert_eq!(site.ask("GET /health", &[], "").status, 200);
    create(&mut site.home.connect(), "living", "read line");
    site.daemon.signal(Signal::TERM);
    assert_eq!(site.daemon.wait_for_end().code(), Some(0));
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
}
