//! The attributes of an entry in the layout of the header.

use transect::{Attributes, FieldMask};

/// The fields that C programs may request. Short names are not among them: they would need memory.
pub(crate) const FIELDS: FieldMask = FieldMask::all().difference(FieldMask::SHORT_NAME);

/// `transect_attributes`. A field that is not known is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct CAttributes {
    pub type_: u32,
    pub known: u32,
    pub size: u64,
    pub allocated: u64,
    pub inode: u64,
    pub device: u64,
    pub mtime: i64,
    pub ctime: i64,
    pub atime: i64,
    pub btime: i64,
    pub mode: u32,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    pub attribute_bits: u32,
    pub reparse_tag: u32,
    pub reserved: [u64; 4],
}

impl From<&Attributes> for CAttributes {
    fn from(attributes: &Attributes) -> Self {
        Self {
            type_: attributes.file_type() as u32,
            known: (attributes.known() & FIELDS).bits().into(),
            size: attributes.size().unwrap_or_default(),
            allocated: attributes.allocated().unwrap_or_default(),
            inode: attributes.inode().unwrap_or_default(),
            device: attributes.device().unwrap_or_default(),
            mtime: attributes.mtime().unwrap_or_default(),
            ctime: attributes.ctime().unwrap_or_default(),
            atime: attributes.atime().unwrap_or_default(),
            btime: attributes.btime().unwrap_or_default(),
            mode: attributes.mode().unwrap_or_default().into(),
            nlink: attributes.nlink().unwrap_or_default(),
            uid: attributes.uid().unwrap_or_default(),
            gid: attributes.gid().unwrap_or_default(),
            attribute_bits: attributes.attribute_bits().unwrap_or_default(),
            reparse_tag: attributes.reparse_tag().unwrap_or_default(),
            reserved: [0; 4],
        }
    }
}
