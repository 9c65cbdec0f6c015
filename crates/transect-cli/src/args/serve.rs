//! The command line of `transect serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use transect::cache::Level;
use transect_lab::size;

use super::one_of;

pub(crate) const SERVE_NOTES: &str = "\
Runs until it is interrupted, or nobody asks any more. Only programs of the same user are answered. \
What is said is documented in docs/SERVICE.md; `transect attributes --service` asks.

Levels: watched (the system tells of changes), checked (listings are checked for every request, and \
attributes always asked), frozen (nothing changes until a program thaws it), verified (nothing is \
kept).

Exit codes: 0 ended as asked; 2 wrong usage, or it could not begin.";

// What is served, where, and how.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve attributes of files from a cache
    #[arg(long, required = true)]
    pub(crate) cache: bool,
    /// Where to answer; by default transect/cache.sock in $XDG_RUNTIME_DIR, or in a folder of the
    /// user's own where temporary files are
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// What is promised of answers
    #[arg(long, value_name = "LEVEL", default_value = Level::Watched.as_str(),
          value_parser = level_parser())]
    pub(crate) level: Level,
    /// Answer only for what is in DIR; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// The most memory for what is known; beyond it, directories are forgotten that nobody asked
    /// about lately
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<usize>,
    /// End when nobody has asked for so long: 90s, 15m, 8h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) idle: Option<Duration>,
    /// Tell on stderr who asks, and how much
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
}

fn level_parser() -> impl TypedValueParser<Value = Level> {
    one_of(Level::ALL, Level::as_str)
}

/// Returns how long a text stands for.
fn parse_time(text: &str) -> Result<Duration, String> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let seconds = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let number = digits.parse::<u64>().ok();
    number
        .zip(seconds)
        .and_then(|(number, seconds)| number.checked_mul(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| "a time is a whole number of s, m or h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("15m", 900), ("8h", 28_800)] {
            assert_eq!(parse_time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in
            ["", "s", "90", "1d", "-1s", "1.5h", "99999999999999999999s", "9999999999999999999h"]
        {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
