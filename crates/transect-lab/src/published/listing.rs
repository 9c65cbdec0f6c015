//! The listings of the fourth article, the output of its batch files, as a session.
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
//!
//! Its runs were not interleaved, and the states of the caches and the outputs are unknown. So they are never ranked
//! with sessions of this lab, and cells are compared as a whole, not by round.

use std::path::Path;

use transect_text::{quote, size};

use crate::experiments::transform::{Digests, Kind, Rules, SyncRule};
use crate::harness::cache_state::State;
use crate::harness::environment::Environment;
use crate::harness::launch::Usage;
use crate::harness::log::{Outcome, Sample, SessionData};
use crate::harness::protocol::RunLine;
use crate::harness::work::Work;
use crate::spec::{Cell, Dataset, Pair, SessionSpec};

/// The times of a run, in the order of their lines.
const TIMES: [&str; 3] = ["Real Time:", "User Time:", "Sys Time:"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    /// The API, in capitals: `CRT`, `STD`, `WIN`, `WINMAP`.
    api: String,
    /// Block size in bytes.
    block: u64,
    /// Length of the file in bytes, a multiple of the block size.
    size: u64,
    sequential: bool,
    /// Real, user and kernel time in nanoseconds, as far as they are parsed.
    times_ns: Vec<u64>,
}

impl ListedRun {
    fn cell(&self) -> String {
        cell_name(&self.api, self.block, self.sequential)
    }

    fn work(&self) -> Work {
        Work { files: 1, directories: 0, bytes: self.size, errors: 0 }
    }
}

fn cell_name(api: &str, block: u64, sequential: bool) -> String {
    let hint = if sequential { ",hint=sequential" } else { "" };
    format!("{api},block={}{hint}", short(block))
}

fn short(bytes: u64) -> String {
    usize::try_from(bytes).map_or_else(|_| bytes.to_string(), size::shortest)
}

/// Returns the session of listings: a dataset for each size, a cell for each API, block and flag.
///
/// # Errors
/// Two files contain the same cell and size: they were measured on different devices.
pub fn session(listings: &[(&Path, Vec<ListedRun>)]) -> Result<SessionData, String> {
    let (mut datasets, mut cells) = (Vec::<Dataset>::new(), Vec::<Cell>::new());
    let mut samples = Vec::<Sample>::new();
    for (file, runs) in listings {
        let of_other_files = samples.len();
        for run in runs {
            let name = run.cell();
            if cells.iter().all(|cell| cell.name != name) {
                cells.push(cell(run, &name));
            }
            let known = datasets.iter().position(|it| it.expected.bytes == run.size);
            let dataset = known.unwrap_or(datasets.len());
            if known.is_none() {
                datasets.push(dataset_of(file, run));
            }
            let is_same = |it: &&Sample| (it.dataset, &it.cell) == (dataset, &name);
            if samples[..of_other_files].iter().any(|it| is_same(&it)) {
                let (file, size) = (quote::for_terminal(file.as_os_str()), short(run.size));
                return Err(format!(
                    "'{file}' has {name} of {size}, as a file before it has; import listings of \
                     different devices one by one"
                ));
            }
            let round = samples.iter().filter(is_same).count();
            samples.push(sample(run, round, dataset, name));
        }
    }
    let base = cells.first().map_or(String::new(), |cell| cell.name.clone());
    let pairs = pairs(listings.iter().flat_map(|(_, runs)| runs), &cells);
    let spec = SessionSpec {
        is_listing: true,
        environment: Environment::default(),
        cache_states: vec![State::AsIs],
        rounds: samples.iter().map(|sample| sample.round + 1).max().unwrap_or(0),
        pairs,
        transform: Some(Rules { kind: Kind::Copy, sync: SyncRule::None }),
        ..SessionSpec::new("listing", datasets, cells, &base)
    };
    Ok(SessionData { samples, ..SessionData::begin(spec) })
}

