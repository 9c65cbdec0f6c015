//! `transect live`: trees that are followed, and a cache of attributes, for several programs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use transect::{FieldMask, FileType};
use transect_cache::CacheOptions;
use transect_service::{Error, Event, ServeOptions, Server, StopReason, create_socket_dir};
use transect_sys::file::query_attributes;

use crate::args::LiveArgs;
use crate::output::units::counted;
use crate::series::name_of_root;
use transect_program::user_dirs;

use crate::{output, root_path};
use transect_program::{CliError, ExitStatus, cancel_on_signal, on_signal};

pub(crate) fn run(args: &LiveArgs) -> Result<ExitStatus, CliError> {
    let end = cancel_on_signal()?;
    transect_sys::host::raise_handle_limit();
    // A walk needs more memory than its table, which stays.
    transect_sys::memory::return_large_blocks();
    let socket = match &args.socket {
        Some(socket) => socket.clone(),
        None => {
            let socket = user_dirs::service_socket()?;
            create_socket_dir(&socket)?;
            socket
        }
    };
    let mut options = CacheOptions::new(args.level);
    options.memory = args.memory;
    let mut roots = args.paths.iter().map(|path| root_of(path)).collect::<Result<Vec<_>, _>>()?;
    let working_trees = args.git.iter().map(|path| root_of(path)).collect::<Result<Vec<_>, _>>()?;
    // A walk does not enter other file systems.
    let is_new = |top: &&PathBuf| {
        !roots.iter().any(|root| top.starts_with(root) && device(root) == device(top))
    };
    let new: Vec<PathBuf> = working_trees.iter().filter(is_new).cloned().collect();
    roots.extend(new);
    // A tree that was given twice, or also by a link, is followed once.
    roots.sort_unstable();
    roots.dedup();
    // Questions about attributes may lead through links.
    options.roots = args.paths.iter().map(|path| root_path::absolute(path)).collect();
    options.roots.extend(roots.iter().cloned());
    options.roots.sort_unstable();
    options.roots.dedup();
    let mut server = Server::bind(&socket, options)?;
    let place = socket.display();
    output::note(&format!("listening at '{place}', {}", args.level.as_str()));
    for top in working_trees {
        let note = format!("answering git in '{}'", top.display());
        server.answer_git(top).map_err(|error| match error {
            Error::AlreadyRunning { .. } => {
                CliError::Failed(format!("{error}; `git fsmonitor--daemon stop` ends git's own"))
            }
            error => error.into(),
        })?;
        output::note(&note);
    }
    server = server.follow(with_files(roots, args.store_every));
    let waker = server.waker();
    on_signal(move || waker.wake())?;
    let mut serve = ServeOptions::default();
    serve.idle = args.idle;
    serve.store_every = args.store_every;
    let is_complete = AtomicBool::new(true);
    let ended = server.run(&serve, &end, |event| match &event {
        Event::NotFollowed { .. } => {
            is_complete.store(false, Ordering::Relaxed);
            output::error(&describe(&event));
        }
        Event::NotStored { .. } => output::error(&describe(&event)),
        Event::Followed { .. } => output::note(&describe(&event)),
        _ if args.verbose => output::note(&describe(&event)),
        _ => {}
    })?;
    if args.verbose {
        output::note(match ended {
            StopReason::Cancelled => "ended as requested",
            StopReason::Idle => "ended after idle time",
        });
    }
    Ok(ExitStatus::complete_if(is_complete.into_inner()))
}

/// Returns each root with the file that stores its tree.
fn with_files(roots: Vec<PathBuf>, every: Duration) -> Vec<(PathBuf, Option<PathBuf>)> {
    let folder = match user_dirs::STATE.path("live") {
        _ if every.is_zero() || roots.is_empty() => None,
        Ok(folder) => Some(folder),
        Err(error) => {
            output::error(&format!("trees are not stored: {error}"));
            None
        }
    };
    let file = |root: &PathBuf| Some(folder.as_ref()?.join(name_of_root(root) + ".parquet"));
    roots.into_iter().map(|root| (file(&root), root)).map(|(file, root)| (root, file)).collect()
}

/// Returns the path of a directory without links: clients resolve theirs, too.
fn root_of(path: &Path) -> Result<PathBuf, CliError> {
    let resolved = root_path::resolved(path);
    match query_attributes(&resolved, FieldMask::empty(), false) {
        Ok(found) if found.file_type() == FileType::Directory => Ok(resolved),
        Ok(_) => Err(CliError::Failed(format!("'{}' is not a directory", path.display()))),
        Err(error) => {
            let reason = transect::reason(&error);
            Err(CliError::Failed(format!("cannot follow '{}': {reason}", path.display())))
        }
    }
}

fn device(path: &Path) -> Option<u64> {
    let found = query_attributes(path, FieldMask::FILE_ID, false).ok()?;
    Some(found.file_id()?.device)
}

fn describe(event: &Event) -> String {
    match event {
        Event::Connected { process } => format!("process {process} connected"),
        Event::Refused { user } => format!("rejected user {user}"),
        Event::Busy { process } => format!("rejected process {process}: too many connections"),
        Event::Disconnected { process, questions } => {
            let questions = counted(*questions, "question", "questions");
            format!("process {process} disconnected after {questions}")
        }
        Event::Broken { process, why } => format!("process {process}: {why}"),
        Event::NotStored { root, why } => format!("'{}': {why}", root.display()),
        Event::Followed { root, counts, is_stored } => {
            let (root, entries) = (root.display(), counted(counts.entries, "entry", "entries"));
            let mut text = format!("following '{root}', {entries}");
            if *is_stored {
                text += " as stored before, which are being compared";
            }
            if counts.errors > 0 {
                text += &format!(", {}", counted(counts.errors, "error", "errors"));
            }
            if counts.unwatched > 0 {
                let directories = counted(counts.unwatched, "directory is", "directories are");
                text += &format!("; {directories} not watched, and read again for each question");
            }
            text
        }
        Event::NotFollowed { root, why } => format!("cannot follow '{}': {why}", root.display()),
        Event::Failed { why } => format!("cannot accept a connection: {why}"),
    }
}
