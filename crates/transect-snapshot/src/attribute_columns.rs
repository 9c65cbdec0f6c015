//! Which column has which attribute: one list for readers and writers.

use transect::{Attributes, FieldMask};

use crate::schema::Column;

/// Calls a macro with a line for each attribute: its field, its column, the methods that return and set it, and the
/// type of its value.
macro_rules! for_attribute_columns {
    ($macro:ident) => {
        $macro! {
            SIZE Size size set_size u64;
            ALLOCATED Allocated allocated set_allocated u64;
            MTIME Mtime mtime set_mtime i64;
            CTIME Ctime ctime set_ctime i64;
            ATIME Atime atime set_atime i64;
            BTIME Btime btime set_btime i64;
            MODE Mode mode set_mode u16;
            UID Uid uid set_uid u32;
            GID Gid gid set_gid u32;
            NLINK Nlink nlink set_nlink u32;
            INODE Inode inode set_inode u64;
            DEVICE Device device set_device u64;
            ATTRIBUTES Attributes attribute_bits set_attribute_bits u32;
            REPARSE_TAG ReparseTag reparse_tag set_reparse_tag u32;
        }
    };
}

pub(crate) use for_attribute_columns;

pub(crate) type SetAttribute = fn(&mut Attributes, u64);

/// Lists the attributes, each with its column.
macro_rules! list {
    ($($field:ident $column:ident $get:ident $set:ident $type:ty;)*) => {
        [$((FieldMask::$field, Column::$column, |it, value| it.$set(value as $type))),*]
    };
}

/// The attributes, each with its column.
pub(crate) const ATTRIBUTES: [(FieldMask, Column, SetAttribute); 14] = for_attribute_columns!(list);
