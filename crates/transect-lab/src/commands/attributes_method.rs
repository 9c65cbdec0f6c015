//! `transect lab attributes-method`: queries attributes by one of this program's methods, and prints the
//! result in the contenders' protocol.

use transect_lab::experiments::attributes::{Query, Questions, run_query};

use crate::args::LabAttributesMethodArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{output, stream};

pub(crate) fn run(args: &LabAttributesMethodArgs) -> Result<ExitStatus, CliError> {
    let LabAttributesMethodArgs { method, questions, task, threads, socket } = args;
    let query =
        Query { task: *task, method: *method, threads: *threads, socket: socket.as_deref() };
    transect_sys::host::raise_handle_limit();
    let line = run_query(query, &Questions::read(questions)?).map_err(CliError::Failed)?;
    output::write_json(&mut stream::stdout(), &line)?;
    Ok(ExitStatus::Complete)
}
