//! Cached attributes, packed in words.

use transect_sys::{Attributes, FieldMask, FileType};

/// The layout of a record: which fields it has, and how many words.
///
/// One word holds the known fields, the type and the mode. Each requested field of 64 bits takes a
/// word, each of 32 bits half a word. The seven default fields take 48 bytes; all of them as
/// [`Attributes`], 96.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordLayout {
    want: FieldMask,
    pub(super) words: usize,
}

/// A field of 64 bits, with its getter and setter.
type Wide = (FieldMask, fn(&Attributes) -> Option<u64>, fn(&mut Attributes, u64));

const WIDE: [Wide; 8] = [
    (FieldMask::SIZE, Attributes::size, Attributes::set_size),
    (FieldMask::ALLOCATED, Attributes::allocated, Attributes::set_allocated),
    (FieldMask::INODE, Attributes::inode, Attributes::set_inode),
    (FieldMask::DEVICE, Attributes::device, Attributes::set_device),
    (FieldMask::MTIME, |a| Some(a.mtime()? as u64), |a, value| a.set_mtime(value as i64)),
    (FieldMask::CTIME, |a| Some(a.ctime()? as u64), |a, value| a.set_ctime(value as i64)),
    (FieldMask::ATIME, |a| Some(a.atime()? as u64), |a, value| a.set_atime(value as i64)),
    (FieldMask::BTIME, |a| Some(a.btime()? as u64), |a, value| a.set_btime(value as i64)),
];

/// A field of 32 bits, with its getter and setter.
type Narrow = (FieldMask, fn(&Attributes) -> Option<u32>, fn(&mut Attributes, u32));

const NARROW: [Narrow; 5] = [
    (FieldMask::NLINK, Attributes::nlink, Attributes::set_nlink),
    (FieldMask::UID, Attributes::uid, Attributes::set_uid),
    (FieldMask::GID, Attributes::gid, Attributes::set_gid),
    (FieldMask::ATTRIBUTES, Attributes::attribute_bits, Attributes::set_attribute_bits),
    (FieldMask::REPARSE_TAG, Attributes::reparse_tag, Attributes::set_reparse_tag),
];

impl RecordLayout {
    pub(super) fn new(want: FieldMask) -> Self {
        let wide = WIDE.iter().filter(|field| want.contains(field.0)).count();
        let narrow = NARROW.iter().filter(|field| want.contains(field.0)).count();
        Self { want, words: 1 + wide + narrow.div_ceil(2) }
    }

    /// Appends the requested fields of `attributes`.
    pub(super) fn pack(self, attributes: &Attributes, words: &mut Vec<u64>) {
        let have = attributes.known() & self.want;
        let mode = attributes.mode().unwrap_or(0);
        let file_type = attributes.file_type() as u64;
        words.push(u64::from(have.bits()) | u64::from(mode) << 16 | file_type << 32);
        for (field, get, _) in WIDE {
            if self.want.contains(field) {
                words.push(get(attributes).unwrap_or(0));
            }
        }
        let mut narrow = NARROW.iter().filter(|field| self.want.contains(field.0));
        let value = |field: &Narrow| u64::from(field.1(attributes).unwrap_or(0));
        while let Some(first) = narrow.next() {
            words.push(value(first) | narrow.next().map_or(0, value) << 32);
        }
    }

    /// Returns the attributes that [`RecordLayout::pack`] stored in `words`.
    #[inline]
    pub(super) fn unpack(self, words: &[u64]) -> Attributes {
        let have = FieldMask::from_bits_truncate(words[0] as u16);
        let mut attributes = Attributes::of_type(file_type(words));
        if have.contains(FieldMask::MODE) {
            attributes.set_mode((words[0] >> 16) as u16);
        }
        let mut rest = words[1..].iter();
        for (field, _, set) in WIDE {
            if self.want.contains(field) {
                let value = *rest.next().expect("BUG: a record ends early");
                if have.contains(field) {
                    set(&mut attributes, value);
                }
            }
        }
        let mut half = None;
        for (field, _, set) in NARROW {
            if self.want.contains(field) {
                let value = match half.take() {
                    Some(second) => second,
                    None => {
                        let word = *rest.next().expect("BUG: a record ends early");
                        half = Some((word >> 32) as u32);
                        word as u32
                    }
                };
                if have.contains(field) {
                    set(&mut attributes, value);
                }
            }
        }
        attributes
    }
}

/// Returns the type stored in a record.
#[inline]
pub(super) fn file_type(words: &[u64]) -> FileType {
    FileType::ALL[(words[0] >> 32) as usize & 7]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn record_types_equal_their_number() {
        for (number, file_type) in FileType::ALL.iter().enumerate() {
            assert_eq!(*file_type as usize, number);
        }
    }

    proptest! {
        #[test]
        fn record_round_trip_keeps_requested_fields(
            want in any::<u16>(),
            have in any::<u16>(),
            file_type in 0..8_usize,
            values in any::<[u64; 8]>(),
            short in any::<[u32; 5]>(),
            mode in any::<u16>(),
        ) {
            let (want, have) =
                (FieldMask::from_bits_truncate(want), FieldMask::from_bits_truncate(have));
            let fill = |fields: FieldMask| {
                let mut attributes = Attributes::of_type(FileType::ALL[file_type]);
                for ((field, _, set), value) in WIDE.iter().zip(values) {
                    if fields.contains(*field) {
                        set(&mut attributes, value);
                    }
                }
                for ((field, _, set), value) in NARROW.iter().zip(short) {
                    if fields.contains(*field) {
                        set(&mut attributes, value);
                    }
                }
                if fields.contains(FieldMask::MODE) {
                    attributes.set_mode(mode);
                }
                attributes
            };
            let layout = RecordLayout::new(want);
            let mut words = vec![7, 7];
            layout.pack(&fill(have), &mut words);
            prop_assert_eq!(words.len() - 2, layout.words);
            let (got, expected) = (layout.unpack(&words[2..]), fill(have & want));
            prop_assert_eq!(format!("{got:?}"), format!("{expected:?}"));
        }
    }
}
