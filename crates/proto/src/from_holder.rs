//! What a holder says to the daemon.

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset, SessionId, Size};

use crate::ProtoError;
use crate::fields::{Reader, Writer};
use crate::spawn::read_size;

/// Everything a holder says, in this order: `Hello`, `Description`, `Checkpoint` if it has one,
/// `Output` from [`Hello::kept`] on, `Ended`. Or `Failed`, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromHolder {
    /// The first message; the terminal's descriptor comes with its first byte.
    Hello(Hello),
    /// The session's description, as it was given.
    Description(Bytes),
    /// The last checkpoint, as it was given.
    Checkpoint {
        /// The offset it is valid at.
        at: Offset,
        /// The screen.
        blob: Bytes,
    },
    /// What the child wrote, in order and without a gap.
    Output {
        /// The offset of the first byte.
        at: Offset,
        /// The bytes, at most [`MAX_OUTPUT`](crate::MAX_OUTPUT).
        bytes: Bytes,
    },
    /// The child ended and all its output was sent.
    Ended(ExitStatus),
    /// The child could not be started. The holder ends after this.
    Failed {
        /// What was being done.
        stage: Stage,
        /// The system's error number, or zero.
        errno: i32,
    },
    /// What others need to read the terminal beside the holder: with its first byte come the pipe's two
    /// ends and the two pages that its readers share. Whenever it was asked for.
    Tap,
    /// What typing is counted with: with its first byte come the page of the counts and the two ends of a
    /// pipe. Whenever it was asked for.
    Tally {
        /// Whether they come: the system may be out of something.
        given: bool,
    },
}

/// How a holder introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The version it speaks.
    pub version: u16,
    /// Whose holder it is.
    pub session: SessionId,
    /// Its own process.
    pub holder_pid: u32,
    /// The child's.
    pub child_pid: u32,
    /// The terminal's size.
    pub size: Size,
    /// The first byte it still has.
    pub kept: Offset,
    /// The byte after the last it has read so far: what comes before is past.
    pub end: Offset,
    /// Queries before this were answered.
    pub answered: Offset,
    /// Whether a `Checkpoint` follows the description.
    pub checkpoint: bool,
    /// Whether the child was put into the control groups that were named.
    pub grouped: bool,
    /// Whether it answers [`ToHolder::Tally`](crate::ToHolder::Tally).
    pub tallies: bool,
}

/// A step of starting a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Making the terminal.
    Terminal,
    /// Entering the folder.
    Cwd,
    /// Starting the program.
    Program,
    /// Listening for the next daemon.
    Socket,
    /// Entering a control group.
    Group,
}

const HELLO: u8 = 1;
const DESCRIPTION: u8 = 2;
const CHECKPOINT: u8 = 3;
const OUTPUT: u8 = 4;
const ENDED: u8 = 5;
const FAILED: u8 = 6;
const TAP: u8 = 7;
const TALLY: u8 = 8;

/// How many bytes of an output message come before the output.
pub(crate) const OUTPUT_HEADER: usize = crate::HEADER + 8;

