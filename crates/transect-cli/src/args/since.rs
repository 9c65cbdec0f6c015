//! Arguments of commands that read a tree with the help of a snapshot.

use clap::Args;

use super::one_of;

// How commands that keep series read their tree again. A doc comment would replace the headline of the command.
#[derive(Debug, Args)]
pub(crate) struct RescanArgs {
    /// Read only directories that changed since the last kept snapshot; of entries in the others query LEVEL:
    /// `attributes`, or only `names`
    ///
    /// With `names`, sizes, times and owners of files in directories that did not change are those of the last
    /// snapshot: much faster, but it misses files that were written to. Both levels miss changes
    /// on a file system that does not update the time of a directory when an entry appears in it or goes. How much was
    /// inherited is stored and shown. Without a snapshot that can be used, everything is read. A subvolume of Btrfs reports to root what changed: then both levels are
    /// exact.
    #[arg(long, value_name = "LEVEL", hide_possible_values = true,
          value_parser = one_of(transect_snapshot::SinceLevel::ALL, transect_snapshot::SinceLevel::as_str))]
    pub(crate) rescan: Option<transect_snapshot::SinceLevel>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SinceArgs {
    /// Read only directories that changed since a snapshot, and take the rest from it: a file, or `last` for the last
    /// one of `transect keep`
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) since: Option<std::path::PathBuf>,
    /// Query this in the other directories: `attributes`, or only `names` [default: attributes]
    ///
    /// With `names`, sizes, times and owners of files in them are those of the snapshot: much faster, but it misses
    /// files that were written to. Both levels miss changes on a file system that does not update the time of a
    /// directory when an entry appears in it or goes. The number of inherited entries is shown. A subvolume of Btrfs reports to root what changed: then both
    /// levels are exact.
    #[arg(long, value_name = "LEVEL", requires = "since", hide_possible_values = true,
          hide_short_help = true,
          value_parser = one_of(transect_snapshot::SinceLevel::ALL, transect_snapshot::SinceLevel::as_str))]
    pub(crate) since_level: Option<transect_snapshot::SinceLevel>,
}
