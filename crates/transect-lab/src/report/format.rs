//! Numbers as all forms of a report show them.

use transect_text::style::{DIM, ERROR, GOOD, Style};

use crate::ranking::Row;
use crate::ranking::pair_answers::in_words;
use crate::spec::SessionSpec;
use transect_stats::Verdict;

/// Returns the verdict of a row as people read it, and marks rows faster than the floor.
pub(super) fn verdict_label(spec: &SessionSpec, row: &Row) -> String {
    let word = match &row.judgement {
        Some(judgement) => &in_words(judgement, row.alone, row.time.n),
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
