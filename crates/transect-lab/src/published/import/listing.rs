//! Parser for the listings of the fourth article, the output of its batch files.
//!
//! ```text
//! SEQUENTIAL                                    the flag is set for all that follows
//! -- TEST 16kb CRT --                           block and API of the runs that follow
//! Transformed 4 blocks of 16384 bytes from in.bin into out.bin
//! Real Time: 00:00:04.492
//! User Time: 00:00:00.062
//! Sys Time:  00:00:00.875
//! ```
//!
//! Instead of the `TEST` line there may be the command itself, as the article prints it. Then the block
//! size is in bytes, and the line `Transformed` contains no length.

/// The times of a run, in the order of their lines.
const TIMES: [&str; 3] = ["Real Time:", "User Time:", "Sys Time:"];

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    /// The API, in capitals: `CRT`, `STD`, `WIN`, `WINMAP`.
    pub api: String,
    /// Block size in bytes.
    pub block: u64,
    /// Length of the file in bytes, a multiple of the block size.
    pub size: u64,
    pub sequential: bool,
    /// Wall time in nanoseconds.
    pub real_ns: u64,
    /// User time in nanoseconds.
    pub user_ns: u64,
    /// Kernel time in nanoseconds.
    pub system_ns: u64,
}

/// Parses a listing. Lines may end with CR LF; empty lines are ignored.
///
/// # Errors
/// The first invalid line, or a listing without runs: the number of the line, from 1, and the problem.
pub fn parse(text: &str) -> Result<Vec<ListedRun>, String> {
    let mut listing = Listing::default();
    let mut last = 1;
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        last = at + 1;
        if !line.trim().is_empty() {
            listing.parse_line(line.trim()).map_err(|what| format!("line {last}: {what}"))?;
        }
    }
    listing.finish().map_err(|what| format!("line {last}: {what}"))
}

/// The state of the parser.
#[derive(Default)]
struct Listing {
    sequential: bool,
    test: Option<TestSetup>,
    run: Option<PendingRun>,
    samples: Vec<ListedRun>,
}

/// The parameters of the following runs.
#[derive(Clone)]
struct TestSetup {
    api: String,
    block: u64,
}

/// A run whose times are not complete yet.
struct PendingRun {
    test: TestSetup,
    size: u64,
    /// In nanoseconds, in the order of [`TIMES`].
    times: Vec<u64>,
}

