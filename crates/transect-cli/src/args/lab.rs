//! Arguments of `lab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use transect_lab::corpora::{self, Pattern};
use transect_lab::experiments::walk::preset::{PRESETS, Preset, ROOT};
use transect_lab::experiments::{attributes, transform};
use transect_lab::harness::cache_state::State;
use transect_lab::rivals::external::External;
use transect_text::size;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabCommand {
    /// List all methods: those of transect, contenders in other languages, and unavailable ones
    #[command(after_long_help = LIST_NOTES)]
    List(LabListArgs),
    /// Run a session: in each round, every method does the same work once
    #[command(subcommand)]
    Run(LabRunCommand),
    /// Report the results of a session
    #[command(after_long_help = REPORT_NOTES)]
    Report(LabReportArgs),
    /// Compare two sessions: which cells became faster or slower
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(LabCompareArgs),
    /// Explain what limits the fastest method of a transform session, and store it as a setting
    #[command(after_long_help = EXPLAIN_NOTES)]
    Explain(LabExplainArgs),
    /// Import the listings of a file transform article, and test its differences
    #[command(after_long_help = IMPORT_NOTES)]
    Import(LabImportArgs),
    /// Find the fastest settings for a file system, and store them for `transect scan` and `list`
    #[command(after_long_help = TUNE_NOTES)]
    Tune(LabTuneArgs),
    /// Create and check trees and files with fixed content, to measure on
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Walk a tree with one method, for a session
    #[command(hide = true)]
    Method(LabMethodArgs),
    /// Transform a file with one method, for a session
    #[command(hide = true)]
    Pass(LabPassArgs),
    /// Query attributes with one method, for a session
    #[command(hide = true)]
    AttributesMethod(LabAttributesMethodArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabRunCommand {
    /// Measure which way of walking trees is fastest
    #[command(after_long_help = RUN_WALK_NOTES)]
    Enumerate(LabRunArgs),
    /// Measure which way of reading and writing files is fastest
    #[command(after_long_help = RUN_TRANSFORM_NOTES)]
    Transform(LabTransformArgs),
    /// Measure which way of querying attributes is fastest, and what a cache saves
    #[command(after_long_help = RUN_ATTRIBUTES_NOTES)]
    Attributes(LabAttributesArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CorpusCommand {
    /// List the trees that can be created
    #[command(after_long_help = CORPUS_LIST_NOTES)]
    List {
        /// Print one JSON object per tree
        #[arg(long)]
        json: bool,
    },
    /// Create a tree in a new directory, the same on every machine
    #[command(after_long_help = CORPUS_CREATE_NOTES)]
    Create {
        /// Create this tree; `transect lab corpus list` shows the names
        name: String,
        /// Create it in DIR, which must be missing or empty
        dir: PathBuf,
    },
    /// Create a file with fixed content, the same on every machine
    #[command(after_long_help = CORPUS_FILE_NOTES)]
    CreateFile(CorpusFileArgs),
    /// Count a tree, and compare it with its definition
    #[command(after_long_help = CORPUS_VERIFY_NOTES)]
    Verify {
        /// Compare with this tree
        name: String,
        /// Count this directory
        dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CorpusFileArgs {
    /// Create this file
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Write SIZE bytes: 256M, 1GiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) size: usize,
    /// Fill the file with this pattern
    #[arg(long, value_name = "PATTERN", default_value = "printable96",
          value_parser = pattern_parser())]
    pub(crate) pattern: Pattern,
    /// Seed of random patterns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Parses one of several values by name. Help lists the names with their descriptions, if there are any.
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

/// The states of the caches: value, name, help.
const STATES: &[(State, &str, &str)] = &[
    (State::Warm, "warm", "All in memory, verified: nothing is read from devices"),
    (State::Cold, "cold", "Nothing in memory, verified: data is read from devices; needs root"),
    (State::AsIs, "as-is", "As it is: neither prepared nor verified"),
];

/// The states of an input: value, name, help.
const FILE_STATES: &[(State, &str, &str)] = &[
    (State::Warm, "warm", "All in memory, verified with the system"),
    (
        State::Cold,
        "cold",
        "Nothing in memory, verified with the system; caches of a host are out of reach",
    ),
    (State::AsIs, "as-is", "As it is: neither prepared nor verified"),
];

const KINDS: &[(transform::Kind, &str, &str)] = &[
    (transform::Kind::Copy, "copy", "Copy them"),
    (transform::Kind::Case, "case", "Convert ASCII letters to upper case"),
    (transform::Kind::Blake3, "blake3", "Copy them, and compute their digest"),
    (transform::Kind::Zstd, "zstd", "Compress them"),
];

const SYNCS: &[(transform::SyncRule, &str, &str)] = &[
    (transform::SyncRule::None, "none", "Do not wait: data may be in memory only"),
    (transform::SyncRule::Inside, "inside", "Sync the output"),
];

/// Parses one of several values, each with its name and help.
fn value_of<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    one_of(all, |it| it.1, |it| Some(it.2)).map(|it| it.0)
}

fn task_parser() -> impl TypedValueParser<Value = attributes::Task> {
    one_of(attributes::Task::ALL, |it| it.as_str(), |it| Some(it.about())).map(|it| *it)
}

#[derive(Debug, Args)]
pub(crate) struct LabListArgs {
    #[command(flatten)]
    pub(crate) methods: LabMethodsArgs,
    /// Show the row of each method in the seed articles, and rows that are not methods: practices,
    /// measures, protocols, trees
    #[arg(long)]
    pub(crate) contract: bool,
    /// Print one JSON object per method
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabMethodsArgs {
    /// Build and run the contenders in DIR, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) contenders: Option<PathBuf>,
    /// Add contenders that are wrong on purpose, for the tests of the lab
    #[arg(long, hide = true)]
    pub(crate) test_doubles: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabSessionArgs {
    /// Run every method N times [default: from the preset]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) rounds: Option<u16>,
    /// Add rounds until every ratio is precise enough, for at most DURATION (90s, 10m); at least those
    /// of the preset, or five
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) max_time: Option<Duration>,
    /// Seed of the order of methods in each round [default: from the clock]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Do not count system calls; otherwise separate runs at the end count them
    #[arg(long)]
    pub(crate) no_calls: bool,
    /// Print what would be measured and what it takes, and do nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Write the session to FILE, and a page beside it [default: lab-SECONDS.jsonl, seconds since 1970]
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Walk this tree; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,
    /// Walk this corpus, and create it if it is missing; may be repeated
    #[arg(long, value_name = "NAME", value_parser = corpus_parser())]
    pub(crate) corpus: Vec<String>,
    /// Keep corpora in DIR [default: a directory in the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) corpora: Option<PathBuf>,
    /// Use these rules; `article-` presets are those of the articles
    #[arg(long, value_name = "PRESET", default_value = PRESETS[0].name,
          value_parser = one_of(PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static Preset,
    /// Run only methods that match, and always floor and base; may be repeated. Settings are allowed:
    /// READER/ORDER,threads=4,buffer=256K,stat-order=inode
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// Measure a program as well, such as 'old=OLD scan --json {root}', without a shell; may be repeated.
    /// What it prints has to prove its work
    #[arg(long = "command", value_name = "NAME=COMMAND",
          value_parser = |text: &str| External::parse(text, &[ROOT]))]
    pub(crate) commands: Vec<External>,
    /// Compare with this method [default: what `transect scan` does, or from the preset]
    #[arg(long, value_name = "METHOD")]
    pub(crate) base: Option<String>,
    /// Prepare the caches before every run; several with commas [default: from the preset]
    #[arg(long, value_delimiter = ',', value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// End a process after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Continue an interrupted session
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["path", "corpus", "corpora", "preset", "methods", "commands", "base",
                                "state", "rounds", "max_time", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabTransformArgs {
    /// Use these rules; `classic` are those of the article
    #[arg(long, value_name = "PRESET", default_value = transform::PRESETS[0].name,
          value_parser = one_of(transform::PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static transform::Preset,
    /// Use N small files, with presets of many files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) files: Option<u32>,
    /// Use inputs of this SIZE, such as 64M; several with commas [default: from the preset]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = size::parse)]
    pub(crate) sizes: Vec<usize>,
    /// Read and write SIZE at once, such as 16K; several with commas [default: from the preset]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = block_size)]
    pub(crate) blocks: Vec<usize>,
    /// Run only methods that match, and always floors and base; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// Measure a program as well, such as 'cp=cp {in} {out}', without a shell; may be repeated
    #[arg(long = "command", value_name = "NAME=COMMAND",
          value_parser = |text: &str| External::parse(text, &["{in}", "{out}"]))]
    pub(crate) commands: Vec<External>,
    /// Prepare the cache of the input before every run [default: from the preset]
    #[arg(long, alias = "states", value_delimiter = ',', value_parser = value_of(FILE_STATES))]
    pub(crate) state: Vec<State>,
    /// Transform the bytes like this
    #[arg(long, default_value = "copy", value_parser = value_of(KINDS))]
    pub(crate) kind: transform::Kind,
    /// Wait for the device before the clock stops
    #[arg(long, default_value = "none", value_parser = value_of(SYNCS))]
    pub(crate) sync: transform::SyncRule,
    /// Add cells that advise the system of sequential reads, for methods that can
    #[arg(long)]
    pub(crate) seq: bool,
    /// Create a temporary directory for all inputs and outputs in DIR [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// End a process after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Continue an interrupted session
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["preset", "files", "sizes", "blocks", "methods", "commands", "state",
                                "rounds", "max_time", "kind", "sync", "seq", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

fn block_size(text: &str) -> Result<usize, String> {
    match size::parse(text)? {
        0 => Err("must be at least 1".to_owned()),
        bytes => Ok(bytes),
    }
}

#[derive(Debug, Args)]
pub(crate) struct LabAttributesArgs {
    /// Use this number of paths and rounds
    #[arg(long, value_name = "PRESET", default_value = attributes::PRESETS[0].name,
          value_parser = one_of(attributes::PRESETS, |it| it.name, |it| Some(it.about)))]
    pub(crate) preset: &'static attributes::Preset,
    /// Run this task; may be repeated [default: all tasks that need no source]
    #[arg(long = "task", value_name = "TASK", value_parser = task_parser())]
    pub(crate) tasks: Vec<attributes::Task>,
    /// Query N paths per task [default: from the preset]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) paths: Option<u32>,
    /// Query the files of this compile_commands.json in task compile-database
    #[arg(long, value_name = "FILE")]
    pub(crate) compile_database: Option<PathBuf>,
    /// Query the dependencies in the .d files of DIR (a build by cargo) in task compile-database
    #[arg(long, value_name = "DIR", conflicts_with = "compile_database")]
    pub(crate) dep_info: Option<PathBuf>,
    /// Run only methods that match, and always floor and base; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) methods: Vec<String>,
    /// Prepare the system's caches before every run; several with commas
    #[arg(long, value_delimiter = ',', default_value = "warm", value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// Create a temporary directory for the trees in DIR [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// End a process after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) session: LabSessionArgs,
    /// Continue an interrupted session
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["preset", "tasks", "paths", "compile_database", "dep_info", "methods",
                                "state", "rounds", "max_time", "seed", "limit"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: LabMethodsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabAttributesMethodArgs {
    /// Query by this method
    #[arg(value_name = "WAY",
          value_parser = one_of(attributes::QueryMethod::ALL, |it| it.as_str(), |_| None).map(|it| *it))]
    pub(crate) method: attributes::QueryMethod,
    /// Read the questions from this file
    pub(crate) questions: PathBuf,
    /// Run this task
    #[arg(long, value_parser = task_parser())]
    pub(crate) task: attributes::Task,
    /// Use N threads
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Query the service at this socket
    #[arg(long)]
    pub(crate) socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabPassArgs {
    /// Use this method and settings: METHOD[,block=SIZE]
    pub(crate) name: transform::Variant,
    /// Read this file
    pub(crate) input: PathBuf,
    /// Write this file
    pub(crate) output: PathBuf,
    /// Transform the bytes like this
    #[arg(long, default_value = "copy", value_parser = value_of(KINDS))]
    pub(crate) kind: transform::Kind,
    /// Wait for the device before the clock stops
    #[arg(long, default_value = "none", value_parser = value_of(SYNCS))]
    pub(crate) sync: transform::SyncRule,
    /// Run this phase on many files; INPUT and OUTPUT are then folders
    #[arg(long, value_name = "PHASE", value_parser = one_of(transform::Phase::ALL, |it| it.as_str(), |_| None).map(|it| *it), requires = "files")]
    pub(crate) phase: Option<transform::Phase>,
    /// Use N files
    #[arg(long, value_name = "N")]
    pub(crate) files: Option<u64>,
}

fn corpus_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(corpora::CORPORA.iter().map(|definition| definition.name))
}

#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// Read the session from FILE
    #[arg(value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Print one JSON object
    #[arg(long, group = "form")]
    pub(crate) json: bool,
    /// Print comma-separated values, a line per method, tree and state of the caches
    #[arg(long, group = "form")]
    pub(crate) csv: bool,
    /// Print Markdown tables
    #[arg(long, group = "form")]
    pub(crate) markdown: bool,
    /// Write a self-contained page with charts; - is standard output
    #[arg(long, value_name = "FILE", group = "form")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabCompareArgs {
    /// Compare this session
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// With this later one
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Exit with 1 if anything is significantly slower
    #[arg(long)]
    pub(crate) check: bool,
    /// Compare transforms even if kind, size, machine, system or file system differ
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const LIST_NOTES: &str = "\
Examples:
  List all methods:
    transect lab list
  List the methods with their rows in the seed articles:
    transect lab list --contract
  Print one JSON object per method:
    transect lab list --json
  List the contenders in a directory of your own:
    transect lab list --contenders contenders
  Find the methods of one language:
    transect lab list | grep Python";

const RUN_WALK_NOTES: &str = "\
Examples:
  Measure walks of a tree, in a few minutes:
    transect lab run enumerate --path src
  Show what would be measured, and how long it takes:
    transect lab run enumerate --path src --dry-run
  Measure with cold caches, as root:
    transect lab run enumerate --path src --state cold
  Compare two readers on a corpus:
    transect lab run enumerate --corpus data --methods 'getdents-*'
  Compare whole programs, another build of du among them:
    transect lab run enumerate --preset programs --command 'old=./du -sb {root}'
  Compare what programs cost before they do anything:
    transect lab run enumerate --preset start --command 'old=./du -sb {root}'
  Continue an interrupted session:
    transect lab run enumerate --resume session.jsonl";

const RUN_TRANSFORM_NOTES: &str = "\
Examples:
  Measure all methods of copying a file, in about a minute:
    transect lab run transform
  Show what would be measured, and how much space it needs:
    transect lab run transform --dry-run
  Measure large blocks on 1 GiB, with cold caches:
    transect lab run transform --sizes 1G --blocks 256K,1M --state cold
  Compare with cp:
    transect lab run transform --command 'cp=cp {in} {out}'
  Continue an interrupted session:
    transect lab run transform --resume session.jsonl";

const RUN_ATTRIBUTES_NOTES: &str = "\
Examples:
  Measure all tasks that need no source:
    transect lab run attributes
  Show what would be measured:
    transect lab run attributes --dry-run
  Query the dependencies of a build by cargo:
    transect lab run attributes --task compile-database --dep-info target
  Query a million paths:
    transect lab run attributes --paths 1000000
  Continue an interrupted session:
    transect lab run attributes --resume session.jsonl";

const REPORT_NOTES: &str = "\
Examples:
  Report a session:
    transect lab report walk.jsonl
  Write a page with charts:
    transect lab report --html walk.html walk.jsonl
  Print Markdown tables, for an issue:
    transect lab report --markdown walk.jsonl
  Export comma-separated values:
    transect lab report --csv walk.jsonl > walk.csv
  Print JSON, for a script:
    transect lab report --json walk.jsonl";

const COMPARE_NOTES: &str = "\
Examples:
  Compare two sessions:
    transect lab compare before.jsonl after.jsonl
  Fail if anything is significantly slower, in a build:
    transect lab compare --check before.jsonl after.jsonl
  Compare sessions of different machines:
    transect lab compare --force before.jsonl after.jsonl
  Print JSON, for a script:
    transect lab compare --json before.jsonl after.jsonl
  Write the comparison to a file:
    transect lab compare before.jsonl after.jsonl > compare.txt";

const TUNE_NOTES: &str = "\
Examples:
  Tune for the file system of the current directory:
    transect lab tune
  Measure longer, with warm and cold caches, as root:
    transect lab tune --seconds 120 --state warm,cold /srv
  Show the fastest settings without storing them:
    transect lab tune --dry-run src
  Keep the samples, and report them:
    transect lab tune --output tune.jsonl && transect lab report tune.jsonl
  Remove the stored settings:
    transect lab tune --forget";

const CORPUS_LIST_NOTES: &str = "\
Examples:
  List the trees:
    transect lab corpus list
  Print one JSON object per tree:
    transect lab corpus list --json
  Count the trees:
    transect lab corpus list --json | wc -l
  Find the flat trees:
    transect lab corpus list | grep flat
  Save the list:
    transect lab corpus list > corpora.txt";

const CORPUS_CREATE_NOTES: &str = "\
Examples:
  Create a small tree:
    transect lab corpus create tiny tiny
  Create 1,000 files in one directory:
    transect lab corpus create flat-1000 flat
  Create a tree and count it:
    transect lab corpus create single one && transect scan one
  Create a tree and check it:
    transect lab corpus create tiny b && transect lab corpus verify tiny b
  Create a tree like a home directory:
    transect lab corpus create users users";

const CORPUS_FILE_NOTES: &str = "\
Examples:
  Create a file of 64 MiB of printable text:
    transect lab corpus create-file input.bin --size 64M
  Create another one of the same kind:
    transect lab corpus create-file other.bin --size 1M --seed 2
  Replace it:
    transect lab corpus create-file other.bin --size 2M --force
  Create a file of an exact length:
    transect lab corpus create-file exact.bin --size 1000000
  Create a file and print its digest:
    transect lab corpus create-file c --size 1M && transect transform blake3 c";

const CORPUS_VERIFY_NOTES: &str = "\
Examples:
  Check a tree:
    transect lab corpus verify tiny tiny
  Check a flat tree:
    transect lab corpus verify flat-1000 flat
  Create a tree and check it:
    transect lab corpus create single a && transect lab corpus verify single a
  Print only the exit code:
    transect lab corpus verify tiny tiny > /dev/null && echo same
  Check a tree elsewhere:
    transect lab corpus verify tiny ./tiny";

const EXPLAIN_NOTES: &str = "\
The floors of the same rounds, and the kernel's accounting of each run, show where the time goes. A \
limit is named only if it is significantly the largest part. A method is preferred to the default of \
`transect transform` only if it was faster in all rounds, corrected for the number of methods, and \
again in the rounds that were not used to choose it. Otherwise the result is: undecided.

Examples:
  Explain a session:
    transect lab explain transform.jsonl
  Explain it, and let `transect transform` use the result:
    transect lab explain --save transform.jsonl
  Measure a session to explain:
    transect lab run transform --output transform.jsonl
  Print JSON, for a script:
    transect lab explain --json transform.jsonl
  Show what is stored for this file system:
    transect lab explain transform.jsonl && transect doctor

Exit codes: 0 explained; 2 wrong usage, or the file cannot be read or is not a transform session.";

#[derive(Debug, Args)]
pub(crate) struct LabExplainArgs {
    /// Read the session from FILE
    #[arg(value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Store the result in the profile of the measured file system, for `transect transform`
    #[arg(long)]
    pub(crate) save: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const IMPORT_NOTES: &str = "\
A listing is the output of the article's batch files: `-- TEST 16kb CRT --`, then for each run a line \
`Transformed … blocks` and its real, user and system time. Each file is one session; the effect of the \
sequential flag is tested across all files.

Examples:
  Show the tables of a listing:
    transect lab import listing.txt
  Test the sequential flag across two listings:
    transect lab import listing.txt sequential.txt
  Export every run:
    transect lab import --csv listing.txt > runs.csv
  Print JSON, for a script:
    transect lab import --json listing.txt
  Import all listings of a directory:
    transect lab import *.txt

Exit codes: 0 all files were read; 2 wrong usage, or a file cannot be read or is not a listing.";

#[derive(Debug, Args)]
pub(crate) struct LabImportArgs {
    /// Read listings from these files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print comma-separated values, a line per run
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabTuneArgs {
    /// Tune for the file system of PATH; reads the tree below it, or a part
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// Prepare the caches before every walk; with `warm,cold`, settings must win in one and not lose in
    /// the other, and orders are tried as well
    #[arg(long, value_delimiter = ',', default_value = "warm", value_parser = value_of(STATES))]
    pub(crate) state: Vec<State>,
    /// Measure for about this many seconds; the sample tree is chosen to fit
    #[arg(long, value_name = "SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the stored settings of this file system, and measure nothing
    #[arg(long, conflicts_with_all = ["state", "seconds", "dry_run", "output"])]
    pub(crate) forget: bool,
    /// Write the samples to FILE, and those of the confirmation to FILE.2, for `transect lab report`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the profile as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabMethodArgs {
    /// Use this reader, order and settings: READER/ORDER[,threads=N][,buffer=SIZE][,stat-order=ORDER]
    pub(crate) name: String,
    /// Walk this tree
    pub(crate) root: PathBuf,
    /// Walk it this many times
    pub(crate) runs: usize,
    /// Report the time in the calls of the reader as well, which makes walks slower
    #[arg(long)]
    pub(crate) per_call: bool,
}
