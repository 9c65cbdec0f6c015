//! Numbers as all forms of a report show them.

use std::time::Duration;

use transect_text::style::{DIM, ERROR, GOOD, Style};
use transect_text::units::duration;

use crate::ranking::Row;
use crate::spec::SessionSpec;
use transect_stats::{Ratios, Verdict};

/// Returns the verdict of a row as people read it, and marks rows faster than the floor.
pub(super) fn verdict_label(spec: &SessionSpec, row: &Row) -> String {
    let word = match &row.judgement {
        _ if row.implausible.is_some() => "implausible",
        Some(judgement) => judgement.verdict.label(),
        None if row.cell.name == spec.base => "the base",
        None if row.cell.name == spec.second_base && spec.repeated() != spec.base => "again",
        None if row.cell.name == spec.second_base => "the base again",
        None => "",
    };
    let below = if row.below_the_floor { " (below the floor?)" } else { "" };
    let is_under_wine = spec.environment.wine.is_some() && row.judgement.is_some();
    let wine = if is_under_wine { " (under Wine)" } else { "" };
    format!("{word}{below}{wine}")
}

/// Returns the style of a verdict that is a finding: about two sessions or two ways.
pub(super) fn verdict_style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Faster | Verdict::LessCpu => GOOD,
        Verdict::Slower | Verdict::MoreCpu => ERROR,
        Verdict::NoDifference | Verdict::Undecided => DIM,
    }
}

/// Returns the system calls per entry with two decimals; empty if they were not counted.
pub(super) fn calls_per_entry(row: &Row) -> String {
    row.accesses.map_or(String::new(), |accesses| format!("{:.2}", accesses.each(accesses.calls)))
}

/// Returns the throughput in 10⁶ bytes per second; empty if time does not depend on bytes.
pub(super) fn megabytes_per_second(row: &Row) -> String {
    row.ns_per_byte.map_or(String::new(), |each| format!("{:.0}", 1e3 / each))
}

/// Returns the nanoseconds per byte with three decimals; empty if time does not depend on bytes.
pub(super) fn nanoseconds_per_byte(row: &Row) -> String {
    row.ns_per_byte.map_or(String::new(), |each| format!("{each:.3}"))
}

/// Formats nanoseconds as milliseconds without a unit, for tables with the unit in the heading.
pub(super) fn milliseconds(nanoseconds: f64) -> String {
    format!("{:.3}", nanoseconds / 1e6)
}

/// Formats nanoseconds with a unit.
pub(super) fn time(nanoseconds: f64) -> String {
    duration(Duration::from_nanos(nanoseconds as u64))
}

/// Formats a share from 0 to 1 as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a ratio with its interval; empty if there is none.
pub(super) fn interval(ratios: Option<&Ratios>) -> String {
    ratios.map(ToString::to_string).unwrap_or_default()
}
