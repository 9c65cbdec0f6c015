//! Decides between one listing and single queries, by their costs.

/// The costs of system calls in nanoseconds.
///
/// The defaults are medians of
/// `cargo run --release -p transect-cache --example cache_costs` (2026-11-21,
/// AMD EPYC, two virtual processors, Linux 6.18, ext4, everything in memory, on a busy machine;
/// `watch` and `watcher` two days later).
/// Other machines take more or less time; only the ratios matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCosts {
    /// The attributes of a name by its path.
    pub query: u64,
    /// Opening a directory, querying it, and closing it.
    pub open: u64,
    /// The attributes of a name in an open directory.
    pub query_open: u64,
    /// The calls that list an open directory, even an empty one, and that determine how reliable
    /// the listing is.
    pub listing: u64,
    /// A listed name, from the system to the table.
    pub name: u64,
}

impl Default for CacheCosts {
    fn default() -> Self {
        Self::new()
    }
}

impl CacheCosts {
    /// Returns the default costs, whose fields a caller may change.
    pub const fn new() -> Self {
        Self { query: 1_770, open: 4_100, query_open: 1_430, listing: 5_700, name: 350 }
    }
}

/// The number of names assumed for a directory of a single block, whose size gives no estimate.
const MIN_ASSUMED_NAMES: u64 = 16;

/// Bytes of directory size per name. ext4 and XFS use 8 to 12 bytes and the name, and leave a
/// quarter of a block empty; tmpfs counts 20 a name, Btrfs twice the name.
const BYTES_PER_NAME: u64 = 24;

/// Up to this size, the size of a directory does not depend on the number of names.
const UNINFORMATIVE_SIZE: u64 = 4096;

impl CacheCosts {
    /// Returns the cost of listing a directory with `names` names.
    fn listing_of(&self, names: u64) -> u64 {
        self.open + self.listing + names.saturating_mul(self.name)
    }

    /// Returns whether querying `names` names in the open directory is cheaper than by their paths.
    pub(super) fn should_open_dir(&self, names: usize) -> bool {
        let names = names as u64;
        self.in_open_dir(names) < names.saturating_mul(self.query)
    }

    /// Returns the cost of querying `names` names in the open directory.
    fn in_open_dir(&self, names: u64) -> u64 {
        self.open.saturating_add(names.saturating_mul(self.query_open))
    }

    /// Returns the cost of querying `names` names one by one, in the cheaper way.
    fn queries_of(&self, names: u64) -> u64 {
        names.saturating_mul(self.query).min(self.in_open_dir(names))
    }
}

/// The amount spent in one directory on names that do not exist, and the price of a listing that
/// would have answered all of them.
///
/// This is the ski rental problem: while the number of remaining days is unknown, rent until the
/// rent equals the price, then buy. The total is at most twice the cost of the best choice in
/// hindsight.
///
/// The rule needs a price. If the directory's size does not give one, a listing is given up once it
/// has cost twice the budget, and tried again after four times as much was spent. Let S be spent at
/// the last listing given up; the whole listing then costs at least 2 S. Listings given up cost at
/// most 2 (1 + 1/4 + …) S, and 4 S are spent at the next attempt: with that listing, at most 4.5
/// times its price.
///
/// Names that exist are no reason for a listing: their attributes must be queried one by one either
/// way (on Linux; elsewhere, attributes that come with a listing are stored).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListingBudget {
    spent: u64,
    /// The price of a listing, if known.
    price: Option<u64>,
}

impl ListingBudget {
    pub(super) fn has_spent_nothing(&self) -> bool {
        self.spent == 0
    }

    /// Adds the cost of queries of names that do not exist.
    pub(super) fn spend(&mut self, costs: &CacheCosts, names: usize) {
        self.spent = self.spent.saturating_add(costs.query.saturating_mul(names as u64));
    }

    /// Returns the budget of a listing when `wanted` names are about to be queried: the amount
    /// spent so far, and the cost of these queries.
    pub(super) fn budget(&self, costs: &CacheCosts, wanted: usize) -> u64 {
        self.spent.saturating_add(costs.queries_of(wanted as u64))
    }

