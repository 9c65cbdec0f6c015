//! The command line of the lab.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use transect_lab::corpora::{self, Pattern};
use transect_lab::experiments::walk::preset::{PRESETS, Preset};
use transect_lab::experiments::{attributes, transform};
use transect_lab::harness::cache_state::State;
use transect_text::size;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabCommand {
    /// Lists all methods: those of this program, contenders in other languages, and what cannot be
    List(LabListArgs),
    /// Runs a session: rounds in which every method does the same work once
    #[command(subcommand)]
    Run(LabRunCommand),
    /// Shows what a session has come to
    Report(LabReportArgs),
    /// Shows two sessions beside each other: what became faster, and what slower
    Compare(LabCompareArgs),
    /// Tells what limits the fastest of a session of passes over files, and what the planner is to do
    #[command(after_help = EXPLAIN_NOTES)]
    Explain(LabExplainArgs),
    /// Shows the tables of a file transform article's listings, and what in them is decided
    #[command(after_help = IMPORT_NOTES)]
    Import(LabImportArgs),
    /// Finds the settings that win on a file system; `transect scan` and `list` use them from then on
    Tune(LabTuneArgs),
    /// Makes and checks trees and files with a fixed content, to measure on
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Walks as one method does, for a session
    #[command(hide = true)]
    Method(LabMethodArgs),
    /// Passes over a file as one method does, for a session
    #[command(hide = true)]
    Pass(LabPassArgs),
    /// Asks for attributes as one method does, for a session
    #[command(hide = true)]
    AttributesMethod(LabAttributesMethodArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabRunCommand {
    /// Walks trees: which way of asking a file system is fastest here
    Enumerate(LabRunArgs),
    /// Passes over large files: which way of reading and writing is fastest here
    Transform(LabTransformArgs),
    /// Asks for attributes of many files: which way of asking is fastest here, and what a cache saves
    Attributes(LabAttributesArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
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
    /// Makes a file with a stated content, the same on every machine
    CreateFile(CorpusFileArgs),
    /// Counts a tree, and compares it with what it should be
    Verify {
        /// The tree
        name: String,
        /// The folder
        dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CorpusFileArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Its length: 256M, 1GiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) size: usize,
    /// What is in it
    #[arg(long, value_name = "PATTERN", default_value = "printable96",
          value_parser = pattern_parser())]
    pub(crate) pattern: Pattern,
    /// What its bytes are drawn from, if they are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// Parses one of some values by its name; help lists what each is about, if it is about something.
fn one_of<T: Sync>(
    all: &'static [T],
    name: fn(&T) -> &'static str,
    about: fn(&T) -> Option<&'static str>,
) -> impl TypedValueParser<Value = &'static T> {
    let value = |it: &'static T| match about(it) {
        Some(about) => PossibleValue::new(name(it)).help(about),
        None => PossibleValue::new(name(it)),
    };
    PossibleValuesParser::new(all.iter().map(value)).map(move |typed| {
        let named = all.iter().find(|it| name(it) == typed);
        named.expect("BUG: the parser lets only these names pass")
    })
}

fn pattern_parser() -> impl TypedValueParser<Value = Pattern> {
    one_of(Pattern::ALL, |it| it.as_str(), |it| Some(it.about())).map(|it| *it)
}

fn task_parser() -> impl TypedValueParser<Value = attributes::Task> {
    one_of(attributes::Task::ALL, |it| it.as_str(), |it| Some(it.about())).map(|it| *it)
}

#[derive(Debug, Args)]
pub(crate) struct LabListArgs {
    #[command(flatten)]
    pub(crate) methods: LabMethodsArgs,
    /// List the rows of the seed articles that are no method, too: practices, measures, protocols,
    /// trees
    #[arg(long)]
    pub(crate) contract: bool,
    /// Print one JSON object for each method
    #[arg(long)]
    pub(crate) json: bool,
}

