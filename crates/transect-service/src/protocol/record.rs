//! Attributes in bytes: the requested ones, one after the other.

use transect::{Attributes, FieldMask, FileType};

use super::{ByteReader, ProtocolError};

/// Which attributes a record contains, in the order of the bits of [`FieldMask`]. Each takes its
/// bytes, known or not; the mask in front shows which are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLayout {
    want: FieldMask,
}

/// Bytes of a record with all attributes, rounded up.
const ROOM: usize = 128;

/// Generates the functions over all fields, so that none is forgotten in one of them.
macro_rules! fields {
    ($($flag:ident $get:ident $set:ident $type:ty;)*) => {
        impl WireLayout {
            /// Returns the layout of the requested attributes.
            pub fn new(want: FieldMask) -> Self {
                Self { want: want & Self::ALL }
            }

            /// All attributes that a record can contain.
            pub const ALL: FieldMask = FieldMask::empty()$(.union(FieldMask::$flag))*;

            /// Returns the size of a record in bytes.
            #[cfg(test)]
            pub(super) fn bytes(self) -> usize {
                let mut bytes = 3;
                $(if self.want.contains(FieldMask::$flag) { bytes += size_of::<$type>(); })*
                bytes
            }

            #[inline]
            pub(super) fn append(self, attributes: &Attributes, out: &mut Vec<u8>) {
                let mut record = [0; ROOM];
                let have = attributes.known() & self.want;
                record[0] = attributes.file_type() as u8;
                record[1..3].copy_from_slice(&have.bits().to_le_bytes());
                let mut end = 3;
                $(if self.want.contains(FieldMask::$flag) {
                    let value: $type = attributes.$get().unwrap_or_default();
                    let bytes = value.to_le_bytes();
                    record[end..end + bytes.len()].copy_from_slice(&bytes);
                    end += bytes.len();
                })*
                out.extend_from_slice(&record[..end]);
            }

            #[inline]
            pub(super) fn take(self, from: &mut ByteReader<'_>) -> Result<Attributes, ProtocolError> {
                let number = usize::from(from.u8()?);
                let file_type = FileType::ALL.get(number).ok_or(ProtocolError("an unknown file type"))?;
                let mut attributes = Attributes::of_type(*file_type);
                let have = FieldMask::from_bits_retain(from.u16()?);
                if !self.want.contains(have) {
                    return Err(ProtocolError("attributes that were not requested"));
                }
                $(if self.want.contains(FieldMask::$flag) {
                    let value = <$type>::from_le_bytes(from.array()?);
                    if have.contains(FieldMask::$flag) {
                        attributes.$set(value);
                    }
                })*
                Ok(attributes)
            }
        }
    };
}

fields! {
    MODE mode set_mode u16;
    NLINK nlink set_nlink u32;
    UID uid set_uid u32;
    GID gid set_gid u32;
    ATIME atime set_atime i64;
    MTIME mtime set_mtime i64;
    CTIME ctime set_ctime i64;
    INODE inode set_inode u64;
    SIZE size set_size u64;
    ALLOCATED allocated set_allocated u64;
    BTIME btime set_btime i64;
    DEVICE device set_device u64;
    ATTRIBUTES attribute_bits set_attribute_bits u32;
    REPARSE_TAG reparse_tag set_reparse_tag u32;
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any attributes.
    pub(crate) fn any_attributes() -> impl Strategy<Value = Attributes> {
        (any::<u16>(), 0..8_usize, any::<[u64; 8]>(), any::<[u32; 5]>(), any::<u16>()).prop_map(
            |(have, number, wide, narrow, mode)| {
                let mut attributes = Attributes::of_type(FileType::ALL[number]);
                let have = FieldMask::from_bits_truncate(have);
                let mut set = |field, set: &dyn Fn(&mut Attributes)| {
                    if have.contains(field) {
                        set(&mut attributes);
                    }
                };
                set(FieldMask::MODE, &|a| a.set_mode(mode));
                set(FieldMask::NLINK, &|a| a.set_nlink(narrow[0]));
                set(FieldMask::UID, &|a| a.set_uid(narrow[1]));
                set(FieldMask::GID, &|a| a.set_gid(narrow[2]));
                set(FieldMask::ATTRIBUTES, &|a| a.set_attribute_bits(narrow[3]));
                set(FieldMask::REPARSE_TAG, &|a| a.set_reparse_tag(narrow[4]));
                set(FieldMask::ATIME, &|a| a.set_atime(wide[0] as i64));
                set(FieldMask::MTIME, &|a| a.set_mtime(wide[1] as i64));
                set(FieldMask::CTIME, &|a| a.set_ctime(wide[2] as i64));
                set(FieldMask::BTIME, &|a| a.set_btime(wide[3] as i64));
                set(FieldMask::INODE, &|a| a.set_inode(wide[4]));
                set(FieldMask::SIZE, &|a| a.set_size(wide[5]));
                set(FieldMask::ALLOCATED, &|a| a.set_allocated(wide[6]));
                set(FieldMask::DEVICE, &|a| a.set_device(wide[7]));
                attributes
            },
        )
    }

    #[test]
    fn record_types_equal_their_number() {
        for (number, file_type) in FileType::ALL.iter().enumerate() {
            assert_eq!(*file_type as usize, number);
        }
    }

    #[test]
    fn record_all_fields_but_short_name_fit() {
        assert_eq!(FieldMask::all() - WireLayout::ALL, FieldMask::SHORT_NAME);
        assert!(WireLayout::new(FieldMask::all()).bytes() <= ROOM);
    }

    proptest! {
        #[test]
        fn record_round_trip_keeps_requested_fields(
            attributes in any_attributes(),
            want in any::<u16>(),
        ) {
            let want = FieldMask::from_bits_truncate(want);
            let layout = WireLayout::new(want);
            let mut out = Vec::new();
            layout.append(&attributes, &mut out);
            prop_assert_eq!(out.len(), layout.bytes());
            let mut from = ByteReader(&out);
            let got = layout.take(&mut from).unwrap();
            prop_assert!(from.is_empty());
            prop_assert_eq!(got.known(), attributes.known() & layout.want);
            // Encoding the result again gives the same bytes.
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            WireLayout::new(got.known()).append(&attributes, &mut once);
            WireLayout::new(got.known()).append(&got, &mut twice);
            prop_assert_eq!(once, twice);
        }
    }
}
