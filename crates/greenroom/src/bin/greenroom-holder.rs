//! The process that holds one session. Its own small binary, because there is one per session.

use std::process::ExitCode;

fn main() -> ExitCode {
    greenroom_holder::main()
}
