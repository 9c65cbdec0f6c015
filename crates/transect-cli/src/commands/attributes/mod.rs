//! `transect attributes`: shows the attributes of many paths.

mod input;
mod rows;
mod source;

use transect::FieldMask;
use transect_service::protocol::{PathList, path_from_bytes};

use crate::args::AttributesArgs;
use crate::output::columns::{Column, Columns};
use input::Input;
use rows::Rows;
use source::Source;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

/// The columns of the table without `--columns`.
const DEFAULT_COLUMNS: &[Column] = &[Column::Type, Column::Size, Column::Mtime];

pub(crate) fn run(args: &AttributesArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    transect_sys::host::raise_handle_limit();
    let mut source = Source::new(args)?;
    let columns = columns(args, source.fields())?;
    let want = columns.fields();
    let mut input = Input::new(args, &cancel)?;
    let mut rows = Rows::new(args, columns);
    let mut list = PathList::default();
    let mut end = ExitStatus::Complete;
    while input.next(&mut list)? {
        let paths: Vec<_> = list.iter().map(path_from_bytes).collect();
        let answers = source.query(&paths, want, args.follow)?;
        for (path, answer) in list.iter().zip(&answers) {
            if answer.is_err_and(|refusal| !refusal.is_missing()) {
                end = ExitStatus::Partial;
            }
            rows.push(path, answer)?;
        }
        rows.print()?;
    }
    Ok(if cancel.is_cancelled() { ExitStatus::Interrupted } else { end })
}

fn columns(args: &AttributesArgs, available: FieldMask) -> Result<Columns, CliError> {
    let is_available = |column: &Column| available.contains(column.field());
    if let Some(column) = args.columns.iter().find(|column| !is_available(column)) {
        let name = column.as_str();
        return Err(CliError::Failed(format!(
            "column {name} is not available here; --help lists the columns"
        )));
    }
    Ok(match args.columns.as_slice() {
        [] if args.json => {
            let available: Vec<_> =
                Column::ATTRIBUTES.iter().copied().filter(is_available).collect();
            Columns::new(&available)
        }
        [] => Columns::new(DEFAULT_COLUMNS),
        chosen => Columns::new(chosen),
    })
}
