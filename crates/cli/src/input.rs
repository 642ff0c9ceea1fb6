//! What a person types, before it goes to the session.
//!
//! [`Scanner`] cuts the bytes of the terminal into keys and sequences, however they were cut on the
//! way, and decides: `chord` knows the detach key in every encoding a terminal may use, `sequence`
//! what is a sequence, `answers` which of them are a terminal's answers and no keys; `seven` is for
//! terminals that speak eight bits. Everything else passes byte for byte: what keys mean is the program's affair.

mod answers;
mod chord;
mod scan;
mod sequence;
mod seven;
#[cfg(test)]
mod tests;

pub(crate) use chord::Chord;
pub(crate) use scan::{Scanned, Scanner};
pub(crate) use seven::SevenBit;
