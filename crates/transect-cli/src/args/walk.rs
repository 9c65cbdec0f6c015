//! Arguments of the commands that walk trees.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::{Args, Command, CommandFactory, Id};
use transect::internal::{AttributeFilter, Order, StatOrder};
use transect::{
    Conditions, FileType, Filters, ModeCondition, Outcome, ReaderKind, ScanOptions, Totals,
};
use transect_text::nearest::nearest;
use transect_text::size;
use transect_volumes::{MOUNTED, partitions_in, reader_of};

use super::filter::{self, OwnerFilter, SizeFilter, TypeFilter};
use super::{Cli, TUNING, one_of};
use crate::output;
use transect_program::CliError;

#[derive(Clone, Debug, Args)]
pub(crate) struct WalkArgs {
    /// Start here [default: the current directory]
    ///
    /// Nested paths are counted once. The image of a volume with ext4 or NTFS is read as a tree if it is the only
    /// path, and so is its partition N if the path ends with #N.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Read directories with this system interface; `transect doctor` lists those that work here
    ///
    /// `walk` is the best of them; `volume` reads the tables of the volume instead, of an image, a device
    /// or a mounted file system (root or administrators only); `auto` does so where it is faster, but not on Windows.
    #[arg(long, value_name = "READER", value_parser = reader_parser(),
          help_heading = TUNING, hide_short_help = true)]
    pub(crate) reader: Option<ReaderArg>,
    /// Read directories with a buffer of SIZE bytes, 4K to 4M [default: 64K]
    #[arg(long, value_name = "SIZE", value_parser = size::parse,
          help_heading = TUNING, hide_short_help = true)]
    pub(crate) buffer_size: Option<usize>,
    /// Query attributes in the order of the listing, or by inode number (for rotating disks with
    /// cold caches) [default: listing]
    #[arg(long, value_name = "ORDER", value_parser = one_of(StatOrder::ALL, StatOrder::as_str),
          help_heading = TUNING, hide_short_help = true)]
    pub(crate) stat_order: Option<StatOrder>,
    /// Schedule directories on threads in this order [default: work-stealing]
    #[arg(long, value_name = "ORDER", value_parser = one_of(Order::ALL, Order::as_str),
          help_heading = TUNING, hide_short_help = true)]
    pub(crate) order: Option<Order>,
    /// Use at most N threads [default: one per CPU, more while waiting for a device]
    #[arg(short = 'j', long, value_name = "N", help_heading = TUNING, hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Ignore the settings stored for this file system, which `transect doctor` shows; any other option under this
    /// heading implies it
    #[arg(long, help_heading = TUNING, hide_short_help = true)]
    pub(crate) no_profile: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderArg {
    /// The reader of the volume where that is faster, else a walk.
    Auto,
    /// The best reader of directories.
    Walk,
    Volume,
    Kind(ReaderKind),
}

