//! `transect service watch-helper`: reports changes of whole file systems to programs of other users.

use std::io;
use std::path::Path;

use transect_service::{Error, HelperLimits, WatchHelper};
use transect_sys::private_dir::{self, OtherUsers};
use transect_sys::watch::{HELPER_SOCKET, WatchMethod, Watcher};

use crate::args::WatchHelperArgs;
use crate::output;
use transect_program::{CliError, ExitStatus, cancel_on_signal, on_signal};

pub(super) fn run(args: &WatchHelperArgs) -> Result<ExitStatus, CliError> {
    let end = cancel_on_signal()?;
    transect_sys::host::raise_handle_limit();
    // A clear answer now, instead of one to each client. `/` may be a file system that cannot be watched.
    if let Err(error) = Watcher::of_tree(Path::new("/"), &WatchMethod::FileSystem)
        && (error.kind() == io::ErrorKind::PermissionDenied || cfg!(not(target_os = "linux")))
    {
        let reason = transect::reason(&error);
        let text = format!("cannot watch file systems: {reason}; run this as root, on Linux");
        return Err(CliError::Failed(text));
    }
    let default = Path::new(HELPER_SOCKET);
    let socket = args.socket.as_deref().unwrap_or(default);
    if let (true, Some(directory)) = (socket == default, default.parent()) {
        match std::fs::create_dir(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let (path, reason) = (directory.display(), transect::reason(&error));
                return Err(CliError::Failed(format!("cannot create '{path}': {reason}")));
            }
            // If others could write to it, they could put a socket of their own there.
            _ => private_dir::exists(directory, OtherUsers::ReadOnly).map_err(Error::NotPrivate)?,
        };
    }
    let helper = WatchHelper::bind(socket, HelperLimits::default())?;
    output::note(&format!("listening at '{}'", socket.display()));
    let waker = helper.waker();
    on_signal(move || waker.wake())?;
    helper.run(&end)?;
    Ok(ExitStatus::Complete)
}
