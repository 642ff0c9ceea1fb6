//! A browser, as little of one as there can be; and a daemon's door for it.
//!
//! What a browser does with what it gets is the browser's. Here it is only taken, counted, and kept for
//! a look after the clock has stopped.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use memchr::memmem::{self, Finder};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Error, Message, WebSocket};

use super::ours::Ours;
use super::wait::PATIENCE;

/// A WebSocket's client.
pub(super) struct Client(pub(super) WebSocket<TcpStream>);

/// Where our door is.
pub(super) struct Site {
    port: u16,
    token: String,
}

impl Site {
    /// Opens the door of a daemon for browsers, with this configuration.
    pub(super) fn open(ours: &Ours<'_>, configuration: &str) -> Result<Site> {
        let path = ours.home().join("config.toml");
        fs::write(path, configuration).context("writing the configuration")?;
        let mut connection = ours.connect()?;
        connection.call("config.reload", &json!({}))?;
        let opened = connection.call("web.open", &json!({"port": 0}))?;
        let port = opened["port"].as_u64().and_then(|it| u16::try_from(it).ok());
        let token = opened["open"].as_str().and_then(|it| it.split_once("#token="));
        let token = token.context("no token")?.1.to_owned();
        Ok(Site { port: port.context("no port")?, token })
    }

    /// Opens a WebSocket.
    pub(super) fn socket(&self, path: &str) -> Result<Client> {
        Client::open(self.port, path, &self.token)
    }
}

impl Client {
    pub(super) fn open(port: u16, path: &str, token: &str) -> Result<Client> {
        let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request()?;
        if !token.is_empty() {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
        }
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (socket, _) = tungstenite::client(request, stream).context("opening a WebSocket")?;
        Ok(Client(socket))
    }

    pub(super) fn read(&mut self) -> Result<Bytes> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(text.into()),
                Ok(Message::Binary(bytes)) => return Ok(bytes),
                Ok(Message::Close(frame)) => bail!("it was closed: {frame:?}"),
                Ok(_) => {}
                // A child of the run ended meanwhile.
                Err(Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads until some text has come, and says when; each message is shown to `see` first.
    pub(super) fn read_until(
        &mut self,
        text: &str,
        mut see: impl FnMut(&Bytes) -> Result<()>,
    ) -> Result<Instant> {
        let finder = Finder::new(text.as_bytes());
        // Output is cut anywhere: the end of a message and the beginning of the next are one text.
        let mut kept: Vec<u8> = Vec::new();
        loop {
            let message = self.read().with_context(|| format!("waiting for `{text}`"))?;
            see(&message)?;
            let bytes = inside(&message);
            let head = &bytes[..bytes.len().min(text.len())];
            if finder.find(bytes).is_some() || finder.find(&[&kept[..], head].concat()).is_some() {
                return Ok(Instant::now());
            }
            kept = bytes[bytes.len() - bytes.len().min(text.len())..].to_vec();
        }
    }
}

/// What was printed, as it is written in a message of ours; a relay's is that itself.
fn inside(message: &[u8]) -> &[u8] {
    let inside = message.strip_prefix(br#"{"type":"output","data":""#);
    let end = inside.and_then(|it| memmem::rfind(it, br#"","session_id":""#));
    inside.zip(end).map_or(message, |(it, end)| &it[..end])
}

/// The number behind `"seq":` at the end of a message, found without reading the rest.
pub(super) fn seq(message: &[u8]) -> Option<u64> {
    let name = b"\"seq\":";
    let at = memmem::rfind(message, name)? + name.len();
    let digits = message[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&message[at..at + digits]).ok()?.parse().ok()
}

/// Whether a message is of a type; ours begin with it.
pub(super) fn is(message: &[u8], kind: &str) -> bool {
    message.starts_with(format!("{{\"type\":\"{kind}\"").as_bytes()) || {
        // Messages that are made seldom have their fields in another order.
        let rest = message.len() < SMALL || kind == "history";
        rest && serde_json::from_slice::<Value>(message).is_ok_and(|it| it["type"] == kind)
    }
}

/// What is smaller than this is cheap to read whole.
pub(super) const SMALL: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_by_its_ends() {
        let output = br#"{"type":"output","data":"\"seq\":1 x","session_id":"u","seq":42}"#;
        assert_eq!(
            (seq(output), is(output, "output"), is(output, "lagged")),
            (Some(42), true, false)
        );
        let lagged = br#"{"seq":7,"session_id":"u","type":"lagged"}"#;
        assert_eq!((seq(lagged), is(lagged, "lagged")), (Some(7), true));
        assert_eq!(seq(br#"{"type":"session"}"#), None);
        assert_eq!(inside(output), br#"\"seq\":1 x"#);
        assert_eq!(inside(lagged), lagged);
    }
}
