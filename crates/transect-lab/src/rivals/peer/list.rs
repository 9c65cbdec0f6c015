//! The list of peers. The definitions of their counts were determined on trees with hard links to files,
//! symbolic links and pipes, all kinds of links, holes, hidden and ignored names, and names that are not
//! UTF-8 (`tests/peers.rs`). If versions differ, all definitions are listed.

use super::parse::OutputFormat;
use super::reported::ReportedCounts;
use super::spec::{CountRule, Peer, ROOT};
use crate::harness::inventory::Inventory;

pub const PEERS: &[Peer] = &[
    Peer {
        name: "find",
        programs: &["find"],
        version_marker: "GNU findutils",
        language: "C",
        parallel: false,
        install: "apt-get install findutils",
        about: "GNU find; prints type and length of every entry",
        arguments: &[ROOT, "-printf", RECORD],
        output_format: OutputFormat::Records,
        count_rules: &[EVERY_ENTRY],
    },
    Peer {
        name: "bfs",
        programs: &["bfs"],
        version_marker: "bfs",
        language: "C",
        // From version 3 on.
        parallel: true,
        install: "apt-get install bfs",
        about: "breadth-first find; prints type and length of every entry",
        arguments: &[ROOT, "-printf", RECORD],
        output_format: OutputFormat::Records,
        count_rules: &[EVERY_ENTRY],
    },
    // Without `--type`, `--size` also matches links to files, by the length of the target. There is no
    // pattern, as the usual `.` before a path does not match names without valid UTF-8 (`\xff`).
    Peer {
        name: "fd",
        programs: &["fd", "fdfind"],
        version_marker: "fd",
        language: "Rust",
        parallel: true,
        install: "apt-get install fd-find",
        about: "find for people; prints the path of every file, after asking for its length",
        arguments: &[
            "--hidden",
            "--no-ignore",
            "--color=never",
            "--type=file",
            "--size=+0b",
            "--print0",
            "--search-path",
            ROOT,
        ],
        output_format: OutputFormat::NulNames,
        count_rules: &[
            // Regular files; no directories, and no lengths, though it queries those of files.
            |inventory| ReportedCounts::files(inventory.files.names),
        ],
    },
    // `--count-links` counts every name, as the methods do, and saves du its table of hard links.
    Peer {
        name: "du",
        programs: &["du"],
        version_marker: "GNU coreutils",
        language: "C",
        parallel: false,
        install: "apt-get install coreutils",
        about: "GNU du; prints one sum of all lengths",
        arguments: &["--summarize", "--apparent-size", "--count-links", "--block-size=1", ROOT],
        output_format: OutputFormat::Sum,
        count_rules: &[
            // From version 9.2 on: lengths of files and links, every name.
            |inventory| ReportedCounts::bytes(inventory.files.bytes + inventory.symlinks.bytes),
            EVERY_LENGTH,
        ],
    },
    // The default, "auto", uses one thread on rotational disks, as which virtual disks may report.
    Peer {
        name: "pdu",
        programs: &["pdu"],
        version_marker: "pdu",
        language: "Rust",
        parallel: true,
        install: "cargo install parallel-disk-usage",
        about: "parallel du; prints one sum of all lengths",
        arguments: &[
            "--quantity=apparent-size",
            "--bytes-format=plain",
            "--max-depth=1",
            "--threads=max",
            ROOT,
        ],
        output_format: OutputFormat::Sum,
        count_rules: &[EVERY_LENGTH],
    },
    // It is the only peer that refuses a root whose path is not UTF-8.
    Peer {
        name: "dust",
        programs: &["dust"],
        version_marker: "Dust",
        language: "Rust",
        parallel: true,
        install: "cargo install du-dust",
        about: "du with bars; prints one sum of all lengths",
        arguments: &[
            "--depth=0",
            "--apparent-size",
            "--output-format=b",
            "--no-progress",
            "--no-colors",
            "--no-percent-bars",
            ROOT,
        ],
        output_format: OutputFormat::Sum,
        count_rules: &[EVERY_LENGTH],
    },
    // A single directory is shown entry by entry, without its own length and its links; hence the empty
    // second argument. By default it ignores /proc, /dev, /sys and /run; `--ignore-dirs` needs a value.
    Peer {
        name: "dua",
        programs: &["dua"],
        version_marker: "dua",
        language: "Rust",
        parallel: true,
        install: "cargo install dua-cli",
        about: "Disk Usage Analyzer; prints one sum of all lengths",
        arguments: &[
            "aggregate",
            "--apparent-size",
            "--count-hard-links",
            "--format=bytes",
            "--no-sort",
            "--no-total",
            "--ignore-dirs=/nonexistent",
            ROOT,
            "/dev/null",
        ],
        output_format: OutputFormat::Sum,
        count_rules: &[EVERY_LENGTH],
    },
    Peer {
        name: "diskus",
        programs: &["diskus"],
        version_marker: "diskus",
        language: "Rust",
        parallel: true,
        install: "cargo install diskus",
        about: "a small, parallel du -s; prints one sum of all lengths",
        arguments: &["--apparent-size", ROOT],
        output_format: OutputFormat::Sum,
        count_rules: &[
            // Lengths of files, each once, and of links, every name.
            |inventory| {
                ReportedCounts::bytes(inventory.files.distinct_bytes + inventory.symlinks.bytes)
            },
        ],
    },
    // By default it ignores /proc, /dev, /sys and /run.
    Peer {
        name: "gdu",
        programs: &["gdu", "gdu-go"],
        version_marker: "Version:",
        language: "Go",
        parallel: true,
        install: "apt-get install gdu",
        about: "du for the terminal, without a window here; prints one sum of all lengths",
        arguments: &[
            "--non-interactive",
            "--no-progress",
            "--no-color",
            "--no-prefix",
            "--summarize",
            "--show-apparent-size",
            "--ignore-dirs=",
            ROOT,
        ],
        output_format: OutputFormat::Sum,
        count_rules: &[
            // Lengths of files and links, each once, and 4096 bytes a directory.
            |inventory| {
                let directories = 4096 * inventory.directories.names;
                ReportedCounts::bytes(distinct_lengths(inventory) + directories)
            },
        ],
    },
    // It records which names are the same file, but its export contains every name with its length.
    Peer {
        name: "ncdu",
        programs: &["ncdu"],
        version_marker: "ncdu",
        language: "C",
        parallel: false,
        install: "apt-get install ncdu",
        about: "du for the terminal, without a window here; exports name and length of every entry",
        arguments: &["--ignore-config", "-0", "-o", "-", ROOT],
        output_format: OutputFormat::NcduExport,
        count_rules: &[EVERY_ENTRY],
    },
];

