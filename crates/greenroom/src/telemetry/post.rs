//! How a collector is told: one HTTP request after another, on a thread that may wait.
//!
//! The threads are those of the OpenTelemetry library. Nothing here may run on the daemon's.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::wanted::Wanted;

/// The longest answer that is read: a collector says little, and what it says is not kept.
const ANSWER_MAX: u64 = 64 << 10;

/// Tells a collector.
#[derive(Debug)]
pub(super) struct Post(Agent);

impl Post {
    /// Knows how, and does not connect yet.
    ///
    /// # Errors
    /// Nobody is known who could vouch for a collector.
    pub(super) fn new(wanted: &Wanted) -> io::Result<Post> {
        let mut config = Agent::config_builder()
            .timeout_global(Some(wanted.patience))
            .http_status_as_error(false)
            .max_redirects(0);
        if wanted.tls {
            let roots = match &wanted.certificate {
                Some(path) => of_file(path)?,
                None => of_machine()?,
            };
            let ring = Arc::new(rustls::crypto::ring::default_provider());
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::new_with_certs(&roots))
                .unversioned_rustls_crypto_provider(ring);
            config = config.tls_config(tls.build());
        }
        Ok(Post(config.build().into()))
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut answer = self.0.run(request.map(Vec::from))?;
        let body = answer.body_mut().with_config().limit(ANSWER_MAX).read_to_vec()?;
        Ok(answer.map(|_| Bytes::from(body)))
    }
}

/// Whom this machine trusts.
fn of_machine() -> io::Result<Vec<Certificate<'static>>> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |it| format!(": {it}"));
        return Err(io::Error::other(format!("this machine trusts no certificate{why}")));
    }
    Ok(found.certs.iter().map(|it| Certificate::from_der(it).to_owned()).collect())
}

/// Whom a file names.
fn of_file(path: &Path) -> io::Result<Vec<Certificate<'static>>> {
    let wrong = |text: String| io::Error::other(format!("`{}`: {text}", path.display()));
    let text = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(it) = item.map_err(|error| wrong(error.to_string()))? {
            found.push(it);
        }
    }
    if found.is_empty() {
        return Err(wrong("there is no certificate in it".to_owned()));
    }
    Ok(found)
}

impl HttpClient for Post {
    // Written out, as the library's macro would: it is the only place.
    fn send_bytes<'us, 'sent>(
        &'us self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'us: 'sent,
        Self: 'sent,
    {
        Box::pin(async move { self.send(request) })
    }
}
