//! Finding the end of a run, eight bytes at a time.
//!
//! Plain integer arithmetic on eight bytes at once: exact, safe, and for the short runs between
//! escape sequences quicker than a call into a vector routine.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start are printable ASCII (0x20 to 0x7e).
#[inline]
pub(crate) fn printable(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let stops = unprintable(u64::from_le_bytes(*word));
        if stops != 0 {
            return index * 8 + (stops.trailing_zeros() / 8) as usize;
        }
    }
    let tail = rest.iter().position(|&byte| !(0x20..0x7f).contains(&byte));
    words.len() * 8 + tail.unwrap_or(rest.len())
}

/// The high bit of every byte that is not printable ASCII; exact up to the lowest such byte,
/// which is all that is asked (a borrow only travels upwards).
#[inline]
fn unprintable(word: u64) -> u64 {
    let below_space = word.wrapping_sub(LOW * 0x20) & !word;
    let delete = word ^ (LOW * 0x7f);
    let is_delete = delete.wrapping_sub(LOW) & !delete;
    (word | below_space | is_delete) & HIGH
}

/// Where a string's payload stops: at a control that ends or does not belong in it, or at 0xC2,
/// which may begin the one-character ST. Only OSC excludes all controls.
pub(super) fn string_end(bytes: &[u8], osc: bool) -> usize {
    let stops = |&byte: &u8| match byte {
        0x18 | 0x1a | 0x1b | 0xc2 => true,
        0x00..=0x1f => osc,
        _ => false,
    };
    bytes.iter().position(stops).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_not_printable() {
        for len in 0..40 {
            for stop in 0..=255_u8 {
                let mut bytes = vec![b'~'; len];
                bytes.push(stop);
                bytes.extend_from_slice(b" abcdefghijklmnop");
                let expected = bytes
                    .iter()
                    .position(|&byte| !(0x20..0x7f).contains(&byte))
                    .unwrap_or(bytes.len());
                assert_eq!(printable(&bytes), expected, "{len} bytes, then {stop:#x}");
            }
        }
    }
}
