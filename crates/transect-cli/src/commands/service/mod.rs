//! `transect service`: commands for the service of `transect live`.

mod git_hook;
mod watch_helper;
mod watchman;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::{Serialize, Serializer};
use transect_service::{Client, Error};
use transect_sys::name_from_bytes;

use crate::args::{ServiceCommand, ServiceInvalidateArgs, ServiceStatsArgs};
use crate::output::json::{PathEntry, object};
use crate::output::units::{bytes, count};
use crate::output::{self, BOLD, DIM, quote};
use transect_program::user_dirs;
use transect_program::{CliError, ExitStatus};

pub(crate) fn run(command: &ServiceCommand) -> Result<ExitStatus, CliError> {
    match command {
        ServiceCommand::Freeze(args) => connect(args.socket.as_deref())?.freeze()?,
        ServiceCommand::Thaw(args) => connect(args.socket.as_deref())?.thaw()?,
        ServiceCommand::Invalidate(args) => return invalidate(args),
        ServiceCommand::Stats(args) => stats(args)?,
        ServiceCommand::GitHook(args) => return git_hook::run(args),
        ServiceCommand::WatchHelper(args) => return watch_helper::run(args),
        ServiceCommand::Watchman(args) => return watchman::run(args),
    }
    Ok(ExitStatus::Complete)
}

/// Connects to the service at a socket, by default to the user's own.
pub(crate) fn connect(socket: Option<&Path>) -> Result<Client, CliError> {
    let socket = match socket {
        Some(socket) => Cow::Borrowed(socket),
        None => Cow::Owned(user_dirs::service_socket()?),
    };
    Client::connect(&socket).map_err(|error| match error {
        Error::NotRunning(..) => {
            CliError::Failed(format!("{error}; start one with `transect live`"))
        }
        error => error.into(),
    })
}

/// Returns an absolute path for the service, whose current directory differs. An empty path stays
/// empty.
pub(crate) fn absolute<'a>(path: &'a Path, here: Option<&Path>) -> Cow<'a, Path> {
    match here {
        Some(here) if path.is_relative() && !path.as_os_str().is_empty() => {
            Cow::Owned(here.join(path))
        }
        _ => Cow::Borrowed(path),
    }
}

fn invalidate(args: &ServiceInvalidateArgs) -> Result<ExitStatus, CliError> {
    let socket = args.socket.socket.as_deref();
    let mut client = connect(socket)?;
    if args.paths.is_empty() {
        client.clear()?;
    }
    let here = std::env::current_dir().ok();
    let mut end = ExitStatus::Complete;
    // None is empty: that would stand for everything, and the parser refuses it.
    for path in &args.paths {
        match client.invalidate(absolute(path, here.as_deref())) {
            Ok(()) => {}
            Err(Error::Remote(reply)) => {
                let path = path.display();
                output::error(&format_args!("cannot invalidate '{path}': {}", reply.text));
                end = ExitStatus::Partial;
                // The service closes a connection after an error.
                client = connect(socket)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(end)
}

fn stats(args: &ServiceStatsArgs) -> Result<(), CliError> {
    let mut client = connect(args.socket.socket.as_deref())?;
    let stats = client.stats()?;
    let info = client.server_info();
    if args.json {
        let report = object! {
            schema: "transect.service.stats/1",
            process: info.process,
            level: &info.level,
            roots: info.roots.iter().map(|root| PathEntry::from(&**root)).collect::<Vec<_>>(),
            ..counters: Counters(&stats),
        };
        Ok(output::print_json(&report)?)
    } else {
        let mut text = output::buffer();
        writeln!(text, "process {}, level {}", info.process, info.level)?;
        for root in &info.roots {
            let root = name_from_bytes(root.clone());
            writeln!(text, "root {}", quote::for_terminal(&root))?;
        }
        write_counters(&mut text, &stats)?;
        Ok(output::print_wrapped(text)?)
    }
}

/// What each counter of the service counts.
const MEANINGS: [(&str, &str); 17] = [
    ("hits", "lookups answered from memory"),
    ("misses", "lookups that needed a query"),
    ("listings", "directories listed"),
    ("listings_given_up", "listings that failed, or were not worth their cost"),
    ("queries", "queries of one name"),
    ("checks", "queries whether a listing is still valid"),
    ("outdated", "listings that were not valid any more"),
    ("invalidations", "names and directories dropped because of a change"),
    ("evictions", "directories dropped to stay within the memory limit"),
    ("directories", "directories in the cache"),
    ("names", "names in the cache"),
    ("memory", "size of the cache"),
    ("connections", "connections so far"),
    ("requests", "requests about paths or names so far"),
    ("questions", "paths and names in them"),
    ("followed", "of these, answered from followed trees"),
    ("refused", "connections of other users"),
];

fn write_counters(out: &mut impl Write, stats: &[(String, u64)]) -> io::Result<()> {
    let width = stats.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, number) in stats {
        let shown = if name == "memory" { bytes(*number) } else { count(*number) };
        // A newer service may have more of them.
        let meaning = MEANINGS.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        let name = quote::for_terminal(name.as_ref());
        writeln!(out, "{BOLD}{shown:>12}{BOLD:#}  {name:<width$}  {DIM}{meaning}{DIM:#}")?;
    }
    Ok(())
}

struct Counters<'a>(&'a [(String, u64)]);

impl Serialize for Counters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, number)| (name, number)))
    }
}
