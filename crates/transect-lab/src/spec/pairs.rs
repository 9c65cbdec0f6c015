//! Pairs: two cells of a session that are compared with each other.
//!
//! Every cell is compared with the base. A pair asks about two others: recursion against a queue, large
//! blocks against small ones. Pairs come from a preset or from the user, are stored in the session, and are
//! judged together with all other verdicts.
//!
//! A session contains its pairs, and a pair finds its cells in the session: `spec/mod.rs` and this file refer to each
//! other on purpose.

use serde::{Deserialize, Serialize};
use transect::ReaderKind;

use crate::spec::SessionSpec;
use crate::spec::cell::{Cell, SECOND_BASE};

/// Stands for the default reader of this system in the pairs of a preset.
const BEST: &str = "{best}";

/// A pair of a preset: the question and the names of both cells, in which `{best}` stands for the default
/// reader of this system.
pub type PresetPair = (String, String, String);

/// Returns a name of a cell in a preset or an article's table as it is on this system.
pub fn expand(name: &str) -> String {
    name.replace(BEST, ReaderKind::best().as_str())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The question in words: `recursion against queue`. `None` for a pair of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The cell whose time is divided.
    pub cell: String,
    /// The cell whose time divides it.
    pub against: String,
}

impl Pair {
    /// Returns the question: its words, or the names of the cells.
    pub fn question(&self) -> String {
        let Self { question, cell, against } = self;
        question.clone().unwrap_or_else(|| format!("{cell} against {against}"))
    }

    /// Returns the pairs of a preset whose cells are both in the session.
    pub fn of_preset(pairs: &[PresetPair], cells: &[Cell]) -> Vec<Self> {
        let pair = |(question, cell, against): &PresetPair| Self {
            question: Some(question.clone()),
            cell: expand(cell),
            against: expand(against),
        };
        let is_there = |name: &str| cells.iter().any(|cell| cell.name == name);
        let pairs = pairs.iter().map(pair);
        pairs.filter(|pair| is_there(&pair.cell) && is_there(&pair.against)).collect()
    }

    /// Returns a pair for each cell that differs from another one only by the hint of sequential access.
    pub fn of_hints(cells: &[Cell]) -> Vec<Self> {
        let pair = |cell: &Cell| {
            let plain = cell.name.strip_suffix(",hint=sequential")?;
            cells.iter().any(|other| other.name == plain).then(|| Self {
                question: Some(format!("{plain} with the sequential hint against without")),
                cell: cell.name.clone(),
                against: plain.to_owned(),
            })
        };
        cells.iter().filter_map(pair).collect()
    }
}

impl SessionSpec {
    /// Adds a pair of the user: `A:B`. Names of cells have no colon.
    pub fn add_pair(&mut self, text: &str) -> Result<(), String> {
        let names = text.split_once(':').filter(|(a, b)| self.has_cell(a) && self.has_cell(b));
        let Some((cell, against)) = names else {
            let cells: Vec<&str> = self.cells.iter().map(|cell| cell.name.as_str()).collect();
            let cells = cells.join(" ");
            return Err(format!("invalid pair '{text}': expected A:B with these cells: {cells}"));
        };
        if cell == against {
            return Err(format!("'{cell}' is compared with itself"));
        }
        if !self.pairs.iter().any(|known| known.cell == cell && known.against == against) {
            let [cell, against] = [cell, against].map(str::to_owned);
            self.pairs.push(Pair { question: None, cell, against });
        }
        Ok(())
    }

    /// Makes another cell the base of a session that was not measured yet: it runs twice.
    pub fn set_base(&mut self, base: &str) -> Result<(), String> {
        if base == self.base {
            return Ok(());
        }
        let cell = self.cell_for_base(base)?;
        self.cells.retain(|cell| cell.name != self.second_base);
        let second = cell.second_base();
        self.second_base = second.name.clone();
        self.cells.push(second);
        self.base = base.to_owned();
        Ok(())
    }

