//! Compares the attributes of two entries.

use transect::{Attributes, FieldMask};

use crate::attribute_columns::for_attribute_columns;
use crate::digest::COMPARED;

/// Returns the attributes that are known of both entries and differ. Times of access, change of
/// attributes and creation are not compared, nor are file ids.
pub fn changed_fields(a: &Attributes, b: &Attributes) -> FieldMask {
    let mut changed = FieldMask::empty();
    /// Compares the attributes that a digest covers.
    macro_rules! compare {
        ($($field:ident $column:ident $get:ident $set:ident $type:ty;)*) => {
            $(if COMPARED.contains(FieldMask::$field)
                && let (Some(a), Some(b)) = (a.$get(), b.$get())
                && a != b
            {
                changed |= FieldMask::$field;
            })*
        };
    }
    for_attribute_columns!(compare);
    changed
}
