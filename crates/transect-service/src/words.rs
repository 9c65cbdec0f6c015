//! Entries whose names contain words.

use std::ops::ControlFlow;

use memchr::memmem::Finder;
use transect::table::{Row, Table};

use crate::protocol::WordSearch;

/// With more entries to be found, all entries are visited.
const MAX_CHAINS: usize = 10_000;

/// What the names of entries must contain.
pub(crate) struct Words<'w> {
    finders: Vec<Finder<'w>>,
    ignore_case: bool,
}

impl<'w> Words<'w> {
    pub(crate) fn new(search: &WordSearch<'w>) -> Self {
        let ignore_case = search.ignore_case;
        let finder = |&word: &&'w [u8]| match ignore_case {
            true => Finder::new(&word.to_ascii_lowercase()).into_owned(),
            false => Finder::new(word),
        };
        Self { finders: search.words.iter().map(finder).collect(), ignore_case }
    }

    /// Returns the entries that have all words, and those of `always`, each with those above it, in tree order. Returns `None`
    /// if there are no words, or if a visit of all entries costs less.
    pub(crate) fn chains<'t>(
        &self,
        table: &'t Table,
        top: Row,
        always: impl Iterator<Item = Row>,
        name_of: impl Fn(Row) -> &'t [u8],
    ) -> Option<Vec<Vec<Row>>> {
        let longest = self.finders.iter().max_by_key(|word| word.needle().len());
        let longest = longest.filter(|_| !self.ignore_case)?;
        let (mut chains, mut is_much) = (Vec::new(), false);
        table.rows_with_word(longest, |row| {
            if self.are_in(name_of(row)) {
                chains.extend(chain_to(table, top, row));
            }
            is_much = chains.len() > MAX_CHAINS;
            if is_much { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        chains.extend(always.filter_map(|row| chain_to(table, top, row)));
        // The root of the table is named by the request.
        if !is_much && self.are_in(name_of(top)) && !chains.contains(&vec![top]) {
            chains.push(vec![top]);
        }
        // The rows of a directory are in the order of names. An entry that was listed twice counts once.
        chains.sort_unstable();
        chains.dedup_by(|next, before| match (next.split_last(), before.split_last()) {
            (Some((&one, above)), Some((&other, before))) => {
                above == before && table.name(one) == table.name(other)
            }
            _ => false,
        });
        (!is_much).then_some(chains)
    }

    pub(crate) fn are_in(&self, name: &[u8]) -> bool {
        if self.finders.is_empty() {
            return true;
        }
        let found = |name: &[u8]| self.finders.iter().all(|word| word.find(name).is_some());
        if self.ignore_case { found(&name.to_ascii_lowercase()) } else { found(name) }
    }
}

/// Returns the rows from `top` to an entry below it.
fn chain_to(table: &Table, top: Row, row: Row) -> Option<Vec<Row>> {
    let mut chain: Vec<Row> = table.ancestors(row).take_while(|&row| row != top).collect();
    let last = chain.last().map_or(Some(row), |&last| table.parent(last));
    chain.push(last.filter(|&last| last == top)?);
    chain.reverse();
    Some(chain)
}
