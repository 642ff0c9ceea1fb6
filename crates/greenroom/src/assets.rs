//! The page's files, as they were when the program was built. Without a built page there are none.

use greenroom_door_web::{Asset, Assets};
use rust_embed::RustEmbed;

/// The folder that the page is built into.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

/// The page's files.
pub(crate) struct Embedded;

/// What is in files whose names end so.
const KINDS: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("json", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
    ("wasm", "application/wasm"),
    ("txt", "text/plain; charset=utf-8"),
    ("map", "application/json"),
];

impl Assets for Embedded {
    fn get(&self, path: &str) -> Option<Asset> {
        let file = Built::get(path)?;
        let end = path.rsplit('.').next().unwrap_or_default();
        let kind =
            KINDS.iter().find(|it| it.0 == end).map_or("application/octet-stream", |it| it.1);
        // The build puts a hash into the names of these.
        Some(Asset { bytes: file.data, kind, lasting: path.starts_with("assets/") })
    }
}
