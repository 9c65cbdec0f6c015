//! All that is reported of a session, in one object: what `--json` prints, and what every other form
//! is made of.

mod article_table;
pub mod comparison;
mod conclusion;
pub mod csv;
pub mod explanation;
pub mod import;
pub mod markdown;
pub mod page;
mod published_tables;
pub mod terminal;
pub mod tuning;

pub use article_table::{ArticleColumn, ArticleRow, ArticleTable, Unit};
pub use conclusion::Conclusion;
pub use published_tables::{DISCLAIMER, PublishedTable};

use serde::Serialize;

use crate::harness::log::{Ended, SessionData, SessionSpec};
use crate::stats::ranking::{Ranking, Row, rank};

/// The schema of the object.
pub const SCHEMA: &str = "transect.lab.report/1";

/// All that is reported of a session.
#[derive(Debug, Serialize)]
pub struct Report<'s> {
    /// `transect.lab.report/1`.
    pub schema: &'static str,
    /// The first line of the session.
    pub session: &'s SessionSpec,
    /// Why there were no more rounds, where that was open, and how many there were.
    pub ended: Option<Ended>,
    /// How many samples there are so far.
    pub samples: usize,
    /// One for each dataset in each cache state.
    pub rankings: Vec<Ranking>,
    /// The same in words, one for each ranking.
    #[serde(rename = "findings")]
    pub conclusions: Vec<Conclusion>,
    /// The rankings as the article would have printed them whose rules were followed, if any.
    #[serde(rename = "reductions")]
    pub article_tables: Vec<ArticleTable>,
    /// What the articles printed themselves, for what was measured here: others' numbers.
    pub references: Vec<PublishedTable>,
}

impl<'s> Report<'s> {
    /// Ranks a session, and gathers what belongs to it.
    pub fn of(data: &'s SessionData) -> Self {
        let session = &data.spec;
        let rankings = rank(data);
        Self {
            schema: SCHEMA,
            session,
            ended: data.ended,
            samples: data.samples.len(),
            conclusions: rankings.iter().map(|ranking| Conclusion::of(data, ranking)).collect(),
            article_tables: ArticleTable::of(session, &rankings),
            references: published_tables::of(session),
            rankings,
        }
    }
}

/// Returns what is said of a row beside the base, for people.
pub fn verdict_label(spec: &SessionSpec, row: &Row) -> String {
    let word = match &row.judgement {
        Some(judgement) => judgement.verdict.word(),
        None if row.cell.name == spec.base => "the base",
        None if row.cell.name == spec.again => "the base again",
        None => "",
    };
    let below = if row.below_the_floor { " (below the floor?)" } else { "" };
    format!("{word}{below}")
}

/// Returns the system calls of a row for each entry that was walked, with two digits; nothing if they
/// were not counted.
pub fn calls_per_entry(row: &Row) -> String {
    row.accesses.map_or(String::new(), |accesses| format!("{:.2}", accesses.each(accesses.calls)))
}

/// Returns how many million bytes a row passes over in a second; nothing where bytes tell nothing.
pub fn megabytes_per_second(row: &Row) -> String {
    row.ns_per_byte.map_or(String::new(), |each| format!("{:.0}", 1e3 / each))
}

/// Returns what a row takes for each byte, in nanoseconds with three digits; nothing where bytes tell
/// nothing.
pub fn nanoseconds_per_byte(row: &Row) -> String {
    row.ns_per_byte.map_or(String::new(), |each| format!("{each:.3}"))
}

/// Returns a time in milliseconds, for tables that name the unit above their columns.
pub fn milliseconds(nanoseconds: f64) -> String {
    format!("{:.3}", nanoseconds / 1e6)
}