    pub(super) fn allows_listing(&self, costs: &CacheCosts, wanted: usize) -> bool {
        let price = self.price.unwrap_or_else(|| costs.listing_of(MIN_ASSUMED_NAMES));
        self.budget(costs, wanted) >= price
    }

    /// Updates the price from the size of the open directory. Returns how many names to list at
    /// most; 0 if that would exceed the budget.
    pub(super) fn max_names(
        &mut self,
        costs: &CacheCosts,
        size: Option<u64>,
        wanted: usize,
    ) -> u64 {
        let names = match size {
            Some(size) if size > UNINFORMATIVE_SIZE => size / BYTES_PER_NAME,
            _ => MIN_ASSUMED_NAMES,
        };
        let price = costs.listing_of(names).max(self.price.unwrap_or(0));
        self.price = Some(price);
        let budget = self.budget(costs, wanted);
        if budget < price {
            return 0;
        }
        // The size is an estimate. A listing that costs twice the budget is given up.
        (2 * budget).saturating_sub(costs.open + costs.listing) / costs.name.max(1)
    }

    /// Records that a listing was given up after `names` names. The next is tried when the budget
    /// allows twice as many.
    pub(super) fn record_given_up(&mut self, costs: &CacheCosts, names: u64) {
        self.price = Some(costs.listing_of(names.saturating_mul(2)));
    }

    /// Records a listing. If it is invalidated, the budget starts anew.
    pub(super) fn listed(&mut self, costs: &CacheCosts, names: u64) {
        *self = Self { spent: 0, price: Some(costs.listing_of(names)) };
    }

    pub(super) fn record_unlistable(&mut self) {
        self.price = Some(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COSTS: CacheCosts = CacheCosts {
        query: 10,
        open: 30,
        query_open: 7,
        listing: 10,
        name: 2,
        ..CacheCosts::new()
    };

    #[test]
    fn budget_one_name_no_listing() {
        assert!(!ListingBudget::default().allows_listing(&CacheCosts::default(), 1));
    }

    #[test]
    fn costs_few_names_directory_not_opened() {
        assert!(!COSTS.should_open_dir(10));
        assert!(COSTS.should_open_dir(11));
    }

    #[test]
    fn budget_unlistable_not_tried_again() {
        let mut account = ListingBudget::default();
        account.record_unlistable();
        account.spend(&COSTS, 1_000_000);
        assert!(!account.allows_listing(&COSTS, 1_000_000));
    }

    proptest! {
        /// Compares the rule with the best choice in hindsight, for any number of missing names.
        #[test]
        fn budget_missing_names_cost_bounded(
            names in 0_u64..5000,
            questions in 1_usize..2000,
            honest in any::<bool>(),
        ) {
            let size = if honest { Some(names * BYTES_PER_NAME) } else { None };
            let mut account = ListingBudget::default();
            let (mut paid, mut listed) = (0, false);
            for _ in 0..questions {
                if !listed && account.allows_listing(&COSTS, 1) {
                    let max = account.max_names(&COSTS, size, 1);
                    paid += COSTS.open + if max > 0 { COSTS.listing } else { 0 };
                    paid += COSTS.name * max.min(names);
                    listed = max >= names && max > 0;
                    if listed {
                        account.listed(&COSTS, names);
                    } else if max > 0 {
                        account.record_given_up(&COSTS, max);
                    }
                }
                if !listed {
                    paid += COSTS.query;
                    account.spend(&COSTS, 1);
                }
            }
            let best = (COSTS.query * questions as u64).min(COSTS.listing_of(names));
            let told = honest && names * BYTES_PER_NAME > UNINFORMATIVE_SIZE;
            let small = COSTS.listing_of(MIN_ASSUMED_NAMES) + COSTS.query;
            let max = if told { 2 * best + small } else { 9 * best / 2 + 2 * small };
            prop_assert!(paid <= max, "paid {} where {} was best", paid, best);
        }
    }
}
