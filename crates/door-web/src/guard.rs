//! `Host` and `Origin`: whether a request is meant for us, and whether our own page sends it.
//!
//! A page of somebody else's in the user's browser can make it send requests here, and a name of
//! somebody else's can be made to mean this machine. The first is seen by its `Origin`, the second by
//! its `Host`, which is therefore looked at by itself and before anything else.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, Uri, header};

/// Names every machine has for itself.
const LOCALHOST: &str = "localhost";

/// Why a request is not for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// It does not say whom it is for, or says so twice.
    Unclear,
    /// It is for somebody else.
    Foreign,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From our own page.
    Own,
    /// No browser says so: a program sent it.
    Absent,
    /// From somebody else's page.
    Foreign,
}

/// The names that mean us.
#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// Those that are configured, and the machine's own if others reach it.
    pub(crate) fn new(configured: &[String], exposed: bool) -> Names {
        let mut names: Vec<String> =
            configured.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.push(LOCALHOST.to_owned());
        if exposed {
            names.extend(of_machine());
        }
        Names(names)
    }

    /// Whom a request is for, as its `Host` says, if that is us. `local` is the address it came to.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        local: IpAddr,
    ) -> Result<String, Stranger> {
        // A request to a proxy names its host twice, in two ways. We are none.
        if uri.authority().is_some() {
            return Err(Stranger::Unclear);
        }
        let host = only(headers, &header::HOST).ok_or(Stranger::Unclear)?;
        let host = host.to_str().map_err(|_| Stranger::Unclear)?.to_ascii_lowercase();
        let name = name_of(&host).ok_or(Stranger::Unclear)?;
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let ours = match address {
            Ok(address) => address.to_canonical() == local.to_canonical() || address.is_loopback(),
            Err(_) => self.0.iter().any(|known| known == name),
        };
        if ours { Ok(host) } else { Err(Stranger::Foreign) }
    }
}

/// What the machine calls itself: its host name, and the one its neighbours find it by.
pub(crate) fn of_machine() -> Vec<String> {
    let system = rustix::system::uname();
    let own = system.nodename().to_string_lossy().to_ascii_lowercase();
    match own.is_empty() {
        true => Vec::new(),
        false => vec![format!("{own}.local"), own],
    }
}

/// Where a request to a host comes from. A page that came to a machine in front of us by TLS is ours.
pub(crate) fn origin(headers: &HeaderMap, host: &str, tls: bool) -> Origin {
    if !headers.contains_key(header::ORIGIN) {
        return Origin::Absent;
    }
    let said = only(headers, &header::ORIGIN).and_then(|it| it.to_str().ok());
    let Some((scheme, from)) = said.and_then(|it| it.split_once("://")) else {
        return Origin::Foreign;
    };
    let scheme_fits =
        scheme.eq_ignore_ascii_case("https") || !tls && scheme.eq_ignore_ascii_case("http");
    let usual = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    let bare = |text: &str| text.strip_suffix(usual).unwrap_or(text).to_ascii_lowercase();
    if scheme_fits && bare(from) == bare(host) { Origin::Own } else { Origin::Foreign }
}

/// Whether a person goes here, by a link or an address: the page is then theirs, and not in somebody
/// else's.
pub(crate) fn navigates(headers: &HeaderMap) -> bool {
    let is = |name: &'static str, value: &str| {
        let name = header::HeaderName::from_static(name);
        only(headers, &name).is_some_and(|it| it == value)
    };
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// A header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a HeaderValue> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// The name in `name`, `name:port`, `[address]` or `[address]:port`; none if it is none of these.
fn name_of(host: &str) -> Option<&str> {
    let (name, rest) = match host.starts_with('[') {
        true => host.split_at(host.find(']')? + 1),
        false => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port_fits = match rest.strip_prefix(':') {
        Some(port) => port.parse::<u16>().is_ok(),
        None => rest.is_empty(),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    (port_fits && !name.is_empty() && name.bytes().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn host(hosts: &[&str]) -> Result<String, Stranger> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        let names = Names::new(&["Room.example".to_owned()], false);
        names.check(&headers, &Uri::from_static("/"), IpAddr::from([192, 168, 0, 5]))
    }

    #[test]
    fn only_our_own_names_are_for_us() {
        for ours in [
            "localhost",
            "LOCALHOST:8384",
            "127.0.0.1:1",
            "[::1]:8384",
            "room.example",
            "192.168.0.5:80",
            "[::ffff:192.168.0.5]",
        ] {
            assert!(host(&[ours]).is_ok(), "{ours}");
        }
        for theirs in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil.example:8384",
            "192.168.0.6",
            "room.example.",
            "0.0.0.0",
        ] {
            assert_eq!(host(&[theirs]), Err(Stranger::Foreign), "{theirs}");
        }
        for unclear in ["", "localhost:", "localhost:x", "localhost@evil", "[::1", "a b", ":80"] {
            assert_eq!(host(&[unclear]), Err(Stranger::Unclear), "{unclear}");
        }
        assert_eq!(host(&[]), Err(Stranger::Unclear));
        assert_eq!(host(&["localhost", "localhost"]), Err(Stranger::Unclear));
    }

    #[test]
    fn only_our_own_page_is_ours() {
        let check = |origins: &[&str], host: &str, tls: bool| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            origin(&headers, host, tls)
        };
        let own = "http://localhost:8384";
        assert_eq!(check(&[own], "localhost:8384", false), Origin::Own);
        assert_eq!(check(&["HTTP://LocalHost:8384"], "localhost:8384", false), Origin::Own);
        assert_eq!(check(&["http://localhost"], "localhost:80", false), Origin::Own);
        assert_eq!(check(&["https://room.example"], "room.example", false), Origin::Own);
        assert_eq!(check(&[], "localhost:8384", false), Origin::Absent);
        for foreign in [
            "null",
            "",
            "http://evil.example",
            "http://localhost:3000",
            "http://localhost:8384.evil.example",
            "http://localhost",
            "localhost:8384",
            "http://evil.example:8384",
            "file://localhost:8384",
        ] {
            assert_eq!(check(&[foreign], "localhost:8384", false), Origin::Foreign, "{foreign}");
        }
        assert_eq!(check(&[own], "localhost:8384", true), Origin::Foreign);
        assert_eq!(check(&[own, own], "localhost:8384", false), Origin::Foreign);
    }
}
