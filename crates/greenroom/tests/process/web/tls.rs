//! TLS with our own certificate, and plain HTTP where TLS is wanted.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{Answer, Site, answer};

fn certificate(site: &Site) -> CertificateDer<'static> {
    let folder = std::fs::read_dir(site.home.path().join("state/web-tls")).unwrap();
    let mut paths = folder.flatten().map(|it| it.path());
    let path = paths.find(|it| it.extension().is_some_and(|it| it == "cert")).unwrap();
    CertificateDer::from_pem_file(path).unwrap()
}

fn ask(site: &Site, request: &str) -> Answer {
    ask_as(site, "127.0.0.1", request)
}

/// Asks whom it takes for a machine of that name.
fn ask_as(site: &Site, name: &str, request: &str) -> Answer {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(site)).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, site.connect());
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // Not everybody says farewell.
    stream.read_to_end(&mut bytes).unwrap_or_default();
    answer(&bytes)
}

#[test]
fn our_own_certificate_is_for_our_own_address() {
    let site = Site::with("tls = 'on'\n");
    let body = format!("token={}", site.token);
    let login = format!(
        "POST /login HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        site.port,
        body.len()
    );
    let answer = ask(&site, &login);
    assert_eq!(answer.status, 204);
    assert!(answer.header("set-cookie").unwrap().contains("; Secure"));
}

#[test]
fn plain_http_is_sent_to_tls() {
    let site = Site::with("tls = 'on'\n");
    let host = format!("localhost:{}", site.port);
    let answer = site.ask("GET /some/where?x=1", &[("Host", &host)], "");
    assert_eq!(answer.status, 301);
    let place = format!("https://{host}/some/where?x=1");
    assert_eq!(answer.header("location"), Some(place.as_str()));
    assert_eq!(site.ask("GET /", &[("Host", "evil.example")], "").status, 403);
    // Neither of them: it is let go of.
    assert_eq!(site.raw(b"\x16\x03\x01\x00\x05hello").status, 0);
}

/// Only over loopback, as everything here: whom a client takes it for is the client's to say.
#[test]
fn our_own_certificate_is_for_the_machine_when_others_reach_it() {
    let site = Site::with("expose = true\nhosts = ['room.example']\n");
    let own = rustix::system::uname().nodename().to_string_lossy().to_ascii_lowercase();
    let mut names = vec!["localhost".to_owned(), "room.example".to_owned()];
    if ServerName::try_from(own.clone()).is_ok() {
        names.push(format!("{own}.local"));
        names.push(own);
    }
    for name in names {
        let request = format!(
            "GET /health HTTP/1.1\r\nHost: {name}:{}\r\nConnection: close\r\n\r\n",
            site.port
        );
        assert_eq!(ask_as(&site, &name, &request).status, 200, "{name}");
    }
}
