//! Answers as lines: a table for people, JSON, or columns that end with NUL.

use std::io::{self, Write};

use anstream::AutoStream;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use transect::Attributes;
use transect_cache::{LookupError, LookupResult};

use crate::args::AttributesArgs;
use crate::output::clock::Clock;
use crate::output::columns::{Column, Columns, Value};
use crate::output::json::PathEntry;
use crate::output::{self, BOLD, WARN, quote};

/// What was gathered.
pub(super) enum Text {
    ForPeople(AutoStream<Vec<u8>>),
    Exact(Vec<u8>),
}

/// Which form it has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Null,
    Json,
}

/// Lines that are gathered until somebody takes them.
pub(super) struct Rows {
    columns: Columns,
    clock: Clock,
    form: Form,
    table: AutoStream<Vec<u8>>,
    exact: Vec<u8>,
    has_head: bool,
}

impl Rows {
    pub(super) fn new(args: &AttributesArgs, columns: Columns) -> Self {
        let form = match args {
            AttributesArgs { json: true, .. } => Form::Json,
            AttributesArgs { null: true, .. } => Form::Null,
            _ => Form::Table,
        };
        let clock = Clock::showing(columns.fields());
        Self { columns, clock, form, table: output::buffer(), exact: Vec::new(), has_head: false }
    }

    /// Adds a line.
    pub(super) fn push(&mut self, path: &[u8], answer: &LookupResult) -> io::Result<()> {
        let Self { columns, clock, form, table, exact, has_head } = self;
        match form {
            Form::Json => {
                output::write_json(exact, &Line { path: path.into(), told: told(columns, answer) })
            }
            Form::Null => {
                cells(exact, columns, clock, answer)?;
                exact.extend_from_slice(path);
                exact.push(0);
                Ok(())
            }
            Form::Table => {
                if !std::mem::replace(has_head, true) {
                    head(table, columns)?;
                }
                cells(table, columns, clock, answer)?;
                let path = quote::for_terminal(String::from_utf8_lossy(path).as_ref().as_ref());
                match answer {
                    Ok(_) => writeln!(table, "{path}"),
                    Err(refusal) => writeln!(table, "{path}  {WARN}{refusal}{WARN:#}"),
                }
            }
        }
    }

    /// Takes what was gathered.
    pub(super) fn take(&mut self) -> Text {
        match self.form {
            Form::Table => Text::ForPeople(std::mem::replace(&mut self.table, output::buffer())),
            Form::Null | Form::Json => Text::Exact(std::mem::take(&mut self.exact)),
        }
    }
}

fn head(out: &mut impl Write, columns: &Columns) -> io::Result<()> {
    for column in columns.iter() {
        write!(out, "{BOLD}{}{BOLD:#}  ", cell(column, column.as_str()))?;
    }
    writeln!(out, "{BOLD}path{BOLD:#}")
}

fn cells(
    out: &mut impl Write,
    columns: &Columns,
    clock: &Clock,
    answer: &LookupResult,
) -> io::Result<()> {
    for column in columns.iter() {
        let value = match (column, answer) {
            (_, Ok(attributes)) => columns.value(column, attributes),
            (Column::Type, Err(refusal)) => Value::Word(word(*refusal).to_owned()),
            (_, Err(_)) => Value::Unknown,
        };
        write!(out, "{}  ", cell(column, &value.text(clock)))?;
    }
    Ok(())
}

/// Returns a text as wide as its column.
fn cell(column: Column, text: &str) -> String {
    let width = column.width();
    if column.begins_below() { format!("{text:<width$}") } else { format!("{text:>width$}") }
}

/// Returns what stands in the place of a type.
fn word(refusal: LookupError) -> &'static str {
    match refusal.kind() {
        _ if refusal.is_missing() => "missing",
        Some(transect::FaultKind::Denied) => "denied",
        _ => "failed",
    }
}

/// What `--json` prints of a path.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    #[serde(flatten)]
    told: Told<'a>,
}

/// The attributes, or why there are none.
#[derive(Serialize)]
#[serde(untagged)]
enum Told<'a> {
    Attributes(Chosen<'a>),
    Nothing { error: Error },
}

#[derive(Serialize)]
struct Error {
    kind: &'static str,
    os_error: Option<i32>,
}

/// The columns of attributes.
struct Chosen<'a>(&'a Columns, &'a Attributes);

impl Serialize for Chosen<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in self.0.iter() {
            self.0.value(column, self.1).write(column.as_str(), &mut map)?;
        }
        map.end()
    }
}

fn told<'a>(columns: &'a Columns, answer: &'a LookupResult) -> Told<'a> {
    match answer {
        Ok(attributes) => Told::Attributes(Chosen(columns, attributes)),
        Err(refusal) => {
            let kind = refusal.kind().map_or("outside_roots", |kind| kind.as_str());
            let os_error = match refusal {
                LookupError::System { os_error, .. } => *os_error,
                _ => None,
            };
            Told::Nothing { error: Error { kind, os_error } }
        }
    }
}