    /// Compares all cells of a measured session with another one. The cell that ran twice still shows the
    /// noise.
    pub fn compare_with(&mut self, base: &str) -> Result<(), String> {
        self.base = self.cell_for_base(base)?.name;
        Ok(())
    }

    /// Returns the name of the cell that ran twice: the base, unless a report compares with another cell.
    pub fn repeated(&self) -> &str {
        let second = &self.second_base;
        self.cells
            .iter()
            .map(|cell| cell.name.as_str())
            .find(|name| second.strip_prefix(name).is_some_and(|rest| rest == SECOND_BASE))
            .unwrap_or(&self.base)
    }

    fn cell_for_base(&self, base: &str) -> Result<Cell, String> {
        let cell =
            self.cells.iter().find(|cell| cell.name == base && cell.name != self.second_base);
        cell.cloned().ok_or_else(|| format!("no method '{base}' in this session"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;

    fn spec() -> SessionSpec {
        let names = ["base", "base (again)", "a", "a,block=1M", "a,block=1M,hint=sequential", "b"];
        with(&names.map(|name| (name, 1000)), 1).spec
    }

    fn names(spec: &SessionSpec) -> Vec<(&str, &str)> {
        spec.pairs.iter().map(|pair| (pair.cell.as_str(), pair.against.as_str())).collect()
    }

    #[test]
    fn pairs_of_names_with_commas_parsed() {
        let mut spec = spec();
        for pair in ["a,block=1M:a", "b:a,block=1M,hint=sequential", "b:base", "a,block=1M:a"] {
            spec.add_pair(pair).unwrap();
        }
        let expected = [("a,block=1M", "a"), ("b", "a,block=1M,hint=sequential"), ("b", "base")];
        assert_eq!(names(&spec), expected, "each once");
        assert_eq!(spec.pairs[0].question(), "a,block=1M against a");
        for wrong in ["", "a", "a:", "a:c", "a:b,", "a:b,b:a", "x:a"] {
            let error = spec.add_pair(wrong).unwrap_err();
            assert!(error.contains("with these cells: base"), "{wrong}: {error}");
        }
        assert_eq!(spec.add_pair("a:a").unwrap_err(), "'a' is compared with itself");
    }

    #[test]
    fn preset_pairs_only_of_cells_that_are_there() {
        let spec = spec();
        let pairs = [["one", "a", "b"], ["two", "{best}/queue", "b"]];
        let pairs = pairs.map(|pair| pair.map(str::to_owned).into());
        let pairs = Pair::of_preset(&pairs, &spec.cells);
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].question(), "one");
        let hints = Pair::of_hints(&spec.cells);
        assert_eq!(hints.len(), 1);
        let question = "a,block=1M with the sequential hint against without";
        assert_eq!(hints[0].question(), question);
    }

    #[test]
    fn another_base_runs_twice_or_is_only_compared_with() {
        let mut planned = spec();
        planned.set_base("a").unwrap();
        assert_eq!((planned.base.as_str(), planned.second_base.as_str()), ("a", "a (again)"));
        assert!(planned.has_cell("a (again)") && !planned.has_cell("base (again)"));
        let mut measured = spec();
        measured.compare_with("a").unwrap();
        assert_eq!((measured.base.as_str(), measured.repeated()), ("a", "base"));
        assert!(
            measured.set_base("none").is_err() && measured.compare_with("base (again)").is_err()
        );
    }

    #[test]
    fn session_without_pairs_still_readable() {
        let mut spec = spec();
        let text = serde_json::to_string(&spec).unwrap();
        assert!(!text.contains("\"pairs\""));
        assert_eq!(serde_json::from_str::<SessionSpec>(&text).unwrap(), spec);
        spec.add_pair("a:b").unwrap();
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<SessionSpec>(&text).unwrap(), spec);
    }
}
