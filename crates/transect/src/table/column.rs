//! A column of numbers. It takes no memory while all are equal, as devices and owners mostly are; then half of the bytes
//! of a `u64` while all fit, as sizes and inode numbers mostly do.

use super::row::CHUNK;

/// What a column holds.
pub(super) trait Cell: Copy + PartialEq + Default {
    /// A type for most values, of fewer bytes if possible.
    type Short: Copy + Into<Self>;

    /// Returns the value in fewer bytes if it fits.
    fn shortened(self) -> Option<Self::Short>;
}

impl Cell for u64 {
    type Short = u32;

    #[inline]
    fn shortened(self) -> Option<u32> {
        u32::try_from(self).ok()
    }
}

macro_rules! cells {
    ($($type:ty)*) => {$(
        impl Cell for $type {
            type Short = Self;

            #[inline]
            fn shortened(self) -> Option<Self> {
                Some(self)
            }
        }
    )*};
}

cells!(i64 u32 u16);

/// Numbers in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) enum Column<T: Cell> {
    Equal { value: T, count: usize },
    Short(Vec<T::Short>),
    Long(Vec<T>),
}

impl<T: Cell> Default for Column<T> {
    fn default() -> Self {
        Self::Equal { value: T::default(), count: 0 }
    }
}

impl<T: Cell> Column<T> {
    /// Adds a value.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        match (&mut *self, value.shortened()) {
            (Self::Short(values), Some(value)) => values.push(value),
            (Self::Long(values), _) => values.push(value),
            (Self::Equal { value: all, count }, _) if *all == value => *count += 1,
            _ => self.push_other(value),
        }
    }

    /// Adds a value that needs more room than those before.
    #[cold]
    fn push_other(&mut self, value: T) {
        self.make_room(value);
        self.push(value);
    }

    /// Changes the form to one that holds this value, too.
    fn make_room(&mut self, added: T) {
        *self = match (&*self, added.shortened()) {
            (&Self::Equal { count: 0, .. }, _) => Self::Equal { value: added, count: 0 },
            (&Self::Equal { value, count }, added) => match (value.shortened(), added) {
                (Some(value), Some(_)) => Self::Short(filled(value, count)),
                _ => Self::Long(filled(value, count)),
            },
            (Self::Short(short), _) => {
                let mut long = Vec::with_capacity(CHUNK);
                long.extend(short.iter().map(|&value| value.into()));
                Self::Long(long)
            }
            (Self::Long(_), _) => return,
        };
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        match self {
            Self::Equal { value, count } => {
                debug_assert!(at < *count, "BUG: row {at} of {count}");
                *value
            }
            Self::Short(short) => short[at].into(),
            Self::Long(long) => long[at],
        }
    }

    pub(super) fn set(&mut self, at: usize, value: T) {
        match (&mut *self, value.shortened()) {
            (Self::Short(short), Some(value)) => short[at] = value,
            (Self::Long(long), _) => long[at] = value,
            (Self::Equal { value: all, .. }, _) if *all == value => {}
            _ => {
                self.make_room(value);
                self.set(at, value);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Equal { count, .. } => *count = 0,
            Self::Short(short) => short.clear(),
            // The next values need not be that large.
            Self::Long(_) => *self = Self::default(),
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        match self {
            Self::Equal { .. } => {}
            Self::Short(short) => short.shrink_to_fit(),
            Self::Long(long) => long.shrink_to_fit(),
        }
    }
}

/// Returns `count` equal values, with room for those of a whole chunk.
fn filled<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(CHUNK);
    values.resize(count, value);
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn column_returns_what_was_stored(
            equal in 0..5_usize,
            values in prop::collection::vec(prop_oneof![0..3_u64, any::<u64>()], 0..50),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), prop_oneof![0..3_u64, any::<u64>()]),
                0..5,
            ),
        ) {
            let mut column = Column::default();
            for round in 0..2 {
                let mut values = [vec![7; equal], values.clone()].concat();
                values.iter().for_each(|&value| column.push(value));
                for (at, value) in &changes {
                    if values.is_empty() {
                        break;
                    }
                    let at = at.index(values.len());
                    column.set(at, *value);
                    values[at] = *value;
                }
                let got: Vec<u64> = (0..values.len()).map(|at| column.get(at)).collect();
                prop_assert_eq!(got, values, "round {}", round);
                column.clear();
            }
        }
    }

    #[test]
    fn column_takes_few_bytes_while_values_permit() {
        let mut column = Column::default();
        for (value, is_form) in [
            (5_u64 << 40, (|column| matches!(column, Column::Equal { .. })) as fn(&_) -> bool),
            (5 << 40, |column| matches!(column, Column::Equal { count: 2, .. })),
            (1, |column| matches!(column, Column::Long(_))),
        ] {
            column.push(value);
            assert!(is_form(&column), "{column:?}");
        }
        let mut column = Column::default();
        for (value, is_form) in [
            (5_u64, (|column| matches!(column, Column::Equal { .. })) as fn(&_) -> bool),
            (6, |column| matches!(column, Column::Short(_))),
            (1 << 40, |column| matches!(column, Column::Long(_))),
        ] {
            column.push(value);
            assert!(is_form(&column), "{column:?}");
        }
    }
}
