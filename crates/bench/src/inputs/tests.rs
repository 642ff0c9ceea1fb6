//! The inputs are what they say.

use greenroom_model::Size;

use super::{all, log};

/// Small, so that the tests are quick: what holds for one length holds for any.
const LENGTH: usize = 200_000;

fn sizes() -> [Size; 2] {
    [Size::new(80, 24).unwrap(), Size::new(200, 50).unwrap()]
}

#[test]
fn the_same_input_is_made_every_time() {
    for size in sizes() {
        for (first, second) in all(size, LENGTH).iter().zip(all(size, LENGTH)) {
            assert_eq!(first.bytes, second.bytes, "{}", first.name);
        }
    }
}

#[test]
fn inputs_are_utf8_of_the_length_asked_for() {
    /// One frame of the larger size at most.
    const SLACK: usize = 64 << 10;
    for size in sizes() {
        for input in all(size, LENGTH) {
            let length = input.bytes.len();
            assert!((LENGTH..LENGTH + SLACK).contains(&length), "{}: {length}", input.name);
            assert!(std::str::from_utf8(&input.bytes).is_ok(), "{}", input.name);
        }
    }
}

#[test]
fn log_lines_are_about_70_bytes() {
    let bytes = log(LENGTH).bytes;
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let mean = bytes.len() / lines;
    assert!((65..=75).contains(&mean), "{mean} bytes a line");
}

#[test]
fn there_are_nine_inputs_with_names_of_their_own() {
    let mut names: Vec<_> = all(sizes()[0], 1).into_iter().map(|input| input.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 9);
}
