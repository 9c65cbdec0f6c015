//! Selects the published tables of the seed articles that a report shows: those of a tree like one of
//! the session's, and those measured by the same rules.

use serde::Serialize;
use transect_text::style::Style;
use transect_text::table::Table;

use super::value::{Form, Value};
use crate::experiments::walk::preset::Preset;
use crate::published::reference::ReferenceRow;
use crate::published::tables;
use crate::spec::SessionSpec;

pub const DISCLAIMER: &str = "Numbers as the article printed them, measured on another machine, system and \
                         tree. They are shown for comparison only, and never ranked with ours.";

/// The rows of a published table that belong to a session.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedTable {
    /// The article: `S0` to `S4`.
    pub source: &'static str,
    /// The article's subject.
    pub article: &'static str,
    /// The article's tree.
    pub corpus: &'static str,
    /// Index of the dataset that stands for the article's tree, if there is one.
    #[serde(rename = "place")]
    pub dataset: Option<usize>,
    /// Whose numbers these are: [`DISCLAIMER`].
    pub whose: &'static str,
    pub rows: Vec<&'static ReferenceRow>,
}

/// The corpora and the article trees that they stand for: corpus, article, tree.
const TREES: [(&str, &str, &str); 7] = [
    ("flat-1000", "S0", "D1: 1,000 "),
    ("flat-2000", "S0", "D1: 2,000 "),
    ("flat-5000", "S0", "D1: 5,000 "),
    ("music", "S1", "D2 "),
    ("data", "S1", "D3 "),
    ("drive", "S1", "D4 "),
    ("users", "S4", "D8"),
];

/// A title, whether its column holds numbers, the only form that shows it, and its value.
type Column = (&'static str, bool, Option<Form>, fn(&ReferenceRow) -> Value);

const COLUMNS: [Column; 7] = [
    ("method", false, None, |row| Value::Name(row.method.to_owned())),
    ("state", false, None, |row| Value::Text(row.state.as_str().to_owned())),
    ("what", false, None, |row| Value::Name(row.quantity.as_str().to_owned())),
    ("time", true, Some(Form::Terminal), |row| Value::Time(row.published.value_ns())),
    ("ms", true, Some(Form::Markdown), |row| Value::Time(row.published.value_ns())),
    ("× the slowest", true, None, |row| {
        Value::known(row.speedup, |times| Value::Text(format!("{times:.1}")))
    }),
    ("note", false, Some(Form::Markdown), |row| Value::Name(row.note.to_owned())),
];

impl PublishedTable {
    pub(super) fn in_form(&self, form: Form) -> Table {
        let columns = || COLUMNS.iter().filter(|column| column.2.is_none_or(|only| only == form));
        let cells = |row: &&ReferenceRow| {
            (Style::new(), columns().map(|column| (column.3)(row).text(form)).collect())
        };
        Table {
            titles: columns().map(|column| column.0.to_owned()).collect(),
            is_number: columns().map(|column| column.1).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }
}

/// Returns the published tables for a session; those for its datasets first.
pub(super) fn of(spec: &SessionSpec) -> Vec<PublishedTable> {
    let protocol = Preset::find(&spec.preset).and_then(|preset| preset.contract.as_deref());
    let mut selected: Vec<PublishedTable> = Vec::new();
    for row in tables::rows() {
        let dataset = spec.datasets.iter().position(|dataset| {
            TREES.iter().any(|(corpus, source, tree)| {
                dataset.name == *corpus && row.source == *source && row.corpus.starts_with(tree)
            })
        });
        let by_its_rules =
            protocol.is_some_and(|protocol| row.contract.iter().any(|it| it == protocol));
        if dataset.is_none() && !by_its_rules {
            continue;
        }
        let table = selected.iter_mut().find(|t| t.source == row.source && t.corpus == row.corpus);
        if let Some(table) = table {
            table.rows.push(row);
        } else {
            let ReferenceRow { source, article, corpus, .. } = row;
            selected.push(PublishedTable {
                source,
                article,
                corpus,
                dataset,
                whose: DISCLAIMER,
                rows: vec![row],
            });
        }
    }
    selected.sort_by_key(|table| table.dataset.unwrap_or(usize::MAX));
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora;
    use crate::fixtures::with;

    fn tables(preset: &str, datasets: &[&str]) -> Vec<(&'static str, &'static str, Option<usize>)> {
        let mut spec = with(&[("base", 1000)], 1).spec;
        spec.preset = preset.to_owned();
        let dataset = spec.datasets.remove(0);
        for name in datasets {
            spec.datasets
                .push(crate::spec::Dataset { name: (*name).to_owned(), ..dataset.clone() });
        }
        of(&spec).iter().map(|table| (table.source, table.corpus, table.dataset)).collect()
    }

    #[test]
    fn corpus_selects_table_of_its_tree() {
        let found = tables("quick", &["data", "flat-2000"]);
        assert_eq!(
            found,
            [
                ("S1", "D3 data: 56,393 files, 7,858 folders", Some(0)),
                ("S0", "D1: 2,000 small files", Some(1)),
            ]
        );
        assert_eq!(tables("quick", &["/usr/share"]), []);
    }

    #[test]
    fn preset_selects_tables_of_its_rules() {
        let found = tables("article-s0", &["flat-5000", "/srv"]);
        assert_eq!(found[0], ("S0", "D1: 5,000 small files", Some(0)));
        assert_eq!(found.len(), 3);
        let sources = |preset| {
            let found = tables(preset, &["/srv"]);
            assert!(found.iter().all(|table| table.2.is_none()));
            (found[0].0, found.len())
        };
        assert_eq!(sources("article-s1"), ("S1", 3));
        assert_eq!(sources("article-s2"), ("S2", 1));
        assert_eq!(sources("article-s3"), ("S3", 4));
        assert_eq!(sources("article-s3-naive"), ("S3", 2));
        assert_eq!(sources("article-s4"), ("S4", 1));
    }

    #[test]
    fn trees_exist_as_corpus_and_in_an_article() {
        for (name, source, tree) in TREES {
            assert!(corpora::find(name).is_some(), "{name}");
            let mut rows = tables::rows().iter();
            assert!(rows.any(|row| row.source == source && row.corpus.starts_with(tree)), "{tree}");
        }
    }
}
