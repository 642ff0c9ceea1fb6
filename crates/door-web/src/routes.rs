//! The table of what there is, and the gate every request goes through.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, delete, get};

use crate::auth::{self, Who};
use crate::guard::{self, Origin, Stranger};
use crate::listen::{Site, Wire};
use crate::metrics::count;
use crate::strangers::Source;
use crate::{Flavour, Served, api, chat, native, pages, pty};

/// What only who is known may reach. Everything else is the page, which has no secrets in it, and the
/// way to log in.
const PRIVATE: &[&str] = &["/api/", "/ws/", "/metrics", "/mcp"];

/// What somebody with a link to one session may reach.
const SHARED: &[&str] = &["/api/me", "/ws/native"];

/// All routes of a listener.
pub(crate) fn router(site: &Arc<Site>) -> Router {
    Router::new()
        .route("/health", get(api::health))
        .route("/api/me", get(api::me))
        .route("/api/capabilities", get(api::capabilities))
        .route("/api/config", get(api::config))
        .route("/api/project", get(api::project))
        .route("/api/sessions", any(api::sessions))
        .route("/api/sessions/{id}", delete(api::end_session))
        .route("/metrics", get(api::metrics))
        .route("/login", get(pages::login).post(pages::log_in))
        .route("/login.css", get(pages::login_style))
        .route("/logout", axum::routing::post(pages::log_out))
        .route("/ws/native", get(native::native))
        .route("/ws/pty", get(pty::pty))
        .route("/ws/claude-stream", get(chat::chat))
        .fallback(pages::file)
        .layer(middleware::from_fn_with_state(Arc::clone(site), watched))
        .with_state(Arc::clone(site))
}

/// Why a request goes no further.
enum No {
    /// Because of this.
    Because(StatusCode, &'static str),
    /// Somebody has to log in first.
    LogIn,
    /// They said a secret, and it was wrong.
    Wrong,
}

/// The methods that are told by their name; a stranger may make up any other.
const METHODS: &[Method] = &[
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::OPTIONS,
    Method::PATCH,
    Method::CONNECT,
    Method::TRACE,
];

/// What another method is told as.
const OTHER_METHOD: &str = "_OTHER";

/// What who is not known is told.
const LOG_IN: &str = "log in, or bring the token";

/// Goes through [`gate`], and tells whoever wants to know of every request.
async fn watched(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let Some(watch) = &site.door.around.watch else { return gate(&site, request, next).await };
    let (began, since) = (SystemTime::now(), Instant::now());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = method_name(request.method());
    let answer = gate(&site, request, next).await;
    watch.served(&Served {
        method,
        route: route.as_ref().map(MatchedPath::as_str),
        status: answer.status().as_u16(),
        began,
        took: since.elapsed(),
    });
    answer
}

/// What a method is told as.
pub(crate) fn method_name(method: &Method) -> &'static str {
    METHODS.iter().find(|it| *it == method).map_or(OTHER_METHOD, Method::as_str)
}

/// Lets in who may come in, and says to browsers what our pages may do.
async fn gate(site: &Arc<Site>, mut request: Request, next: Next) -> Response {
    count(&site.door.metrics.requests, 1);
    let wire = request.extensions().get::<Wire>().cloned();
    let Some(wire) = wire else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let (host, passed) = judge(site, &request, wire.local);
    if passed.is_err() {
        count(&site.door.metrics.turned_away, 1);
    }
    let mut answer = match passed {
        Ok(who) => {
            if let Some(who) = who {
                wire.known();
                request.extensions_mut().insert(who);
            }
            next.run(request).await
        }
        Err(No::Because(status, text)) => refusal(status, text),
        Err(No::LogIn) => (StatusCode::FOUND, [(header::LOCATION, "/login")]).into_response(),
        Err(No::Wrong) => wrong(site, &wire).await,
    };
    harden(answer.headers_mut(), &host, site);
    answer
}

/// The answer to who said a wrong secret: at once, or late and the last of a connection if they do so
/// too often.
async fn wrong(site: &Site, wire: &Wire) -> Response {
    let door = &site.door;
    let Some(wait) = door.strangers.wrong(wire.source(), Instant::now()) else {
        return refusal(StatusCode::UNAUTHORIZED, LOG_IN);
    };
    count(&door.metrics.put_off, 1);
    // Those who wait for their answer have bounds of their own, and take nobody's place.
    wire.known();
    door.strangers.wait().await;
    too_often(wait).map(Body::from)
}

