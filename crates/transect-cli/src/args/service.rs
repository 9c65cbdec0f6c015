//! Arguments of `service`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const FREEZE_NOTES: &str = "\
Every answer stays the same until `transect service thaw`, for all programs that ask the service. \
Freeze while a project is loaded or built; then the service asks the system nothing twice.

Examples:
  Freeze the service of this user:
    transect service freeze
  Query a list of paths while nothing changes:
    transect service freeze && transect attributes --service --from paths.txt
  Freeze, and see that the level is `frozen`:
    transect service freeze && transect service stats

Exit codes: 0 done; 2 wrong usage, or no service answers.";

const THAW_NOTES: &str = "\
Returns to the level that the service was started with. A service of level `frozen` stays frozen: \
`transect service invalidate` makes it query anew.

Examples:
  Thaw the service of this user:
    transect service thaw
  Thaw, then query what is true now:
    transect service thaw && transect attributes --service src
  Thaw, and see which level the service has now:
    transect service thaw && transect service stats

Exit codes: 0 done; 2 wrong usage, or no service answers.";

const INVALIDATE_NOTES: &str = "\
The next question about a dropped path is asked of the system. In followed trees, this is needed only for changes that no \
notification reports; docs/LIVE.md lists them.

Examples:
  Drop everything:
    transect service invalidate
  Drop a file:
    transect service invalidate notes.txt
  Drop a directory after something was mounted in it, then query it:
    transect service invalidate usb && transect attributes --service usb

Exit codes: 0 done; 1 the service does not answer for some of the paths; \
2 wrong usage, or no service answers.";

const STATS_NOTES: &str = "\
docs/SERVICE.md documents the counters. They begin when the service starts.

Examples:
  Show what the service of this user has cached and answered:
    transect service stats
  Print JSON, for a script:
    transect service stats --json
  See what a list of paths costs the service:
    transect attributes --service --from paths.txt; transect service stats

Exit codes: 0 done; 2 wrong usage, or no service answers.";

const GIT_HOOK_NOTES: &str = "\
With `git config core.fsmonitor 'transect service git-hook'`, git calls it with the version of its protocol (2) and the token of the last \
answer, and then looks only at the files that are printed. Without a service that follows the working tree, it fails, and git looks at \
all files.

Examples:
  Follow a working tree, which the hook needs:
    transect live .
  Print what git receives if nothing has changed:
    transect service git-hook 2 \"$(transect changes --cursor)\"
  Print what it receives the first time (everything may have changed):
    transect service git-hook 2 0

Exit codes: 0 done; 1 no service follows the current directory; 2 wrong usage.";

const WATCH_HELPER_NOTES: &str = "\
Without it, `live` and `watch` need one of the user's watches for each directory, unless they run as root. With it, they need \
none: the helper takes the notifications of whole file systems (fanotify; ext4, XFS, tmpfs and others), and reports to each \
program what happens in directories that the program has opened for reading. So it reveals no name that the user cannot list.

Run it as root, or with the capabilities CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH; \
docs/examples/transect-watch-helper.service is a unit for systemd. docs/RELIABILITY.md says what a hostile program can make \
it do. It runs until it is interrupted. Linux only.

Examples:
  Serve all users, as root, until Ctrl-C:
    transect service watch-helper
  Then follow the home directory, as any user and without watches:
    transect live ~
  Try it at a socket that no program uses by itself:
    transect service watch-helper --socket ./watch.sock

Exit codes: 0 ended as requested; 2 wrong usage, or it could not start.";

const WATCHMAN_NOTES: &str = "\
Clients of Watchman (Jest, Metro, pywatchman, Mercurial, git's sample hook) run a program `watchman`. This script is one:

    #!/bin/sh
    exec transect service watchman \"$@\"

The service follows the trees that clients request. If none runs, one is started, which ends after 24 hours without a request. \
docs/LIVE.md lists the commands and what differs from Watchman.

Examples:
  Print where a running service listens:
    transect service watchman --no-spawn get-sockname
  Print the place in the changes of a tree:
    transect service watchman --no-spawn clock ~/src
  End the service:
    transect service watchman --no-spawn shutdown-server

Exit codes: 0 answered, also with an error of the command; 2 wrong usage, or no service answers.";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ServiceCommand {
    /// Keep all answers as they are until `thaw`
    #[command(after_long_help = FREEZE_NOTES)]
    Freeze(SocketArgs),
    /// End what `freeze` began
    #[command(after_long_help = THAW_NOTES)]
    Thaw(SocketArgs),
    /// Drop paths and everything below them from the cache
    #[command(after_long_help = INVALIDATE_NOTES)]
    Invalidate(ServiceInvalidateArgs),
    /// Show the level, the roots and the counters of the service
    #[command(after_long_help = STATS_NOTES)]
    Stats(ServiceStatsArgs),
    /// Tell git what changed, as its hook fsmonitor, so that git status looks only at that
    #[command(after_long_help = GIT_HOOK_NOTES)]
    GitHook(GitHookArgs),
    /// Report changes of whole file systems to programs of all users, as root
    #[command(after_long_help = WATCH_HELPER_NOTES)]
    WatchHelper(WatchHelperArgs),
    /// Answer as the program `watchman`, for clients of its protocol (Jest, Metro)
    #[command(after_long_help = WATCHMAN_NOTES)]
    Watchman(WatchmanArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SocketArgs {
    /// Ask the service at SOCKET, on Windows a pipe [default: that of `transect live`]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceInvalidateArgs {
    /// Drop PATH and everything below it [default: everything]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) socket: SocketArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WatchHelperArgs {
    /// Listen at SOCKET [default: /run/transect/watch.sock]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GitHookArgs {
    /// The version of the hook: 2
    #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u8).range(2..=2))]
    pub(crate) version: u8,
    /// What the last answer began with
    #[arg(value_name = "TOKEN")]
    pub(crate) token: String,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceStatsArgs {
    #[command(flatten)]
    pub(crate) socket: SocketArgs,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchmanArgs {
    /// Send COMMAND with these arguments: get-sockname, watch-project PATH, clock PATH
    #[arg(value_name = "COMMAND", required_unless_present_any = ["json_command", "version"])]
    pub(crate) command: Vec<String>,
    /// Send the command that standard input has as a JSON array
    #[arg(short = 'j', long, conflicts_with = "command")]
    pub(crate) json_command: bool,
    /// Do not start a service if none runs
    #[arg(long)]
    pub(crate) no_spawn: bool,
    /// Print the answer in this form
    #[arg(long, value_name = "FORM", default_value = "json", value_parser = ["json", "bser", "bser-v2"])]
    pub(crate) output_encoding: String,
    /// Print JSON on one line, which is always done
    #[arg(long, hide = true)]
    pub(crate) no_pretty: bool,
    /// Ask the service at SOCKET, on Windows a pipe [default: that of `transect live`]
    #[arg(long, alias = "sockname", value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// Print the version
    #[arg(short = 'v', long)]
    pub(crate) version: bool,
}
