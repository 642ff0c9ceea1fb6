//! Secrets: made of 256 random bits, shown as hexadecimal digits, compared in constant time.

#[cfg(test)]
mod timing;

use std::fmt::{self, Display};
use std::io;

use subtle::ConstantTimeEq as _;

/// How many random bytes a secret has: nobody guesses 256 bits.
const BYTES: usize = 32;

/// How long a secret is as text.
pub(crate) const DIGITS: usize = 2 * BYTES;

/// A secret. It is not printed by accident: only [`Secret::reveal`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Makes one.
    pub(crate) fn random() -> io::Result<Secret> {
        let mut bytes = [0; BYTES];
        let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        if got != BYTES {
            return Err(io::Error::other("the system gave too few random bytes"));
        }
        Ok(Secret(hex(&bytes)))
    }

    /// One that was kept; none if that is none.
    pub(crate) fn from_text(text: &str) -> Option<Secret> {
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (text.len() == DIGITS && digits).then(|| Secret(text.to_ascii_lowercase()))
    }

    /// The secret itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether somebody said it. How long that takes tells nothing but the length, which everybody
    /// knows.
    pub(crate) fn is(&self, said: &str) -> bool {
        self.0.as_bytes().ct_eq(said.as_bytes()).into()
    }

    /// What is kept of it where it need not be shown again.
    pub(crate) fn print(&self) -> Print {
        Print::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a secret")
    }
}

/// What is kept of a secret: its SHA-256. Who reads the file where it is kept cannot use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Print(String);

impl Print {
    /// The print of what somebody said.
    pub(crate) fn of(said: &str) -> Print {
        Print(hex(ring::digest::digest(&ring::digest::SHA256, said.as_bytes()).as_ref()))
    }

    /// One that was kept; none if that is none.
    pub(crate) fn from_text(text: &str) -> Option<Print> {
        Secret::from_text(text).map(|it| Print(it.0))
    }

    /// Whether both are of one secret, in constant time.
    pub(crate) fn is(&self, other: &Print) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Display for Print {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |it: u8| char::from_digit(it.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_only_itself() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert!(one.is(one.reveal()));
        assert!(!one.is(other.reveal()));
        assert!(!one.is(""));
        assert!(!one.is(&one.reveal()[1..]));
        assert!(one.print().is(&Print::of(one.reveal())));
        assert!(!one.print().is(&other.print()));
    }

    #[test]
    fn a_print_is_the_same_in_every_file() {
        let print = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Print::of("abc").to_string(), print);
    }

    #[test]
    fn a_secret_is_not_printed_by_accident() {
        let secret = Secret::random().unwrap();
        assert!(!format!("{secret:?}").contains(secret.reveal()));
    }
}
