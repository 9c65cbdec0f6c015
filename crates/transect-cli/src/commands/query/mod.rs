//! `transect query`: runs SQL on snapshots, with DuckDB.
//!
//! ```text
//! files ─► views.rs ─► SQL ─► duckdb.rs: the program or the Python module ─► standard output
//! ```

mod duckdb;
mod views;

use std::io::Write;
use std::path::Path;

use transect_snapshot::Snapshot;

use crate::args::QueryArgs;
use crate::commands::snapshot;
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use duckdb::{Ended, Form, Query};
use views::Views;

pub(crate) fn run(args: &QueryArgs) -> Result<ExitStatus, CliError> {
    for file in &args.files {
        // Other files would give obscure errors about columns.
        open(file)?;
    }
    let views = Views::new(&args.files)?;
    if args.print {
        print(&views, &args.statement)?;
        return Ok(ExitStatus::Complete);
    }
    let form = match (args.json, args.csv) {
        (true, _) => Form::Json,
        (_, true) => Form::Csv,
        _ => Form::Table,
    };
    let cancel = cancel_on_signal()?;
    let query = Query { views: &views.sql(), statement: &args.statement, form };
    match duckdb::run(query, &cancel)? {
        Ended::Interrupted => Ok(ExitStatus::Interrupted),
        Ended::With(0) => Ok(ExitStatus::Complete),
        Ended::With(code) => Ok(ExitStatus::OfProgram(code)),
        Ended::TooOld(version) => Err(CliError::Failed(format!(
            "DuckDB {version} is too old; version 1.0 or later is required"
        ))),
        Ended::NotFound => {
            print(&views, &args.statement)?;
            output::hint(
                "install it with `pip install duckdb`, or from https://duckdb.org; the statement above runs \
                 anywhere in DuckDB",
            );
            Err(CliError::failed("DuckDB was not found, neither duckdb nor in python3"))
        }
    }
}

fn print(views: &Views, statement: &str) -> Result<(), CliError> {
    let end = if statement.trim_end().ends_with(';') { "\n" } else { ";\n" };
    let text = [views.printed(), statement.to_owned(), end.to_owned()].concat();
    Ok(stream::stdout().write_all(text.as_bytes())?)
}

fn open(file: &Path) -> Result<Snapshot, CliError> {
    file.metadata().map_err(CliError::cannot("read", file))?;
    let not_one = || CliError::Failed(format!("'{}' is not a snapshot", file.display()));
    snapshot::open(file)?.ok_or_else(not_one)
}
