//! Queries the system or a service.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use transect::FieldMask;
use transect_cache::{CacheOptions, Level, LookupResult, by_directory};
use transect_service::{CACHED_FIELDS, Client};

use crate::args::AttributesArgs;
use crate::commands::service::{absolute, connect};
use crate::commands::transform::cores;
use transect_program::CliError;

/// The paths that a thread takes at once; fewer are not worth another thread.
const PATHS_PER_TASK: usize = 2048;

/// Where attributes come from.
pub(super) enum Source {
    /// The system, queried by up to `threads` threads.
    System {
        threads: usize,
    },
    Service(Box<Client>),
}

impl Source {
    pub(super) fn new(args: &AttributesArgs) -> Result<Self, CliError> {
        if !args.service && args.socket.is_none() {
            let threads = args.threads.map_or_else(cores, usize::from);
            return Ok(Self::System { threads });
        }
        Ok(Self::Service(Box::new(connect(args.socket.as_deref())?)))
    }

    pub(super) fn fields(&self) -> FieldMask {
        let only_windows = FieldMask::ATTRIBUTES | FieldMask::REPARSE_TAG;
        match self {
            Self::System { .. } if cfg!(windows) => FieldMask::all(),
            Self::System { .. } => FieldMask::all() - only_windows,
            Self::Service(client) => client.server_info().fields & CACHED_FIELDS,
        }
    }

    /// Returns the answers in the order of the paths.
    pub(super) fn query(
        &mut self,
        paths: &[&Path],
        want: FieldMask,
        follow: bool,
    ) -> Result<Vec<LookupResult>, CliError> {
        let here = std::env::current_dir().ok();
        match self {
            Self::System { threads } => query_system(paths, want, follow, *threads, here),
            Self::Service(client) => {
                let paths: Vec<_> =
                    paths.iter().map(|path| absolute(path, here.as_deref())).collect();
                Ok(client.attributes(&paths, want, follow)?)
            }
        }
    }
}

/// Queries the system about a batch, through a temporary cache: it groups paths by directory, queries
/// relative to directory handles where that pays, and queries nothing twice.
fn query_system(
    paths: &[&Path],
    want: FieldMask,
    follow: bool,
    threads: usize,
    here: Option<PathBuf>,
) -> Result<Vec<LookupResult>, CliError> {
    // The threads below are all that there shall be.
    let mut options = CacheOptions::new(Level::Frozen).want(want).threads(1);
    options.base = here;
    let cache = options.open()?;
    let ask = |paths: &[&Path]| {
        if follow { cache.get_many(paths) } else { cache.get_many_links(paths) }
    };
    let threads = threads.min(paths.len() / PATHS_PER_TASK);
    if threads < 2 {
        return Ok(ask(paths));
    }
    // Two threads must not ask about one directory: both would open it, and wait for each other.
    let order = by_directory(paths);
    let ordered: Option<Vec<&Path>> =
        order.as_ref().map(|order| order.iter().map(|&index| paths[index as usize]).collect());
    let shares = shares(ordered.as_deref().unwrap_or(paths));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(number) else { return done };
            done.push((number, ask(share)));
        }
    };
    let mut answers = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().expect("BUG: a thread that asks panicked"));
        }
        done
    });
    answers.sort_unstable_by_key(|(number, _)| *number);
    let answers: Vec<_> = answers.into_iter().flat_map(|(_, answers)| answers).collect();
    let Some(order) = order else { return Ok(answers) };
    let mut in_order = answers.clone();
    for (index, answer) in order.into_iter().zip(answers) {
        in_order[index as usize] = answer;
    }
    Ok(in_order)
}

/// Splits paths into the shares of threads: between two directories, unless one alone is longer than
/// a share.
fn shares<'a>(mut paths: &'a [&'a Path]) -> Vec<&'a [&'a Path]> {
    let mut shares = Vec::new();
    while let Some((first, rest)) = paths.split_at_checked(PATHS_PER_TASK) {
        let directory = first.last().map(|path| path.parent());
        let is_inside = |path: &&&Path| Some(path.parent()) == directory;
        let inside = rest.iter().take(PATHS_PER_TASK).take_while(is_inside).count();
        let more = if inside < PATHS_PER_TASK { inside } else { 0 };
        let (share, rest) = paths.split_at(PATHS_PER_TASK + more);
        shares.push(share);
        paths = rest;
    }
    if !paths.is_empty() {
        shares.push(paths);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_end_between_directories_unless_one_is_too_long() {
        let names = |directory: &str, number: usize| {
            (0..number).map(|n| PathBuf::from(format!("{directory}/{n}"))).collect::<Vec<_>>()
        };
        let lengths = |paths: &[PathBuf]| {
            let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            let shares = shares(&paths);
            assert_eq!(shares.concat(), paths);
            shares.iter().map(|share| share.len()).collect::<Vec<_>>()
        };
        assert!(lengths(&[]).is_empty());
        let (one, all) = (PATHS_PER_TASK, [names("a", 2000), names("b", 2000), names("c", 9)]);
        assert_eq!(lengths(&all.concat()), [4000, 9]);
        assert_eq!(lengths(&names("a", 3 * one)), [one; 3]);
        assert_eq!(lengths(&names("a", 2 * one)), [one, one]);
        assert_eq!(lengths(&names("a", 10)), [10]);
    }
}
