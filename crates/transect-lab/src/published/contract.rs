//! The seed contract: every system, practice, measure, protocol and tree of the seed articles, and its
//! status in this project.
//!
//! Methods list their own rows ([`crate::experiments::walk::method::Method::contract`]). This file lists
//! the rest: rows that are not methods, and methods that cannot exist here.

use serde::Serialize;

/// A row that is not a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContractRow {
    /// Its number.
    pub row: &'static str,
    /// Its meaning in the article.
    pub what: &'static str,
    /// Its status.
    #[serde(rename = "here")]
    pub status: ContractStatus,
    /// Its place in the lab; for a missing row, the reason and the closest equivalent.
    pub note: &'static str,
}

/// Status of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractStatus {
    /// It is part of the lab, or of the engine.
    Kept,
    /// It was a fault and is avoided.
    #[serde(rename = "mended")]
    Fixed,
    /// It is on the roadmap.
    Planned,
    /// It is impossible or unnecessary.
    #[serde(rename = "not")]
    Omitted,
}

impl ContractStatus {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Fixed => "mended",
            Self::Planned => "planned",
            Self::Omitted => "not",
        }
    }
}

use ContractStatus::{Fixed, Kept, Omitted};

const fn row(
    row: &'static str,
    what: &'static str,
    status: ContractStatus,
    note: &'static str,
) -> ContractRow {
    ContractRow { row, what, status, note }
}

