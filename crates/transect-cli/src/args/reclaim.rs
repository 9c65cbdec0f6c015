//! Arguments of `reclaim`.

use std::path::PathBuf;

use clap::Args;
use transect_text::size;

use super::ProgressArgs;
use super::filter::parse_time;

pub(crate) const RECLAIM_NOTES: &str = "\
Proposed are directories and files that a rule names: what builds made (a target beside a Cargo.toml), what package managers \
downloaded, models, caches, old logs, and the trash. `transect usage --by kind` sums them up. The rules are \
lines KIND PLACE [beside NAME | with NAME]; those of your own stand in the file `kinds` of transect's configuration directory \
(~/.config/transect/kinds) and come first: `build out/ beside build.ninja` adds a place, `none .cache/huggingface/` takes one away.

Nothing is removed without --remove, and nothing else is removed with it. Right before an entry is removed, it is compared \
with what was scanned; what changed or is new stays. The age of a directory is that of the newest entry in it.

Sizes are what removing would free: files with names elsewhere (hard links) are not counted. Where clones (reflinks) share \
their space, the sum tells how much is certain. After a removal, the space that really became available is shown beside it.

Examples:
  Show what can be made again in the home directory, oldest first:
    transect reclaim -x ~
  Propose only as much as makes 50 GiB available:
    transect reclaim --keep 50G ~
  Show build directories in which nothing changed for three months:
    transect reclaim --kind build --older 90d src
  Remove caches that nothing changed for a month, without asking:
    transect reclaim --kind cache --older 30d --remove --yes ~

Exit codes: 0 complete; 1 finished, but something could not be read or removed, or --keep cannot be reached; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct ReclaimArgs {
    /// Look in these directories [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Stay on the file system of each PATH
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Propose only as much as makes SIZE available on the file system
    ///
    /// Bytes, K, M or G. Takes one PATH.
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) keep: Option<usize>,
    /// Propose only this kind; may be repeated
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// Propose only what did not change since TIME: 30d, 2026-01-31, yesterday
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(crate) older: Option<i64>,
    /// Remove what is proposed, after asking
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask before --remove
    #[arg(short = 'y', long, requires = "remove")]
    pub(crate) yes: bool,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

impl ReclaimArgs {
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() }
    }
}
