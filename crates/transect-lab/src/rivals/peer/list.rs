//! Which peers there are. What their figures mean was tried out on trees with hard links of files,
//! links and pipes, links to everything and nothing, holes, hidden and ignored names, names that are
//! no text (`tests/peers.rs`), and can change with a version: then all meanings are listed.

use super::parse::OutputFormat;
use super::reported::ReportedCounts;
use super::spec::{CountRule, Peer, ROOT};
use crate::harness::inventory::Inventory;

/// All peers.
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
    // Without `--type`, `--size` would also let links to files pass, whose targets it asks about. No
    // pattern: `.`, which is usual before a path, matches no name without any text in it (`\xff`).
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
        count_rules: &[CountRule {
            description: "regular files; no directories, no lengths, though it asks for those of files",
            expected: |inventory| ReportedCounts::files(inventory.files.names),
        }],
    },
    // Hard links are counted with every name, as the methods do, which also saves du a table.
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
            // From version 9.2 on.
            CountRule {
                description: "lengths of files and links, every name",
                expected: |inventory| {
                    ReportedCounts::bytes(inventory.files.bytes + inventory.symlinks.bytes)
                },
            },
            EVERY_LENGTH,
        ],
    },
    // "auto", its default, takes one thread on a disk that says that it turns, as virtual ones do.
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
    // A root whose path is no text it refuses, as nobody else does.
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
    // A lone directory is shown entry by entry, without its own length and the links in it; so there
    // is a second argument, which holds nothing. Without `--ignore-dirs` it leaves out /proc, /dev,
    // /sys and /run; none at all cannot be said.
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
        count_rules: &[CountRule {
            description: "lengths of files, each once, and of links, every name",
            expected: |inventory| {
                ReportedCounts::bytes(inventory.files.distinct_bytes + inventory.symlinks.bytes)
            },
        }],
    },
    // Without `--ignore-dirs` it leaves out /proc, /dev, /sys and /run.
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
        count_rules: &[CountRule {
            description: "lengths of files and links, each once, and 4096 bytes a directory",
            expected: |inventory| {
                let Inventory { files, directories, symlinks, others, .. } = inventory;
                let lengths =
                    files.distinct_bytes + symlinks.distinct_bytes + others.distinct_bytes;
                ReportedCounts::bytes(lengths + 4096 * directories.names)
            },
        }],
    },
    // It finds out which names are one file, but counts lengths when somebody looks at the export.
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

/// What `find` and `bfs` are asked to print of an entry.
const RECORD: &str = r"%y %s\n";

/// All that there is to be claimed.
const EVERY_ENTRY: CountRule = CountRule {
    description: "files, directories and others, every name, and the lengths of files",
    expected: |inventory| {
        let Inventory { files, directories, symlinks, others, .. } = inventory;
        ReportedCounts {
            files: Some(files.names),
            directories: Some(directories.names),
            others: Some(symlinks.names + others.names),
            bytes: Some(files.bytes),
        }
    },
};

/// One sum of all that has a length.
const EVERY_LENGTH: CountRule = CountRule {
    description: "lengths of files, directories and links, every name",
    expected: |inventory| {
        ReportedCounts::bytes(inventory.parts().iter().map(|part| part.bytes).sum())
    },
};

impl Peer {
    /// Returns the peer of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PEERS.iter().find(|peer| peer.name == name)
    }
}
