//! What commands that walk understand.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, CommandFactory};
use transect::{
    Conditions, FileType, Filters, Order, Outcome, ReaderKind, ScanOptions, StatOrder, Totals,
};
use transect_text::size;

use super::filter::{self, OwnerFilter, SizeFilter};
use super::{Cli, one_of};
use crate::output;

// What every command that walks understands.
#[derive(Debug, Args)]
pub(crate) struct WalkArgs {
    /// Where to begin; by default the current directory. Paths that lie in each other are counted
    /// once
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How directories are read; `transect doctor` says which can be used here
    #[arg(long, value_name = "READER", value_parser = reader_parser())]
    pub(crate) reader: Option<ReaderKind>,
    /// Bytes that one listing call may fill, 4K to 4M; by default 64K
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) buffer_size: Option<usize>,
    /// In which order attributes are asked for; by default as listed. By inode number is for
    /// rotating disks with cold caches
    #[arg(long, value_name = "ORDER", value_parser = stat_order_parser())]
    pub(crate) stat_order: Option<StatOrder>,
    /// In which order, and on which threads, directories are read; by default work-stealing
    #[arg(long, value_name = "ORDER", value_parser = order_parser())]
    pub(crate) order: Option<Order>,
    /// The most threads; by default as many as can work at once, more while waiting for a device
    #[arg(short = 'j', long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Do without the settings that `transect lab tune` stored for this file system; so does any of
    /// --reader, --buffer-size, --stat-order, --order, --threads
    #[arg(long)]
    pub(crate) no_profile: bool,
}

// Which entries below a path count.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Stay on the file system of each PATH
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Read pseudo file systems (/proc, /sys) below PATH, too
    #[arg(long)]
    pub(crate) pseudo: bool,
    /// Follow symbolic links; a directory is read once, whatever leads to it
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
    /// Read no directories N steps below PATH, or deeper
    #[arg(short = 'd', long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Only entries whose name (or path, if it holds a /) matches; !GLOB leaves them out; the last
    /// match decides
    #[arg(short = 'g', long, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,
    /// Leave out entries whose name (or path, if it holds a /) matches
    #[arg(short = 'E', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out what .gitignore files leave out, and .git
    #[arg(long)]
    pub(crate) gitignore: bool,
    /// Only entries of these types: f, d, l, b, c, p, s, or file, directory, symlink, block, char,
    /// fifo, socket
    #[arg(short = 't', long = "type", value_name = "TYPE", value_delimiter = ',',
          hide_possible_values = true, value_parser = filter::file_type_parser())]
    pub(crate) types: Vec<FileType>,
    /// Only files of this size: +N at least, -N at most, N exactly; bytes, K, M, G
    #[arg(short = 'S', long, value_name = "[+-]N", allow_hyphen_values = true,
          value_parser = SizeFilter::parse)]
    pub(crate) size: Vec<SizeFilter>,
    /// Only what changed after TIME: a date (2026-01-31, 2026-01-31T10:00), or how long ago (2d,
    /// 3h); or after the file TIME did
    #[arg(long, value_name = "TIME", value_parser = filter::parse_time)]
    pub(crate) newer: Option<i64>,
    /// Only what last changed before TIME, or before the file TIME did
    #[arg(long, value_name = "TIME", value_parser = filter::parse_time)]
    pub(crate) older: Option<i64>,
    /// Only what belongs to USER, to USER and GROUP, or to :GROUP; names or numbers
    #[arg(long, value_name = "USER[:GROUP]", value_parser = OwnerFilter::parse)]
    pub(crate) owner: Option<OwnerFilter>,
}

impl FilterArgs {
    fn conditions(&self) -> Conditions {
        let owner = self.owner.unwrap_or_default();
        let mut conditions = Conditions {
            newer: self.newer,
            older: self.older,
            uid: owner.uid,
            gid: owner.gid,
            ..Conditions::default()
        };
        self.size.iter().for_each(|size| size.apply_to(&mut conditions));
        conditions
    }

    /// Returns the options that the arguments mean, for a walk from some roots.
    pub(crate) fn options(&self, roots: Vec<PathBuf>) -> ScanOptions {
        transect_sys::host::raise_handle_limit();
        let excluded = self.exclude.iter().map(|glob| format!("!{glob}"));
        ScanOptions {
            one_file_system: self.one_file_system,
            pseudo_file_systems: self.pseudo,
            follow: self.follow,
            max_depth: self.max_depth,
            filters: Filters {
                globs: self.glob.iter().cloned().chain(excluded).collect(),
                gitignore: self.gitignore,
                types: self.types.clone(),
                conditions: self.conditions(),
                min_depth: 0,
                read_roots: false,
            },
            ..ScanOptions::new(roots)
        }
    }
}

fn reader_parser() -> impl TypedValueParser<Value = ReaderKind> {
    one_of(ReaderKind::ALL, ReaderKind::as_str)
}

fn order_parser() -> impl TypedValueParser<Value = Order> {
    one_of(Order::ALL, Order::as_str)
}

fn stat_order_parser() -> impl TypedValueParser<Value = StatOrder> {
    one_of(StatOrder::ALL, StatOrder::as_str)
}

impl WalkArgs {
    /// Returns the roots: the current directory if none was given.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() }
    }

    /// Returns the options that the arguments mean.
    pub(crate) fn options(&self) -> ScanOptions {
        ScanOptions {
            reader: self.reader,
            buffer_size: self.buffer_size,
            stat_order: self.stat_order,
            order: self.order.unwrap_or_default(),
            threads: self.threads.map(usize::from),
            ..self.filter.options(self.roots())
        }
    }

    /// Returns whether nothing is said of how to read, and a profile is welcome.
    pub(crate) fn allows_profile(&self) -> bool {
        !self.no_profile
            && self.reader.is_none()
            && self.buffer_size.is_none()
            && self.stat_order.is_none()
            && self.order.is_none()
            && self.threads.is_none()
    }

    /// A word that was taken for a path because no command came first may have been meant as one:
    /// says so.
    pub(crate) fn hint_misplaced_command(&self) {
        let missing = self.paths.iter().find(|path| path.symlink_metadata().is_err());
        let Some(word) = missing.and_then(|path| path.to_str()) else { return };
        if Cli::command().find_subcommand(word).is_some() {
            output::hint(&format!("a command comes before its options: transect {word} …"));
        } else if self.paths.len() == 1 && !word.contains(std::path::is_separator) {
            output::hint(&format!("'{word}' is no command either; transect --help lists them"));
        }
    }

    /// A link given as the only path counts as a link, as for du and find: says so.
    pub(crate) fn hint_root_is_link(&self, outcome: &Outcome<Totals>) {
        let totals = &outcome.sink;
        if let [path] = self.paths.as_slice()
            && totals.symlinks == 1
            && totals.entries() == 1
            && path.is_dir()
        {
            let path = path.display();
            output::hint(&format!("'{path}' is a symbolic link; '{path}/' is what it leads to"));
        }
    }
}
