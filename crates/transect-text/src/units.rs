//! Numbers for people.

use std::ops::Range;
use std::time::Duration;

/// Binary units of sizes.
pub const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Returns two bounds of a size: `1.50 GiB to 2.00 GiB`; only one if they look the same.
pub fn bytes_between(bounds: &Range<u64>) -> String {
    match [bounds.start, bounds.end].map(bytes) {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}

/// Returns a size with a binary unit and three significant digits: `1.50 GiB`.
pub fn bytes(bytes: u64) -> String {
    if bytes == u64::MAX {
        // A saturated sum: it may be more.
        return "16+ EiB".to_owned();
    }
    let mut value = bytes as f64;
    let mut unit = 0;
    // 1023.5 would be printed as 1024.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Returns a count with thousands separators: `1,234,567`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a count with its noun: `1 file`, `2 files`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Returns a difference of sizes with its sign: `+1.50 GiB`, `±0`.
pub fn signed_bytes(difference: i128) -> String {
    signed(difference, bytes)
}

/// Returns a difference of counts with its sign: `-1,234`, `±0`.
pub fn signed_count(difference: i128) -> String {
    signed(difference, count)
}

fn signed(difference: i128, text: fn(u64) -> String) -> String {
    let size = text(u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX));
    match difference {
        0 => "±0".to_owned(),
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// Returns a time in nanoseconds as a duration.
pub fn time(nanoseconds: f64) -> String {
    duration(Duration::from_nanos(nanoseconds as u64))
}

/// Returns a duration with three significant digits: `1.23 s`, `45.6 ms`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s >= 60.0 => format!("{} min {:.0} s", time.as_secs() / 60, s % 60.0),
        s if s >= 9.995 => format!("{s:.1} s"),
        s if s >= 0.9995 => format!("{s:.2} s"),
        s if s >= 0.099_95 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.009_995 => format!("{:.1} ms", s * 1e3),
        s if s >= 0.000_999_5 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_three_digits_never_1024() {
        for (size, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1536, "1.50 KiB"),
            (10 * 1024, "10.0 KiB"),
            (1_048_575, "1.00 MiB"),
            (123 << 30, "123 GiB"),
            (u64::MAX - 1, "16.0 EiB"),
            (u64::MAX, "16+ EiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn bytes_between_shows_one_bound_if_equal() {
        assert_eq!(bytes_between(&(1536..2048)), "1.50 KiB to 2.00 KiB");
        assert_eq!(bytes_between(&(1 << 30..(1 << 30) + 1)), "1.00 GiB");
    }

    #[test]
    fn count_thousands_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(0, "file", "files"), "0 files");
    }

    #[test]
    fn differences_have_their_sign() {
        assert_eq!([0, 1234, -7].map(signed_count), ["±0", "+1,234", "-7"]);
        assert_eq!([0, 1536, -7].map(signed_bytes), ["±0", "+1.50 KiB", "-7 B"]);
    }

    #[test]
    fn duration_three_digits() {
        for (micros, text) in [
            (12, "12 µs"),
            (1_500, "1.50 ms"),
            (45_600, "45.6 ms"),
            (99_949, "99.9 ms"),
            (161_400, "161 ms"),
            (1_234_000, "1.23 s"),
            (59_000_000, "59.0 s"),
            (61_000_000, "1 min 1 s"),
        ] {
            assert_eq!(duration(Duration::from_micros(micros)), text);
        }
    }
}
