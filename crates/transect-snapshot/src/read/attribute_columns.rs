//! Which column has which attribute: one list for all readers.

use transect::{Attributes, FieldMask};

use crate::schema::Column;

/// Calls a macro with a line for each attribute: its field, its column, the method that sets it, and the
/// type of its value.
macro_rules! for_attribute_columns {
    ($macro:ident) => {
        $macro! {
            SIZE Size set_size u64;
            ALLOCATED Allocated set_allocated u64;
            MTIME Mtime set_mtime i64;
            CTIME Ctime set_ctime i64;
            BTIME Btime set_btime i64;
            ATIME Atime set_atime i64;
            MODE Mode set_mode u16;
            UID Uid set_uid u32;
            GID Gid set_gid u32;
            NLINK Nlink set_nlink u32;
            INODE Inode set_inode u64;
            DEVICE Device set_device u64;
            ATTRIBUTES Attributes set_attribute_bits u32;
            REPARSE_TAG ReparseTag set_reparse_tag u32;
        }
    };
}

pub(crate) use for_attribute_columns;

/// Sets an attribute.
pub(crate) type SetAttribute = fn(&mut Attributes, u64);

/// Lists the attributes, each with its column.
macro_rules! list {
    ($($field:ident $column:ident $set:ident $type:ty;)*) => {
        [$((FieldMask::$field, Column::$column, |it, value| it.$set(value as $type))),*]
    };
}

/// The attributes, each with its column.
pub(crate) const ATTRIBUTES: [(FieldMask, Column, SetAttribute); 14] = for_attribute_columns!(list);
