//! Prints usage for programs, as JSON or CSV.

use std::io;

use super::view::Report;
use super::{csv, json};
use crate::args::UsageArgs;
use crate::output;

pub(super) fn print(args: &UsageArgs, report: &Report<'_>) -> io::Result<()> {
    match args.csv {
        // Paths are bytes, and the colour-aware buffer accepts text only.
        true => csv::write(&mut output::stream::stdout(), &report.rows, args.shared),
        false => output::print_json(&json::usage(report)),
    }
}
