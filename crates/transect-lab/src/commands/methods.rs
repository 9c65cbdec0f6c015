//! The methods that walk, and the directory of the contenders.

use std::path::PathBuf;

use transect_lab::experiments::walk::method::Method;
use transect_lab::rivals::builtin;

use super::error::cannot;
use crate::args::LabMethodsArgs;
use transect_program::exit::CliError;
use transect_program::{output, user_dirs};

/// Returns all methods that walk, and whether all contenders could be read; prints the errors.
pub(super) fn methods(args: &LabMethodsArgs) -> Result<(Vec<Method>, bool), CliError> {
    let (methods, wrong) = Method::all(Some(&contenders(args)?), args.test_doubles);
    wrong.iter().for_each(output::error);
    Ok((methods, wrong.is_empty()))
}

pub(super) fn contenders(args: &LabMethodsArgs) -> Result<PathBuf, CliError> {
    if let Some(folder) = &args.contenders {
        return Ok(folder.clone());
    }
    let cache = user_dirs::cache("contenders")?;
    builtin::unpack(&cache).map_err(cannot("write contenders to", &cache))
}
