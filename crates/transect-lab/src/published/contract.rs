//! The seed contract: every system, practice, measure, protocol and tree of the seed articles, and its
//! status in this project.
//!
//! Contenders name their own rows. The file `contract.toml` has those of this program's methods, the rows that are
//! not methods, and methods that cannot exist here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A row that is not a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractRow {
    pub row: String,
    /// Its meaning in the article.
    pub what: String,
    /// Its status here: `kept`; `mended`, as it was a fault; `planned`; or `not`, as it is impossible or unnecessary.
    pub here: String,
    /// Its place in the lab; for a missing row, the reason and the closest equivalent.
    pub note: String,
}

#[derive(Deserialize)]
struct Contract {
    rows: Vec<ContractRow>,
    methods: BTreeMap<String, Vec<String>>,
}

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
    toml::from_str(include_str!("contract.toml")).expect("BUG: the contract is correct")
});

/// Returns all rows that are not methods, by number.
pub fn rows() -> &'static [ContractRow] {
    &CONTRACT.rows
}

/// Returns the rows that a method of this program implements, by a word of its name: its reader, its order or the
/// records that it keeps.
pub(crate) fn rows_of(word: &str) -> Vec<String> {
    CONTRACT.methods.get(word).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::experiments::transform;
    use crate::experiments::walk::method::Method;
    use crate::rivals::builtin;
    use crate::rivals::contender::Contender;
    use transect_testkit::TempDir;

    #[test]
    fn every_contract_row_is_a_method_or_listed_here() {
        let temp = TempDir::new();
        let folder = builtin::unpack(temp.path()).expect("a folder that can be written");
        let (contenders, _) = Contender::load_all(&folder, false);
        let (walks, _) = Method::all(&contenders);
        let passes = transform::Method::all(transform::Kind::Copy, &contenders);
        let of_walks = walks.into_iter().flat_map(|method| method.contract);
        let of_passes = passes.into_iter().flat_map(|method| method.contract);
        let of_methods: BTreeSet<String> = of_walks.chain(of_passes).collect();
        let here: BTreeSet<String> = rows().iter().map(|row| row.row.clone()).collect();
        assert_eq!(here.len(), rows().len());
        let both: Vec<_> = here.intersection(&of_methods).collect();
        assert!(both.is_empty(), "{both:?}");
        let all = (1..=86).map(|n| format!("A{n}"));
        let all = all.chain((1..=6).map(|n| format!("P{n}")));
        let all: BTreeSet<String> = all.chain((1..=8).map(|n| format!("D{n}"))).collect();
        let known: BTreeSet<String> = here.union(&of_methods).cloned().collect();
        assert_eq!(known, all);
    }

    #[test]
    fn presets_and_corpora_in_notes_exist() {
        for row in rows() {
            assert!(["kept", "mended", "planned", "not"].contains(&&*row.here), "{row:?}");
            if let Some(preset) = row.note.split("--preset ").nth(1) {
                let name = preset.split(',').next().unwrap_or_default();
                let walks = crate::experiments::walk::preset::Preset::find(name)
                    .and_then(|preset| preset.contract.as_deref());
                let passes =
                    transform::Preset::find(name).and_then(|preset| preset.contract.as_deref());
                assert!([walks, passes].contains(&Some(row.row.as_str())), "{name}");
            }
            if let Some(name) = row.note.strip_prefix("corpus ") {
                assert!(crate::corpora::find(name).is_some(), "{name}");
            }
        }
    }
}
