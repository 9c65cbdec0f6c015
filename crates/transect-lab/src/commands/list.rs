//! `transect lab list`: all methods, and why some of them cannot run here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use transect_lab::experiments::attributes;
use transect_lab::experiments::method::Method;
use transect_lab::experiments::transform::{self, Kind};
use transect_lab::experiments::walk::method as walk;
use transect_lab::published::contract::{self, ContractRow};
use transect_lab::spec::CodeLength;
use transect_text::style::{BOLD, DIM, GOOD};
use transect_text::wrap::wrap;

use super::request::contenders;
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
    /// The length of its code, if it belongs to a contender.
    code: Option<CodeLength>,
    available: bool,
    why_not: Option<&'m str>,
    about: &'m str,
}

pub(crate) fn run(args: &LabListArgs) -> Result<ExitStatus, CliError> {
    let (contenders, are_read) = contenders(&args.methods)?;
    let (methods, wrong) = walk::Method::all(&contenders);
    wrong.iter().for_each(output::error);
    let passes = transform::Method::all(Kind::Copy, &contenders);
    let asking = attributes::Method::all(&contenders);
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
        output::print(text)?;
    } else {
        write_methods(&mut text, "walks", &methods, args.contract, absent_walk)?;
        let name = |method: &transform::Method| method.name.clone();
        write_methods(&mut text, "file transforms", &passes, args.contract, name)?;
        let name = |method: &attributes::Method| method.name.clone();
        write_methods(&mut text, "questions about attributes", &asking, args.contract, name)?;
        write_contract(&mut text, contract_rows(args))?;
        output::print_wrapped(text)?;
    }
    Ok(if are_read && wrong.is_empty() { ExitStatus::Complete } else { ExitStatus::Partial })
}

fn contract_rows(args: &LabListArgs) -> &'static [ContractRow] {
    if args.contract { contract::rows() } else { &[] }
}

fn write_contract(out: &mut impl Write, rows: &[ContractRow]) -> std::io::Result<()> {
    if !rows.is_empty() {
        writeln!(out, "{BOLD}what is no method{BOLD:#}")?;
    }
    for ContractRow { row, what, here, note } in rows {
        writeln!(out, "{row:<4} {what}\n       {DIM}{here}: {note}{DIM:#}")?;
    }
    Ok(())
}

fn row<'m, P>(task: &'static str, method: &'m Method<P>, contract: bool) -> Row<'m> {
    Row {
        task,
        method: &method.name,
        contract: contract.then_some(method.contract.as_slice()),
        language: &method.language,
        kind: method.kind(),
        code: method.code_length(),
        available: method.unavailable_reason.is_none(),
        why_not: method.unavailable_reason.as_deref(),
        about: &method.about,
    }
}

/// Writes the methods of one experiment that can run here, and the names of the others by reason.
fn write_methods<R>(
    out: &mut impl Write,
    title: &str,
    methods: &[Method<R>],
    contract: bool,
    absent_name: impl Fn(&Method<R>) -> String,
) -> std::io::Result<()> {
    let here = || methods.iter().filter(|method| method.unavailable_reason.is_none());
    let width = here().map(|method| method.name.len()).max().unwrap_or(0);
    let (available, all) = (here().count(), methods.len());
    writeln!(out, "{BOLD}{title}{BOLD:#}: {available} of {all} methods can run here")?;
    for Method { name, language, contract: rows, about, .. } in here() {
        let rows = if contract { format!("{:<11}  ", rows.join(" ")) } else { String::new() };
        writeln!(out, "{GOOD}{name:<width$}{GOOD:#}  {rows}{language:<10}  {DIM}{about}{DIM:#}")?;
    }
    let mut absent: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for method in methods {
        let Some(reason) = &method.unavailable_reason else { continue };
        absent.entry(reason).or_default().insert(absent_name(method));
    }
    let width = output::terminal_width().unwrap_or(100).min(100).saturating_sub(2);
    for (reason, names) in absent {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        for line in wrap(&format!("not here: {names}: {reason}"), width) {
            writeln!(out, "  {DIM}{line}{DIM:#}")?;
        }
    }
    writeln!(out)
}

/// Returns the name of an unavailable method. A reader counts once, not once for each order.
fn absent_walk(method: &walk::Method) -> String {
    method.part.map_or_else(|| method.name.clone(), |it| format!("{}/*", it.reader.as_str()))
}
