//! What a session says of itself. The holder keeps it as an opaque blob, so the list of sessions
//! comes from those that live.

use greenroom_model::SessionId;

use crate::ProtoError;
use crate::fields::{Reader, Writer};

/// Who a session is. Size, process and status are the holder's own and in
/// [`Hello`](crate::Hello).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its number, never used again.
    pub id: SessionId,
    /// Its name over machines and time.
    pub uuid: [u8; 16],
    /// What people call it.
    pub name: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When somebody attached last; zero for never.
    pub attached_ms: u64,
    /// The folder it was started in.
    pub cwd: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whatever else is to be remembered, by name.
    pub notes: Vec<(String, String)>,
}

impl Description {
    /// As bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::plain(&mut out);
        writer.u64(self.id.0);
        writer.rest(&self.uuid);
        writer.bytes(self.name.as_bytes());
        writer.u64(self.created_ms);
        writer.u64(self.attached_ms);
        writer.bytes(self.cwd.as_bytes());
        writer.u32(self.command.len() as u32);
        for word in &self.command {
            writer.bytes(word.as_bytes());
        }
        writer.u32(self.notes.len() as u32);
        for (name, value) in &self.notes {
            writer.bytes(name.as_bytes());
            writer.bytes(value.as_bytes());
        }
        out
    }

    /// From bytes.
    ///
    /// # Errors
    /// The bytes are no description.
    pub fn decode(bytes: &[u8]) -> Result<Description, ProtoError> {
        let mut reader = Reader::new(bytes);
        let id = SessionId(reader.u64()?);
        let mut uuid = [0; 16];
        for byte in &mut uuid {
            *byte = reader.u8()?;
        }
        let name = reader.text()?;
        let (created_ms, attached_ms) = (reader.u64()?, reader.u64()?);
        let cwd = reader.text()?;
        let command = (0..reader.count()?).map(|_| reader.text()).collect::<Result<_, _>>()?;
        let notes = (0..reader.count()?)
            .map(|_| Ok((reader.text()?, reader.text()?)))
            .collect::<Result<_, _>>()?;
        Ok(Description { id, uuid, name, created_ms, attached_ms, cwd, command, notes })
    }
}
