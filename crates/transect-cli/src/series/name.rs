//! Names of the directories and files of a series.

use std::ffi::OsStr;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SUFFIX: &str = "Z.parquet";
/// The maximum length of the readable part of a directory name.
const READABLE: usize = 60;
/// The unit of the times in file names, in nanoseconds.
pub(super) const UNIT: i64 = 1_000_000;

/// Returns the name of the directory of a root: its readable characters, then 16 digits of the BLAKE3
/// digest of its bytes, which distinguish roots that look alike.
pub(super) fn root_directory(root: &OsStr) -> String {
    with_digest(root.as_encoded_bytes(), "root")
}

/// Returns the name of the directory of a machine: its name if that is a plain one, otherwise with digits of
/// its digest.
pub(super) fn host_directory(host: &str) -> String {
    let is_plain = !host.is_empty() && readable(host.as_bytes()) == host;
    if is_plain { host.to_owned() } else { with_digest(host.as_bytes(), "host") }
}

fn with_digest(bytes: &[u8], if_unreadable: &str) -> String {
    let (readable, digest) = (readable(bytes), blake3::hash(bytes).to_hex());
    let readable = if readable.is_empty() { if_unreadable } else { &readable };
    format!("{readable}-{}", &digest[..16])
}

/// Replaces everything but ASCII letters, digits, `.` and `_` by single hyphens, and keeps the end.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' => text.push(byte.into()),
            _ if text.ends_with('-') => {}
            _ => text.push('-'),
        }
    }
    let start = text.len().saturating_sub(READABLE);
    // A name with a dot at its begin is hidden, one with a dot at its end is changed by Windows.
    text[start..].trim_matches(['-', '.']).to_owned()
}

/// Returns the name of the file of a snapshot whose reading began at this time, in nanoseconds since 1970
/// UTC: `2026-01-31T10-00-00.000Z.parquet`. Names of later ones sort behind it.
pub(super) fn file(taken: i64) -> String {
    let time = Timestamp::from_nanosecond(rounded(taken).into())
        .expect("BUG: 64 bits of nanoseconds are within a thousand years");
    let time = time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M-%S%.3f");
    format!("{time}{SUFFIX}")
}

/// Returns the time in the name of a file, rounded down to milliseconds; `None` for other names.
pub(super) fn time(name: &str) -> Option<i64> {
    let (date, time) = name.strip_suffix(SUFFIX)?.split_once('T')?;
    let moment: Timestamp = format!("{date}T{}Z", time.replace('-', ":")).parse().ok()?;
    let taken = i64::try_from(moment.as_nanosecond()).ok()?;
    // The parser accepts more than one form of a time.
    (file(taken) == name).then_some(taken)
}

/// Rounds a time down to what a file name can hold.
pub(super) fn rounded(taken: i64) -> i64 {
    taken.div_euclid(UNIT).saturating_mul(UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_and_time_are_inverse() {
        for (taken, name) in [
            (0, "1970-01-01T00-00-00.000Z.parquet"),
            (1_795_269_192_123_456_789, "2026-11-21T13-53-12.123Z.parquet"),
            (951_782_400_999_999_999, "2000-02-29T00-00-00.999Z.parquet"),
            (-1, "1969-12-31T23-59-59.999Z.parquet"),
        ] {
            assert_eq!(file(taken), name);
            assert_eq!(time(name), Some(rounded(taken)), "{name}");
        }
        assert!(file(999_999) < file(1_000_000) && file(i64::MAX - UNIT) < file(i64::MAX));
    }

    #[test]
    fn time_of_other_names_is_unknown() {
        for name in [
            "",
            "notes.txt",
            "2026-11-21T13-53-12.123Z.parquet.old",
            "2026-11-21T13-53-12.123Z (copy).parquet",
            "2026-11-21T13-53-12.123456Z.parquet",
            "2026-11-21T13-53-12Z.parquet",
            "2026-11-21T13:53:12.123Z.parquet",
            "2026-11-21t13-53-12.123Z.parquet",
            "2026-13-21T13-53-12.123Z.parquet",
            "2026-02-30T13-53-12.123Z.parquet",
            "+002026-11-21T13-53-12.123Z.parquet",
        ] {
            assert_eq!(time(name), None, "{name}");
        }
    }

    #[test]
    fn folder_names_are_plain_and_distinct() {
        let names =
            ["/", "/home/me", "/home-me", "/home/me/", "C:\\Users", "..", "/ü", "/ö", "/a\nb"];
        let folders: Vec<String> = names.map(|name| root_directory(name.as_ref())).into();
        for (place, folder) in folders.iter().enumerate() {
            assert!(!folders[..place].contains(folder), "{folder}");
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            assert!(folder.chars().all(is_plain) && !folder.starts_with(['.', '-']), "{folder}");
        }
        assert!(folders[0].starts_with("root-") && folders[1].starts_with("home-me-"));
        assert!(root_directory("/x".repeat(3000).as_ref()).len() < 100);
        assert_eq!(host_directory("build.example.org"), "build.example.org");
        for odd in ["", "..", "a/b", "ä"] {
            assert!(host_directory(odd).len() > 17, "{odd}");
        }
    }
}
