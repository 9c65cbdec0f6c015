//! The command line of the lab.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Lists all methods: those of this program, contenders in other languages, and what cannot be
    List(LabListArgs),
    /// Runs a session: rounds in which every method walks the same tree once
    Run(LabRunArgs),
    /// Shows what a session has come to
    Report(LabReportArgs),
    /// Makes and checks trees with a fixed content, to measure on
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Walks as one method does, for a session
    #[command(hide = true)]
    Method(LabMethodArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum CorpusCommand {
    /// Lists the trees that can be made
    List {
        /// Print one JSON object for each
        #[arg(long)]
        json: bool,
    },
    /// Makes a tree in a new folder, the same on every machine
    Create {
        /// The tree; `transect lab corpus list` shows those there are
        name: String,
        /// The folder, which is not there or empty
        dir: PathBuf,
    },
    /// Counts a tree, and compares it with what it should be
    Verify {
        /// The tree
        name: String,
        /// The folder
        dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LabListArgs {
    #[command(flatten)]
    pub(crate) methods: LabMethodsArgs,
    /// Print one JSON object for each method
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which methods there are.
#[derive(Debug, Args)]
pub(crate) struct LabMethodsArgs {
    /// A folder of contenders: programs in other languages, which are built and run
    #[arg(long, value_name = "DIR")]
    pub(crate) contenders: Option<PathBuf>,
    /// Contenders that do something wrong on purpose, too: for the tests of the lab
    #[arg(long, hide = true)]
    pub(crate) test_doubles: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// What is measured
    #[arg(value_name = "TASK", value_parser = ["enumerate"])]
    pub(crate) task: String,
    /// The tree to walk
    #[arg(long, value_name = "DIR", required_unless_present = "resume")]
    pub(crate) path: Option<PathBuf>,
    /// Which rules: `quick`, `full`, or those of an article
    #[arg(long, value_enum, default_value_t = Preset::Quick)]
    pub(crate) preset: Preset,
    /// Only methods whose name matches; may be repeated. The floor and the base are always there
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// The state of the caches before every run
    #[arg(long, value_enum, default_value_t = LabState::Warm)]
    pub(crate) state: LabState,
    /// How often every method runs; by default as the preset says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) rounds: Option<u16>,
    /// Where the orders of the rounds come from; by default the clock
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The longest that one process may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,
    /// Count the system calls of every method, too, each in a run of its own (needs strace)
    #[arg(long)]
    pub(crate) accesses: bool,
    /// The session's file; by default `lab-SECONDS.jsonl` here, the seconds since 1970
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) output: Option<PathBuf>,
    /// Go on with a session that was stopped
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["path", "preset", "methods", "state", "rounds", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

/// The rules of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Preset {
    /// Twelve rounds, one walk in each process, the readers in three orders
    Quick,
    /// Twenty rounds, one walk in each process, all methods
    Full,
    /// One round of eleven walks in one process; the first does not count (recursion and iteration)
    ArticleS1,
    /// Ten rounds, all readers in all orders (the matrix with futures)
    ArticleS4,
}

/// The state of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabState {
    /// All in memory, proved by reading nothing from devices
    Warm,
    /// Nothing in memory (needs root), proved by reading from devices
    Cold,
    /// As it happens to be: neither made nor proved
    AsIs,
}

#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// The session's file
    #[arg(value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabMethodArgs {
    /// A reader and an order: READER/ORDER
    pub(crate) name: String,
    /// The tree
    pub(crate) root: PathBuf,
    /// Walks
    pub(crate) runs: usize,
}