/// What who says too many wrong secrets is told.
fn too_often(wait: Duration) -> Response<String> {
    let mut answer = Response::new(complaint("this was wrong too often"));
    *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let heads = answer.headers_mut();
    heads.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    heads.insert(header::RETRY_AFTER, (wait.as_secs() + 1).into());
    heads.insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Notes that somebody who is over their budget said a wrong secret again, and gives what they are told,
/// whole; none if it is not too often any more, and then nothing is noted.
pub(crate) fn put_off(site: &Site, source: Source, host: &str) -> Option<Response<String>> {
    let (door, now) = (&site.door, Instant::now());
    if !door.strangers.is_over(source, now) {
        return None;
    }
    let wait = door.strangers.wrong(source, now)?;
    for counter in [&door.metrics.requests, &door.metrics.turned_away, &door.metrics.put_off] {
        count(counter, 1);
    }
    let mut answer = too_often(wait);
    harden(answer.headers_mut(), host, site);
    Some(answer)
}

/// Whom a request is for if its secret is wrong and nothing else is to be said of it.
pub(crate) fn is_wrong<B>(site: &Site, request: &Request<B>, local: IpAddr) -> Option<String> {
    match judge(site, request, local) {
        (host, Err(No::Wrong)) => Some(host),
        (_, Err(No::Because(..) | No::LogIn) | Ok(_)) => None,
    }
}

/// Whom a request is for, and whether it may go on, with who sent it if that is known.
fn judge<B>(site: &Site, request: &Request<B>, local: IpAddr) -> (String, Result<Option<Who>, No>) {
    let host = site.names.check(request.headers(), request.uri(), local);
    let passed = match &host {
        Ok(_) if pages::needs_password(site) => {
            Err(No::Because(StatusCode::SERVICE_UNAVAILABLE, "set a password first"))
        }
        Ok(host) => pass(site, request, host),
        Err(Stranger::Unclear) => {
            Err(No::Because(StatusCode::BAD_REQUEST, "this needs one `Host`"))
        }
        Err(Stranger::Foreign) => Err(No::Because(
            StatusCode::FORBIDDEN,
            "this is not called that; `doors.web.hosts` has the names it may be called by",
        )),
    };
    (host.unwrap_or_default(), passed)
}

/// Whether a request may go on, and who sent it, if they prove it.
fn pass<B>(site: &Site, request: &Request<B>, host: &str) -> Result<Option<Who>, No> {
    let forbidden = |text| Err(No::Because(StatusCode::FORBIDDEN, text));
    let upgrade = is_upgrade(request.headers());
    let safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = guard::origin(request.headers(), host, site.place.tls);
    let path = request.uri().path();
    let private = upgrade || PRIVATE.iter().any(|it| path.starts_with(it));
    let follows = safe && !private && guard::navigates(request.headers());
    if origin == Origin::Foreign && !follows {
        return forbidden("another site's page may not do this");
    }
    // A token in an address is for those who can say it nowhere else, and that is WebSockets.
    let said = upgrade && !path.starts_with("/api/") && path != "/metrics";
    let who = auth::who(&site.door, &site.proof(), request.headers(), request.uri(), said);
    let Some(who) = who else {
        let carryon = site.place.flavour == Flavour::Carryon;
        return match private {
            true if auth::says_secret(request.headers(), request.uri(), said) => Err(No::Wrong),
            true => Err(No::Because(StatusCode::UNAUTHORIZED, LOG_IN)),
            false if carryon && pages::is_index(path) => Err(No::LogIn),
            false => Ok(None),
        };
    };
    let alone = origin == Origin::Absent && (upgrade || !safe) && private;
    if alone && !who.spoke {
        return forbidden("without an `Origin` this needs the token itself");
    }
    if private && !who.is_owner() && !SHARED.contains(&path) {
        return forbidden("this link is for one session only");
    }
    Ok(Some(who))
}

/// Whether a WebSocket is asked for.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    let said = headers.get_all(header::UPGRADE).iter().filter_map(|it| it.to_str().ok());
    said.flat_map(|it| it.split(',')).any(|it| it.trim().eq_ignore_ascii_case("websocket"))
}

/// Who sent a request that went through the gate.
pub(crate) fn who(request: &Request) -> Option<Who> {
    request.extensions().get::<Who>().cloned()
}

/// A short answer that says no.
pub(crate) fn refusal(status: StatusCode, text: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, complaint(text)).into_response()
}

fn complaint(text: &str) -> String {
    serde_json::json!({"error": text}).to_string()
}

/// What browsers are told our pages may do: run our own scripts, talk to us, and nothing else.
fn harden(headers: &mut HeaderMap, host: &str, site: &Site) {
    let sockets = match (host, site.place.tls) {
        ("", _) => String::new(),
        (host, true) => format!(" wss://{host}"),
        (host, false) => format!(" ws://{host} wss://{host}"),
    };
    // A program in WebAssembly draws pictures.
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data: blob:; font-src 'self'; connect-src 'self'{sockets}; \
         manifest-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'"
    );
    let mut set = |name: header::HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value)
            && !headers.contains_key(&name)
        {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_SECURITY_POLICY, &policy);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if site.place.tls && site.place.certificate.is_some() {
        set(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
}