impl FromHolder {
    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::message(self.number(), out);
        match self {
            FromHolder::Hello(hello) => hello.write(&mut writer),
            FromHolder::Description(blob) => writer.rest(blob),
            FromHolder::Checkpoint { at, blob: bytes } | FromHolder::Output { at, bytes } => {
                writer.u64(at.0);
                writer.rest(bytes);
            }
            FromHolder::Ended(status) => {
                let (how, number) = match *status {
                    ExitStatus::Code(code) => (0, code),
                    ExitStatus::Signal(signal) => (1, signal),
                };
                writer.u8(how);
                writer.i32(number);
            }
            FromHolder::Failed { stage, errno } => {
                writer.u8(stage.to_wire());
                writer.i32(*errno);
            }
            FromHolder::Tap => {}
            FromHolder::Tally { given } => writer.u8(u8::from(*given)),
        }
        writer.end();
    }

    /// The beginning of an output message, for who writes the bytes from where they lie.
    #[must_use]
    pub fn output_header(at: Offset, length: usize) -> [u8; OUTPUT_HEADER] {
        let mut header = [0; OUTPUT_HEADER];
        header[0] = OUTPUT;
        header[1..5].copy_from_slice(&(length as u32 + 8).to_be_bytes());
        header[5..].copy_from_slice(&at.0.to_be_bytes());
        header
    }

    fn number(&self) -> u8 {
        match self {
            FromHolder::Hello(_) => HELLO,
            FromHolder::Description(_) => DESCRIPTION,
            FromHolder::Checkpoint { .. } => CHECKPOINT,
            FromHolder::Output { .. } => OUTPUT,
            FromHolder::Ended(_) => ENDED,
            FromHolder::Failed { .. } => FAILED,
            FromHolder::Tap => TAP,
            FromHolder::Tally { .. } => TALLY,
        }
    }

    pub(crate) fn decode(number: u8, payload: Bytes) -> Result<Option<FromHolder>, ProtoError> {
        let mut reader = Reader::new(&payload);
        Ok(Some(match number {
            HELLO => FromHolder::Hello(Hello::read(&mut reader)?),
            DESCRIPTION => FromHolder::Description(payload),
            CHECKPOINT => {
                let at = Offset(reader.u64()?);
                FromHolder::Checkpoint { at, blob: payload.slice_ref(reader.rest()) }
            }
            OUTPUT => {
                let at = Offset(reader.u64()?);
                FromHolder::Output { at, bytes: payload.slice_ref(reader.rest()) }
            }
            ENDED => match (reader.u8()?, reader.i32()?) {
                (0, code) => FromHolder::Ended(ExitStatus::Code(code)),
                (1, signal) => FromHolder::Ended(ExitStatus::Signal(signal)),
                _ => return Err(ProtoError::Range),
            },
            FAILED => {
                let stage = Stage::from_wire(reader.u8()?).ok_or(ProtoError::Range)?;
                FromHolder::Failed { stage, errno: reader.i32()? }
            }
            TAP => FromHolder::Tap,
            TALLY => FromHolder::Tally { given: reader.u8()? != 0 },
            _ => return Ok(None),
        }))
    }
}

impl Hello {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.u64(self.session.0);
        writer.u32(self.holder_pid);
        writer.u32(self.child_pid);
        writer.u16(self.size.cols());
        writer.u16(self.size.rows());
        writer.u64(self.kept.0);
        writer.u64(self.end.0);
        writer.u64(self.answered.0);
        writer.u8(u8::from(self.checkpoint));
        writer.u8(u8::from(self.grouped));
        writer.u8(u8::from(self.tallies));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Hello, ProtoError> {
        Ok(Hello {
            version: reader.u16()?,
            session: SessionId(reader.u64()?),
            holder_pid: reader.u32()?,
            child_pid: reader.u32()?,
            size: read_size(reader)?,
            kept: Offset(reader.u64()?),
            end: Offset(reader.u64()?),
            answered: Offset(reader.u64()?),
            checkpoint: reader.u8()? != 0,
            // Later than the rest: a holder that does not know it has no groups.
            grouped: reader.u8().is_ok_and(|grouped| grouped != 0),
            // Later still.
            tallies: reader.u8().is_ok_and(|tallies| tallies != 0),
        })
    }
}

impl Stage {
    fn to_wire(self) -> u8 {
        match self {
            Stage::Terminal => 1,
            Stage::Cwd => 2,
            Stage::Program => 3,
            Stage::Socket => 4,
            Stage::Group => 5,
        }
    }

    fn from_wire(number: u8) -> Option<Stage> {
        Some(match number {
            1 => Stage::Terminal,
            2 => Stage::Cwd,
            3 => Stage::Program,
            4 => Stage::Socket,
            5 => Stage::Group,
            _ => return None,
        })
    }
}
