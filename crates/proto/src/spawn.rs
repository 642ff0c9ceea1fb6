//! What a holder is to start. It travels in a message, not in argv: nobody else reads it.

use greenroom_model::Size;

use crate::ProtoError;
use crate::fields::{Reader, Writer};

/// What a holder is to start, and how.
///
/// Paths, arguments and environment are bytes: Unix does not promise text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    /// Where the holder listens for the next daemon.
    pub socket: Vec<u8>,
    /// The session's description, opaque to the holder.
    pub description: Vec<u8>,
    /// The program, looked up in the child's `PATH` if it has no slash.
    pub program: Vec<u8>,
    /// What the program sees as its own name; a login shell wants a dash in front.
    pub arg0: Vec<u8>,
    /// Its arguments after that.
    pub args: Vec<Vec<u8>>,
    /// The child's whole environment; nothing else is added.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The folder it starts in.
    pub cwd: Vec<u8>,
    /// The terminal's size.
    pub size: Size,
    /// How many bytes the holder keeps before it lets the child block.
    pub keep_bytes: u64,
    /// The soft limit on open files the child gets back; zero leaves it as it is.
    pub open_files: u64,
    /// The session ends with the daemon that made it, instead of waiting for the next.
    pub leashed: bool,
    /// The folders of the control groups the child starts in, which go with the holder.
    pub groups: Vec<Vec<u8>>,
}

impl Spawn {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.bytes(&self.socket);
        writer.bytes(&self.description);
        writer.bytes(&self.program);
        writer.bytes(&self.arg0);
        writer.u32(self.args.len() as u32);
        for arg in &self.args {
            writer.bytes(arg);
        }
        writer.u32(self.env.len() as u32);
        for (name, value) in &self.env {
            writer.bytes(name);
            writer.bytes(value);
        }
        writer.bytes(&self.cwd);
        writer.u16(self.size.cols());
        writer.u16(self.size.rows());
        writer.u64(self.keep_bytes);
        writer.u64(self.open_files);
        writer.u8(self.leashed.into());
        writer.u32(self.groups.len() as u32);
        for group in &self.groups {
            writer.bytes(group);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Spawn, ProtoError> {
        let own = |bytes: &[u8]| bytes.to_vec();
        let list = |reader: &mut Reader<'_>| -> Result<Vec<Vec<u8>>, ProtoError> {
            (0..reader.count()?).map(|_| reader.bytes().map(own)).collect()
        };
        Ok(Spawn {
            socket: own(reader.bytes()?),
            description: own(reader.bytes()?),
            program: own(reader.bytes()?),
            arg0: own(reader.bytes()?),
            args: list(reader)?,
            env: (0..reader.count()?)
                .map(|_| Ok((own(reader.bytes()?), own(reader.bytes()?))))
                .collect::<Result<_, _>>()?,
            cwd: own(reader.bytes()?),
            size: read_size(reader)?,
            keep_bytes: reader.u64()?,
            open_files: reader.u64()?,
            // Later than the rest: a daemon that does not know them does not send them.
            leashed: reader.u8().is_ok_and(|leashed| leashed != 0),
            groups: if reader.is_empty() { Vec::new() } else { list(reader)? },
        })
    }
}

pub(crate) fn read_size(reader: &mut Reader<'_>) -> Result<Size, ProtoError> {
    let (cols, rows) = (reader.u16()?, reader.u16()?);
    Size::new(cols, rows).ok_or(ProtoError::Range)
}