fn dataset_of(file: &Path, run: &ListedRun) -> Dataset {
    Dataset {
        name: short(run.size),
        root: file.to_owned(),
        expected: run.work(),
        digests: Some(Digests { input: String::new(), output: String::new() }),
        ..Dataset::default()
    }
}

fn cell(run: &ListedRun, name: &str) -> Cell {
    Cell {
        name: name.to_owned(),
        method: run.api.clone(),
        kind: "external".to_owned(),
        floors: Some(Vec::new()),
        ..Cell::default()
    }
}

fn sample(run: &ListedRun, round: usize, dataset: usize, cell: String) -> Sample {
    let [wall_ns, user_ns, system_ns] = run.times_ns[..] else {
        unreachable!("a listing does not end within a run");
    };
    let usage = Usage { wall_ns, user_ns, system_ns, ..Usage::default() };
    let line = RunLine { cpu_ns: Some(usage.cpu_ns()), ..RunLine::new(run.work(), wall_ns) };
    let runs = vec![line];
    let outcome = Outcome::Right { runs, usage, read_kib: None, beside: None, files: None };
    Sample { round, dataset, cache_state: 0, cell, took_ns: None, repeated: 0, outcome }
}

/// Returns the comparisons of the article: with the first API, with the smallest block, and of the flag.
fn pairs<'r>(runs: impl Iterator<Item = &'r ListedRun> + Clone, cells: &[Cell]) -> Vec<Pair> {
    let is_there = |name: &str| cells.iter().any(|cell| cell.name == name);
    let mut pairs: Vec<Pair> = Vec::new();
    for run in runs.clone() {
        let ListedRun { api, block, sequential, .. } = run;
        let cell = run.cell();
        let first = runs.clone().next().map_or(api, |first| &first.api);
        let alike = runs.clone().filter(|it| (&it.api, &it.sequential) == (api, sequential));
        let smallest = alike.map(|it| it.block).min().unwrap_or(*block);
        let bases = [cell_name(first, *block, *sequential), cell_name(api, smallest, *sequential)];
        for against in bases.into_iter().filter(|base| *base != cell && is_there(base)) {
            let pair = Pair { question: None, cell: cell.clone(), against };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs.extend(Pair::of_hints(cells));
    pairs
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
    match listing {
        _ if listing.expected_time().is_some() => {
            Err(format!("line {last}: the listing ends in the middle of a run"))
        }
        Listing { runs, .. } if runs.is_empty() => Err(format!("line {last}: no run is listed")),
        Listing { runs, .. } => Ok(runs),
    }
}

#[derive(Default)]
struct Listing {
    sequential: bool,
    /// The API and the block of the following runs.
    test: Option<(String, u64)>,
    /// The last run may lack times.
    runs: Vec<ListedRun>,
}

impl Listing {
    /// Returns the time that has to follow, if the last run lacks one.
    fn expected_time(&self) -> Option<&'static str> {
        TIMES.get(self.runs.last()?.times_ns.len()).copied()
    }

    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        let time = TIMES.iter().find_map(|name| Some((*name, line.strip_prefix(name)?)));
        match (self.expected_time(), time) {
            (Some(expected), Some((name, time))) if name == expected => {
                let time = parse_time(time)?;
                self.runs.last_mut().into_iter().for_each(|run| run.times_ns.push(time));
            }
            (Some(expected), time) => {
                let found = time.map_or(line, |(name, _)| name);
                return Err(format!("expected '{expected}', found '{found}'"));
            }
            (None, Some(_)) => return Err("a time without a run".to_owned()),
            (None, None) => self.parse_head(line)?,
        }
        Ok(())
    }

    /// Parses a line before the times of a run.
    fn parse_head(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("Transformed ") {
            let run = self.parse_transformed(rest).ok_or("no blocks and their bytes")??;
            self.runs.push(run);
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
    fn parse_transformed(&self, rest: &str) -> Option<Result<ListedRun, String>> {
        let mut words = rest.split_whitespace();
        let count: u64 = words.next()?.parse().ok()?;
        (words.next()? == "blocks").then_some(())?;
        let said: Option<u64> = match words.next()? {
            "of" => Some(words.next()?.parse().ok()?),
            "from" => None,
            _ => return None,
        };
        let Some((api, block)) = self.test.clone() else {
            return Some(Err("nothing before says with which API".to_owned()));
        };
        if let Some(said) = said.filter(|said| *said != block) {
            return Some(Err(format!("blocks of {said} bytes in a test of {block} bytes")));
        }
        let size = count.checked_mul(block).ok_or("more bytes than can be counted".to_owned());
        let (sequential, times_ns) = (self.sequential, Vec::new());
        Some(size.map(|size| ListedRun { api, block, size, sequential, times_ns }))
    }
}

/// Parses `16kb CRT --`.
fn parse_test(text: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [block, api, "--"] = words[..] else { return None };
    let block: u64 = block.strip_suffix("kb")?.parse().ok()?;
    let block = block.checked_mul(1024).filter(|block| *block > 0)?;
    Some((api.to_uppercase(), block))
}

/// Parses the arguments of `transform`: `crt INPUT OUTPUT 1024 [seq]`.
fn parse_command(text: &str) -> Option<((String, u64), bool)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (api, block, sequential) = match words[..] {
        [api, _, _, block] => (api, block, false),
        [api, _, _, block, "seq"] => (api, block, true),
        _ => return None,
    };
    let block = block.parse().ok().filter(|block| *block > 0)?;
    Some(((api.to_uppercase(), block), sequential))
}

/// Parses a time: hours, minutes and seconds with up to nine decimals.
fn parse_time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    time_in_nanoseconds(text).ok_or_else(|| format!("'{text}' is no time, as 00:01:23.456 is"))
}

