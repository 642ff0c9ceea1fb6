//! Times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// How long ago that was, in its largest unit: `42s`, `3m`, `5h`, `12d`.
pub(crate) fn age(then: i64, now: i64) -> String {
    let passed = now.saturating_sub(then).max(0);
    match passed {
        0..MINUTE => format!("{}s", passed / SECOND),
        MINUTE..HOUR => format!("{}m", passed / MINUTE),
        HOUR..DAY => format!("{}h", passed / HOUR),
        _ => format!("{}d", passed / DAY),
    }
}

/// A time of the day in the person's own zone, with the day.
pub(crate) fn clock(then: i64) -> String {
    match Timestamp::from_millisecond(then) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string(),
        Err(_) => then.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_their_largest_unit() {
        assert_eq!(age(0, 59_999), "59s");
        assert_eq!(age(0, 60_000), "1m");
        assert_eq!(age(0, 3 * HOUR + 5), "3h");
        assert_eq!(age(0, 40 * DAY), "40d");
        assert_eq!(age(5000, 0), "0s", "a clock that was set back");
    }

    #[test]
    fn a_time_that_is_none_is_shown_as_it_is() {
        assert_eq!(clock(i64::MAX), i64::MAX.to_string());
    }
}