impl ReaderArg {
    fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Walk => "walk",
            Self::Volume => "volume",
            Self::Kind(kind) => kind.as_str(),
        }
    }

    fn apply(self, options: &mut ScanOptions, roots: &[PathBuf]) {
        match self {
            Self::Auto => options.auto_reader = true,
            Self::Walk => options.settings.reader = Some(ReaderKind::best()),
            Self::Volume => {
                let of_root = roots.iter().find_map(|root| reader_of(root));
                options.settings.reader = Some(of_root.unwrap_or(MOUNTED));
            }
            Self::Kind(kind) => options.settings.reader = Some(kind),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct FilterArgs {
    /// Stay on the file system of each PATH
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Read pseudo file systems (/proc, /sys) below PATH
    #[arg(long, hide_short_help = true)]
    pub(crate) pseudo: bool,
    /// Follow symbolic links; each directory is read once
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
    /// With --follow, read a directory through each link that leads to it, as find -L does
    #[arg(long, requires = "follow", hide_short_help = true)]
    pub(crate) every_link: bool,
    /// Do not read directories N or more levels below PATH: what is in them is not counted
    #[arg(long, value_name = "N")]
    pub(crate) read_depth: Option<u32>,
    /// Include only names that match GLOB; `!GLOB` excludes
    ///
    /// A GLOB with a / matches paths. The last match wins.
    #[arg(short = 'g', long, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,
    /// Exclude names that match GLOB
    ///
    /// A GLOB with a / matches paths.
    #[arg(short = 'E', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Include only names with this extension: c, tar.gz; several with commas or repeated
    #[arg(short = 'e', long = "extension", value_name = "EXT", value_delimiter = ',')]
    pub(crate) extensions: Vec<String>,
    /// Include only names that match the regular expression RE, anywhere in the name
    ///
    /// Of several, one must match. Syntax: https://docs.rs/regex#syntax
    #[arg(long = "regex", value_name = "RE", hide_short_help = true)]
    pub(crate) regexes: Vec<String>,
    /// Ignore case in names: for --glob, --exclude, --extension and --regex
    #[arg(long, hide_short_help = true)]
    pub(crate) ignore_case: bool,
    /// Exclude names that begin with a dot, and all below them
    #[arg(long)]
    pub(crate) no_hidden: bool,
    /// Include hidden names (the default); overrides an earlier --no-hidden
    #[arg(long, overrides_with = "no_hidden", hide_short_help = true)]
    pub(crate) hidden: bool,
    /// Exclude what .gitignore files exclude, and .git
    #[arg(long)]
    pub(crate) gitignore: bool,
    #[command(flatten)]
    pub(crate) attributes: AttributeArgs,
    /// Include only empty files and empty directories
    ///
    /// A directory is empty if the system lists nothing in it, whatever other filters hide.
    #[arg(long, hide_short_help = true)]
    pub(crate) empty: bool,
    /// Include only symbolic links whose target does not exist
    ///
    /// A link in a loop of links has no target.
    #[arg(long, hide_short_help = true)]
    pub(crate) broken_links: bool,
}

// The attributes that entries must have.
#[derive(Clone, Debug, Args)]
pub(crate) struct AttributeArgs {
    /// Include only these types: f, d, l, b, c, p, s, x
    ///
    /// Or in full: file, directory, symlink, block, char, fifo, socket, executable (a file that a user may execute).
    #[arg(short = 't', long = "type", value_name = "TYPE", value_delimiter = ',',
          hide_possible_values = true, value_parser = filter::type_parser())]
    pub(crate) types: Vec<TypeFilter>,
    /// Include only files of at least +N or at most -N bytes
    ///
    /// N without a sign is the exact size. Units: K, M, G, T.
    #[arg(short = 'S', long, value_name = "[+-]N", allow_hyphen_values = true,
          value_parser = SizeFilter::parse)]
    pub(crate) size: Vec<SizeFilter>,
    /// Include only what changed after TIME
    ///
    /// TIME is a date (2026-01-31, 2026-01-31T10:00), an age (2d; 1m is a minute, 1M a month), the
    /// beginning of a day (today, yesterday, "last week"), or a file for its time.
    #[arg(long, value_name = "TIME", value_parser = filter::parse_time)]
    pub(crate) newer: Option<i64>,
    /// Include only what last changed before TIME
    ///
    /// TIME is as for --newer.
    #[arg(long, value_name = "TIME", value_parser = filter::parse_time)]
    pub(crate) older: Option<i64>,
    /// Include only what belongs to USER, USER:GROUP or :GROUP
    ///
    /// Names or numbers; USER:GROUP requires both.
    #[arg(long, value_name = "USER[:GROUP]", value_parser = OwnerFilter::parse,
          value_hint = clap::ValueHint::Username)]
    pub(crate) owner: Option<OwnerFilter>,
    /// Include only what has exactly these permissions, all of them (-MODE), or any (/MODE)
    ///
    /// MODE is octal: 4000 is setuid, 111 executable. --perm /22 finds what others can write.
    #[arg(long, value_name = "[-/]MODE", allow_hyphen_values = true,
          hide_short_help = true, value_parser = str::parse::<ModeCondition>)]
    pub(crate) perm: Option<ModeCondition>,
}

impl AttributeArgs {
    /// Returns the conditions besides the type.
    fn conditions(&self) -> Conditions {
        let owner = self.owner.unwrap_or_default();
        let mut conditions = Conditions::new();
        (conditions.newer, conditions.older) = (self.newer, self.older);
        (conditions.uid, conditions.gid) = (owner.uid, owner.gid);
        conditions.mode = self.perm;
        conditions.executable = self.types.contains(&TypeFilter::Executable);
        self.size.iter().for_each(|size| size.apply_to(&mut conditions));
        conditions
    }

    pub(crate) fn filter(&self) -> AttributeFilter {
        let types: Vec<FileType> = self.file_types().collect();
        AttributeFilter::new(&types, self.conditions())
    }

