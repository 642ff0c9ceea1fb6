//! Conversations with scripted agents and with the real Claude Code.

mod claude;
mod faults;
mod house;
mod support;
mod transcripts;
