//! Feeds a screen random bytes and random sequences for as long as it is told, resizing it from
//! 1x1 to 1000x1000 on the way, and checks that it stays sound and small.
//!
//! `cargo run --release --example soak -- 10G`; the suite does the same with 10 MB (`bounds.rs`).

#![expect(clippy::print_stdout, reason = "a report is what it is for")]

use std::time::Instant;

use greenroom_model::Size;
use greenroom_screen::{Options, Screen};

/// How much is fed at once, as a busy PTY delivers it.
const PIECE: usize = 64 * 1024;

/// What a screen may hold, whatever it is fed: the history's bound, and room for a million cells
/// of two screens with their styles.
const MAX_MEMORY: usize = 160 * 1024 * 1024;

/// Introducers and finals that random bytes seldom hit.
const PIECES: [&str; 12] = [
    "\x1b[",
    "\x1b]",
    "\x1bP",
    "m",
    "H",
    "\r\n",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[2J",
    "\u{301}",
    "漢",
    "\x1b\\",
];

/// A small generator (xorshift), so that a run can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn main() -> Result<(), String> {
    let wanted = bytes(&std::env::args().nth(1).unwrap_or_else(|| "100M".to_owned()))?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut screen = Screen::new(Size::DEFAULT, Options::default());
    let (start, mut fed, mut most) = (Instant::now(), 0_u64, 0);
    let mut piece = Vec::with_capacity(PIECE + 16);
    while fed < wanted {
        fill(&mut piece, &mut random);
        screen.feed(&piece);
        fed += piece.len() as u64;
        if random.next().is_multiple_of(8) {
            let (cols, rows) = (1 + random.next() % 1000, 1 + random.next() % 1000);
            // Mostly the usual size: a million cells at every step would be all that is tested.
            let large = random.next().is_multiple_of(16);
            let size = if large { Size::clamped(cols as u16, rows as u16) } else { Size::DEFAULT };
            screen.resize(size);
        }
        most = most.max(check(&screen)?);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{fed} bytes in {seconds:.0} s, {:.0} MB/s, at most {most} bytes held",
        fed as f64 / seconds / 1e6
    );
    Ok(())
}

/// Random bytes, or random bytes between pieces of sequences.
fn fill(piece: &mut Vec<u8>, random: &mut Random) {
    piece.clear();
    let sequences = random.next().is_multiple_of(2);
    while piece.len() < PIECE {
        let bits = random.next();
        if sequences && bits.is_multiple_of(3) {
            piece.extend_from_slice(PIECES[(bits >> 8) as usize % PIECES.len()].as_bytes());
        } else {
            piece.extend_from_slice(&bits.to_le_bytes());
        }
    }
}

/// What it holds, if it is sound.
fn check(screen: &Screen) -> Result<usize, String> {
    let (size, cursor, held) = (screen.size(), screen.cursor(), screen.memory());
    if cursor.row >= size.rows() || cursor.col >= size.cols().max(2) {
        return Err(format!("the cursor is at {cursor:?} in {size}"));
    }
    if held > MAX_MEMORY {
        return Err(format!("{held} bytes are held"));
    }
    Ok(held)
}

/// `10G`, `100M`, `64K` or plain bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b'G') => (&text[..text.len() - 1], 1 << 30),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'K') => (&text[..text.len() - 1], 1 << 10),
        _ => (text, 1),
    };
    let number: u64 =
        number.parse().map_err(|_| format!("`{text}` is no amount, such as `10G`"))?;
    Ok(number.saturating_mul(unit))
}