    fn file_types(&self) -> impl Iterator<Item = FileType> {
        self.types.iter().map(|filter| filter.file_type())
    }
}

/// What people type from habit, and the command that does it here.
const NAMES_ELSEWHERE: [(&str, &str); 8] = [
    ("ls", "list"),
    ("fd", "list"),
    ("tree", "usage"),
    ("du", "usage"),
    ("ncdu", "tui"),
    ("dup", "duplicates"),
    ("locate", "find"),
    ("cp", "transform"),
];

impl FilterArgs {
    /// Returns the ids of all of them, for options that conflict with them.
    pub(super) fn ids() -> impl Iterator<Item = Id> {
        let filters = Self::augment_args(Command::new("filters"));
        let ids: Vec<Id> = filters.get_arguments().map(|filter| filter.get_id().clone()).collect();
        ids.into_iter()
    }

    pub(crate) fn is_default(&self) -> bool {
        let follows = self.follow || self.one_file_system || self.pseudo;
        self.selects_everything() && !follows
    }

    /// Returns whether no option is given but those that a diff has, too.
    pub(crate) fn allows_diff(&self) -> bool {
        self.selects_everything() && !self.follow && !self.pseudo
    }

    /// Returns the name of an option that has no meaning for a stored tree; `None` if none is given.
    pub(crate) fn only_for_directories(&self) -> Option<&'static str> {
        let given = [
            (self.one_file_system, "--one-file-system"),
            (self.pseudo, "--pseudo"),
            (self.follow, "--follow"),
            (self.gitignore, "--gitignore"),
            (self.broken_links, "--broken-links"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// Returns whether no option excludes entries below the roots, except other file systems.
    pub(crate) fn selects_everything(&self) -> bool {
        // All fields, so that none can be forgotten.
        let Self {
            one_file_system: _,
            pseudo: _,
            follow: _,
            every_link: _,
            read_depth,
            glob,
            exclude,
            extensions,
            regexes,
            ignore_case: _,
            no_hidden,
            hidden: _,
            gitignore,
            attributes: AttributeArgs { types, size, newer, older, owner, perm },
            empty,
            broken_links,
        } = self;
        let by_name = [glob, exclude, extensions, regexes].iter().any(|of| !of.is_empty());
        let by_attributes =
            !types.is_empty() || !size.is_empty() || owner.is_some() || perm.is_some();
        let by_time = newer.is_some() || older.is_some();
        let by_place = read_depth.is_some() || *no_hidden || *gitignore;
        let by_content = *empty || *broken_links;
        !(by_name || by_attributes || by_time || by_place || by_content)
    }

    pub(crate) fn options(&self, roots: Vec<PathBuf>) -> ScanOptions {
        transect_sys::host::raise_handle_limit();
        let excluded = self.exclude.iter().map(|glob| format!("!{glob}"));
        let filters = Filters::new()
            .globs(self.glob.iter().cloned().chain(excluded))
            .extensions(&self.extensions)
            .regexes(&self.regexes)
            .ignore_case(self.ignore_case)
            .exclude_hidden(self.no_hidden)
            .gitignore(self.gitignore)
            .types(self.attributes.file_types())
            .conditions(self.attributes.conditions())
            .empty(self.empty)
            .broken_links(self.broken_links);
        let mut options = ScanOptions::new(roots)
            .same_file_system(self.one_file_system)
            .pseudo_file_systems(self.pseudo)
            .follow_links(self.follow)
            .every_link(self.every_link)
            .filters(filters);
        options.max_depth = self.read_depth;
        options
    }
}

/// Returns the reader for a path, if that is the image of a volume.
pub(crate) fn image_reader(path: &Path) -> Option<ReaderKind> {
    // A partition of an image (`disk.img#2`) does not exist as a file.
    path.metadata().map_or(true, |there| there.is_file()).then(|| reader_of(path)).flatten()
}

fn reader_parser() -> impl TypedValueParser<Value = ReaderArg> {
    let kinds = ReaderKind::ALL.iter().copied().map(ReaderArg::Kind);
    let all = [ReaderArg::Auto, ReaderArg::Walk, ReaderArg::Volume].into_iter().chain(kinds);
    one_of(all.collect::<Vec<_>>().leak(), ReaderArg::as_str)
}

impl WalkArgs {
    /// Returns whether the tree is read as it is without options, except that entries may be excluded by what they are.
    pub(crate) fn reads_as_usual(&self) -> bool {
        let FilterArgs { follow, gitignore, broken_links, .. } = self.filter;
        let Self { reader, buffer_size, stat_order, order, threads, no_profile, .. } = self;
        let is_tuned = reader.is_some()
            || buffer_size.is_some()
            || stat_order.is_some()
            || order.is_some()
            || threads.is_some();
        !(follow || gitignore || broken_links || is_tuned || *no_profile)
    }

    /// Returns the roots: the current directory if none was given.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() }
    }

    pub(crate) fn options(&self) -> ScanOptions {
        let mut options = self.filter.options(self.roots());
        match self.reader {
            Some(reader) => reader.apply(&mut options, &self.roots()),
            None => options.settings.reader = self.image_reader(),
        }
        options.settings.buffer_size = self.buffer_size;
        options.settings.stat_order = self.stat_order;
        options.settings.order = self.order;
        options.threads = self.threads.map(usize::from);
        options
    }

    /// Returns the reader for the only path, if that is the image of a volume.
    fn image_reader(&self) -> Option<ReaderKind> {
        let [path] = self.paths.as_slice() else { return None };
        image_reader(path)
    }

    /// Returns whether a stored profile may choose the settings: no option sets one, and the tree is in
    /// directories.
    pub(crate) fn allows_profile(&self) -> bool {
        !self.no_profile
            && self.reader.is_none()
            && self.buffer_size.is_none()
            && self.stat_order.is_none()
            && self.order.is_none()
            && self.threads.is_none()
            && self.image_reader().is_none()
    }

    /// Rejects a missing path that is the name of a command, or could be a mistyped one: `transect usag
    /// home` must not count `home`.
    pub(crate) fn reject_mistyped_command(&self) -> Result<(), CliError> {
        let missing = self.paths.iter().find(|path| path.symlink_metadata().is_err());
        let Some(word) = missing.and_then(|path| path.to_str()) else { return Ok(()) };
        let cli = Cli::command();
        let of_others =
            NAMES_ELSEWHERE.iter().find(|(name, _)| *name == word).map(|(_, name)| *name);
        let near = || nearest(word, cli.get_subcommands().map(Command::get_name));
        let message = match of_others.or_else(near) {
            Some(name) if name == word => format!(
                "there is no file or directory '{word}'; a command comes first: transect {word} …"
            ),
            Some(name) => format!(
                "'{word}' is neither a command nor a file or directory (did you mean '{name}'?)"
            ),
            None => return Ok(()),
        };
        Err(CliError::Failed(message))
    }

    /// Prints a hint if the only path is missing, and could be meant as a command.
    pub(crate) fn hint_not_a_command(&self) {
        if let Some(word) = self.only_missing_name() {
            output::hint(&format!(
                "'{word}' is not a command either; `transect --help` lists them"
            ));
        }
    }

    /// Prints a hint if the only path is missing, and could be meant as a part of names.
    pub(crate) fn hint_part_of_names(&self) {
        // Other characters have a meaning in a glob, or to a shell or a terminal.
        let is_plain =
            |word: &&str| word.chars().all(|it| it.is_alphanumeric() || "._-".contains(it));
        if let Some(word) = self.only_missing_name().filter(is_plain) {
            output::hint(&format!("names that contain it: transect list -g '*{word}*'"));
        }
    }

    /// Returns the only path, if that is missing and a bare name.
    fn only_missing_name(&self) -> Option<&str> {
        let [path] = self.paths.as_slice() else { return None };
        let word = path.to_str()?;
        let is_name = !word.is_empty() && !word.contains(std::path::is_separator);
        let is_missing = path.symlink_metadata().is_err() && image_reader(path).is_none();
        (is_name && is_missing).then_some(word)
    }

    /// Prints a hint if the only path is a link to a directory, which counts as a link, as for du; or the
    /// image of a disk, which counts as a file.
    pub(crate) fn hint_root_is_no_directory(&self, outcome: &Outcome<Totals>) {
        let totals = &outcome.sink;
        let [path] = self.paths.as_slice() else { return };
        if totals.entries() != 1 {
            return;
        }
        let shown = path.display();
        if totals.symlinks == 1 && path.is_dir() {
            output::hint(&format!(
                "'{shown}' is a symbolic link; use '{shown}/' to read its target"
            ));
        } else if totals.files == 1
            && let Some(partition) = partitions_in(path).first()
        {
            let partition = partition.display();
            output::hint(&format!(
                "'{shown}' has partitions; '{partition}' is one that can be read"
            ));
        }
    }
}
