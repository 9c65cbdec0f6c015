//! A column of numbers. It takes no memory while all are equal, as devices and owners mostly are; then half of the bytes
//! of a `u64` while all fit, as sizes and inode numbers mostly do. Once all are there, they can be [packed](super::packed).

use super::packed::Packed;
use super::row::CHUNK;

/// The most values of a column with few different ones.
const FEW: usize = 256;

/// What a column holds.
pub(super) trait Cell: Copy + Ord + Default {
    /// A type for most values, of fewer bytes if possible.
    type Short: Copy + Into<Self>;

    /// There are few different values, as modes and owners, so that a number for each takes fewer bits than their range.
    const HAS_FEW: bool;

    /// Returns the value in fewer bytes if it fits.
    fn shortened(self) -> Option<Self::Short>;

    /// Returns the value as a number, in the same order.
    fn number(self) -> u64;

    fn from_number(number: u64) -> Self;
}

impl Cell for u64 {
    type Short = u32;
    const HAS_FEW: bool = false;

    #[inline]
    fn shortened(self) -> Option<u32> {
        u32::try_from(self).ok()
    }

    fn number(self) -> u64 {
        self
    }

    fn from_number(number: u64) -> Self {
        number
    }
}

macro_rules! cells {
    ($($type:ty, $has_few:expr, $least:expr;)*) => {$(
        impl Cell for $type {
            type Short = Self;
            const HAS_FEW: bool = $has_few;

            #[inline]
            fn shortened(self) -> Option<Self> {
                Some(self)
            }

            fn number(self) -> u64 {
                (self as u64).wrapping_sub($least as u64)
            }

            fn from_number(number: u64) -> Self {
                number.wrapping_add($least as u64) as Self
            }
        }
    )*};
}

cells! {
    i64, false, i64::MIN;
    u32, true, 0;
    u16, true, 0;
}

/// Numbers in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) enum Column<T: Cell> {
    Equal {
        value: T,
        count: usize,
    },
    Short(Vec<T::Short>),
    Long(Vec<T>),
    Packed(Packed),
    /// The different values, sorted, and the place of each in them.
    Few(Vec<T>, Packed),
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
            (Self::Packed(_) | Self::Few(..), _) => panic!("BUG: a packed column is changed"),
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
            Self::Packed(packed) => T::from_number(packed.get(at)),
            Self::Few(values, places) => values[places.get(at) as usize],
        }
    }

    /// Stores the values in as few bits as they need. They cannot be changed any more.
    pub(super) fn pack(&mut self) {
        let packed = match self {
            Self::Short(short) => packed(short.iter().map(|&it| it.into())),
            Self::Long(long) => packed(long.iter().copied()),
            _ => return,
        };
        if packed.size() < self.size() {
            *self = packed;
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Equal { .. } => 0,
            Self::Short(short) => size_of_val(&**short),
            Self::Long(long) => size_of_val(&**long),
            Self::Packed(packed) => packed.size(),
            Self::Few(values, places) => size_of_val(&**values) + places.size(),
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
            Self::Long(_) | Self::Packed(_) | Self::Few(..) => *self = Self::default(),
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        match self {
            Self::Equal { .. } | Self::Packed(_) | Self::Few(..) => {}
            Self::Short(short) => short.shrink_to_fit(),
            Self::Long(long) => long.shrink_to_fit(),
        }
    }
}

fn packed<T: Cell>(all: impl ExactSizeIterator<Item = T> + Clone) -> Column<T> {
    if T::HAS_FEW {
        let mut values: Vec<T> = Vec::new();
        for value in all.clone() {
            match values.binary_search(&value) {
                Err(_) if values.len() == FEW => break,
                Err(place) => values.insert(place, value),
                Ok(_) => {}
            }
        }
        // Without all of them, a value that is missing here is found below.
        let place = |value| values.binary_search(&value).ok().map(|place| place as u64);
        if let Some(places) = all.clone().map(place).collect::<Option<Vec<u64>>>() {
            return Column::Few(values, Packed::new(places.into_iter()));
        }
    }
    Column::Packed(Packed::new(all.map(T::number)))
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
                prop_assert_eq!(&got, &values, "round {}", round);
                column.pack();
                let got: Vec<u64> = (0..values.len()).map(|at| column.get(at)).collect();
                prop_assert_eq!(got, values, "packed, round {}", round);
                column.clear();
            }
        }
    }

    #[test]
    fn column_packed_keeps_negative_values_and_their_order() {
        let times = [i64::MIN, -1, 0, 1, 1_700_000_000_123_456_789, i64::MAX].repeat(20);
        for values in [&times[..], &times[1..4].repeat(20)] {
            let mut column = Column::default();
            values.iter().for_each(|&time| column.push(time));
            column.pack();
            let got: Vec<i64> = (0..values.len()).map(|at| column.get(at)).collect();
            assert_eq!(got, values);
        }
        assert!((-1_i64).number() < 0_i64.number());
    }

    #[test]
    fn column_packed_of_few_values_takes_few_bits() {
        let modes = [0o100_644, 0o100_755, 0o40_755, 0o120_777];
        for (count, is_few) in [(4, true), (300, false)] {
            let mut column = Column::default();
            let value = |at: usize| modes[at % 4] + if at % count < 4 { 0_u32 } else { at as u32 };
            (0..6_000).for_each(|at| column.push(value(at)));
            column.pack();
            assert_eq!(matches!(column, Column::Few(..)), is_few, "{count}");
            assert!((0..6_000).all(|at| column.get(at) == value(at)));
            assert!(!is_few || column.size() < 6_000 / 4 + 2_000, "{}", column.size());
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
