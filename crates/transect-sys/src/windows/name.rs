//! Lossless conversion of UTF-16 names for a batch.

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;

use crate::attributes::Attributes;
use crate::batch::{Batch, Entry, name_range};
use crate::record::dirinfo::append_utf8;

impl Batch {
    /// Appends an entry whose name is UTF-16 without a NUL, with its 8.3 name if there is one.
    pub(super) fn push_utf16(
        &mut self,
        name: impl Iterator<Item = u16> + Clone,
        short_name: Option<impl Iterator<Item = u16> + Clone>,
        attributes: Attributes,
    ) {
        if self.entries.is_empty() {
            self.bytes.clear();
        }
        let start = self.bytes.len();
        append(name, &mut self.bytes);
        let range = name_range(start, self.bytes.len() - start);
        self.bytes.push(0);
        if let Some(short_name) = short_name {
            append(short_name, &mut self.bytes);
            self.bytes.push(0);
        }
        self.entries.push(Entry::new(range, attributes));
    }
}

/// Appends a name in the encoding of `OsStr`: Unicode as UTF-8, anything else in the standard
/// library's internal form.
fn append(units: impl Iterator<Item = u16> + Clone, out: &mut Vec<u8>) {
    if append_utf8(units.clone(), out).is_err() {
        let name = OsString::from_wide(&units.collect::<Vec<_>>());
        out.extend_from_slice(name.as_encoded_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::os::windows::ffi::OsStrExt;

    use super::*;

    #[test]
    fn push_utf16_any_units_round_trip() {
        let names: [&[u16]; 5] = [
            &[0x61, 0x62],
            &[0x61, 0xE9, 0x20AC],
            &[0xD83D, 0xDE00],
            &[0xD800],
            &[0x61, 0xDC00, 0xE9, 0xD800, 0xD83D, 0xDE00],
        ];
        let mut batch = Batch::new();
        batch.short_names = true;
        for name in names {
            let short = [0x78, 0x7E, 0x31];
            let units = name.iter().copied();
            batch.push_utf16(units, Some(short.into_iter()), Attributes::default());
        }
        let found = batch.entries().map(|it| it.name.encode_wide().collect::<Vec<_>>());
        assert_eq!(found.collect::<Vec<_>>(), names);
        assert!(batch.short_names().all(|short| short == Some("x~1".as_ref())));
    }
}
