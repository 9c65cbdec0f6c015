//! Filters by attributes alone: types and conditions.

use transect_sys::{Attributes, FieldMask, FileType};

use super::Conditions;

/// The types and conditions that entries must have, ready to use.
#[derive(Clone, Copy, Debug)]
pub struct AttributeFilter {
    /// A bit for each type.
    types: u8,
    pub(super) conditions: Conditions,
}

/// Selects everything.
impl Default for AttributeFilter {
    fn default() -> Self {
        Self::new(&[], Conditions::new())
    }
}

impl AttributeFilter {
    /// Selects entries of these types (of all if there are none) that meet the conditions. Of conditions on sizes,
    /// only files do.
    pub fn new(types: &[FileType], conditions: Conditions) -> Self {
        let all = Self { types: u8::MAX, conditions };
        let filter = if types.is_empty() { all } else { all.only(types) };
        if conditions.are_about_sizes() { filter.only(&[FileType::File]) } else { filter }
    }

    /// Selects only those that have one of these types, too.
    pub(super) fn only(self, types: &[FileType]) -> Self {
        let set = types.iter().fold(0, |set, &file_type| set | 1 << file_type as u8);
        Self { types: self.types & set, ..self }
    }

    /// Returns whether all entries are selected.
    pub fn selects_everything(&self) -> bool {
        self.types == u8::MAX && self.fields().is_empty()
    }

    /// Returns the attributes, besides the type, that an entry is selected by.
    pub fn fields(&self) -> FieldMask {
        self.conditions.fields()
    }

    /// Returns whether an entry is selected.
    pub fn accepts(&self, attributes: &Attributes) -> bool {
        self.accepts_type(attributes.file_type()) && self.conditions.matches(attributes)
    }

    pub(super) fn accepts_type(&self, file_type: FileType) -> bool {
        self.types & 1 << file_type as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_on_sizes_accept_only_files() {
        let mut file = Attributes::of_type(FileType::File);
        file.set_size(15);
        let mut directory = file;
        directory.set_file_type(FileType::Directory);
        let sizes = AttributeFilter::new(&[], Conditions::new().min_size(10));
        assert!(sizes.accepts(&file) && !sizes.accepts(&directory));
        file.set_size(9);
        assert!(!sizes.accepts(&file) && AttributeFilter::default().accepts(&directory));
        let none = AttributeFilter::new(&[FileType::Directory], Conditions::new().min_size(0));
        assert!(!none.accepts(&file) && !none.accepts(&directory));
    }
}
