//! The least and the greatest value of a page or of a column, by which programs skip what they do not
//! search.

use crate::schema::{ColumnSpec, Meaning, Physical};

/// The maximum length of stored bounds in bytes. Longer texts are cut, so they may lie outside.
const MAX_BYTES: usize = 64;

/// The least and the greatest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    Unsigned(u64, u64),
    Signed(i64, i64),
    Text(String, String),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoredBound {
    pub(super) bytes: Vec<u8>,
    /// The bound is a value of the column, not only near one.
    pub(super) is_exact: bool,
}

impl Bounds {
    /// Returns whether the bounds of a column are stored. Those of names and digests are not: a search by their range is rare.
    pub(super) fn are_stored(spec: &ColumnSpec) -> bool {
        !matches!(spec.name, "name" | "name_raw" | "digest")
    }

    /// Returns the bounds of numbers; `None` if there are none.
    pub(super) fn of_numbers(spec: &ColumnSpec, values: &[u64]) -> Option<Self> {
        if spec.meaning == Meaning::Time {
            let values = values.iter().map(|&value| value as i64);
            let (least, greatest) =
                values.fold((i64::MAX, i64::MIN), |(a, b), value| (a.min(value), b.max(value)));
            return (least <= greatest).then_some(Self::Signed(least, greatest));
        }
        let (least, greatest) =
            values.iter().fold((u64::MAX, 0), |(a, b), &value| (a.min(value), b.max(value)));
        (least <= greatest).then_some(Self::Unsigned(least, greatest))
    }

    /// Returns the bounds of texts, which are UTF-8; `None` if there are none.
    pub(super) fn of_texts<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> Option<Self> {
        let first = texts.next()?;
        // Bytes of UTF-8 sort as its characters do.
        let (least, greatest) = texts.fold((first, first), |(a, b), it| (a.min(it), b.max(it)));
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default().to_owned();
        Some(Self::Text(text(least), text(greatest)))
    }

    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unsigned(a, b), Self::Unsigned(c, d)) => Self::Unsigned(a.min(c), b.max(d)),
            (Self::Signed(a, b), Self::Signed(c, d)) => Self::Signed(a.min(c), b.max(d)),
            (Self::Text(a, b), Self::Text(c, d)) => Self::Text(a.min(c), b.max(d)),
            _ => unreachable!("BUG: bounds of two columns"),
        }
    }

    /// Returns the least and the greatest value as they are stored.
    pub(super) fn stored(&self, physical: Physical) -> (StoredBound, StoredBound) {
        let number = |value: u64| {
            let bytes = match physical {
                Physical::Int32 => (value as u32).to_le_bytes().to_vec(),
                _ => value.to_le_bytes().to_vec(),
            };
            StoredBound { bytes, is_exact: true }
        };
        match self {
            &Self::Unsigned(least, greatest) => (number(least), number(greatest)),
            &Self::Signed(least, greatest) => (number(least as u64), number(greatest as u64)),
            Self::Text(least, greatest) => {
                let least = StoredBound {
                    bytes: least.as_bytes()[..least.floor_char_boundary(MAX_BYTES)].to_vec(),
                    is_exact: least.len() <= MAX_BYTES,
                };
                (least, upper_bound(greatest))
            }
        }
    }
}

/// Returns a text of at most [`MAX_BYTES`] that is not before this one: the beginning, with the last
/// character that has a next one replaced by that. The order of UTF-8 is that of code points.
fn upper_bound(text: &str) -> StoredBound {
    if text.len() <= MAX_BYTES {
        return StoredBound { bytes: text.as_bytes().to_vec(), is_exact: true };
    }
    let mut kept = text[..text.floor_char_boundary(MAX_BYTES)].to_owned();
    while let Some(last) = kept.pop() {
        // Characters of the same length only, so that the bound does not grow.
        let next = (last..=char::MAX).nth(1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            kept.push(next);
            return StoredBound { bytes: kept.into_bytes(), is_exact: false };
        }
    }
    // A text of nothing but greatest characters has no shorter bound.
    StoredBound { bytes: text.as_bytes().to_vec(), is_exact: true }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::{COLUMNS, Column};

    proptest! {
        #[test]
        fn bounds_of_texts_enclose_all(texts in prop::collection::vec(".{0,80}", 1..6)) {
            let bounds = Bounds::of_texts(texts.iter().map(String::as_bytes)).unwrap();
            let (least, greatest) = bounds.stored(Physical::Bytes);
            for text in &texts {
                prop_assert!(least.bytes.as_slice() <= text.as_bytes());
                prop_assert!(greatest.bytes.as_slice() >= text.as_bytes());
            }
            for bound in [least, greatest] {
                prop_assert!(bound.bytes.len() <= MAX_BYTES);
                let is_value = texts.iter().any(|text| text.as_bytes() == bound.bytes);
                prop_assert!(!bound.is_exact || is_value);
                prop_assert!(std::str::from_utf8(&bound.bytes).is_ok());
            }
        }
    }

    #[test]
    fn bounds_of_times_are_signed_and_of_sizes_are_not() {
        let values = [3, u64::MAX, 5];
        let of = |column: Column| Bounds::of_numbers(&COLUMNS[column as usize], &values);
        assert_eq!(of(Column::Mtime), Some(Bounds::Signed(-1, 5)));
        assert_eq!(of(Column::Size), Some(Bounds::Unsigned(3, u64::MAX)));
        assert_eq!(Bounds::of_numbers(&COLUMNS[Column::Size as usize], &[]), None);
        let joined = Bounds::Signed(-1, 5).join(Bounds::Signed(i64::MIN, 0));
        assert_eq!(joined, Bounds::Signed(i64::MIN, 5));
    }

    #[test]
    fn upper_bound_of_long_text_is_the_next_shorter_one() {
        assert_eq!(upper_bound(&"a".repeat(64)).bytes, "a".repeat(64).as_bytes());
        let bound = upper_bound(&"a".repeat(65));
        assert_eq!(bound.bytes, format!("{}b", "a".repeat(63)).as_bytes());
        assert!(!bound.is_exact);
        // The greatest character has no next one.
        let bound = upper_bound(&format!("{}{}", "a".repeat(60), "\u{10ffff}".repeat(3)));
        assert_eq!(bound.bytes, format!("{}b", "a".repeat(59)).as_bytes());
        let greatest = "\u{10ffff}".repeat(17);
        assert_eq!(upper_bound(&greatest).bytes, greatest.as_bytes());
    }
}
