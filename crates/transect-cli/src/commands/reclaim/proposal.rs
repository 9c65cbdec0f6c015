//! What is proposed for removal.

use std::ops::Range;

use transect::Cancel;
use transect::table::{Row, Table};
use transect_program::CliError;
use transect_remove::Removal;
use transect_sys::DiskSpace;

use crate::args::ReclaimArgs;
use crate::kinds::Kinds;

/// A directory or file that can be made again.
pub(super) struct Tree<'k> {
    pub(super) row: Row,
    pub(super) kind: &'k str,
    /// When anything in it last changed, in nanoseconds since 1970 UTC; `None` if unknown.
    pub(super) newest: Option<i64>,
    /// What removing it alone would free, unless clones share it.
    pub(super) freed: u64,
}

pub(super) struct Proposal<'t> {
    pub(super) table: &'t Table,
    /// The one that did not change for the longest time first.
    pub(super) trees: Vec<Tree<'t>>,
    /// The number of trees that are left out, because --keep is reached without them.
    pub(super) left: usize,
    pub(super) removal: Removal<'t>,
    /// The least and the most that removing all of them frees.
    pub(super) freed: Range<u64>,
    /// The space now; unknown for several roots.
    pub(super) disk: Option<DiskSpace>,
    /// The proposal reaches --keep, if that is given.
    pub(super) is_enough: bool,
}

impl<'t> Proposal<'t> {
    pub(super) fn of(
        args: &ReclaimArgs,
        table: &'t Table,
        kinds: &'t Kinds,
        cancel: &Cancel,
    ) -> Result<Self, CliError> {
        let disk = transect::internal::disk_space_of(&args.roots());
        let mut trees = trees(args, table, kinds);
        let all = trees.len();
        let mut is_enough = true;
        if let Some(keep) = args.keep {
            let available = disk
                .ok_or_else(|| CliError::failed("the space of the file system is unknown"))?
                .available;
            let (enough, reached) = enough(&trees, (keep as u64).saturating_sub(available));
            trees.truncate(enough);
            is_enough = reached;
        }
        let rows = trees.iter().map(|tree| tree.row);
        let removal = Removal::new(table, rows).map_err(CliError::failed)?;
        let (freed, cloned) = (removal.summary().freed, removal.cloned_space(cancel));
        let least = freed.saturating_sub(cloned.in_files);
        Ok(Self {
            table,
            left: all - trees.len(),
            trees,
            removal,
            freed: least..freed.min(least.saturating_add(cloned.on_device)),
            disk,
            is_enough,
        })
    }
}

fn trees<'k>(args: &ReclaimArgs, table: &Table, kinds: &'k Kinds) -> Vec<Tree<'k>> {
    let mut trees = Vec::new();
    kinds.each(table, |row, kind| {
        let Some(kind) = kind else { return };
        let newest = table.totals(row).newest();
        let is_wanted = args.kind.is_empty() || args.kind.iter().any(|wanted| wanted == kind);
        let is_old = args.older.is_none_or(|limit| newest.is_some_and(|newest| newest < limit));
        if is_wanted && is_old {
            trees.push(Tree { row, kind, newest, freed: table.exclusive(row) });
        }
    });
    trees.sort_by_key(|tree| tree.newest.unwrap_or(i64::MAX));
    trees
}

/// Returns how many of the trees free `wanted` bytes, and whether all of them do.
fn enough(trees: &[Tree<'_>], wanted: u64) -> (usize, bool) {
    let mut sum = 0_u64;
    if wanted == 0 {
        return (0, true);
    }
    for (index, tree) in trees.iter().enumerate() {
        sum = sum.saturating_add(tree.freed);
        if sum >= wanted {
            return (index + 1, true);
        }
    }
    (trees.len(), false)
}

/// Checks that there are rules for the kinds of `--kind`.
pub(super) fn check_kinds(kinds: &Kinds, wanted: &[String]) -> Result<(), CliError> {
    let names = kinds.names();
    match wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        Some(unknown) => {
            let names = names.join(", ");
            Err(CliError::Failed(format!("there is no kind '{unknown}'; kinds: {names}")))
        }
        None => Ok(()),
    }
}
