//! A program that was built without OpenTelemetry tells nobody anything.

use std::sync::Arc;

use greenroom_engine::Engine;

use crate::web::Web;

/// Nothing that is told.
pub(crate) struct Telemetry;

impl Telemetry {
    /// Says so, if the environment wants something else.
    pub(crate) fn start(_: &Engine, _: &Arc<Web>) -> Telemetry {
        if std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("OTEL_")) {
            tracing::warn!("built without OpenTelemetry: the variables `OTEL_…` do nothing");
        }
        Telemetry
    }

    /// Never ends.
    pub(crate) async fn follow(&self, _: &Engine) {
        std::future::pending().await
    }

    /// There is nothing to end.
    pub(crate) async fn end(self) {}
}
