//! `transect lab list`: all methods, and why some of them cannot run here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use transect_lab::experiments::attributes;
use transect_lab::experiments::method_info::MethodInfo;
use transect_lab::experiments::transform::{self, Kind};
use transect_lab::experiments::walk::method::{self, Method};
use transect_lab::published::contract::{self, ContractRow};

use super::methods::{contenders, methods};
use crate::args::LabListArgs;
use crate::exit::{CliError, ExitStatus};
use crate::output::{self, BOLD, DIM, GOOD};

/// One line of `--json`.
#[derive(Serialize)]
struct Row<'m> {
    task: &'static str,
    method: &'m str,
    contract: &'m [String],
    language: &'m str,
    kind: &'static str,
    available: bool,
    why_not: Option<&'m str>,
    about: &'m str,
}

pub(crate) fn run(args: &LabListArgs) -> Result<ExitStatus, CliError> {
    let (methods, all) = methods(&args.methods)?;
    let folder = contenders(&args.methods)?;
    // Whatever is wrong with a contender has been said.
    let (passes, _) = transform::Method::all(Kind::Copy, Some(&folder), args.methods.test_doubles);
    let (asking, _) = attributes::Method::all(Some(&folder));
    let mut text = output::buffer();
    if args.json {
        let rows = methods.iter().map(|method| row("enumerate", method));
        let rows = rows.chain(passes.iter().map(|method| row("transform", method)));
        let rows = rows.chain(asking.iter().map(|method| row("attributes", method)));
        for row in rows {
            output::write_json(&mut text, &row)?;
        }
        for row in contract_rows(args) {
            output::write_json(&mut text, row)?;
        }
    } else {
        write(&mut text, &methods, args.contract)?;
        write_passes(&mut text, &passes, args.contract)?;
        write_asking(&mut text, &asking)?;
        write_contract(&mut text, contract_rows(args))?;
    }
    output::print(text)?;
    Ok(if all { ExitStatus::Complete } else { ExitStatus::Partial })
}

/// Returns the rows that are no method, if they are asked for.
fn contract_rows(args: &LabListArgs) -> &'static [ContractRow] {
    if args.contract { contract::ROWS } else { &[] }
}

fn write_contract(out: &mut impl Write, rows: &[ContractRow]) -> std::io::Result<()> {
    if !rows.is_empty() {
        writeln!(out, "\n{BOLD}what is no method{BOLD:#}")?;
    }
    for ContractRow { row, what, status, note } in rows {
        writeln!(out, "{row:<4} {what}\n       {DIM}{}: {note}{DIM:#}", status.as_str())?;
    }
    Ok(())
}

fn row<'m>(task: &'static str, method: &'m impl MethodInfo) -> Row<'m> {
    Row {
        task,
        method: method.name(),
        contract: method.contract(),
        language: method.language(),
        kind: method.kind(),
        available: method.unavailable_reason().is_none(),
        why_not: method.unavailable_reason(),
        about: method.about(),
    }
}

/// Writes the methods of `lab run attributes`, and why some of them cannot run here.
fn write_asking(out: &mut impl Write, methods: &[attributes::Method]) -> std::io::Result<()> {
    let width = methods.iter().map(|method| method.name.len()).max().unwrap_or(0);
    writeln!(out, "\n{BOLD}questions about attributes{BOLD:#}")?;
    for attributes::Method { name, language, about, why_not, .. } in methods {
        let (style, about) = match why_not {
            None => (GOOD, about),
            Some(why_not) => (DIM, why_not),
        };
        writeln!(out, "{style}{name:<width$}{style:#}  {language:<10}  {DIM}{about}{DIM:#}")?;
    }
    Ok(())
}

/// Writes the methods of `lab run transform`, and why some of them cannot copy.
fn write_passes(
    out: &mut impl Write,
    methods: &[transform::Method],
    contract: bool,
) -> std::io::Result<()> {
    let width = methods.iter().map(|method| method.name.len()).max().unwrap_or(0);
    writeln!(out, "\n{BOLD}file transforms{BOLD:#}")?;
    for method in methods {
        let (name, language) = (&method.name, &method.language);
        let rows = rows_column(&method.contract, contract);
        let (style, about) = match &method.why_not {
            None => (GOOD, &method.about),
            Some(why_not) => (DIM, why_not),
        };
        writeln!(out, "{style}{name:<width$}{style:#}  {rows}{language:<10}  {DIM}{about}{DIM:#}")?;
    }
    Ok(())
}

/// Returns the column with the rows of the seed articles, which only `--contract` shows.
fn rows_column(rows: &[String], contract: bool) -> String {
    if contract { format!("{:<11}  ", rows.join(" ")) } else { String::new() }
}

fn write(out: &mut impl Write, methods: &[Method], contract: bool) -> std::io::Result<()> {
    let here = || methods.iter().filter(|method| method.why_not.is_none());
    let width = here().map(|method| method.name.len()).max().unwrap_or(0);
    let rows = rows_column(&["contract".to_owned()], contract);
    writeln!(out, "{BOLD}{:<width$}  {rows}{:<10}{BOLD:#}", "method", "language")?;
    for method in here() {
        let Method { name, language, about, .. } = method;
        let rows = rows_column(&method.contract, contract);
        writeln!(out, "{GOOD}{name:<width$}{GOOD:#}  {rows}{language:<10}  {DIM}{about}{DIM:#}")?;
    }
    writeln!(out, "\n{BOLD}not here{BOLD:#}")?;
    for (why_not, names) in absent(methods, contract) {
        let text = format!("{}: {why_not}", names.into_iter().collect::<Vec<_>>().join(", "));
        for line in output::wrap(&text, 100) {
            writeln!(out, "  {DIM}{line}{DIM:#}")?;
        }
    }
    writeln!(out, "\n{} of {} can run here", here().count(), methods.len())
}

/// Returns the names of what cannot run here by the reason why not; a reader in all its orders is one.
fn absent(methods: &[Method], contract: bool) -> BTreeMap<String, BTreeSet<String>> {
    let mut absent: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for method in methods {
        let Some(why_not) = &method.why_not else { continue };
        let name = match &method.kind {
            method::Kind::Engine(variant) => format!("{}/*", variant.reader.as_str()),
            method::Kind::Absent if contract => {
                format!("{} ({})", method.name, method.contract.join(" "))
            }
            method::Kind::Absent => method.name.clone(),
            method::Kind::Contender(_) | method::Kind::Peer(_) => method.name.clone(),
        };
        absent.entry(why_not.clone()).or_default().insert(name);
    }
    absent
}
