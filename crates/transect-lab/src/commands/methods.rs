//! The contenders, whose methods sessions run beside those of this program.

use transect_lab::harness::error::cannot;
use transect_lab::rivals::builtin;
use transect_lab::rivals::contender::Contender;

use crate::args::LabMethodsArgs;
use transect_program::exit::CliError;
use transect_program::{output, user_dirs};

/// Returns the contenders, and whether all of them could be read; prints the errors.
pub(super) fn contenders(args: &LabMethodsArgs) -> Result<(Vec<Contender>, bool), CliError> {
    let folder = match &args.contenders {
        Some(folder) => folder.clone(),
        None => {
            let cache = user_dirs::cache("contenders")?;
            builtin::unpack(&cache).map_err(cannot("write contenders to", &cache))?
        }
    };
    let (contenders, wrong) = Contender::load_all(&folder, args.test_doubles);
    wrong.iter().for_each(output::error);
    Ok((contenders, wrong.is_empty()))
}
