//! OpenTelemetry: what the daemon counts and does, for a collector, if the environment names one.
//!
//! Sent are the numbers that `/metrics` has, a span for every request of a browser, and two for every
//! session: that it was made, and, when it ends, its whole life. No address, name, command or output is
//! ever in one. The libraries keep it and send it from threads of their own (`post`); here is only what
//! is handed to them, which never waits. `wanted` reads the environment, `off` stands here in a program
//! that was built without.
//!
//! **Invariant:** without a collector there is no thread, no subscription and no wake-up.

mod post;
mod wanted;

use std::env;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use greenroom_door_web::{Kind, NUMBERS, Served, Watch};
use greenroom_engine::{End, Engine, HouseEvent, Info, State};
use greenroom_model::ExitStatus;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;

use crate::host;
use crate::web::Web;
use post::Post;
use wanted::Form;

/// What we are called, by ourselves and unless the environment says otherwise.
const NAME: &str = "greenroom";

/// How long the last of it may take to be sent. A collector that is slow must not keep a daemon from
/// being followed by the next one.
const FAREWELL: Duration = Duration::from_secs(1);

/// What is told.
#[derive(Default)]
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
}

impl Telemetry {
    /// Begins to tell what the environment wants told. What cannot be is said in the log, and the
    /// daemon does without.
    pub(crate) fn start(engine: &Engine, web: &Arc<Web>) -> Telemetry {
        let wanted = wanted::wanted(|name| env::var(name).ok());
        for complaint in &wanted.complaints {
            tracing::warn!(%complaint, "OpenTelemetry: this is not sent");
        }
        if !wanted.any() {
            return Telemetry::default();
        }
        let started = Post::new(&wanted).context("finding whom to trust").and_then(|post| {
            let (post, resource) = (Arc::new(post), resource());
            let traces = wanted.traces.map(|form| traces(&post, &resource, form)).transpose()?;
            let metrics = wanted.metrics.map(|form| metrics(&post, &resource, form)).transpose()?;
            Ok(Telemetry { traces, metrics })
        });
        match started {
            Ok(told) => {
                told.begin(engine, web);
                let (traces, metrics) = (wanted.traces.is_some(), wanted.metrics.is_some());
                tracing::info!(traces, metrics, "OpenTelemetry: a collector is told");
                told
            }
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "OpenTelemetry: nothing is sent");
                Telemetry::default()
            }
        }
    }

    fn begin(&self, engine: &Engine, web: &Arc<Web>) {
        if let Some(traces) = &self.traces {
            web.watch(Arc::new(Requests(traces.tracer(NAME))));
        }
        if let Some(metrics) = &self.metrics {
            count(&metrics.meter(NAME), engine, &Arc::downgrade(web));
        }
    }

    /// Tells of sessions that begin and end; never ends itself.
    pub(crate) async fn follow(&self, engine: &Engine) {
        let Some(traces) = &self.traces else { return std::future::pending().await };
        let tracer = traces.tracer(NAME);
        let mut events = engine.events();
        loop {
            match events.recv().await {
                Ok(HouseEvent::Created(id)) => {
                    engine.get(id).iter().for_each(|it| tell_created(&tracer, it));
                }
                Ok(HouseEvent::Ended(id, end)) => {
                    engine.get(id).iter().for_each(|it| tell_ended(&tracer, it, end));
                }
                // Spans that are missed are missed: there were hundreds at once.
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }

    /// Sends the last of it, as far as that is quick.
    pub(crate) async fn end(self) {
        if self.traces.is_none() && self.metrics.is_none() {
            return;
        }
        let (done, ended) = oneshot::channel();
        // A thread that nobody waits for longer than this: the program's end ends it, too.
        std::thread::spawn(move || {
            let traces = self.traces.map(|it| it.shutdown_with_timeout(FAREWELL));
            let metrics = self.metrics.map(|it| it.shutdown_with_timeout(FAREWELL));
            for error in [traces, metrics].into_iter().flatten().filter_map(Result::err) {
                tracing::warn!(%error, "OpenTelemetry: the last of it was not sent");
            }
            // Whoever waited has gone on.
            done.send(()).ok();
        });
        if tokio::time::timeout(FAREWELL, ended).await.is_err() {
            tracing::warn!("OpenTelemetry: the collector was too slow for the last of it");
        }
    }
}

/// Who tells: this program, or what the environment calls it.
fn resource() -> Resource {
    let ours = [
        KeyValue::new("service.name", NAME),
        KeyValue::new("service.version", host::VERSION),
        KeyValue::new("process.pid", i64::from(std::process::id())),
    ];
    let resource = Resource::builder_empty()
        .with_attributes(ours)
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match env::var("OTEL_SERVICE_NAME").ok().filter(|it| !it.is_empty()) {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

// Always said: the library's own default depends on what it was built with.
fn protocol(form: Form) -> Protocol {
    match form {
        Form::Protobuf => Protocol::HttpBinary,
        Form::Json => Protocol::HttpJson,
    }
}

fn traces(post: &Arc<Post>, resource: &Resource, form: Form) -> Result<SdkTracerProvider> {
    let exporter =
        SpanExporter::builder().with_http().with_shared_http_client(Arc::clone(post) as _);
    let exporter = exporter.with_protocol(protocol(form)).build().context("spans")?;
    let provider = SdkTracerProvider::builder().with_resource(resource.clone());
    Ok(provider.with_batch_exporter(exporter).build())
}

fn metrics(post: &Arc<Post>, resource: &Resource, form: Form) -> Result<SdkMeterProvider> {
    let exporter =
        MetricExporter::builder().with_http().with_shared_http_client(Arc::clone(post) as _);
    let exporter = exporter.with_protocol(protocol(form)).build().context("metrics")?;
    let provider = SdkMeterProvider::builder().with_resource(resource.clone());
    Ok(provider.with_periodic_exporter(exporter).build())
}

/// Has everything counted that `/metrics` shows, whenever the library looks.
fn count(meter: &Meter, engine: &Engine, web: &Weak<Web>) {
    let engine = engine.clone();
    meter
        .u64_observable_gauge("greenroom.sessions")
        .with_description("Sessions that live.")
        .with_callback(move |seen| {
            let living = engine.list().iter().filter(|it| it.state == State::Running).count();
            seen.observe(living as u64, &[]);
        })
        .build();
    for number in NUMBERS {
        let (name, web) = (format!("greenroom.{}", number.name), web.clone());
        let unit = if number.bytes { "By" } else { "1" };
        let value = move || web.upgrade().map_or(0, |web| web.number(number));
        // The library has one type for each, and no word for both.
        match number.kind {
            Kind::Gauge => drop(
                meter
                    .u64_observable_gauge(name)
                    .with_description(number.help)
                    .with_unit(unit)
                    .with_callback(move |seen| seen.observe(value(), &[]))
                    .build(),
            ),
            Kind::Counter => drop(
                meter
                    .u64_observable_counter(name)
                    .with_description(number.help)
                    .with_unit(unit)
                    .with_callback(move |seen| seen.observe(value(), &[]))
                    .build(),
            ),
        }
    }
}

/// Makes a span of every request.
struct Requests(SdkTracer);

impl Watch for Requests {
    fn served(&self, served: &Served<'_>) {
        let mut words = vec![
            KeyValue::new("http.request.method", served.method.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(served.status)),
        ];
        let mut name = served.method.to_owned();
        if let Some(route) = served.route {
            words.push(KeyValue::new("http.route", route.to_owned()));
            name = format!("{name} {route}");
        }
        let span = self.0.span_builder(name).with_kind(SpanKind::Server);
        let mut span = span.with_start_time(served.began).with_attributes(words).start(&self.0);
        if served.status >= 500 {
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(served.began + served.took);
    }
}

fn tell_created(tracer: &SdkTracer, info: &Info) {
    let words = [KeyValue::new("greenroom.session.uuid", info.uuid())];
    let span = tracer.span_builder("session.create").with_start_time(made(info));
    span.with_attributes(words).start(tracer).end();
}

fn tell_ended(tracer: &SdkTracer, info: &Info, end: End) {
    let printed = i64::try_from(info.offset.0).unwrap_or(i64::MAX);
    let mut words = vec![
        KeyValue::new("greenroom.session.uuid", info.uuid()),
        KeyValue::new("greenroom.session.printed_bytes", printed),
    ];
    match end {
        End::Exited(ExitStatus::Code(code)) => {
            words.push(KeyValue::new("process.exit.code", i64::from(code)));
        }
        End::Exited(ExitStatus::Signal(signal)) => {
            words.push(KeyValue::new("greenroom.session.signal", i64::from(signal)));
        }
        End::Lost => {}
    }
    let span = tracer.span_builder("session").with_start_time(made(info));
    let mut span = span.with_attributes(words).start(tracer);
    if end == End::Lost {
        span.set_status(Status::error("its holder is gone"));
    }
    span.end();
}

/// When a session was made.
fn made(info: &Info) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(info.created_ms)
}