impl Listing {
    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        for (at, name) in TIMES.iter().enumerate() {
            if let Some(time) = line.strip_prefix(name) {
                return self.add_time(at, parse_time(time)?);
            }
        }
        if let Some(PendingRun { times, .. }) = &self.run {
            return Err(format!("expected '{}', found '{line}'", TIMES[times.len()]));
        }
        if let Some(rest) = line.strip_prefix("Transformed ") {
            self.run = Some(self.parse_transformed(rest).ok_or("no blocks and their bytes")??);
        } else if line == "SEQUENTIAL" {
            self.sequential = true;
        } else if let Some(test) = line.strip_prefix("-- TEST ") {
            self.test = Some(parse_test(test).ok_or("no block and API, as in '16kb CRT --'")?);
        } else if let Some((_, command)) = line.split_once(" transform ") {
            let (test, sequential) = parse_command(command).ok_or("no API, files and block")?;
            (self.test, self.sequential) = (Some(test), sequential);
        } else if !line.contains(" clear ") {
            return Err(format!("'{line}' does not belong to a listing"));
        }
        Ok(())
    }

    /// Parses `N blocks [of B bytes] from INPUT into OUTPUT`; returns `None` for other text.
    fn parse_transformed(&self, rest: &str) -> Option<Result<PendingRun, String>> {
        let mut words = rest.split_whitespace();
        let count: u64 = words.next()?.parse().ok()?;
        (words.next()? == "blocks").then_some(())?;
        let block: Option<u64> = match words.next()? {
            "of" => Some(words.next()?.parse().ok()?),
            "from" => None,
            _ => return None,
        };
        let Some(test) = &self.test else {
            return Some(Err("nothing before says with which API".to_owned()));
        };
        if let Some(block) = block.filter(|block| *block != test.block) {
            let expected = test.block;
            return Some(Err(format!("blocks of {block} bytes in a test of {expected} bytes")));
        }
        let size = count.checked_mul(test.block).ok_or("more bytes than can be counted".to_owned());
        Some(size.map(|size| PendingRun { test: test.clone(), size, times: Vec::new() }))
    }

    fn add_time(&mut self, at: usize, time: u64) -> Result<(), String> {
        let run = self.run.as_mut().ok_or("a time without a run")?;
        let expected = run.times.len();
        if at != expected {
            return Err(format!("expected '{}', found '{}'", TIMES[expected], TIMES[at]));
        }
        run.times.push(time);
        if let [real_ns, user_ns, system_ns] = run.times[..] {
            let TestSetup { api, block } = run.test.clone();
            let (size, sequential) = (run.size, self.sequential);
            let run = ListedRun { api, block, size, sequential, real_ns, user_ns, system_ns };
            self.samples.push(run);
            self.run = None;
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<ListedRun>, String> {
        if self.run.is_some() {
            return Err("the listing ends in the middle of a run".to_owned());
        }
        if self.samples.is_empty() {
            return Err("no run is listed".to_owned());
        }
        Ok(self.samples)
    }
}

/// Parses `16kb CRT --`.
fn parse_test(text: &str) -> Option<TestSetup> {
    let mut words = text.split_whitespace();
    let block: u64 = words.next()?.strip_suffix("kb")?.parse().ok()?;
    let api = words.next()?.to_uppercase();
    let is_whole = words.next() == Some("--") && words.next().is_none();
    let block = block.checked_mul(1024).filter(|block| is_whole && *block > 0)?;
    Some(TestSetup { api, block })
}

/// Parses the arguments of `transform`: `crt INPUT OUTPUT 1024 [seq]`.
fn parse_command(text: &str) -> Option<(TestSetup, bool)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (words, sequential) = match words.as_slice() {
        [words @ .., "seq"] => (words, true),
        words => (words, false),
    };
    let [api, _, _, block] = words else { return None };
    let block = block.parse().ok().filter(|block| *block > 0)?;
    Some((TestSetup { api: api.to_uppercase(), block }, sequential))
}

/// Parses a time: hours, minutes and seconds with up to nine decimals.
fn parse_time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    time_in_nanoseconds(text).ok_or_else(|| format!("'{text}' is no time, as 00:01:23.456 is"))
}

