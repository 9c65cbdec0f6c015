//! Conditions on attributes: size, time, owner.

use std::str::FromStr;

use transect_sys::{Attributes, FieldMask, options};

options! {
    /// Conditions on attributes. An unknown attribute meets none.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default))]
    pub struct Conditions {
        /// Delivers only files of at least this length, in bytes. Other types have no meaningful length.
        min_size: Option<u64> = u64,
        /// Delivers only files of at most this length, in bytes.
        max_size: Option<u64> = u64,
        /// Delivers only entries changed after this time, in nanoseconds since 1970 UTC.
        newer: Option<i64> = i64,
        /// Delivers only entries last changed before this time, in nanoseconds since 1970 UTC.
        older: Option<i64> = i64,
        /// Delivers only entries of this user.
        uid: Option<u32> = u32,
        /// Delivers only entries of this group.
        gid: Option<u32> = u32,
        /// Delivers only entries with these permission bits.
        mode: Option<ModeCondition> = ModeCondition,
        /// Delivers, of files, only those that a user may execute.
        executable: bool = bool,
        ;
    }
}

/// A condition on permission bits (`07777`), as of `find -perm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ModeCondition {
    /// Exactly these bits.
    Exactly(u16),
    /// At least these bits.
    All(u16),
    /// At least one of these bits; of no bits, every entry.
    Any(u16),
}

impl ModeCondition {
    fn is_met_by(self, mode: u16) -> bool {
        match self {
            Self::Exactly(bits) => mode & 0o7777 == bits,
            Self::All(bits) => mode & bits == bits,
            Self::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

/// Parses octal digits: exactly these bits, all of them after `-`, at least one of them after `/`.
impl FromStr for ModeCondition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (condition, digits): (fn(u16) -> Self, _) = match text.split_at_checked(1) {
            Some(("-", digits)) => (Self::All, digits),
            Some(("/", digits)) => (Self::Any, digits),
            _ => (Self::Exactly, text),
        };
        let bits = u16::from_str_radix(digits, 8)
            .ok()
            .filter(|bits| *bits <= 0o7777 && digits.bytes().all(|digit| digit.is_ascii_digit()));
        bits.map(condition).ok_or("not an octal number up to 7777")
    }
}

impl Conditions {
    /// Returns conditions that every entry meets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether there is a condition on sizes, which only files meet.
    pub(super) fn are_about_sizes(&self) -> bool {
        self.min_size.is_some() || self.max_size.is_some()
    }

    /// Returns the attributes that the conditions need.
    pub(super) fn fields(&self) -> FieldMask {
        let if_set =
            |is_required: bool, field| if is_required { field } else { FieldMask::empty() };
        if_set(self.are_about_sizes(), FieldMask::SIZE)
            | if_set(self.newer.is_some() || self.older.is_some(), FieldMask::MTIME)
            | if_set(self.uid.is_some(), FieldMask::UID)
            | if_set(self.gid.is_some(), FieldMask::GID)
            | if_set(self.mode.is_some() || self.executable, FieldMask::MODE)
    }

    pub(super) fn matches(&self, attributes: &Attributes) -> bool {
        satisfies(self.min_size, attributes.size(), |least, size| size >= least)
            && satisfies(self.max_size, attributes.size(), |most, size| size <= most)
            && satisfies(self.newer, attributes.mtime(), |time, mtime| mtime > time)
            && satisfies(self.older, attributes.mtime(), |time, mtime| mtime < time)
            && satisfies(self.uid, attributes.uid(), |uid, owner| uid == owner)
            && satisfies(self.gid, attributes.gid(), |gid, group| gid == group)
            && satisfies(self.mode, attributes.mode(), ModeCondition::is_met_by)
            && (!self.executable
                || !attributes.file_type().is_file()
                || attributes.mode().is_some_and(|mode| mode & 0o111 != 0))
    }
}

/// Returns whether there is no requirement, or the value is known and passes the test.
fn satisfies<R: Copy, T>(
    required: Option<R>,
    known: Option<T>,
    test: impl Fn(R, T) -> bool,
) -> bool {
    required.is_none_or(|required| known.is_some_and(|known| test(required, known)))
}

#[cfg(test)]
mod tests {
    use transect_sys::FileType;

    use super::*;

    fn file(size: u64, mtime: i64) -> Attributes {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.set_size(size);
        attributes.set_mtime(mtime);
        attributes
    }

    #[test]
    fn mode_condition_has_the_forms_of_find() {
        assert_eq!("0644".parse(), Ok(ModeCondition::Exactly(0o644)));
        assert_eq!("-4000".parse(), Ok(ModeCondition::All(0o4000)));
        assert_eq!("/22".parse(), Ok(ModeCondition::Any(0o22)));
        for text in ["", "-", "/", "8", "u+x", "--1", "-+1", "10000"] {
            assert!(text.parse::<ModeCondition>().is_err(), "{text}");
        }
    }

    #[test]
    fn conditions_sizes_inclusive_times_exclusive() {
        let sizes = Conditions { min_size: Some(10), max_size: Some(20), ..Conditions::default() };
        for (size, holds) in [(9, false), (10, true), (20, true), (21, false)] {
            assert_eq!(sizes.matches(&file(size, 0)), holds, "{size}");
        }
        let times = Conditions { newer: Some(-5), older: Some(5), ..Conditions::default() };
        for (time, holds) in [(-5, false), (-4, true), (4, true), (5, false)] {
            assert_eq!(times.matches(&file(0, time)), holds, "{time}");
        }
    }

    #[test]
    fn conditions_unknown_attribute_meets_none() {
        let unknown = Attributes::of_type(FileType::File);
        assert!(Conditions::default().matches(&unknown));
        assert!(Conditions::default().fields().is_empty());
        for conditions in [
            Conditions { min_size: Some(0), ..Conditions::default() },
            Conditions { older: Some(i64::MAX), ..Conditions::default() },
            Conditions { uid: Some(0), ..Conditions::default() },
            Conditions { gid: Some(0), ..Conditions::default() },
            Conditions { mode: Some(ModeCondition::Any(0)), ..Conditions::default() },
            Conditions { executable: true, ..Conditions::default() },
        ] {
            assert!(!conditions.matches(&unknown), "{conditions:?}");
            assert_eq!(conditions.fields().iter().count(), 1, "{conditions:?}");
        }
    }
}
