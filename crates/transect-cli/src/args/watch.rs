//! Arguments of `watch`.

use std::path::PathBuf;

use clap::Args;

use super::AskLiveArgs;

pub(crate) const WATCH_NOTES: &str = "\
Reads the tree once, and then prints what changes until Ctrl-C. Lines begin with + added, - removed, ~ modified, > \
renamed, as those of `diff`; a removed or renamed directory is one line for everything below it. A file that gets \
another name is removed and added. What changes more than once before it is printed is one line.

If `transect live` follows PATH already, it reports the changes, and nothing is read or watched for this command.

If the kernel drops notifications, the whole tree is compared, and a message reports it. \
Not seen: stores through a mapping until it is closed, changes through a name outside of the tree, on other machines \
or below FUSE. Other file systems below PATH are not entered. docs/LIVE.md has the details.

On Linux, unless this runs as root, or an administrator runs `transect service watch-helper`, a directory takes one \
watch; the limit of a user is fs.inotify.max_user_watches. On Windows, a renamed directory is read again.

Examples:
  Print what changes below the current directory:
    transect watch
  Wait for the first changes, then build:
    transect watch --once src && make
  Show the attributes of what is added or modified, whatever the names contain:
    transect watch -0 src | xargs -0 -n 1 transect attributes
  Print JSON, for a program:
    transect watch --json src

Exit codes: 0 PATH is not there any more, or with --once something changed; 1 as 0, but something could not be read or \
watched; 2 wrong usage, or PATH cannot be watched at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Watch this directory and everything below it
    #[arg(
        value_name = "PATH",
        default_value = ".",
        hide_default_value = true,
        help = "Watch this directory and everything below it [default: the current directory]"
    )]
    pub(crate) path: PathBuf,
    /// Exit after the first changes
    #[arg(long)]
    pub(crate) once: bool,
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "null")]
    pub(crate) json: bool,
    /// Print only paths that are there, added, modified or renamed, and end each with NUL, for xargs -0
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
}
