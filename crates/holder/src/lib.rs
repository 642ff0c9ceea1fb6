//! The process that owns one session's terminal and outlives the daemon.
//!
//! One thread and one `poll`: no runtime, no screen, no file but its socket. `start` turns the
//! first message into a child on a terminal, `turn` waits and acts, `session` is the state and
//! what each message does to it, `log` keeps every byte since the checkpoint, `link` is the
//! connection to a daemon, `killing` ends what does not want to end.
//!
//! Not here: input (the daemon writes it to the terminal itself), escape sequences, any decision
//! about a session. docs/holder.md has the messages and the life of a holder.
//!
//! Invariant: a byte that was read stays until a checkpoint covers it; when there is no room the
//! child waits. Invariant: nothing a daemon sends, or fails to send, ends the session but `Kill`.

mod killing;
mod link;
mod listener;
mod log;
mod session;
mod start;
mod turn;

use std::process::ExitCode;

/// Runs a holder to its end. Standard input is the first daemon's socket.
pub fn main() -> ExitCode {
    greenroom_pty::close_inherited();
    greenroom_pty::return_memory_promptly(log::SEGMENT / 2);
    match start::start() {
        Some(mut holder) => {
            holder.run();
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}
