//! One listing, or single queries: the rule, and the prices it goes by.

/// What questions to the system cost, in nanoseconds.
///
/// The defaults are medians of `cargo run --release -p transect --example cache_costs` (2026-11-21,
/// AMD EPYC, two virtual processors, Linux 6.18, ext4, all in memory, and others at work on the same
/// machine). Elsewhere everything takes more or less time; what matters is how the prices compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheCosts {
    /// The attributes of one name by its path.
    pub query: u64,
    /// Opening a directory, learning what it is, and closing it.
    pub open: u64,
    /// The attributes of one name in an open directory.
    pub query_open: u64,
    /// The calls that list an open directory, however little is in it, and those that find out
    /// how far the listing is to be believed.
    pub listing: u64,
    /// A name of a listing, from the system to where it is kept.
    pub name: u64,
}

impl Default for CacheCosts {
    fn default() -> Self {
        Self { query: 1_770, open: 4_100, query_open: 1_430, listing: 5_700, name: 350 }
    }
}

/// The names that a directory is thought to hold whose size says nothing: one of a single block.
const MIN_ASSUMED_NAMES: u64 = 16;

/// Bytes of a directory's size for each name. ext4 and XFS write 8 to 12 bytes and the name, and
/// leave a quarter of a block empty; tmpfs counts 20 a name, Btrfs twice the name.
const BYTES_PER_NAME: u64 = 24;

/// The size up to which a directory's size says nothing.
const UNINFORMATIVE_SIZE: u64 = 4096;

impl CacheCosts {
    /// Returns what listing a directory costs that holds so many names.
    fn listing_of(&self, names: u64) -> u64 {
        self.open + self.listing + names.saturating_mul(self.name)
    }

    /// Returns whether so many names are better asked in the open directory than by their paths.
    pub(super) fn should_open_dir(&self, names: usize) -> bool {
        let names = names as u64;
        self.open + names * self.query_open < names * self.query
    }
}

/// What was spent in one directory on names that are not there, and what a listing would cost,
/// which would have told so at once.
///
/// This is the problem of renting or buying skis: as long as nobody knows how many more days there
/// will be, rent until the rent has reached the price, then buy. Whatever comes, what is spent is
/// at most twice what somebody would have spent who had known it before.
///
/// That needs a price. Where a directory's size does not tell it, listings are begun that are given
/// up when they have cost twice what was spent, and are not begun again before four times as much
/// was. What was spent at the last that was given up is S, so the whole listing costs at least 2 S;
/// given up were at most 2 (1 + 1/4 + …) S, and at the next attempt 4 S are spent: with the listing
/// at most 4.5 times its price.
///
/// Attributes have to be asked for one by one with or without a listing (on Linux; what a listing
/// brings along elsewhere is kept), so names that are there are no reason for one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListingBudget {
    spent: u64,
    /// What a listing costs, as far as that is known.
    price: Option<u64>,
}

impl ListingBudget {
    /// Takes note of questions about names that are not there.
    pub(super) fn spend(&mut self, costs: &CacheCosts, names: usize) {
        self.spent = self.spent.saturating_add(costs.query.saturating_mul(names as u64));
    }

    /// Returns what may be spent on a listing, now that `wanted` names are about to be asked: what
    /// was spent without one, and what would be spent next.
    pub(super) fn budget(&self, costs: &CacheCosts, wanted: usize) -> u64 {
        self.spent.saturating_add(costs.query_open.saturating_mul(wanted as u64))
    }

    /// Returns whether a listing is worth a try.
    pub(super) fn allows_listing(&self, costs: &CacheCosts, wanted: usize) -> bool {
        let price = self.price.unwrap_or_else(|| costs.listing_of(MIN_ASSUMED_NAMES));
        self.budget(costs, wanted) >= price
    }

    /// Takes note of the size of the directory, now open, and returns how many names are to be
    /// listed at most; none if that would cost more than the budget.
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
        // A size is a guess. What costs twice the budget is given up.
        (2 * budget).saturating_sub(costs.open + costs.listing) / costs.name.max(1)
    }

    /// Takes note that a listing was given up after so many names: the next is tried when twice
    /// that could have been listed.
    pub(super) fn record_given_up(&mut self, costs: &CacheCosts, names: u64) {
        self.price = Some(costs.listing_of(names.saturating_mul(2)));
    }

    /// Takes note that the directory was listed: should that be for nothing, the account begins
    /// anew.
    pub(super) fn listed(&mut self, costs: &CacheCosts, names: u64) {
        *self = Self { spent: 0, price: Some(costs.listing_of(names)) };
    }

    /// Takes note that the directory cannot be listed.
    pub(super) fn record_unlistable(&mut self) {
        self.price = Some(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COSTS: CacheCosts =
        CacheCosts { query: 10, open: 30, query_open: 7, listing: 10, name: 2 };

    #[test]
    fn one_name_in_a_directory_of_any_size_lists_nothing() {
        assert!(!ListingBudget::default().allows_listing(&CacheCosts::default(), 1));
    }

    #[test]
    fn a_directory_is_opened_for_many_names_only() {
        assert!(!COSTS.should_open_dir(10));
        assert!(COSTS.should_open_dir(11));
    }

    #[test]
    fn what_cannot_be_listed_is_not_tried_again() {
        let mut account = ListingBudget::default();
        account.record_unlistable();
        account.spend(&COSTS, 1_000_000);
        assert!(!account.allows_listing(&COSTS, 1_000_000));
    }

    proptest! {
        /// Plays the rule against somebody who knows how many missing names will be asked for.
        #[test]
        fn missing_names_cost_at_most_a_small_multiple_of_the_best(
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
