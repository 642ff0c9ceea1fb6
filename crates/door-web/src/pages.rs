//! The page's files, and logging in and out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};

use crate::auth::{self, Grant};
use crate::listen::{Site, Wire};
use crate::metrics::count;
use crate::{Auth, Flavour, raw, routes};

/// The largest form: a password, a token, and much room.
const FORM_BYTES: usize = 16 << 10;

/// How long a form may take to arrive.
const FORM_TIME: Duration = Duration::from_secs(5);

/// What a form is for a person without scripts. `{}` is a message, and what to type.
const LOGIN: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
<meta name=viewport content=\"width=device-width\"><title>greenroom: log in</title>\
<link rel=stylesheet href=/login.css><h1>greenroom</h1><main><p role=status>{message}</p>\
<form method=post action=/login><label>{what}<input type=password name={field} autofocus required \
autocomplete=current-password></label><button>Log in</button></form></main></html>";

/// How the form looks. A file of its own: no page of ours may have styles in its text.
const LOGIN_STYLE: &str = "body{font:1rem system-ui,sans-serif;margin:15vh auto;max-width:22rem;\
padding:0 1rem;color-scheme:light dark}input,button{font:inherit;width:100%;\
box-sizing:border-box;padding:.5rem;margin:.5rem 0}";

/// What is shown when the page was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>greenroom</title>\
<h1>greenroom</h1><p>This program was built without its page. The WebSockets are here: see \
docs/protocol/websocket.md.</html>";

/// Whether a path is the page itself.
pub(crate) fn is_index(path: &str) -> bool {
    path == "/" || path == "/index.html"
}

/// A file of the page; or a WebSocket of carryOn's, which may ask for any path.
pub(crate) async fn file(State(site): State<Arc<Site>>, request: Request) -> Response {
    if routes::is_upgrade(request.headers()) {
        return raw::raw(site, request).await;
    }
    let path = request.uri().path();
    let name = if is_index(path) { "index.html" } else { path.trim_start_matches('/') };
    match site.door.around.assets.get(name) {
        Some(asset) => {
            let lasting = "public, max-age=31536000, immutable";
            let cache = if asset.lasting { lasting } else { "no-cache" };
            let heads = [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, cache)];
            (heads, axum::body::Body::from(asset.bytes.into_owned())).into_response()
        }
        None if is_index(path) => Html(NOT_BUILT).into_response(),
        None => routes::refusal(StatusCode::NOT_FOUND, "there is nothing here"),
    }
}

/// The form, for browsers that came without the token.
pub(crate) async fn login(State(site): State<Arc<Site>>) -> Response {
    form(&site, StatusCode::OK, "")
}

/// How the form looks.
pub(crate) async fn login_style() -> Response {
    ([(header::CONTENT_TYPE, "text/css")], LOGIN_STYLE).into_response()
}

fn form(site: &Site, status: StatusCode, message: &str) -> Response {
    let (what, field) = match site.proof() {
        Auth::Password(_) => ("Password", "password"),
        Auth::Token | Auth::None => ("Token", "token"),
    };
    let page = LOGIN.replace("{message}", message).replace("{what}", what);
    let page = page.replace("{field}", field);
    // With none at all the browser would not say that the form is ours when it is sent.
    (status, [(header::REFERRER_POLICY, "same-origin")], Html(page)).into_response()
}

