//! The table of what there is, and the gate every request goes through.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, delete, get};

use crate::auth::{self, Who};
use crate::guard::{self, Origin, Stranger};
use crate::listen::{Site, Wire};
use crate::metrics::count;
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
    let method = METHODS.iter().find(|it| *it == request.method());
    let answer = gate(&site, request, next).await;
    watch.served(&Served {
        method: method.map_or(OTHER_METHOD, Method::as_str),
        route: route.as_ref().map(MatchedPath::as_str),
        status: answer.status().as_u16(),
        began,
        took: since.elapsed(),
    });
    answer
}

/// Lets in who may come in, and says to browsers what our pages may do.
async fn gate(site: &Arc<Site>, mut request: Request, next: Next) -> Response {
    count(&site.door.metrics.requests, 1);
    let wire = request.extensions().get::<Wire>().cloned();
    let Some(wire) = wire else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let host = site.names.check(request.headers(), request.uri(), wire.local);
    let passed = match &host {
        Ok(_) if pages::needs_password(site) => {
            Err(No::Because(StatusCode::SERVICE_UNAVAILABLE, "set a password first"))
        }
        Ok(host) => pass(site, &wire, &mut request, host),
        Err(Stranger::Unclear) => {
            Err(No::Because(StatusCode::BAD_REQUEST, "this needs one `Host`"))
        }
        Err(Stranger::Foreign) => Err(No::Because(
            StatusCode::FORBIDDEN,
            "this is not called that; `doors.web.hosts` has the names it may be called by",
        )),
    };
    if passed.is_err() {
        count(&site.door.metrics.turned_away, 1);
    }
    let mut answer = match passed {
        Ok(()) => next.run(request).await,
        Err(No::Because(status, text)) => refusal(status, text),
        Err(No::LogIn) => (StatusCode::FOUND, [(header::LOCATION, "/login")]).into_response(),
        Err(No::Wrong) => wrong(site, &wire).await,
    };
    harden(answer.headers_mut(), host.as_deref().unwrap_or(""), site);
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
    let mut answer = refusal(StatusCode::TOO_MANY_REQUESTS, "this was wrong too often");
    answer.headers_mut().insert(header::RETRY_AFTER, (wait.as_secs() + 1).into());
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Whether a request may go on; it then knows who sent it.
fn pass(site: &Site, wire: &Wire, request: &mut Request, host: &str) -> Result<(), No> {
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
            false => Ok(()),
        };
    };
    let alone = origin == Origin::Absent && (upgrade || !safe) && private;
    if alone && !who.spoke {
        return forbidden("without an `Origin` this needs the token itself");
    }
    if private && !who.is_owner() && !SHARED.contains(&path) {
        return forbidden("this link is for one session only");
    }
    wire.known();
    request.extensions_mut().insert(who);
    Ok(())
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
    (status, axum::Json(serde_json::json!({"error": text}))).into_response()
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