// Which methods there are.
#[derive(Debug, Args)]
pub(crate) struct LabMethodsArgs {
    /// A folder of contenders in place of those that are part of this program; they are built and
    /// run
    #[arg(long, value_name = "DIR")]
    pub(crate) contenders: Option<PathBuf>,
    /// Contenders that do something wrong on purpose, too: for the tests of the lab
    #[arg(long, hide = true)]
    pub(crate) test_doubles: bool,
}

// What is the same for sessions of every kind.
#[derive(Debug, Args)]
pub(crate) struct LabSessionArgs {
    /// How often every method runs; by default as the preset says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) rounds: Option<u16>,
    /// Add whole rounds until every ratio is known well enough, or no further one would end in so much
    /// time, such as 90s or 10m. The rounds of the preset, five at the least, are run in any case
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) max_time: Option<Duration>,
    /// Where the orders of the rounds come from; by default the clock
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Count no calls; otherwise methods do that in runs of their own, at the end
    #[arg(long)]
    pub(crate) no_calls: bool,
    /// Measure nothing, make nothing: say what would be measured and what that takes
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// The session's file; by default `lab-SECONDS.jsonl` here, the seconds since 1970. If there is a
    /// page, it is beside it
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// A tree to walk; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,
    /// A corpus to walk, which is made if it is not there yet; may be repeated
    #[arg(long, value_name = "NAME", value_parser = corpus_parser())]
    pub(crate) corpus: Vec<String>,
    /// The folder that holds the corpora; by default one in the user's cache
    #[arg(long, value_name = "DIR")]
    pub(crate) corpora: Option<PathBuf>,
    /// Which rules; `article-` are those of the articles
    #[arg(long, value_name = "PRESET", default_value = PRESETS[0].name,
          value_parser = one_of(PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static Preset,
    /// Only methods whose name matches; may be repeated. The floor and the base are always there. A
    /// method of this program may have settings: READER/ORDER,threads=4,buffer=256K,stat-order=inode
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// The state of the caches before every run; several, with commas, are as many runs; by default
    /// as the preset says
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) state: Vec<LabState>,
    /// The longest that one process may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Go on with a session that was stopped
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["path", "corpus", "corpora", "preset", "methods", "state", "rounds",
                                "max_time", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabTransformArgs {
    /// Which rules; `classic` are those of the article
    #[arg(long, value_name = "PRESET", default_value = transform::PRESETS[0].name,
          value_parser = one_of(transform::PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static transform::Preset,
    /// How many small files there are, if the preset is one of many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) files: Option<u32>,
    /// Sizes of the input, such as 64M; several with commas. By default as the preset says
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = size::parse)]
    pub(crate) sizes: Vec<usize>,
    /// How much is read and written at once, such as 16K; several with commas. By default as the
    /// preset says
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = block_size)]
    pub(crate) blocks: Vec<usize>,
    /// Only methods whose name matches; may be repeated. The floors and the base are always there
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// A program as a further cell, such as 'cp=cp {in} {out}'; may be repeated. No shell takes part
    #[arg(long = "command", value_name = "NAME=COMMAND")]
    pub(crate) commands: Vec<transform::External>,
    /// How much of the input is in memory before every run; by default as the preset says
    #[arg(long, alias = "states", value_enum, value_delimiter = ',')]
    pub(crate) state: Vec<LabFileState>,
    /// What is done with the bytes
    #[arg(long, value_enum, default_value = "copy")]
    pub(crate) kind: LabKind,
    /// What has to be on the device before the clock stops
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) sync: LabSync,
    /// Add cells that tell the system that the input is read from its beginning to its end, of those
    /// methods that can
    #[arg(long)]
    pub(crate) seq: bool,
    /// Where the session makes a folder for inputs and outputs, which it removes; by default in the
    /// user's cache. It writes nowhere else
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The longest that one process may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Go on with a session that was stopped
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["preset", "files", "sizes", "blocks", "methods", "commands", "state",
                                "rounds", "max_time", "kind", "sync", "seq", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

fn block_size(text: &str) -> Result<usize, String> {
    match size::parse(text)? {
        0 => Err("a block holds something".to_owned()),
        bytes => Ok(bytes),
    }
}

#[derive(Debug, Args)]
pub(crate) struct LabAttributesArgs {
    /// How much is asked
    #[arg(long, value_name = "PRESET", default_value = attributes::PRESETS[0].name,
          value_parser = one_of(attributes::PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static attributes::Preset,
    /// What is asked; may be repeated. By default all tasks that need no source
    #[arg(long = "task", value_name = "TASK", value_parser = task_parser())]
    pub(crate) tasks: Vec<attributes::Task>,
    /// How many paths each task asks about; by default as the preset says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) paths: Option<u32>,
    /// A compile_commands.json, the files of which are what task compile-database asks about
    #[arg(long, value_name = "FILE")]
    pub(crate) compile_database: Option<PathBuf>,
    /// A folder with the .d files of a build, such as that of cargo, the dependencies in which are what
    /// task compile-database asks about
    #[arg(long, value_name = "DIR", conflicts_with = "compile_database")]
    pub(crate) dep_info: Option<PathBuf>,
    /// Only methods whose name matches; may be repeated. The floor and the base are always there
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// The state of the system's caches before every run; several with commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "warm")]
    pub(crate) state: Vec<LabState>,
    /// Where the session makes a folder for the trees that it asks about, which it removes; by default in
    /// the user's cache
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The longest that one process may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Go on with a session that was stopped
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["preset", "tasks", "paths", "compile_database", "dep_info", "methods",
                                "state", "rounds", "max_time", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabAttributesMethodArgs {
    /// A way of asking
    #[arg(value_parser = one_of(attributes::Way::ALL, |it| it.as_str(), |_| None).map(|it| *it))]
    pub(crate) way: attributes::Way,
    /// The file that holds the questions
    pub(crate) questions: PathBuf,
    /// What is asked
    #[arg(long, value_parser = task_parser())]
    pub(crate) task: attributes::Task,
    /// On how many threads
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Where a service answers, if one is asked
    #[arg(long)]
    pub(crate) socket: Option<PathBuf>,
}

/// The state of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabFileState {
    /// All of it, proved by asking the system
    Warm,
    /// Nothing of it, proved by asking the system; caches of a host are out of reach
    Cold,
    /// As it happens to be: neither made nor proved
    AsIs,
}

impl From<LabFileState> for State {
    fn from(state: LabFileState) -> Self {
        match state {
            LabFileState::Warm => Self::Warm,
            LabFileState::Cold => Self::Cold,
            LabFileState::AsIs => Self::AsIs,
        }
    }
}

/// What is done with the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabKind {
    /// They are handed on as they are
    Copy,
    /// ASCII letters become large
    Case,
    /// They are handed on, and their digest is found
    Blake3,
    /// They are compressed
    Zstd,
}

impl From<LabKind> for transform::Kind {
    fn from(kind: LabKind) -> Self {
        match kind {
            LabKind::Copy => Self::Copy,
            LabKind::Case => Self::Case,
            LabKind::Blake3 => Self::Blake3,
            LabKind::Zstd => Self::Zstd,
        }
    }
}

/// What has to be on the device before the clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabSync {
    /// Nothing: what is written may be in memory only
    None,
    /// The output
    Inside,
}

impl From<LabSync> for transform::Sync {
    fn from(sync: LabSync) -> Self {
        match sync {
            LabSync::None => Self::None,
            LabSync::Inside => Self::Inside,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct LabPassArgs {
    /// A method and settings: METHOD[,block=SIZE]
    pub(crate) name: transform::Variant,
    /// The file that is read
    pub(crate) input: PathBuf,
    /// The file that is made
    pub(crate) output: PathBuf,
    /// What is done with the bytes
    #[arg(long, value_enum, default_value = "copy")]
    pub(crate) kind: LabKind,
    /// What has to be on the device before the clock stops
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) sync: LabSync,
    /// What is done with many files: INPUT and OUTPUT are folders, and NAME is a way
    #[arg(long, value_name = "PHASE", value_parser = one_of(transform::Phase::ALL, |it| it.as_str(), |_| None).map(|it| *it), requires = "files")]
    pub(crate) phase: Option<transform::Phase>,
    /// How many files there are
    #[arg(long, value_name = "N")]
    pub(crate) files: Option<u64>,
}

fn corpus_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(corpora::CORPORA.iter().map(|definition| definition.name))
}

impl From<LabState> for State {
    fn from(state: LabState) -> Self {
        match state {
            LabState::Warm => Self::Warm,
            LabState::Cold => Self::Cold,
            LabState::AsIs => Self::AsIs,
        }
    }
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
    #[arg(long, group = "form")]
    pub(crate) json: bool,
    /// Print a line of comma-separated values for each method, tree and state of the caches
    #[arg(long, group = "form")]
    pub(crate) csv: bool,
    /// Print tables in Markdown
    #[arg(long, group = "form")]
    pub(crate) markdown: bool,
    /// Write a page with charts, which needs nothing beside it; `-` prints it
    #[arg(long, value_name = "FILE", group = "form")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabCompareArgs {
    /// The file of the first session
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The file of the second session
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Exit with 1 if anything is decidedly slower
    #[arg(long)]
    pub(crate) check: bool,
    /// Compare passes over files of another kind, size, machine, system or file system, too
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPLAIN_NOTES: &str = "\
Floors that ran in the same rounds and the kernel's account of every run tell where the time goes. A \
limit is told only if it is decidedly the largest part; a method is told to be better than what \
`transect transform` does by itself only if it was faster in all rounds, corrected for the number of \
methods, and once more in those rounds that had no part in choosing it. Undecided is an answer.

Exit codes: 0 explained; 2 wrong usage, or the file cannot be read or is no session of passes over files.";

#[derive(Debug, Args)]
pub(crate) struct LabExplainArgs {
    /// The session's file
    #[arg(value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Store what was decided in the profile of the file system that was measured: `transect transform`
    /// does so from then on
    #[arg(long)]
    pub(crate) save: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const IMPORT_NOTES: &str = "\
A listing is what the article's batch files write: `-- TEST 16kb CRT --`, then for each run a line \
`Transformed … blocks` and its real, user and system time. Each file is a session of its own; the \
sequential flag is looked at across all of them.

Exit codes: 0 all were read; 2 wrong usage, or a file cannot be read or is no listing.";

#[derive(Debug, Args)]
pub(crate) struct LabImportArgs {
    /// A file of listings
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print every run as a line of comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabTuneArgs {
    /// A place on the file system; what is below it is read, or a part of it
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// The state of the caches before every walk; `warm,cold` for both: what wins in one and loses in
    /// the other is not taken, and orders are tried, too
    #[arg(long, value_enum, value_delimiter = ',', default_value = "warm")]
    pub(crate) state: Vec<LabState>,
    /// About how long it may take; what is read is chosen accordingly
    #[arg(long, value_name = "SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Measure nothing, and remove what was stored for this file system
    #[arg(long, conflicts_with_all = ["state", "seconds", "dry_run", "output"])]
    pub(crate) forget: bool,
    /// Keep the samples, for `transect lab report`: FILE, and FILE.2 where something won
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object: the profile
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabMethodArgs {
    /// A reader, an order, settings: READER/ORDER[,threads=N][,buffer=SIZE][,stat-order=ORDER]
    pub(crate) name: String,
    /// The tree
    pub(crate) root: PathBuf,
    /// Walks
    pub(crate) runs: usize,
    /// Say what time passed in the calls of the reader, too; the walks take longer by that
    #[arg(long)]
    pub(crate) per_call: bool,
}