/// All rows that are not methods, by number.
#[rustfmt::skip]
pub const ROWS: &[ContractRow] = &[
    row("A11", "the USN journal", Kept, "transect changes --journal: of images and devices with NTFS; a log of changes beside the walk, not a tree"),
    row("A12", "direct reading of NTFS records", Kept, "--reader ntfs: images, devices and partitions, all of a volume at once; live Windows is on the roadmap"),
    row("A28", "the first parse of an IDE, 10 to 15 times faster", Kept, "lab run attributes: includes and compile-database, the cache frozen"),
    row("A38", "one core is saturated", Kept, "cores used in every table: CPU time of a run over its time; --counters: over time"),
    row("A40", "directories skipped, files kept", Kept, "the work counts both apart"),
    row("A41", "a vector reserved outside the timing", Fixed, "nothing is collected; what grows, grows inside the timing"),
    row("A42", "strings reserved, paths normalised", Omitted, "directories are opened relative to handles: no path is built"),
    row("A44", "files, directories and bytes as the result", Kept, "the protocol's line, and the test of equal work"),
    row("A50", "block sizes from 1 to 2,048 KB", Kept, "lab run transform --blocks"),
    row("A51", "files from 256 to 2,048 MB", Kept, "lab run transform --sizes, up to what the device holds"),
    row("A52", "a matrix of APIs, blocks and runs", Kept, "--preset classic"),
    row("A53", "a replaceable transform", Kept, "lab run transform --kind: copy, case, blake3, zstd"),
    row("A54", "create, transform and clear", Kept, "lab run transform makes its input, transforms it, and drops it from memory"),
    row("A56", "the standby list emptied by RAMMap", Kept, "--state cold: /proc/sys/vm/drop_caches; on Windows the call that RAMMap makes, unproved"),
    row("A57", "a file dropped from the cache by opening it unbuffered", Kept, "transect cache drop; lab run transform --state cold; Linux proves it by asking what is left"),
    row("A58", "inputs cleared before every run", Kept, "--state cold, before every process"),
    row("A59", "the first run only warms the cache", Kept, "article-s1; elsewhere one recursion warms, and every warm run proves it"),
    row("A60", "a warm cache, stated; flushed and settled between runs", Kept, "--state warm, proved by what devices read; a limit of cached memory is recorded; no flush and no pause between runs"),
    row("A61", "cold, then warm", Kept, "--state cold,warm; article-s0"),
    row("A62", "virus scanners off", Kept, "recorded and shown, never switched off: watchers by fanotify, known scanners, Defender"),
    row("A63", "network off, few programs", Kept, "the load at the start is recorded, and the base against itself tells noise"),
    row("A64", "power mode chosen and stated", Omitted, "the governor is recorded where the system has one, never chosen; drift cancels within rounds"),
    row("A65", "the hardware cache cannot be controlled", Kept, "said of guests: caches below them are out of reach"),
    row("A66", "8.3 names cost", Kept, "recorded and shown for trees on Windows: whether the volume creates 8.3 names"),
    row("A67", "old and slow machines, too", Kept, "sessions are files: lab compare"),
    row("A68", "seconds per method by a fine clock", Kept, "nanoseconds by a monotonic clock"),
    row("A69", "times against the slowest", Kept, "in CSV and JSON of every session; in the table of article-s0 and of transforms"),
    row("A70", "start-up excluded", Kept, "every method takes its own time; peers, which cannot, are marked"),
    row("A71", "accesses per file by ProcessMonitor", Kept, "calls per entry by strace, in runs of their own"),
    row("A72", "real, user and system time", Kept, "of every process; lab import reads the article's"),
    row("A73", "min, max, median", Kept, "and MAD, n, every sample; of the article's listings by lab import"),
    row("A74", "thread-seconds in FindFirstFile and FindNextFile", Kept, "in opening, listing and attribute calls, summed over threads"),
    row("A75", "every single run, sorted", Kept, "every sample is in the file and on the page; article-s4 prints them"),
    row("A76", "a profile of the native calls", Kept, "--counters: CPU time, cycles, instructions and switches by perf stat; the time inside calls, of the engine's methods"),
    row("A77", "what was found, as a control", Kept, "checked before any time is shown"),
    row("A78", "attributes gathered while listing", Kept, "lab run attributes --task article: listing, and the cache against single questions"),
    row("A79", "headers assumed unchanged during a load", Kept, "the cache, frozen until it is thawed: resolve-frozen, get-known; what changes meanwhile is seen after that"),
    row("A80", "two gains that are not the same measure", Kept, "lab run attributes: every task is a ranking of its own, and none is summed up with another"),
    row("A81", "measure your own workload", Kept, "--path takes any tree, --compile-database and --dep-info any build; lab tune hands the result to scan"),
    row("A82", "layers of caches: which were warm", Kept, "the state is proved, by file in transforms; guests are named, for their hosts' caches are out of reach"),
    row("A83", "findings on CRT, streams and mapping", Kept, "stored as reference rows; lab import says which are decided"),
    row("A84", "raw results published", Kept, "the session's file; lab import reads the article's"),
    row("A85", "length of the code as a measure", Kept, "lines and tokens of each contender beside its ratios, of all its methods together; lab list --json"),
    row("A86", "readers post their results", Kept, "lab merge: sessions of several machines in one table, each with its own ratios"),
    row("P1", "eleven runs, the first discarded, the mean", Kept, "--preset article-s1"),
    row("P2", "five processes, cleared before each", Kept, "--preset article-s3"),
    row("P3", "cold then warm, against the slowest", Kept, "--preset article-s0, each method a process of its own"),
    row("P4", "all combinations, ten times, sorted", Kept, "--preset article-s4"),
    row("P5", "emptied caches, one run, time by call", Kept, "--preset article-s2, with the share that a run waited"),
    row("P6", "the same command twice and thrice", Kept, "--preset article-s3-naive, and lab run transform --state cold,as-is,as-is"),
    row("D1", "1,000, 2,000 and 5,000 small files", Kept, "corpora flat-1000, flat-2000, flat-5000"),
    row("D2", "music", Kept, "corpus music"),
    row("D3", "data", Kept, "corpus data"),
    row("D4", "a whole drive", Kept, "corpus drive"),
    row("D5", "a single file", Kept, "corpus single"),
    row("D6", "a part of a hard disk", Kept, "--path"),
    row("D7", "single files of 256 to 2,048 MB", Kept, "lab run transform --sizes makes them"),
    row("D8", "the users' folder, about two million files", Kept, "corpus users"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::experiments::transform;
    use crate::experiments::walk::method::Method;
    use crate::rivals::builtin;
    use transect_testkit::TempDir;

    #[test]
    fn every_contract_row_is_a_method_or_listed_here() {
        let temp = TempDir::new();
        let folder = builtin::unpack(temp.path()).expect("a folder that can be written");
        let (walks, _) = Method::all(Some(&folder), false);
        let (passes, _) = transform::Method::all(transform::Kind::Copy, Some(&folder), false);
        let of_walks = walks.into_iter().flat_map(|method| method.contract);
        let of_passes = passes.into_iter().flat_map(|method| method.contract);
        let of_methods: BTreeSet<String> = of_walks.chain(of_passes).collect();
        let here: BTreeSet<String> = ROWS.iter().map(|row| row.row.to_owned()).collect();
        assert_eq!(here.len(), ROWS.len());
        let both: Vec<_> = here.intersection(&of_methods).collect();
        assert!(both.is_empty(), "{both:?}");
        let all = (1..=86).map(|n| format!("A{n}"));
        let all = all.chain((1..=6).map(|n| format!("P{n}")));
        let all: BTreeSet<String> = all.chain((1..=8).map(|n| format!("D{n}"))).collect();
        let known: BTreeSet<String> = here.union(&of_methods).cloned().collect();
        assert_eq!(known, all);
    }

    #[test]
    fn presets_and_corpora_in_notes_exist() {
        for row in ROWS {
            if let Some(preset) = row.note.split("--preset ").nth(1) {
                let name = preset.split(',').next().unwrap_or_default();
                let walks = crate::experiments::walk::preset::Preset::find(name)
                    .and_then(|preset| preset.contract);
                let passes = transform::Preset::find(name).and_then(|preset| preset.contract);
                assert!([walks, passes].contains(&Some(row.row)), "{name}");
            }
            if let Some(name) = row.note.strip_prefix("corpus ") {
                assert!(crate::corpora::find(name).is_some(), "{name}");
            }
        }
    }
}
