//! Arguments of `task` and `commit`.

use std::path::PathBuf;

use clap::Args;
use transect_snapshot::tasks::CommitLimits;
use transect_text::size;

use super::ProgressArgs;

pub(crate) const TASK_NOTES: &str = "\
A scan that is too large for one machine or one night consists of tasks. Each reads directories until a number of entries \
or of seconds is reached, and publishes a part: a snapshot of what it read, in a directory that all machines can write to. \
What is left over is the work of other tasks. Any program can run them, in any order and on any machine that has the same \
trees at the same paths; a task that is run again adopts the part that is there. `transect commit` makes one snapshot of all parts. \
After that, no task adds a part to the directory.

Examples:
  Print the first task of a scan:
    transect task --first src docs > first.json
  Print the first task of a scan without snapshots of the storage:
    transect task --first src --exclude .snapshot > first.json
  Run a task, and print its result with the tasks that follow:
    transect task --in task.json --out parts
  Print the tasks that follow, one per line:
    transect task --in task.json --out parts --next > tasks
  Read at most 100,000 entries and ten seconds:
    transect task --in task.json --out parts --entries 100000 --seconds 10
  Give up a task that does not end wherever it runs:
    transect task --in task.json --out parts --give-up
  Read from a network file system with many threads:
    transect task --in task.json --out parts --threads 128
  Run the first task at once:
    transect task --first src | transect task --in - --out parts

Exit codes: 0 complete; 1 the part is published, but something could not be read; \
2 wrong usage, or no part could be published; 130 interrupted: no part was published.";

#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// Print the first task of a scan of these paths, as JSON
    #[arg(long, value_name = "PATH", num_args = 1.., required_unless_present = "input",
          conflicts_with = "input")]
    pub(crate) first: Vec<PathBuf>,
    /// Stay on the file system of each path of --first
    #[arg(short = 'x', long, requires = "first")]
    pub(crate) one_file_system: bool,
    /// Read pseudo file systems (/proc, /sys) below a path of --first
    #[arg(long, requires = "first")]
    pub(crate) pseudo: bool,
    /// Store ctime, atime and btime as well
    #[arg(long, requires = "first")]
    pub(crate) all_times: bool,
    /// Exclude names that match GLOB
    #[arg(short = 'E', long, value_name = "GLOB", requires = "first")]
    pub(crate) exclude: Vec<String>,
    /// Run the task in FILE, as JSON; - is standard input
    #[arg(long = "in", value_name = "FILE", requires = "out")]
    pub(crate) input: Option<PathBuf>,
    /// Publish the part in DIR, which is created if it is missing
    #[arg(long, value_name = "DIR", conflicts_with = "first")]
    pub(crate) out: Option<PathBuf>,
    /// Begin no directory after N entries, whatever the task says
    #[arg(long, value_name = "N", conflicts_with = "first")]
    pub(crate) entries: Option<u64>,
    /// Share directories with more than N entries among several tasks, whatever the task says
    #[arg(long, value_name = "N", conflicts_with = "first")]
    pub(crate) directory_entries: Option<u64>,
    /// Begin no directory after S seconds, whatever the task says
    #[arg(long, value_name = "S", conflicts_with = "first")]
    pub(crate) seconds: Option<f64>,
    /// Share what is left over among at most N tasks, whatever the task says
    #[arg(long, value_name = "N", conflicts_with = "first")]
    pub(crate) split: Option<usize>,
    /// Read nothing, and publish a part with an error for each directory of the task
    #[arg(long, conflicts_with = "first")]
    pub(crate) give_up: bool,
    /// Use at most N threads; many hide the latency of a network [default: one per CPU, more while waiting]
    #[arg(short = 'j', long, value_name = "N", conflicts_with = "first",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print the tasks that follow, one per line, instead of the result
    #[arg(long, conflicts_with = "first")]
    pub(crate) next: bool,
}

pub(crate) const COMMIT_NOTES: &str = "\
The parts come from `transect task`. If tasks have not run, nothing is written; the message says how many. The snapshot is \
the same, byte for byte, however the scan was cut into tasks, except for its metadata. A file _manifest.json in DIR \
lists the parts; what killed tasks left there is removed.

Examples:
  Make one snapshot:
    transect commit parts -o all.parquet
  Show where the bytes are:
    transect commit parts -o all.parquet && transect usage all.parquet
  Show what changed since an earlier snapshot:
    transect commit parts -o new.pq && transect diff before.parquet new.pq
  Print the numbers as JSON:
    transect commit --json parts -o all.parquet
  List all stored errors:
    transect commit --errors parts -o all.parquet
  Use more memory, and fewer temporary files:
    transect commit --memory 2G parts -o all.parquet

Exit codes: 0 complete; 1 the snapshot is stored, but something could not be read; \
2 wrong usage, tasks have not run, or nothing could be stored; 130 interrupted: nothing was stored.";

#[derive(Debug, Args)]
pub(crate) struct CommitArgs {
    /// Make a snapshot of the parts in DIR
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write the snapshot to FILE; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Use at most SIZE of memory, and temporary files beside FILE; 96M or more [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<usize>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// List all stored errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object about the file
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the memory of a commit, or of a scan that ends with one.
pub(crate) fn parse_memory(text: &str) -> Result<usize, String> {
    match size::parse(text)? {
        size if size as u64 >= CommitLimits::MIN_MEMORY => Ok(size),
        _ => Err(format!("at least {}M are needed", CommitLimits::MIN_MEMORY >> 20)),
    }
}
