//! A holder for this crate's tests.

fn main() -> std::process::ExitCode {
    greenroom_holder::main()
}
