//! Replays recorded output on a screen and draws the result on the terminal it runs in.
//!
//! `cargo run --example replay -- git_log`, or `ls --color=always | cargo run --example replay -- -`.
//! `--text` prints plain text instead, `--size 80x24` says how large the screen is.

#![expect(clippy::print_stderr, reason = "a program for people tells them what went wrong")]

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use greenroom_model::Size;
use greenroom_screen::{Options, Screen};

/// Where recordings are, from the root of the repository.
const RECORDINGS: &str = "crates/screen/tests/recordings";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads us has seen enough, as `head` has.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("replay: {error}");
            eprintln!("usage: replay [--text] [--size COLSxROWS] NAME | FILE | -");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> io::Result<()> {
    let (mut text, mut size, mut what) = (!io::stdout().is_terminal(), None, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--text" => text = true,
            "--size" => {
                let given = args.next().unwrap_or_default();
                size = Some(given.parse().map_err(io::Error::other)?);
            }
            _ if arg.starts_with("--") => {
                return Err(io::Error::other(format!("unknown option `{arg}`")));
            }
            _ => what = Some(arg),
        }
    }
    let what = what.ok_or_else(|| io::Error::other("which recording?"))?;
    let (bytes, recorded) = read(&what)?;
    let mut screen = Screen::new(size.or(recorded).unwrap_or_default(), Options::default());
    screen.feed(&bytes);
    show(&screen, text)
}

/// The bytes of a recording, a file or standard input, and the size it was recorded at.
fn read(what: &str) -> io::Result<(Vec<u8>, Option<Size>)> {
    if what == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        // A pipe has line feeds where a terminal would get returns too.
        return Ok((
            bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]),
            None,
        ));
    }
    let recording: PathBuf = Path::new(RECORDINGS).join(what);
    if recording.join("bytes").is_file() {
        let size = std::fs::read_to_string(recording.join("size"))?;
        return Ok((std::fs::read(recording.join("bytes"))?, size.trim().parse().ok()));
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("`{what}`: {error}"));
    Ok((std::fs::read(what).map_err(named)?, None))
}

/// Prints the rows with their colours, or as plain text.
fn show(screen: &Screen, text: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if text {
        writeln!(out, "{}", screen.text())?;
    } else {
        let top = screen.top_row();
        out.write_all(&screen.styled(top..top + u64::from(screen.size().rows())))?;
    }
    let (size, cursor) = (screen.size(), screen.cursor());
    writeln!(
        out,
        "-- {size}, cursor at row {}, column {}; {} lines of history; {} bytes held",
        cursor.row + 1,
        cursor.col + 1,
        screen.history_len(),
        screen.memory(),
    )
}
