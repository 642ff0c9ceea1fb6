//! What the daemon says to a holder.

use bytes::Bytes;
use greenroom_model::{Offset, Size};

use crate::ProtoError;
use crate::fields::{Reader, Writer};
use crate::spawn::{Spawn, read_size};

/// Everything the daemon can ask of a holder.
///
/// Input is not here: the daemon writes it to the terminal itself, by the descriptor that came
/// with [`Hello`](crate::Hello), so a keystroke takes one process less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToHolder {
    /// Start this. Only the first message of a holder's first connection, and only there.
    Spawn(Box<Spawn>),
    /// The terminal has a new size.
    Resize {
        /// The size.
        size: Size,
        /// Whether the daemon sets it as well, by the terminal's descriptor. One of before leaves that to
        /// the holder.
        set: bool,
    },
    /// Send this signal to the terminal's foreground process group.
    Signal(i32),
    /// End the child and all it started: HUP and TERM, then KILL after the grace.
    Kill {
        /// How long they have, in milliseconds.
        grace_ms: u32,
    },
    /// The session's description changed.
    Describe(Bytes),
    /// The screen at an offset. Bytes before `keep` are needed no more.
    Checkpoint {
        /// The offset the blob is valid at.
        at: Offset,
        /// Where to keep bytes from; at most `at`.
        keep: Offset,
        /// The screen, opaque to the holder.
        blob: Bytes,
    },
    /// Queries in the output up to here are answered; a later daemon must not answer again.
    Answered(Offset),
    /// All output and the exit are taken: the holder may go.
    Release,
    /// Let others read the terminal beside you: answer with [`Tap`](crate::FromHolder::Tap). A
    /// holder of before knows nothing of it and does not answer.
    Tap,
    /// The daemon has seen output up to here in the pipe, so that it need not be sent. Whether it goes on
    /// to look for what comes next by itself: the holder does not, then.
    Ahead {
        /// Up to where it has seen.
        seen: Offset,
        /// Whether it goes on.
        looks: bool,
    },
    /// Answer with [`Tally`](crate::FromHolder::Tally): what is typed for clients is counted there. Only to a
    /// holder that said it knows this.
    Tally,
}

const SPAWN: u8 = 1;
const RESIZE: u8 = 2;
const SIGNAL: u8 = 3;
const KILL: u8 = 4;
const DESCRIBE: u8 = 5;
const CHECKPOINT: u8 = 6;
const ANSWERED: u8 = 7;
const RELEASE: u8 = 8;
const TAP: u8 = 9;
const AHEAD: u8 = 10;
const TALLY: u8 = 11;

impl ToHolder {
    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::message(self.number(), out);
        match self {
            ToHolder::Spawn(spawn) => spawn.write(&mut writer),
            ToHolder::Resize { size, set } => {
                writer.u16(size.cols());
                writer.u16(size.rows());
                writer.u8(u8::from(*set));
            }
            ToHolder::Signal(signal) => writer.i32(*signal),
            ToHolder::Kill { grace_ms } => writer.u32(*grace_ms),
            ToHolder::Describe(blob) => writer.rest(blob),
            ToHolder::Checkpoint { at, keep, blob } => {
                writer.u64(at.0);
                writer.u64(keep.0);
                writer.rest(blob);
            }
            ToHolder::Answered(at) => writer.u64(at.0),
            ToHolder::Release | ToHolder::Tap | ToHolder::Tally => {}
            ToHolder::Ahead { seen, looks } => {
                writer.u64(seen.0);
                writer.u8(u8::from(*looks));
            }
        }
        writer.end();
    }

    fn number(&self) -> u8 {
        match self {
            ToHolder::Spawn(_) => SPAWN,
            ToHolder::Resize { .. } => RESIZE,
            ToHolder::Signal(_) => SIGNAL,
            ToHolder::Kill { .. } => KILL,
            ToHolder::Describe(_) => DESCRIBE,
            ToHolder::Checkpoint { .. } => CHECKPOINT,
            ToHolder::Answered(_) => ANSWERED,
            ToHolder::Release => RELEASE,
            ToHolder::Tap => TAP,
            ToHolder::Ahead { .. } => AHEAD,
            ToHolder::Tally => TALLY,
        }
    }

    pub(crate) fn decode(number: u8, payload: Bytes) -> Result<Option<ToHolder>, ProtoError> {
        let mut reader = Reader::new(&payload);
        Ok(Some(match number {
            SPAWN => ToHolder::Spawn(Box::new(Spawn::read(&mut reader)?)),
            RESIZE => ToHolder::Resize {
                size: read_size(&mut reader)?,
                // Later than the rest: who does not know it sets nothing.
                set: reader.u8().is_ok_and(|set| set != 0),
            },
            SIGNAL => ToHolder::Signal(reader.i32()?),
            KILL => ToHolder::Kill { grace_ms: reader.u32()? },
            DESCRIBE => ToHolder::Describe(payload),
            CHECKPOINT => {
                let (at, keep) = (Offset(reader.u64()?), Offset(reader.u64()?));
                if keep > at {
                    return Err(ProtoError::Range);
                }
                ToHolder::Checkpoint { at, keep, blob: payload.slice_ref(reader.rest()) }
            }
            ANSWERED => ToHolder::Answered(Offset(reader.u64()?)),
            RELEASE => ToHolder::Release,
            TAP => ToHolder::Tap,
            AHEAD => ToHolder::Ahead { seen: Offset(reader.u64()?), looks: reader.u8()? != 0 },
            TALLY => ToHolder::Tally,
            _ => return Ok(None),
        }))
    }
}
