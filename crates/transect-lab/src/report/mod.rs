//! Reports: what the lab prints.
//!
//! [`Report`] holds everything about a session. `--json` prints it as it is; [`text`], [`csv`]
//! and [`page`] render it. The other modules render what `compare` and `explain`
//! print.

mod article_table;
mod columns;
pub mod comparison;
mod conclusion;
pub mod csv;
pub mod explanation;
mod format;
mod overview;
pub mod page;
pub mod text;
mod value;
mod writer;

pub use article_table::{ArticleRow, ArticleTable, DISCLAIMER};
pub use conclusion::Conclusion;
pub use overview::{Bar, Overview};

use serde::Serialize;

use crate::harness::log::{Ended, SessionData};
use crate::ranking::{Ranking, rank};
use crate::spec::SessionSpec;

pub const SCHEMA: &str = "transect.lab.report/1";

#[derive(Debug, Serialize)]
pub struct Report<'s> {
    pub schema: &'static str,
    pub session: &'s SessionSpec,
    /// Number of rounds and why they ended, if the number was not fixed.
    pub ended: Option<Ended>,
    pub samples: usize,
    pub rankings: Vec<Ranking>,
    pub overviews: Vec<Overview>,
    /// The rankings in words, one conclusion each.
    #[serde(rename = "findings")]
    pub conclusions: Vec<Conclusion>,
    /// The table of the seed article whose preset the session follows, beside each ranking.
    #[serde(rename = "articles")]
    pub article_tables: Vec<ArticleTable>,
}

impl<'s> Report<'s> {
    pub fn of(data: &'s SessionData) -> Self {
        let session = &data.spec;
        let rankings = rank(data);
        Self {
            schema: SCHEMA,
            session,
            ended: data.ended,
            samples: data.samples.len(),
            overviews: rankings.iter().map(|ranking| Overview::of(session, ranking)).collect(),
            conclusions: rankings.iter().map(|ranking| Conclusion::of(data, ranking)).collect(),
            article_tables: ArticleTable::of(session, &rankings),
            rankings,
        }
    }
}
