//! What all pages of `map` share: settings, the file, the address of the server.

use std::io::Write;
use std::path::Path;

use transect::FieldMask;
use transect_sys::host::now;
use transect_web::map::{Measure, Settings, TrashSource};
use transect_web::serve::Server;

use crate::args::MapArgs;
use crate::opener::{self, Redirect};
use crate::output::{self, owner};
use crate::user_trash::user_trash;
use transect_program::CliError;

pub(super) const SHOWN: FieldMask = FieldMask::UID.union(FieldMask::MTIME).union(FieldMask::MODE);

pub(super) fn settings(args: &MapArgs) -> Settings {
    Settings {
        measure: if args.apparent { Measure::Apparent } else { Measure::DiskUsage },
        max_entries: args.max_entries as usize,
        owner_name: owner::user_name_or_id,
        read_at: now() / 1_000_000_000,
        interrupted: false,
        disk: transect::internal::disk_space_of(&args.walk.roots()),
        served: None,
        removal: args.allow_removal.then_some(user_trash as TrashSource),
        followed: false,
    }
}

pub(super) fn check_openable(args: &MapArgs, file: &Path) -> Result<(), CliError> {
    match args.open && file.as_os_str() == "-" {
        true => Err(CliError::failed("--open needs a file: --html FILE")),
        false => Ok(()),
    }
}

pub(super) fn write_page(args: &MapArgs, page: &str, file: &Path) -> Result<(), CliError> {
    output::file::write(file, |out| out.write_all(page.as_bytes()))?;
    if args.open {
        opener::open(&std::path::absolute(file)?);
    }
    Ok(())
}

/// Prints the address of a server, and opens it in the browser if this was requested.
pub(super) fn announce(args: &MapArgs, server: &Server) -> Result<Option<Redirect>, CliError> {
    let mut text = output::buffer();
    writeln!(text, "{}", server.address())?;
    output::print(text)?;
    let redirect = if args.open { Some(Redirect::to(&server.address())?) } else { None };
    match &redirect {
        Some(redirect) => {
            output::hint("press Ctrl-C to stop");
            opener::open(redirect.path());
        }
        None => output::hint("open this address in a browser; press Ctrl-C to stop"),
    }
    Ok(redirect)
}
