//! Arguments of `snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{FilterArgs, ProgressArgs, SinceArgs, WalkArgs, parse_memory};

pub(crate) const SNAPSHOT_NOTES: &str = "\
A snapshot is a Parquet file: usage, list, tui, map and diff read it like a directory, and so do DuckDB, Polars and \
pyarrow. It stores size, allocated, mtime, mode, uid, gid, nlink, inode and device of every entry, totals of every \
directory, and what could not be read. A file of that name is replaced when the new one is complete.

With --memory, the tree can have more entries than fit into memory: they are first stored in parts, in a hidden directory beside \
FILE. Of the filters, only --exclude with names is available then.

With --since, the snapshot also stores how much was taken from the earlier one, and how old that is.

Examples:
  Store the current directory:
    transect snapshot -o now.parquet
  Store a directory, and show where its bytes are:
    transect snapshot -o src.parquet src && transect usage src.parquet
  Store all times of every entry, too:
    transect snapshot --all-times -o src.parquet src
  Store the home directory, on its file system only:
    transect snapshot -x -o home.parquet ~
  Store a tree that is larger than memory:
    transect snapshot --memory 512M -o src.parquet src
  Draw a map of what was stored:
    transect snapshot -o a.parquet . && transect map --html a.html a.parquet

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted: nothing was stored.";

/// The options of a walk that apply to scans in parts: they filter nothing, or tasks have them.
const IN_PARTS: [&str; 4] = ["one_file_system", "pseudo", "exclude", "hidden"];

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) since: SinceArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Write the snapshot to FILE; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Store ctime, atime and btime as well
    #[arg(long)]
    pub(crate) all_times: bool,
    /// Use at most SIZE of memory, 96M or more, and a hidden directory beside FILE
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, conflicts_with = "since",
          conflicts_with_all = FilterArgs::ids().filter(|id| !IN_PARTS.contains(&id.as_str())))]
    pub(crate) memory: Option<usize>,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object about the file
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn memory_conflicts_with_every_filter() {
        let command = SnapshotArgs::augment_args(Command::new("snapshot"));
        let memory = command.get_arguments().find(|option| option.get_id() == "memory");
        let conflicts = command.get_arg_conflicts_with(memory.unwrap());
        // These filter nothing, or tasks have them.
        let apply = ["one_file_system", "pseudo", "exclude", "hidden"];
        for filter in FilterArgs::ids() {
            let conflicts = conflicts.iter().any(|option| option.get_id() == &filter);
            assert_eq!(conflicts, !apply.contains(&filter.as_str()), "{filter}");
        }
    }
}
