//! Types of files, by the globs that their names match.

use crate::error::Error;

/// Types for [`WalkBuilder::types`](super::WalkBuilder::types). Of several that match a name, the last one decides.
#[derive(Clone, Debug)]
pub struct Types(pub(super) ::ignore::types::Types);

/// Defines types and chooses among them, for [`Types`].
///
/// ```
/// use transect::ignore::WalkBuilder;
/// use transect::ignore::types::TypesBuilder;
///
/// let mut types = TypesBuilder::new();
/// types.add_defaults().add("notes", "*.note")?;
/// let types = types.select("rust").select("notes").build()?;
/// let walk = WalkBuilder::new("src").types(types).build();
/// # Ok::<(), transect::Error>(())
/// ```
pub struct TypesBuilder(::ignore::types::TypesBuilder);

impl TypesBuilder {
    /// Returns a builder without types.
    #[expect(clippy::new_without_default, reason = "the crate `ignore` has none either")]
    pub fn new() -> Self {
        Self(::ignore::types::TypesBuilder::new())
    }

    /// Defines the types of the crate `ignore`, those of `rg --type-list`.
    pub fn add_defaults(&mut self) -> &mut Self {
        self.0.add_defaults();
        self
    }

    /// Adds a glob to a type, which need not exist.
    ///
    /// # Errors
    /// If the name is `all`, or has anything but letters and digits.
    pub fn add(&mut self, name: &str, glob: &str) -> Result<(), Error> {
        let why = "expected letters and digits, and not 'all'";
        let invalid = |_| Error::InvalidSetting(format!("invalid type name '{name}': {why}"));
        self.0.add(name, glob).map_err(invalid)
    }

    /// Selects a type, or `all`: files of types that are not selected are left out.
    pub fn select(&mut self, name: &str) -> &mut Self {
        self.0.select(name);
        self
    }

    /// Leaves out files of a type, or of `all`.
    pub fn negate(&mut self, name: &str) -> &mut Self {
        self.0.negate(name);
        self
    }

    /// Compiles the globs of the chosen types.
    ///
    /// # Errors
    /// If a type is not defined, or a glob is invalid.
    pub fn build(&self) -> Result<Types, Error> {
        self.0.build().map(Types).map_err(|error| Error::InvalidSetting(error.to_string()))
    }
}
