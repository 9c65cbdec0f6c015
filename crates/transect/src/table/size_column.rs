//! A column of sizes: 4 bytes each while all are below 4 GiB, as nearly always, and 8 from then on.

/// Numbers that are mostly small.
#[derive(Clone, Debug)]
pub(super) enum SizeColumn {
    /// Of 32 bits each.
    Short(Vec<u32>),
    /// Of 64 bits each.
    Long(Vec<u64>),
}

impl Default for SizeColumn {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

impl SizeColumn {
    pub(super) fn with_capacity(lengths: usize) -> Self {
        Self::Short(Vec::with_capacity(lengths))
    }

    #[inline]
    pub(super) fn push(&mut self, length: u64) {
        match (&mut *self, u32::try_from(length)) {
            (Self::Short(short), Ok(length)) => short.push(length),
            (Self::Short(_), Err(_)) => self.widen().push(length),
            (Self::Long(long), _) => long.push(length),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> u64 {
        match self {
            Self::Short(short) => short[at].into(),
            Self::Long(long) => long[at],
        }
    }

    pub(super) fn set(&mut self, at: usize, length: u64) {
        match (&mut *self, u32::try_from(length)) {
            (Self::Short(short), Ok(length)) => short[at] = length,
            (Self::Short(_), Err(_)) => self.widen()[at] = length,
            (Self::Long(long), _) => long[at] = length,
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Short(short) => short.clear(),
            Self::Long(_) => *self = Self::default(),
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        match self {
            Self::Short(short) => short.shrink_to_fit(),
            Self::Long(long) => long.shrink_to_fit(),
        }
    }

    #[cold]
    fn widen(&mut self) -> &mut Vec<u64> {
        if let Self::Short(short) = self {
            let mut long = Vec::with_capacity(short.capacity());
            long.extend(short.iter().map(|&length| u64::from(length)));
            *self = Self::Long(long);
        }
        match self {
            Self::Long(long) => long,
            Self::Short(_) => unreachable!("BUG: lengths were just widened"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn size_column_returns_what_was_stored(
            mut lengths in prop::collection::vec(prop_oneof![0..100_u64, any::<u64>()], 1..50),
            at in any::<prop::sample::Index>(),
            set in any::<u64>(),
        ) {
            let mut column = SizeColumn::with_capacity(4);
            lengths.iter().for_each(|&length| column.push(length));
            let at = at.index(lengths.len());
            column.set(at, set);
            lengths[at] = set;
            let got: Vec<u64> = (0..lengths.len()).map(|at| column.get(at)).collect();
            prop_assert_eq!(got, lengths);
        }
    }
}