/// Logs somebody in.
pub(crate) async fn log_in(State(site): State<Arc<Site>>, request: Request) -> Response {
    let Some(wire) = request.extensions().get::<Wire>().cloned() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let wants_page = accepts_page(request.headers());
    let body =
        tokio::time::timeout(FORM_TIME, axum::body::to_bytes(request.into_body(), FORM_BYTES));
    let Ok(Ok(body)) = body.await else {
        return routes::refusal(StatusCode::BAD_REQUEST, "the form did not arrive whole");
    };
    let said = |name: &str| field(&body, name);
    let (door, now) = (&site.door, Instant::now());
    let mut granted = said("token").and_then(|it| auth::by_secret(door, &it)).map(|it| it.grant);
    let wait = door.pace.wait(wire.source(), now);
    if granted.is_none() && wait.is_none() {
        // Counted before it is looked at, which takes a while: many at once are as many tries.
        door.pace.failed(wire.source(), now);
        // A form of carryOn's has one field, for whatever opens.
        let password = said("password").unwrap_or_default();
        let by_secret = auth::by_secret(door, &password).map(|it| it.grant);
        let proof = site.proof();
        granted = match (by_secret, &proof) {
            (None, Auth::Password(hash)) => {
                let granted = verify(&site, password, hash.clone()).await;
                // It takes a while, and another one may be asked for by then.
                granted.filter(|_| site.proof() == proof)
            }
            (by_secret, _) => by_secret,
        };
    }
    let Some(grant) = granted else {
        count(&door.metrics.failed_logins, 1);
        if wait.is_none() {
            tracing::warn!(peer = %wire.peer, "a login failed");
        }
        return failed(&site, wait, wants_page);
    };
    if matches!(grant, Grant::All) {
        // Who has a link knows nothing that would make up for wrong passwords.
        door.pace.succeeded(wire.source());
    }
    count(&door.metrics.logins, 1);
    let share = match grant {
        Grant::All => None,
        Grant::One(share) => Some((share.id, share.until_ms)),
    };
    let Ok(cookie) = door.logins.add(share) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    wire.known();
    let cookie = auth::set_cookie(site.place.flavour, &cookie, site.place.tls);
    match wants_page {
        true => {
            let heads = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
            (StatusCode::SEE_OTHER, heads).into_response()
        }
        false => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
    }
}

fn failed(site: &Site, wait: Option<Duration>, wants_page: bool) -> Response {
    let (status, text) = match wait {
        Some(_) => (StatusCode::TOO_MANY_REQUESTS, "Too many tries. Wait a minute."),
        None => (StatusCode::UNAUTHORIZED, "That was not right."),
    };
    let mut answer = match wants_page {
        true => form(site, status, text),
        false => routes::refusal(status, text),
    };
    if let Some(wait) = wait {
        let seconds = (wait.as_secs() + 1).into();
        answer.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    answer
}

/// Whether a password is the right one; beside the daemon's thread, and one at a time.
async fn verify(site: &Site, password: String, hash: String) -> Option<Grant> {
    let _turn = site.door.hashing.acquire().await.ok()?;
    let fits = tokio::task::spawn_blocking(move || bcrypt::verify(password, &hash));
    matches!(fits.await, Ok(Ok(true))).then_some(Grant::All)
}

/// Logs somebody out, and cuts off what they have open.
pub(crate) async fn log_out(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    auth::cookies(&headers).for_each(|cookie| site.door.logins.remove(cookie));
    let unset = auth::unset_cookie(site.place.flavour);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, unset)]).into_response()
}

/// A browser that follows a form wants a page; a script wants an answer.
fn accepts_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    accept.is_some_and(|it| it.contains("text/html"))
}

/// A field of a form.
fn field(body: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|it| it.0 == name).map(|it| decoded(it.1)).filter(|it| !it.is_empty())
}

/// What `%` and `+` stand for; what stands for nothing stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let code = code.and_then(|it| u8::from_str_radix(it, 16).ok());
        rest = after;
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether carryOn's page may be shown at all: exposed, it needs a password.
pub(crate) fn needs_password(site: &Site) -> bool {
    let place = &site.place;
    place.flavour == Flavour::Carryon && place.expose && !matches!(site.proof(), Auth::Password(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let body = b"a=1&password=p%C3%A4ss+w%2Brd%&token=";
        assert_eq!(field(body, "password").as_deref(), Some("päss w+rd%"));
        assert_eq!(field(body, "token"), None);
        assert_eq!(field(b"\xff=1", "a"), None);
    }
}