fn time_in_nanoseconds(text: &str) -> Option<u64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = parts.next().is_none()
        && fraction.len() <= 9
        && [hours, minutes, seconds, fraction].into_iter().all(is_number);
    if !well_formed {
        return None;
    }
    let number = |part: &str| part.parse::<u64>().ok();
    let (minutes, seconds) = (number(minutes)?, number(seconds)?);
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let whole = number(hours)?.checked_mul(3600)?.checked_add(minutes * 60 + seconds)?;
    let nanoseconds = number(&format!("{fraction:0<9}"))?;
    whole.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: &str = "\
-- TEST 16kb CRT --
Transformed 65536 blocks of 16384 bytes from a b.bin into out.bin
Real Time: 00:00:04.492
User Time: 00:00:00.062
Sys Time:  00:01:00.8
";

    #[test]
    fn parse_one_run() {
        let expected = ListedRun {
            api: "CRT".to_owned(),
            block: 16 << 10,
            size: 1 << 30,
            sequential: false,
            real_ns: 4_492_000_000,
            user_ns: 62_000_000,
            system_ns: 60_800_000_000,
        };
        assert_eq!(parse(SMALL), Ok(vec![expected.clone()]));
        let windows = format!("\u{feff}\r\n{}\r\n", SMALL.replace('\n', "\r\n"));
        assert_eq!(parse(&windows), Ok(vec![expected.clone()]));
        let sequential = ListedRun { sequential: true, ..expected };
        let text = format!("SEQUENTIAL\n\n{SMALL}  {}", &SMALL[20..]);
        assert_eq!(parse(&text), Ok(vec![sequential.clone(), sequential]));
    }

    /// Listings in the article's text, with the numbers of its reference rows.
    #[test]
    fn parse_commands_of_the_article() {
        let text = "\
WinFileTests_x64.exe clear test2048.bin
timep.exe WinFileTests_x64.exe transform crt test2048.bin outCrt.bin 1024
Transformed 2097152 blocks from test2048.bin into outCrt.bin
Real Time: 00:00:10.569
User Time: 00:00:00.250
Sys Time:  00:00:02.468
WinFileTests_x64.exe clear test2048.bin
timep.exe WinFileTests_x64.exe transform crt test2048.bin outCrt.bin 1024 seq
Transformed 2097152 blocks from test2048.bin into outCrt.bin
Real Time: 00:00:09.859
User Time: 00:00:00.343
Sys Time:  00:00:02.984
";
        let samples = parse(text).unwrap();
        let told: Vec<_> = samples
            .iter()
            .map(|it| (it.api.as_str(), it.block, it.size >> 20, it.sequential, it.real_ns))
            .collect();
        let expected =
            [("CRT", 1024, 2048, false, 10_569_000_000), ("CRT", 1024, 2048, true, 9_859_000_000)];
        assert_eq!(told, expected);
    }

    #[test]
    fn parse_error_has_line_number() {
        let lines: Vec<&str> = SMALL.lines().collect();
        let with = |at: usize, line: &str| {
            let mut lines = lines.clone();
            lines[at] = line;
            lines.join("\n")
        };
        for (text, line, what) in [
            (String::new(), 1, "no run is listed"),
            ("prose".to_owned(), 1, "'prose' does not belong to a listing"),
            (lines[1..].join("\n"), 1, "nothing before says with which API"),
            (lines[..4].join("\n"), 4, "the listing ends in the middle of a run"),
            ([lines[0], lines[2]].join("\n"), 2, "a time without a run"),
            (
                lines[..3].join("\n") + "\n" + lines[2],
                4,
                "expected 'User Time:', found 'Real Time:'",
            ),
            (
                lines[..3].join("\n") + "\n" + lines[4],
                4,
                "expected 'User Time:', found 'Sys Time:'",
            ),
            (
                lines[..2].join("\n") + "\n" + lines[3],
                3,
                "expected 'Real Time:', found 'User Time:'",
            ),
            (
                lines[..3].join("\n") + "\n" + lines[1],
                4,
                "expected 'User Time:', found 'Transformed",
            ),
            (with(0, "-- TEST 16 CRT --"), 1, "no block and API"),
            (with(0, "-- TEST 0kb CRT --"), 1, "no block and API"),
            (with(0, "-- TEST 32kb CRT --"), 2, "blocks of 16384 bytes in a test of 32768 bytes"),
            (with(1, "Transformed some blocks"), 2, "no blocks and their bytes"),
            (with(1, "Transformed 18446744073709551615 blocks from a into b"), 2, "more bytes"),
            (with(0, "timep x transform crt in out"), 1, "no API, files and block"),
            (with(2, "Real Time: 4.492"), 3, "'4.492' is no time"),
            (with(2, "Real Time: 00:61:04.492"), 3, "is no time"),
            (with(2, "Real Time: 00:00:+4.492"), 3, "is no time"),
            (with(2, "Real Time: 00:00:04."), 3, "is no time"),
            (with(2, "Real Time: 9999999999999:00:04"), 3, "is no time"),
        ] {
            let error = parse(&text).expect_err(&text);
            let is_at = error.starts_with(&format!("line {line}: "));
            assert!(is_at && error.contains(what), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn parse_any_text_never_panics(text in "(?s).{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn parse_broken_listing_never_panics(at in 0..150_usize, byte in 0x20..0x7f_u8) {
            let mut text = SMALL.as_bytes().to_vec();
            let at = at % text.len();
            text[at] = byte;
            let _ = parse(std::str::from_utf8(&text).unwrap());
        }
    }
}
