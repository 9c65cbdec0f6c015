//! Compression and decompression.

mod fixed_blocks;
pub(super) mod gunzip;
pub(super) mod gzip;
pub(super) mod unzstd;
pub(super) mod zstd;

/// Parses a level, or returns the default.
fn level<Level: std::str::FromStr + PartialOrd + std::fmt::Display>(
    parameter: Option<&str>,
    usual: Level,
    levels: std::ops::RangeInclusive<Level>,
) -> Result<Level, String> {
    let Some(text) = parameter else { return Ok(usual) };
    // The parser would also accept a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let level = text.parse().ok().filter(|level| digits && levels.contains(level));
    level.ok_or_else(|| format!("not a level from {} to {}", levels.start(), levels.end()))
}
