//! A look at the head of a request that leaves it where it is, and the answer to who says a wrong secret.
//!
//! The head is looked at in the socket, so whoever is handed on is served as if nobody had looked. What is
//! not a whole head of usual size is nobody's to judge here.
//!
//! Not here: whether a secret is wrong (`routes`), and who is looked at (`porch`).

use std::io::{self, Write as _};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use axum::http::{Method, Request, Response, header};
use rustix::net::{RecvFlags, SendFlags};

use crate::listen::Site;
use crate::routes;

/// How much of a request is looked at: more than programs and most browsers send. Who sends more is served
/// by the daemon itself.
const LOOK_BYTES: usize = 16 << 10;

/// How many headers a request may have: as many as the daemon takes.
const MAX_HEADERS: usize = 100;

/// What there is to see.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Not all of it is there yet.
    Half,
    /// A wrong secret.
    Wrong(Wrong),
    /// Something else, or nothing that can be judged here.
    Other,
}

/// A request with a wrong secret.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// Whom it is for.
    pub(crate) host: String,
    pub(crate) method: Method,
}

/// Looks at what has come, and does not wait for more.
pub(crate) fn look(site: &Site, socket: impl AsFd) -> Seen {
    let mut room = [MaybeUninit::uninit(); LOOK_BYTES];
    let bytes =
        match rustix::net::recv(&socket, &mut room[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok(((bytes, _), _)) => &*bytes,
            Err(rustix::io::Errno::AGAIN) => return Seen::Half,
            Err(_) => return Seen::Other,
        };
    let local = rustix::net::getsockname(&socket).ok().and_then(|it| SocketAddr::try_from(it).ok());
    match (head(bytes), local) {
        (Err(NoHead::Half), _) if bytes.len() < LOOK_BYTES => Seen::Half,
        (Ok(request), Some(local)) => match routes::is_wrong(site, &request, local.ip()) {
            Some(host) => Seen::Wrong(Wrong { host, method: request.method().clone() }),
            None => Seen::Other,
        },
        _ => Seen::Other,
    }
}

/// Why bytes are no head.
#[derive(Debug, PartialEq, Eq)]
enum NoHead {
    /// There is more to come.
    Half,
    /// Whatever comes.
    Strange,
}

fn head(bytes: &[u8]) -> Result<Request<()>, NoHead> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Partial) => return Err(NoHead::Half),
        Ok(httparse::Status::Complete(_)) => {}
        Err(_) => return Err(NoHead::Strange),
    }
    let mut request = Request::builder()
        .method(parsed.method.unwrap_or_default())
        .uri(parsed.path.unwrap_or_default());
    for header in &*parsed.headers {
        request = request.header(header.name, header.value);
    }
    request.body(()).map_err(|_| NoHead::Strange)
}

/// Answers a request that was looked at and hangs up. What cannot be said at once is not said: whether
/// they hear it is theirs to care about.
pub(crate) fn answer(socket: impl AsFd, answer: &Response<String>, method: &Method) {
    // What is left unread would make the system take the answer back.
    let mut room = [MaybeUninit::uninit(); LOOK_BYTES];
    let _read = rustix::net::recv(&socket, &mut room[..], RecvFlags::DONTWAIT);
    // It is short, and nothing was sent before: there is room for it. The end goes along with it.
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL | SendFlags::MORE;
    let _sent = text(answer, method).map(|text| rustix::net::send(&socket, &text, flags));
}

fn text(answer: &Response<String>, method: &Method) -> io::Result<Vec<u8>> {
    let (status, body) = (answer.status(), answer.body());
    let mut text = Vec::with_capacity(1024);
    let reason = status.canonical_reason().unwrap_or_default();
    write!(text, "HTTP/1.1 {} {reason}\r\n", status.as_str())?;
    for (name, value) in answer.headers() {
        write!(text, "{name}: ")?;
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    write!(text, "{}: {}\r\n\r\n", header::CONTENT_LENGTH, body.len())?;
    if *method != Method::HEAD {
        text.extend_from_slice(body.as_bytes());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = "GET /api/me?a=b HTTP/1.1\r\nHost: localhost\r\nA: 1\r\na: 2\r\n\r\nrest";

    #[test]
    fn a_head_is_whole_or_not_wherever_it_is_cut() {
        let end = REQUEST.len() - "rest".len();
        for cut in 0..end {
            assert_eq!(head(&REQUEST.as_bytes()[..cut]).unwrap_err(), NoHead::Half, "{cut}");
        }
        for cut in end..=REQUEST.len() {
            let request = head(&REQUEST.as_bytes()[..cut]).unwrap();
            assert_eq!((request.method(), request.uri().path()), (&Method::GET, "/api/me"));
            assert_eq!(request.uri().query(), Some("a=b"));
            assert_eq!(request.headers().get_all("a").iter().count(), 2);
        }
    }

    #[test]
    fn what_is_no_head_is_not_judged() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: 1\r\n".repeat(MAX_HEADERS + 1));
        for bytes in [&b"\x16\x03\x01\x00\x00"[..], b"GET  / HTTP/9.9\r\n\r\n", many.as_bytes()] {
            assert_eq!(head(bytes).unwrap_err(), NoHead::Strange, "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_is_as_long_as_it_says() {
        let mut answer = Response::new("{}".to_owned());
        answer.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        let heads = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n";
        let said = |method| String::from_utf8(text(&answer, &method).unwrap()).unwrap();
        assert_eq!(said(Method::GET), format!("{heads}{{}}"));
        assert_eq!(said(Method::HEAD), heads);
    }
}
