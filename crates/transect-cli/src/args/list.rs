//! Arguments of `list`.

use std::ffi::OsString;

use clap::{ArgAction, Args};

use super::{AskLiveArgs, LineArgs, ProgressArgs, WalkArgs};

pub(crate) const LIST_NOTES: &str = "\
Entries are printed as soon as they are found, in no particular order; --sort collects them in \
memory first (with --limit, only the first N). Columns show sizes with units and local times; \
--json and --csv print bytes, and nanoseconds since 1970 UTC. On a narrow terminal, --long leaves out \
nlink, group, owner, mode, the time of day, and the date, in this order, and shortens paths. As in find, a PATH itself is printed \
only if it matches all filters.

A PATH may be a snapshot (transect snapshot): its entries are listed as they were when it was stored. \
Snapshots have no targets of links, and atime, ctime and btime only with --all-times; --exec, --gitignore, \
--broken-links and --follow need a directory.

COLUMNs: name, path, target (of a link), type, size, allocated, mtime, ctime, atime, btime, mode, uid, \
gid, owner, group, nlink, inode, device; on Windows also attributes and reparse_tag.

COMMANDs get {} the path, {/} its last name, {//} its directory, {.} the path without extension, \
{/.} the name without extension. Without any of these, the path is the last argument. No shell takes \
part: quotes, spaces and newlines in names are safe. An argument that would begin with - because a \
name does gets ./ before it.

Examples:
  List all paths below the current directory:
    transect list
  List Rust sources with their attributes, as ls -l does:
    transect list --long --glob '*.rs' src
  List the ten largest files, with size and path:
    transect list --type f --sort size --limit 10 --columns size,path
  Delete editor backups, whatever their names contain:
    transect list --glob '*~' --exec-batch rm -f
  Compress logs, several at a time:
    transect list --extension log --exec gzip {}
  Test whether a tree has Rust sources:
    transect list --extension rs --quiet src
  Find empty directories, and links that lead nowhere:
    transect list --empty --type d && transect list --broken-links
  Count the bytes of all pictures, each hard link once:
    transect list --extension jpg,png --long --bytes --total
  List the newest files of a snapshot:
    transect snapshot -o a.parquet && transect list -t f --sort mtime a.parquet
  Export a tree for analysis:
    transect list --csv --columns path,size,mtime,owner src > tree.csv

Exit codes: 0 complete; 1 finished, but something could not be read, a COMMAND failed, or with --quiet there was no \
entry; \
2 wrong usage, or a path could not be read at all, or the COMMAND could not be started; \
130 interrupted: all COMMANDs are ended.";

/// Options for printed lines, which `--exec` has none of.
const PRINTING: [&str; 5] = ["columns", "long", "json", "csv", "null"];

#[derive(Debug, Args)]
// `transform`, which has the same filters, uses -i otherwise.
#[command(mut_arg("ignore_case", |arg| arg.short('i').hide_short_help(false)))]
// Here -x is --exec, as in fd. `list -x DIR` is an error that names the long option.
#[command(mut_arg("one_file_system", |arg| arg.short(None::<char>).long_help(
    "Stay on the file system of each PATH\n\nWithout the short form -x of other commands.")))]
#[command(mut_arg("empty", |arg| arg.hide_short_help(false)))]
#[command(mut_arg("broken_links", |arg| arg.hide_short_help(false)))]
// For 40 lines of -h.
#[command(mut_arg("read_depth", |arg| arg.hide_short_help(true)))]
#[command(mut_arg("owner", |arg| arg.hide_short_help(true)))]
#[command(mut_arg("threads", |arg| {
    arg.help("Use at most N threads, and run at most N commands of --exec at a time \
              [default: one per CPU; threads that wait for a device are added]")
}))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) lines: LineArgs,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
    /// Print the number and the sizes of the entries at the end; hard links count once
    #[arg(long, conflicts_with_all = ["json", "csv", "null", "exec", "exec_batch"])]
    pub(crate) total: bool,
    /// Print nothing, and exit with 0 if there is an entry, otherwise with 1
    ///
    /// Ends at the first entry. Reports errors, too.
    #[arg(short, long, conflicts_with_all = ["total", "exec", "exec_batch", "sort", "limit"], hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Run COMMAND for each entry: -x gzip {}
    ///
    /// COMMAND extends to `;` or to the end of the line. Several run at a time (-j); what each prints is
    /// printed whole when it ends. With -j 1 they run one after the other, and can use the terminal.
    ///
    /// As in fd; in other commands, -x is --one-file-system.
    #[arg(short = 'x', long, value_name = "COMMAND", num_args = 1.., value_terminator = ";",
          allow_hyphen_values = true, action = ArgAction::Set, conflicts_with_all = PRINTING)]
    pub(crate) exec: Vec<OsString>,
    /// Run COMMAND for many entries at once: -X rm {}
    ///
    /// As in xargs: up to 128 KiB of paths a COMMAND, one COMMAND after the other, none without
    /// entries. One argument can have a placeholder; it is repeated for each path.
    #[arg(short = 'X', long, value_name = "COMMAND", num_args = 1.., value_terminator = ";",
          allow_hyphen_values = true, action = ArgAction::Set, conflicts_with = "exec",
          conflicts_with_all = PRINTING)]
    pub(crate) exec_batch: Vec<OsString>,
    /// Print entries at most N levels below their PATH
    #[arg(short = 'd', long, alias = "max-depth", value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// Exclude entries less than N levels below their PATH
    ///
    /// 1 excludes the PATHs themselves.
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    pub(crate) min_depth: u32,
    /// List all errors, not only the first ten
    #[arg(long, hide_short_help = true)]
    pub(crate) errors: bool,
}
