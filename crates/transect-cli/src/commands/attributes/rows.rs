//! Formats answers: a table, JSON, or columns that end with NUL.

use std::io::{self, Write};

use anstream::AutoStream;
use serde::Serialize;
use transect_cache::{LookupError, LookupResult};

use crate::args::AttributesArgs;
use crate::output::columns::{Column, Columns, Object, Value};
use crate::output::json::{PathEntry, object};
use crate::output::time::TimeFormatter;
use crate::output::{self, BOLD, WARN, quote};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Null,
    Json,
}

/// Collects lines until [`Rows::print`].
pub(super) struct Rows {
    columns: Columns,
    times: TimeFormatter,
    form: Form,
    table: AutoStream<Vec<u8>>,
    machine: Vec<u8>,
    has_header: bool,
}

impl Rows {
    pub(super) fn new(args: &AttributesArgs, columns: Columns) -> Self {
        let form = match args {
            AttributesArgs { json: true, .. } => Form::Json,
            AttributesArgs { null: true, .. } => Form::Null,
            _ => Form::Table,
        };
        let times = TimeFormatter::for_fields(columns.fields());
        Self {
            columns,
            times,
            form,
            table: output::buffer(),
            machine: Vec::new(),
            has_header: false,
        }
    }

    pub(super) fn push(&mut self, path: &[u8], answer: &LookupResult) -> io::Result<()> {
        let Self { columns, times, form, table, machine, has_header } = self;
        match form {
            Form::Json => match answer {
                Ok(of) => output::write_json(
                    machine,
                    &object! { ..path: PathEntry::from(path), ..columns: Object(columns, |it| columns.value(it, of)) },
                ),
                Err(error) => output::write_json(
                    machine,
                    &object! { ..path: PathEntry::from(path), error: error_object(error) },
                ),
            },
            Form::Null => {
                cells(machine, columns, times, answer)?;
                machine.extend_from_slice(path);
                machine.push(0);
                Ok(())
            }
            Form::Table => {
                if !std::mem::replace(has_header, true) {
                    header(table, columns)?;
                }
                cells(table, columns, times, answer)?;
                let path = quote::for_terminal(String::from_utf8_lossy(path).as_ref().as_ref());
                match answer {
                    Ok(_) => writeln!(table, "{path}"),
                    Err(error) => writeln!(table, "{path}  {WARN}{error}{WARN:#}"),
                }
            }
        }
    }

    pub(super) fn print(&mut self) -> io::Result<()> {
        match self.form {
            Form::Table => {
                output::print_wrapped(std::mem::replace(&mut self.table, output::buffer()))
            }
            Form::Null | Form::Json => {
                output::stream::stdout().write_all(&std::mem::take(&mut self.machine))
            }
        }
    }
}

fn header(out: &mut impl Write, columns: &Columns) -> io::Result<()> {
    for column in columns.iter() {
        write!(out, "{BOLD}{}{BOLD:#}  ", cell(column, column.as_str()))?;
    }
    writeln!(out, "{BOLD}path{BOLD:#}")
}

fn cells(
    out: &mut impl Write,
    columns: &Columns,
    times: &TimeFormatter,
    answer: &LookupResult,
) -> io::Result<()> {
    for column in columns.iter() {
        let value = match (column, answer) {
            (_, Ok(attributes)) => columns.value(column, attributes),
            (Column::Type, Err(error)) => Value::Word(type_or_error(*error).to_owned()),
            (_, Err(_)) => Value::Unknown,
        };
        write!(out, "{}  ", cell(column, &value.text(times)))?;
    }
    Ok(())
}

fn cell(column: Column, text: &str) -> String {
    let width = column.width();
    if column.is_left_aligned() { format!("{text:<width$}") } else { format!("{text:>width$}") }
}

/// Returns the word shown in place of a type.
fn type_or_error(error: LookupError) -> &'static str {
    match error.kind() {
        _ if error.is_missing() => "missing",
        Some(transect::FaultKind::Denied) => "denied",
        _ => "failed",
    }
}

fn error_object(error: &LookupError) -> impl Serialize + use<> {
    let os_error = match error {
        LookupError::System { os_error, .. } => *os_error,
        _ => None,
    };
    object! {
        kind: error.kind().map_or("outside_roots", |kind| kind.as_str()),
        os_error: os_error,
    }
}