fn time_in_nanoseconds(text: &str) -> Option<u64> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| is_number(part).then(|| part.parse::<u64>().ok()).flatten();
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<u64> = seconds.split(':').map(number).collect::<Option<_>>()?;
    let [hours, minutes @ ..60, seconds @ ..60] = parts[..] else { return None };
    let is_short = is_number(fraction) && fraction.len() <= 9;
    let nanoseconds = number(&format!("{fraction:0<9}")).filter(|_| is_short)?;
    let whole = hours.checked_mul(3600)?.checked_add(minutes * 60 + seconds)?;
    whole.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::pair_answers::PairAnswer;
    use crate::ranking::{Ranking, rank};
    use proptest::prelude::*;
    use transect_stats::Verdict;

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
            times_ns: vec![4_492_000_000, 62_000_000, 60_800_000_000],
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
            .map(|it| (it.api.as_str(), it.block, it.size >> 20, it.sequential, it.times_ns[0]))
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

    /// Returns five runs within a few percent of `middle` milliseconds.
    fn runs(api: &str, block: u64, sequential: bool, middle: u64) -> Vec<ListedRun> {
        let run = |percent: u64| ListedRun {
            api: api.to_owned(),
            block,
            size: 1 << 30,
            sequential,
            times_ns: vec![middle * percent * 10_000, 0, percent],
        };
        [102, 98, 100, 97, 104].map(run).to_vec()
    }

    fn ranked(files: &[Vec<ListedRun>]) -> Ranking {
        let listings: Vec<(&Path, Vec<ListedRun>)> =
            files.iter().map(|runs| (Path::new("listing"), runs.clone())).collect();
        rank(&session(&listings).unwrap()).remove(0)
    }

    fn answer<'r>(ranking: &'r Ranking, cell: &str, against: &str) -> &'r PairAnswer {
        let asked =
            |pair: &&PairAnswer| (pair.cell.as_str(), pair.against.as_str()) == (cell, against);
        ranking.pairs.iter().find(asked).expect("it is asked")
    }

    #[test]
    fn session_keeps_every_sample() {
        let ranking =
            ranked(&[[runs("WIN", 2048, false, 300), runs("CRT", 1024, false, 100)].concat()]);
        let row = &ranking.rows[0];
        assert_eq!(row.cell.name, "CRT,block=1K");
        assert_eq!(row.samples, [102e6, 98e6, 100e6, 97e6, 104e6]);
        assert_eq!((row.time.min, row.time.median, row.time.max), (97e6, 100e6, 104e6));
        assert_eq!((row.user_ns, row.system_ns), (0.0, 100.0));
        assert!(ranking.pairs.is_empty(), "they have neither API nor block in common");
    }

    #[test]
    fn session_compares_with_first_api_and_smallest_block() {
        let samples = [
            runs("CRT", 1024, false, 200),
            runs("CRT", 2048, false, 150),
            runs("STD", 1024, false, 202),
            runs("STD", 2048, false, 330),
        ];
        let ranking = ranked(&[samples.concat()]);
        assert_eq!(ranking.pairs.len(), 4);
        let slower = answer(&ranking, "STD,block=2K", "CRT,block=2K");
        let ratios = slower.ratios.unwrap();
        assert!((ratios.median - 2.2).abs() < 1e-9);
        // The test is that of whole groups, not of rounds.
        assert!((ratios.p - 2.0 / 252.0).abs() < 1e-12);
        // Five comparisons, of which four have the smallest p.
        let judgement = slower.judgement.unwrap();
        assert!((judgement.adjusted_p - 10.0 / 252.0).abs() < 1e-12);
        assert_eq!(judgement.verdict, Verdict::Slower);
        let verdict = |cell, against| answer(&ranking, cell, against).judgement.unwrap().verdict;
        assert_eq!(verdict("STD,block=1K", "CRT,block=1K"), Verdict::Undecided);
        assert_eq!(verdict("CRT,block=2K", "CRT,block=1K"), Verdict::Faster);
    }

    #[test]
    fn verdict_alone_may_not_survive_correction() {
        let apis = ["CRT", "A", "B", "C", "D", "E", "F", "G", "H"];
        let samples = apis.map(|api| runs(api, 1024, false, if api == "CRT" { 100 } else { 150 }));
        let ranking = ranked(&[samples.concat()]);
        assert_eq!(ranking.pairs.len(), 8);
        for pair in &ranking.pairs {
            assert_eq!(pair.judgement.unwrap().verdict, Verdict::Undecided);
            assert_eq!(pair.alone.unwrap().verdict, Verdict::Slower);
            let line = pair.line(ranking.by, false);
            assert!(line.ends_with("slower, if asked alone"), "{line}");
        }
    }

    #[test]
    fn sequential_flag_compared_across_files() {
        let files = [("CRT", 1024, false), ("CRT", 1024, true), ("CRT", 2048, true)]
            .map(|(api, block, seq)| runs(api, block, seq, if seq { 103 } else { 100 }));
        let ranking = ranked(&files);
        let flag = answer(&ranking, "CRT,block=1K,hint=sequential", "CRT,block=1K");
        assert!((flag.ratios.unwrap().median - 1.03).abs() < 1e-9);
        let again = [files[0].clone(), files[0].clone()].map(|runs| (Path::new("a"), runs));
        let error = session(&again).unwrap_err();
        assert!(
            error.starts_with("'a' has CRT,block=1K of 1G, as a file before it has"),
            "{error}"
        );
    }

    #[test]
    fn session_keeps_outliers_and_does_not_compare_zero_times() {
        let mut samples = [runs("CRT", 1024, false, 100), runs("WIN", 1024, false, 100)].concat();
        samples[3].times_ns[0] *= 8;
        let ranking = ranked(&[samples.clone()]);
        let row = ranking.rows.iter().find(|row| row.cell.method == "CRT").unwrap();
        assert_eq!((&*row.outliers, row.time.max), (&[3][..], 776e6));
        samples[0].times_ns[0] = 0;
        assert_eq!(ranked(&[samples]).pairs[0].ratios, None);
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
