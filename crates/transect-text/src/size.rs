//! Sizes as users type them: `64K`, `4KiB`, `1M`, or plain bytes.

/// Returns a size in bytes. `K` and `KiB` are the same, a power of two.
///
/// # Errors
/// A message for the user: the text is not a size, or it exceeds the largest integer.
pub fn parse(text: &str) -> Result<usize, String> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.to_ascii_lowercase().as_str() {
        _ if digits.is_empty() => None,
        "" | "b" => Some(0),
        "k" | "kib" => Some(10),
        "m" | "mib" => Some(20),
        "g" | "gib" => Some(30),
        "t" | "tib" => Some(40),
        _ => None,
    };
    let shift = shift.ok_or("a size is a whole number of bytes, or of K, M, G or T")?;
    let number = digits.parse::<u64>().ok();
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| "more bytes than can be counted".to_owned())
}

/// Returns the shortest text for a size in bytes: `256K`, but `1000`.
pub fn shortest(bytes: usize) -> String {
    for (shift, unit) in [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_number_with_binary_unit() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("512B", 512),
            ("64K", 64 << 10),
            ("64k", 64 << 10),
            ("4KiB", 4 << 10),
            ("4kib", 4 << 10),
            ("1M", 1 << 20),
            ("3MiB", 3 << 20),
            ("2G", 2 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn size_invalid_refused() {
        for text in
            ["", "K", "K64", "64 K", "64KB", "64X", "1.5M", "-1", "+1", "6é", "é", "6\u{130}"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn size_overflow_refused() {
        for text in ["18446744073709551616", "16777216T", "99999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn size_shortest_text_round_trip() {
        for (bytes, text) in [
            (0, "0"),
            (1000, "1000"),
            (1024, "1K"),
            (1536, "1536"),
            (256 << 10, "256K"),
            (3 << 20, "3M"),
            (1 << 30, "1G"),
        ] {
            assert_eq!(shortest(bytes), text);
            assert_eq!(parse(text), Ok(bytes));
        }
    }
}