/// Format of an entry for `find` and `bfs`.
const RECORD: &str = r"%y %s\n";

/// All four counts: files, directories and others, every name, and the lengths of files.
pub(super) const EVERY_ENTRY: CountRule = |inventory| all_counts(inventory, inventory.files.bytes);

/// All four counts, as `transect scan` has them: every name, and the lengths of all but directories, each
/// file once.
pub(super) const EVERY_FILE_ONCE: CountRule =
    |inventory| all_counts(inventory, distinct_lengths(inventory));

/// One sum: the lengths of files, directories and links, every name.
const EVERY_LENGTH: CountRule =
    |inventory| ReportedCounts::bytes(inventory.parts().iter().map(|part| part.bytes).sum());

/// Returns the lengths of all but directories, each file once.
fn distinct_lengths(inventory: &Inventory) -> u64 {
    let Inventory { files, symlinks, others, .. } = inventory;
    files.distinct_bytes + symlinks.distinct_bytes + others.distinct_bytes
}

/// Returns the counts of all names, with a sum of lengths.
fn all_counts(inventory: &Inventory, bytes: u64) -> ReportedCounts {
    let Inventory { files, directories, symlinks, others, .. } = inventory;
    let others = symlinks.names + others.names;
    ReportedCounts::all([files.names, directories.names, others, bytes])
}

impl Peer {
    pub fn find(name: &str) -> Option<&'static Self> {
        PEERS.iter().find(|peer| peer.name == name)
    }
}
