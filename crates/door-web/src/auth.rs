//! Who sends a request: the owner, somebody with a link to one session, or nobody we know.
//!
//! The token, or a link's secret, comes as `Authorization: Bearer`, or as `?token=` where a WebSocket is
//! asked for and no header can be set; a login comes as its cookie. Only who says a secret itself may
//! leave out the `Origin`: a cookie is sent by browsers, and those say where a request comes from.

use axum::http::{HeaderMap, Uri, header};
use greenroom_engine::Rights;

use crate::logins::Login;
use crate::secret::Secret;
use crate::shares::Share;
use crate::{Auth, Door, Flavour};

/// Our cookie.
pub(crate) const COOKIE: &str = "greenroom-session";

/// carryOn's cookie.
pub(crate) const CARRYON_COOKIE: &str = "carryon-session";

/// What somebody may do.
#[derive(Debug, Clone)]
pub enum Grant {
    /// Everything: it is the owner.
    All,
    /// See one session, and perhaps type into it.
    One(Share),
}

/// Who sends a request.
#[derive(Debug, Clone)]
pub struct Who {
    /// What they may do.
    pub grant: Grant,
    /// They said a secret with the request itself.
    pub(crate) spoke: bool,
    /// The login they came by.
    pub(crate) held: Option<Login>,
}

impl Who {
    /// What they may do, in the engine's words.
    #[must_use]
    pub fn rights(&self) -> Rights {
        match &self.grant {
            Grant::All => Rights::ALL,
            Grant::One(share) => Rights { write: share.write, manage: false },
        }
    }

    /// Whether they proved who they are.
    pub(crate) fn is_proved(&self) -> bool {
        self.spoke || self.held.is_some()
    }

    /// Whether they are the owner.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        matches!(self.grant, Grant::All)
    }
}

/// The cookie's name on a listener.
pub(crate) fn cookie_name(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::Contract => COOKIE,
        Flavour::Carryon => CARRYON_COOKIE,
    }
}

/// Who sends a request; none if they cannot prove it.
pub(crate) fn who(
    door: &Door,
    auth: &Auth,
    headers: &HeaderMap,
    uri: &Uri,
    upgrade: bool,
) -> Option<Who> {
    let said = bearer(headers).or_else(|| if upgrade { query_token(uri) } else { None });
    if let Some(said) = said {
        return by_secret(door, said);
    }
    let by_cookie = cookies(headers).find_map(|cookie| door.logins.find(cookie));
    if let Some(held) = by_cookie {
        let grant = match &held.share {
            None => Grant::All,
            Some(id) => Grant::One(door.shares.get(id)?),
        };
        return Some(Who { grant, spoke: false, held: Some(held) });
    }
    let open = *auth == Auth::None;
    open.then_some(Who { grant: Grant::All, spoke: false, held: None })
}

/// Whether a request has a secret with it, right or wrong.
pub(crate) fn says_secret(headers: &HeaderMap, uri: &Uri, upgrade: bool) -> bool {
    let said = bearer(headers).or_else(|| if upgrade { query_token(uri) } else { None });
    said.is_some() || cookies(headers).next().is_some()
}

/// Who knows a secret: the owner's, or that of a link.
pub(crate) fn by_secret(door: &Door, said: &str) -> Option<Who> {
    let owner = door.token.is(said);
    // Looked for in any case: how long it takes says nothing.
    let share = door.shares.find(said);
    let grant = if owner { Some(Grant::All) } else { share.map(Grant::One) };
    grant.map(|grant| Who { grant, spoke: true, held: None })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, said) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| said.trim())
}

fn query_token(uri: &Uri) -> Option<&str> {
    // A token has nothing in it that would have to be written otherwise in a query.
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == "token").map(|(_, said)| said)
}

/// Our cookies, by whatever name a listener gives them.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    let pairs = all.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.filter(|(name, _)| [COOKIE, CARRYON_COOKIE].contains(name)).map(|(_, said)| said)
}

/// What a browser is to keep: not for scripts, not for other sites, and by TLS only if there is TLS.
pub(crate) fn set_cookie(flavour: Flavour, cookie: &Secret, tls: bool) -> String {
    let (name, seconds) = (cookie_name(flavour), crate::logins::LASTS.as_secs());
    let secure = if tls { "; Secure" } else { "" };
    let said = cookie.reveal();
    format!("{name}={said}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// What makes a browser forget it.
pub(crate) fn unset_cookie(flavour: Flavour) -> String {
    format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", cookie_name(flavour))
}
