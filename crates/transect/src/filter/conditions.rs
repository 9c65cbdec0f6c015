//! What is left out by attributes: size, time, owner.

use transect_sys::{Attributes, FieldMask};

/// What the attributes of an entry must be. What is not known meets no condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Only files of at least this length, in bytes. What is no file has none that means anything.
    pub min_size: Option<u64>,
    /// Only files of at most this length, in bytes.
    pub max_size: Option<u64>,
    /// Only what changed after this time, in nanoseconds since 1970 UTC.
    pub newer: Option<i64>,
    /// Only what last changed before this time, in nanoseconds since 1970 UTC.
    pub older: Option<i64>,
    /// Only what belongs to this user.
    pub uid: Option<u32>,
    /// Only what belongs to this group.
    pub gid: Option<u32>,
}

impl Conditions {
    /// Returns whether they are about sizes, which only files have.
    pub(super) fn are_about_size(&self) -> bool {
        self.min_size.is_some() || self.max_size.is_some()
    }

    /// Returns the attributes that they are about.
    pub(super) fn fields(&self) -> FieldMask {
        let of = |is_asked: bool, field| if is_asked { field } else { FieldMask::empty() };
        of(self.are_about_size(), FieldMask::SIZE)
            | of(self.newer.is_some() || self.older.is_some(), FieldMask::MTIME)
            | of(self.uid.is_some(), FieldMask::UID)
            | of(self.gid.is_some(), FieldMask::GID)
    }

    /// Returns whether an entry is as it must be.
    pub(super) fn hold(&self, of: &Attributes) -> bool {
        is(self.min_size, of.size(), |least, size| size >= least)
            && is(self.max_size, of.size(), |most, size| size <= most)
            && is(self.newer, of.mtime(), |time, mtime| mtime > time)
            && is(self.older, of.mtime(), |time, mtime| mtime < time)
            && is(self.uid, of.uid(), |uid, owner| uid == owner)
            && is(self.gid, of.gid(), |gid, group| gid == group)
    }
}

/// Returns whether a value is as it must be, if it must be anything.
fn is<T>(asked: Option<T>, known: Option<T>, holds: impl Fn(T, T) -> bool) -> bool {
    asked.is_none_or(|asked| known.is_some_and(|known| holds(asked, known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_sys::FileType;

    fn file(size: u64, mtime: i64) -> Attributes {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.set_size(size);
        attributes.set_mtime(mtime);
        attributes
    }

    #[test]
    fn limits_of_sizes_belong_to_what_is_meant_and_those_of_times_do_not() {
        let sizes = Conditions { min_size: Some(10), max_size: Some(20), ..Conditions::default() };
        for (size, holds) in [(9, false), (10, true), (20, true), (21, false)] {
            assert_eq!(sizes.hold(&file(size, 0)), holds, "{size}");
        }
        let times = Conditions { newer: Some(-5), older: Some(5), ..Conditions::default() };
        for (time, holds) in [(-5, false), (-4, true), (4, true), (5, false)] {
            assert_eq!(times.hold(&file(0, time)), holds, "{time}");
        }
    }

    #[test]
    fn what_is_not_known_meets_no_condition_and_no_condition_is_always_met() {
        let unknown = Attributes::of_type(FileType::File);
        assert!(Conditions::default().hold(&unknown));
        assert!(Conditions::default().fields().is_empty());
        for conditions in [
            Conditions { min_size: Some(0), ..Conditions::default() },
            Conditions { older: Some(i64::MAX), ..Conditions::default() },
            Conditions { uid: Some(0), ..Conditions::default() },
            Conditions { gid: Some(0), ..Conditions::default() },
        ] {
            assert!(!conditions.hold(&unknown), "{conditions:?}");
            assert_eq!(conditions.fields().iter().count(), 1, "{conditions:?}");
        }
    }
}
