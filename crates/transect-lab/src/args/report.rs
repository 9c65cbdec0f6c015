//! Arguments of the commands that read sessions: `report`, `compare`, `explain`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// Read the session from FILE
    #[arg(value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Compare with this method, instead of the base of the session
    #[arg(long, value_name = "METHOD")]
    pub(crate) base: Option<String>,
    /// Compare method A with B as well; may be repeated
    #[arg(long, value_name = "A:B")]
    pub(crate) pairs: Vec<String>,
    /// Print all rows of each ranking, not only those of well-known tools
    #[arg(long, conflicts_with = "form")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) form: LabFormArgs,
}

// The forms of a report; text without one.
#[derive(Debug, Args)]
pub(crate) struct LabFormArgs {
    /// Print one JSON object
    #[arg(long, group = "form")]
    pub(crate) json: bool,
    /// Print CSV, one line per method, tree and cache state
    #[arg(long, group = "form")]
    pub(crate) csv: bool,
    /// Print Markdown tables
    #[arg(long, group = "form")]
    pub(crate) markdown: bool,
    /// Write a self-contained page with charts; - is standard output
    #[arg(long, value_name = "FILE", group = "form")]
    pub(crate) html: Option<PathBuf>,
}

pub(super) const REPORT_NOTES: &str = "\
Examples:
  Report a session:
    transect lab report walk.jsonl
  Report all of its methods:
    transect lab report --all walk.jsonl
  Compare with another method:
    transect lab report --base getdents-statx/recursive walk.jsonl
  Write a page with charts:
    transect lab report --html walk.html walk.jsonl
  Print Markdown tables, for an issue:
    transect lab report --markdown walk.jsonl
  Export comma-separated values:
    transect lab report --csv walk.jsonl > walk.csv
  Print JSON, for a script:
    transect lab report --json walk.jsonl";

#[derive(Debug, Args)]
pub(crate) struct LabCompareArgs {
    /// Compare this session
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Compare it with this later session
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

pub(super) const COMPARE_NOTES: &str = "\
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

pub(super) const EXPLAIN_NOTES: &str = "\
Of walks, each difference from the base is split into system calls (each as long as one of the floor), \
page faults, time without a processor, and the methods' own code.

Of transforms, the floors of the same rounds, and the kernel's accounting of each run, show where the time goes. A \
limit is named only if it is significantly the largest part. A method is preferred to the default of \
`transect transform` only if it was faster in all rounds, corrected for the number of methods, and \
again in the rounds that were not used to choose it. Otherwise the result is: undecided.

Examples:
  Explain a session:
    transect lab explain walk.jsonl
  Explain one of transforms, and let `transect transform` use the result:
    transect lab explain --save transform.jsonl
  Measure a session to explain:
    transect lab run transform --output transform.jsonl
  Print JSON, for a script:
    transect lab explain --json transform.jsonl
  Show what is stored for this file system:
    transect lab explain transform.jsonl && transect doctor

Exit codes: 0 explained; 2 wrong usage, or the file cannot be read or has no explanation.";
