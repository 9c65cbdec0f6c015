//! Attributes as columns: their names, and how each is shown.

use serde::ser::SerializeMap;
use transect::{Attributes, FieldMask};

use super::clock::Clock;
use super::units;

/// An attribute that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Type,
    Size,
    Allocated,
    Mtime,
    Ctime,
    Atime,
    Btime,
    Mode,
    Uid,
    Gid,
    Nlink,
    Inode,
    Device,
    Attributes,
    ReparseTag,
}

impl Column {
    pub(crate) const ALL: &'static [Self] = &[
        Self::Type,
        Self::Size,
        Self::Allocated,
        Self::Mtime,
        Self::Ctime,
        Self::Atime,
        Self::Btime,
        Self::Mode,
        Self::Uid,
        Self::Gid,
        Self::Nlink,
        Self::Inode,
        Self::Device,
        Self::Attributes,
        Self::ReparseTag,
    ];

    /// What people see unless they choose.
    pub(crate) const FOR_PEOPLE: [Self; 3] = [Self::Type, Self::Size, Self::Mtime];

    /// Returns the name, as users type it and as it stands in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Size => "size",
            Self::Allocated => "allocated",
            Self::Mtime => "mtime",
            Self::Ctime => "ctime",
            Self::Atime => "atime",
            Self::Btime => "btime",
            Self::Mode => "mode",
            Self::Uid => "uid",
            Self::Gid => "gid",
            Self::Nlink => "nlink",
            Self::Inode => "inode",
            Self::Device => "device",
            Self::Attributes => "attributes",
            Self::ReparseTag => "reparse_tag",
        }
    }

    /// Returns what has to be asked for; nothing for the type, which always comes along.
    pub(crate) fn field(self) -> FieldMask {
        match self {
            Self::Type => FieldMask::empty(),
            Self::Size => FieldMask::SIZE,
            Self::Allocated => FieldMask::ALLOCATED,
            Self::Mtime => FieldMask::MTIME,
            Self::Ctime => FieldMask::CTIME,
            Self::Atime => FieldMask::ATIME,
            Self::Btime => FieldMask::BTIME,
            Self::Mode => FieldMask::MODE,
            Self::Uid => FieldMask::UID,
            Self::Gid => FieldMask::GID,
            Self::Nlink => FieldMask::NLINK,
            Self::Inode => FieldMask::INODE,
            Self::Device => FieldMask::DEVICE,
            Self::Attributes => FieldMask::ATTRIBUTES,
            Self::ReparseTag => FieldMask::REPARSE_TAG,
        }
    }

    /// Returns how wide it is in a table, for numbers of usual size.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Type => 9,
            Self::Mtime | Self::Ctime | Self::Atime | Self::Btime => 19,
            Self::Mode => 4,
            Self::Uid | Self::Gid | Self::Nlink => 6,
            Self::Attributes => 10,
            _ => 10,
        }
    }

    /// Returns the attribute for people; `None` if it is not known.
    pub(crate) fn text(self, of: &Attributes, clock: &Clock) -> Option<String> {
        match self {
            Self::Type => Some(of.file_type().as_str().to_owned()),
            Self::Size => of.size().map(units::bytes),
            Self::Allocated => of.allocated().map(units::bytes),
            Self::Mtime => of.mtime().map(|time| clock.text(time)),
            Self::Ctime => of.ctime().map(|time| clock.text(time)),
            Self::Atime => of.atime().map(|time| clock.text(time)),
            Self::Btime => of.btime().map(|time| clock.text(time)),
            Self::Mode => of.mode().map(|mode| format!("{:04o}", mode & 0o7777)),
            Self::Uid => of.uid().map(|number| number.to_string()),
            Self::Gid => of.gid().map(|number| number.to_string()),
            Self::Nlink => of.nlink().map(|number| number.to_string()),
            Self::Inode => of.inode().map(|number| number.to_string()),
            Self::Device => of.device().map(|number| number.to_string()),
            Self::Attributes => of.attribute_bits().map(|bits| format!("{bits:#010x}")),
            Self::ReparseTag => of.reparse_tag().map(|tag| format!("{tag:#010x}")),
        }
    }

    /// Writes the attribute under its name: the exact number, or null if it is not known.
    pub(crate) fn write<M: SerializeMap>(
        self,
        of: &Attributes,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let name = self.as_str();
        match self {
            Self::Type => map.serialize_entry(name, of.file_type().as_str()),
            Self::Size => map.serialize_entry(name, &of.size()),
            Self::Allocated => map.serialize_entry(name, &of.allocated()),
            Self::Mtime => map.serialize_entry(name, &of.mtime()),
            Self::Ctime => map.serialize_entry(name, &of.ctime()),
            Self::Atime => map.serialize_entry(name, &of.atime()),
            Self::Btime => map.serialize_entry(name, &of.btime()),
            Self::Mode => map.serialize_entry(name, &of.mode()),
            Self::Uid => map.serialize_entry(name, &of.uid()),
            Self::Gid => map.serialize_entry(name, &of.gid()),
            Self::Nlink => map.serialize_entry(name, &of.nlink()),
            Self::Inode => map.serialize_entry(name, &of.inode()),
            Self::Device => map.serialize_entry(name, &of.device()),
            Self::Attributes => map.serialize_entry(name, &of.attribute_bits()),
            Self::ReparseTag => map.serialize_entry(name, &of.reparse_tag()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_has_a_column() {
        let fields: FieldMask = Column::ALL.iter().map(|column| column.field()).collect();
        assert_eq!(FieldMask::all() - fields, FieldMask::SHORT_NAME);
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        let (nothing, clock) = (Attributes::default(), Clock::showing(FieldMask::empty()));
        for column in &Column::ALL[1..] {
            assert_eq!(column.text(&nothing, &clock), None);
        }
    }
}
