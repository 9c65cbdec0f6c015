//! Compares the attributes of two entries.

use transect::{Attributes, FieldMask};

/// Returns the attributes that are known of both entries and differ. Times of access, change of
/// attributes and creation are not compared, nor are file ids.
pub fn changed_fields(a: &Attributes, b: &Attributes) -> FieldMask {
    let mut changed = FieldMask::empty();
    /// Compares a list of attributes.
    macro_rules! compare {
        ($($field:ident $get:ident;)*) => {
            $(if let (Some(a), Some(b)) = (a.$get(), b.$get())
                && a != b
            {
                changed |= FieldMask::$field;
            })*
        };
    }
    compare! {
        SIZE size;
        ALLOCATED allocated;
        MTIME mtime;
        MODE mode;
        UID uid;
        GID gid;
        NLINK nlink;
        ATTRIBUTES attribute_bits;
        REPARSE_TAG reparse_tag;
    }
    changed
}
