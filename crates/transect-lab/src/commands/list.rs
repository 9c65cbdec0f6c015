//! `transect lab list`: all methods, and why some of them cannot run here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use transect_lab::experiments::attributes;
use transect_lab::experiments::method::{Method, Runner};
use transect_lab::experiments::transform::{self, Kind};
use transect_lab::experiments::walk::method::{self as walk, WalkRunner};
use transect_lab::published::contract::{self, ContractRow};
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::CodeLength;
use transect_text::style::{BOLD, DIM, GOOD, Style};
use transect_text::wrap::wrap;

use super::methods::{contenders, methods};
use crate::args::LabListArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::output;

/// One line of `--json`.
#[derive(Serialize)]
struct Row<'m> {
    task: &'static str,
    method: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<&'m [String]>,
    language: &'m str,
    kind: &'static str,
    /// The length of the code of its contender, of all its methods together.
    code: Option<CodeLength>,
    available: bool,
    why_not: Option<&'m str>,
    about: &'m str,
}

pub(crate) fn run(args: &LabListArgs) -> Result<ExitStatus, CliError> {
    let (methods, all) = methods(&args.methods)?;
    let folder = contenders(&args.methods)?;
    // Errors of contenders are already printed.
    let (passes, _) = transform::Method::all(Kind::Copy, Some(&folder), args.methods.test_doubles);
    let (asking, _) = attributes::Method::all(Some(&folder));
    let mut text = output::buffer();
    if args.json {
        let rows = methods.iter().map(|method| row("enumerate", method, args.contract));
        let rows = rows.chain(passes.iter().map(|method| row("transform", method, args.contract)));
        let rows = rows.chain(asking.iter().map(|method| row("attributes", method, args.contract)));
        for row in rows {
            output::write_json(&mut text, &row)?;
        }
        for row in contract_rows(args) {
            output::write_json(&mut text, row)?;
        }
    } else {
        write(&mut text, &methods, args.contract)?;
        write_methods(&mut text, "file transforms", &passes, args.contract)?;
        write_methods(&mut text, "questions about attributes", &asking, args.contract)?;
        write_contract(&mut text, contract_rows(args))?;
    }
    if args.json {
        output::print(text)?
    } else {
        output::print_wrapped(text)?
    }
    Ok(if all { ExitStatus::Complete } else { ExitStatus::Partial })
}

/// Returns the rows that are not methods, with `--contract`.
fn contract_rows(args: &LabListArgs) -> &'static [ContractRow] {
    if args.contract { contract::rows() } else { &[] }
}

fn write_contract(out: &mut impl Write, rows: &[ContractRow]) -> std::io::Result<()> {
    if !rows.is_empty() {
        writeln!(out, "\n{BOLD}what is no method{BOLD:#}")?;
    }
    for ContractRow { row, what, here, note } in rows {
        writeln!(out, "{row:<4} {what}\n       {DIM}{here}: {note}{DIM:#}")?;
    }
    Ok(())
}

fn row<'m, R: Runner>(task: &'static str, method: &'m Method<R>, contract: bool) -> Row<'m> {
    Row {
        task,
        method: &method.name,
        contract: contract.then_some(method.contract.as_slice()),
        language: &method.language,
        kind: method.runner.kind(),
        code: method.runner.contender().map(Contender::code_length),
        available: method.unavailable_reason.is_none(),
        why_not: method.unavailable_reason.as_deref(),
        about: &method.about,
    }
}

/// Writes the methods of one experiment, and why some of them cannot run here.
fn write_methods<R>(
    out: &mut impl Write,
    title: &str,
    methods: &[Method<R>],
    contract: bool,
) -> std::io::Result<()> {
    let width = methods.iter().map(|method| method.name.len()).max().unwrap_or(0);
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    for method in methods {
        let (style, about) = match &method.unavailable_reason {
            None => (GOOD, &method.about),
            Some(reason) => (DIM, reason),
        };
        write_method(out, method, style, width, contract, about)?;
    }
    Ok(())
}

fn write_method<R>(
    out: &mut impl Write,
    Method { name, language, contract: rows, .. }: &Method<R>,
    style: Style,
    width: usize,
    contract: bool,
    about: &str,
) -> std::io::Result<()> {
    let rows = rows_column(rows, contract);
    writeln!(out, "{style}{name:<width$}{style:#}  {rows}{language:<10}  {DIM}{about}{DIM:#}")
}

/// Returns the column with the rows of the seed articles, which only `--contract` shows.
fn rows_column(rows: &[String], contract: bool) -> String {
    if contract { format!("{:<11}  ", rows.join(" ")) } else { String::new() }
}

fn write(out: &mut impl Write, methods: &[walk::Method], contract: bool) -> std::io::Result<()> {
    let here = || methods.iter().filter(|method| method.unavailable_reason.is_none());
    let width = here().map(|method| method.name.len()).max().unwrap_or(0);
    let rows = rows_column(&["contract".to_owned()], contract);
    writeln!(out, "{BOLD}{:<width$}  {rows}{:<10}{BOLD:#}", "method", "language")?;
    for method in here() {
        write_method(out, method, GOOD, width, contract, &method.about)?;
    }
    writeln!(out, "\n{BOLD}not here{BOLD:#}")?;
    for (why_not, names) in absent(methods) {
        let text = format!("{}: {why_not}", names.into_iter().collect::<Vec<_>>().join(", "));
        for line in wrap(&text, output::terminal_width().unwrap_or(100).min(100).saturating_sub(2))
        {
            writeln!(out, "  {DIM}{line}{DIM:#}")?;
        }
    }
    writeln!(out, "\n{} of {} can run here", here().count(), methods.len())
}

/// Returns the names of unavailable methods by reason. A reader counts once, not once for each order.
fn absent(methods: &[walk::Method]) -> BTreeMap<String, BTreeSet<String>> {
    let mut absent: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for method in methods {
        let Some(reason) = &method.unavailable_reason else { continue };
        let name = match &method.runner {
            WalkRunner::Engine(variant) => format!("{}/*", variant.reader.as_str()),
            _ => method.name.clone(),
        };
        absent.entry(reason.clone()).or_default().insert(name);
    }
    absent
}
