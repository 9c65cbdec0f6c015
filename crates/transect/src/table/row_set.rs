//! A set of rows.

use super::Row;

/// A set of rows of one table: a bit for each, so that millions of rows take little time and memory.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    words: Vec<u64>,
    len: usize,
}

impl RowSet {
    /// Returns an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether a row is in the set.
    pub fn contains(&self, row: Row) -> bool {
        let (word, bit) = place(row);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds a row. Returns whether it is new.
    pub fn insert(&mut self, row: Row) -> bool {
        let (word, bit) = place(row);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += usize::from(is_new);
        is_new
    }

    /// Removes a row. Returns whether it was in the set.
    pub fn remove(&mut self, row: Row) -> bool {
        let (word, bit) = place(row);
        let was_there = self.contains(row);
        if was_there {
            self.words[word] &= !bit;
            self.len -= 1;
        }
        was_there
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Iterates over the rows in ascending order: entries of one directory are neighbours.
    pub fn iter(&self) -> impl Iterator<Item = Row> {
        (0..).zip(&self.words).flat_map(|(place, &word): (u32, _)| {
            let bits = std::iter::successors(Some(word), |bits| Some(bits & (bits - 1)));
            let bits = bits.take(word.count_ones() as usize);
            bits.map(move |bits| Row(place * u64::BITS + bits.trailing_zeros()))
        })
    }
}

fn place(row: Row) -> (usize, u64) {
    ((row.0 / u64::BITS) as usize, 1 << (row.0 % u64::BITS))
}

impl Extend<Row> for RowSet {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        for row in rows {
            self.insert(row);
        }
    }
}

impl FromIterator<Row> for RowSet {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut set = Self::new();
        set.extend(rows);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_set_iterates_in_order() {
        let numbers = [0, 1, 63, 64, 127, 128, 5_000_000];
        let mut set: RowSet = numbers.iter().rev().map(|&number| Row(number)).collect();
        assert_eq!(set.iter().map(Row::number).collect::<Vec<_>>(), numbers);
        assert_eq!(set.len(), 7);
        assert!(!set.insert(Row(64)) && set.contains(Row(64)));
        assert!(set.remove(Row(64)) && !set.remove(Row(64)) && !set.contains(Row(64)));
        assert!(!set.contains(Row(u32::MAX)) && !set.remove(Row(u32::MAX)));
        assert_eq!(set.len(), 6);
        set.clear();
        assert!(set.is_empty() && set.iter().next().is_none());
    }
}
