//! TLS: a given certificate, or one of our own.
//!
//! Our own is made for a year and kept; it is made anew a week before its end, and when the names it
//! must be for change. Nobody vouches for it, so its print is logged for who wants to compare.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, KeyPair};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::guard;
use crate::kept;
use crate::secret::Print;

/// How long our own certificate holds.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long before its end it is made anew.
const EARLY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where our own is kept.
const FOLDER: &str = "web-tls";

/// How many addresses a certificate names: a machine with many bridges has dozens, and nobody looks for
/// it at all of them.
const MAX_ADDRESSES: usize = 32;

/// What our own certificate is for: loopback, the names that are configured, and, if other machines
/// reach this one, what it calls itself and the addresses it has now.
pub(crate) fn names(configured: &[String], exposed: bool) -> Vec<String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    names.extend(configured.iter().cloned());
    if exposed {
        names.extend(guard::of_machine());
        names.extend(addresses().iter().map(ToString::to_string));
    }
    // What no certificate can name must not keep it from naming the others.
    names.retain(|name| !name.is_empty() && name.is_ascii());
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The addresses by which other machines reach this one, in an order that does not change with that of
/// the interfaces. Only IPv4: nobody listens at others.
fn addresses() -> Vec<IpAddr> {
    let all = if_addrs::get_if_addrs().unwrap_or_else(|error| {
        tracing::warn!(%error, "the certificate names no address: they could not be listed");
        Vec::new()
    });
    let found: BTreeSet<IpAddr> =
        all.iter().filter(|it| !it.is_loopback()).map(if_addrs::Interface::ip).collect();
    found.into_iter().filter(IpAddr::is_ipv4).take(MAX_ADDRESSES).collect()
}

/// What accepts TLS with a given certificate and key, or with our own for some names.
///
/// # Errors
/// They cannot be read, made or used.
pub(crate) fn acceptor(
    given: Option<&(PathBuf, PathBuf)>,
    state: &Path,
    names: &[String],
) -> io::Result<TlsAcceptor> {
    let (certificate, key) = match given {
        Some((certificate, key)) => (certificate.clone(), key.clone()),
        None => own(&state.join(FOLDER), names)?,
    };
    let chain = CertificateDer::pem_file_iter(&certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&certificate, error))?;
    let key = PrivateKeyDer::from_pem_file(&key).map_err(|error| wrong(&key, error))?;
    if let Some(first) = chain.first() {
        let print = ring::digest::digest(&ring::digest::SHA256, first.as_ref());
        let print: String = print.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        tracing::info!(sha256 = print, "the certificate");
    }
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&certificate, error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("`{}`: {error}", path.display()))
}

/// The files of our own certificate, made if need be.
fn own(folder: &Path, names: &[String]) -> io::Result<(PathBuf, PathBuf)> {
    greenroom_door::own_folder(folder).map_err(io::Error::other)?;
    // The names are in the file's name: with others it is another certificate.
    let of = &Print::of(&names.join("\n")).to_string()[..16];
    let (certificate, key) = (folder.join(format!("{of}.cert")), folder.join(format!("{of}.key")));
    let age = fs::metadata(&certificate)
        .and_then(|it| it.modified())
        .map(|made| SystemTime::now().duration_since(made).unwrap_or_default());
    let fresh = age.is_ok_and(|age| age + EARLY < YEAR) && key.exists();
    if !fresh {
        let (certificate_text, key_text) = make(names).map_err(io::Error::other)?;
        kept::write(&key, &key_text)?;
        kept::write(&certificate, &certificate_text)?;
    }
    Ok((certificate, key))
}

fn make(names: &[String]) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(names.to_vec())?;
    let now = SystemTime::now();
    params.not_before = now.into();
    params.not_after = (now + YEAR).into();
    params.distinguished_name.push(rcgen::DnType::CommonName, "greenroom");
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_names_the_machine_when_others_reach_it() {
        let configured = ["room.example".to_owned(), "localhost".to_owned(), "käse".to_owned()];
        assert_eq!(names(&configured, false), ["localhost", "127.0.0.1", "room.example"]);
        let exposed = names(&configured, true);
        let has = |name: &String| exposed.contains(name);
        assert!(guard::of_machine().iter().all(has), "{exposed:?}");
        assert!(addresses().iter().map(ToString::to_string).all(|it| has(&it)), "{exposed:?}");
        assert!(make(&exposed).is_ok());
    }

    #[test]
    fn our_own_certificate_is_made_once_for_some_names() {
        let state = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        acceptor(None, state.path(), &names).unwrap();
        let folder = state.path().join(FOLDER);
        let (certificate, key) = own(&folder, &names).unwrap();
        let made = fs::read(&certificate).unwrap();
        assert!(kept::read(&key).is_ok(), "only we can read the key");
        assert_eq!(own(&folder, &names).unwrap(), (certificate.clone(), key.clone()));
        assert_eq!(fs::read(&certificate).unwrap(), made);
        assert_ne!(own(&folder, &["room.example".to_owned()]).unwrap().0, certificate);
    }
}
