//! How long a comparison takes says nothing about how much of a secret was right (S3).
//!
//! Comparisons are timed in pairs of small batches: one of something that is right but for its last
//! digit, one of something that is wrong from the first, the order within a pair by chance. Whether one
//! of them is the longer more often than chance would have it is a sign test: how much longer does not
//! count, so neither does a moment in which the machine did something else. Chance alone fails a look
//! once in a hundred; a leak fails all of them, and in the same direction.

use std::hint::black_box;
use std::time::Instant;

use super::Secret;

/// Comparisons in a look: 2·10⁵, as the fault table asks for.
const COMPARISONS: usize = 200_000;

/// Comparisons in a batch: enough that the clock's own steps are small beside it.
const BATCH: usize = 100;

/// How far from even the two may be by chance, in standard deviations: 99 %, on either side.
const BY_CHANCE: f64 = 2.576;

/// How many looks must agree.
const LOOKS: usize = 5;

/// A guess that is right but for its last digit, and one that has no digit right.
fn guesses(secret: &str) -> [Vec<u8>; 2] {
    let other = |digit: u8| if digit == b'0' { b'1' } else { b'0' };
    let mut near = secret.as_bytes().to_vec();
    if let Some(last) = near.last_mut() {
        *last = other(*last);
    }
    [near, secret.bytes().map(other).collect()]
}

/// How often the near guess took longer, in standard deviations from half of the times.
fn look(secret: &Secret, is: impl Fn(&Secret, &str) -> bool) -> f64 {
    let guesses = guesses(secret.reveal());
    // Both are said from one place in memory.
    let mut said = guesses[0].clone();
    let mut time = |which: usize| {
        said.copy_from_slice(&guesses[which]);
        let text = std::str::from_utf8(&said).unwrap();
        let begin = Instant::now();
        for _ in 0..BATCH {
            assert!(!is(black_box(secret), black_box(text)));
        }
        begin.elapsed()
    };
    let (mut longer, mut pairs, mut coin) = (0.0, 0.0, 0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..COMPARISONS / (2 * BATCH) {
        coin ^= coin << 13;
        coin ^= coin >> 7;
        coin ^= coin << 17;
        let first = usize::from(coin & 1 == 1);
        let mut taken = [time(first), time(1 - first)];
        taken.rotate_left(first);
        if taken[0] != taken[1] {
            pairs += 1.0;
            longer += f64::from(u8::from(taken[0] > taken[1]));
        }
    }
    (longer - pairs / 2.0) / (f64::sqrt(pairs) / 2.0)
}

/// Whether every look says that one of the two takes longer, and all the same one.
fn leaks(is: impl Fn(&Secret, &str) -> bool) -> bool {
    let secret = Secret::random().unwrap();
    // The first ones are slow for reasons of their own.
    look(&secret, &is);
    let looks: Vec<f64> = (0..LOOKS).map(|_| look(&secret, &is)).collect();
    looks.iter().all(|it| *it > BY_CHANCE) || looks.iter().all(|it| *it < -BY_CHANCE)
}

#[test]
fn how_long_a_comparison_takes_says_nothing() {
    assert!(!leaks(Secret::is));
}

/// Else the test above would say nothing either.
#[test]
fn a_comparison_that_stops_early_is_found_out() {
    let early = |secret: &Secret, said: &str| {
        secret.reveal().bytes().zip(said.bytes()).all(|(ours, theirs)| ours == black_box(theirs))
    };
    assert!(leaks(early));
}
