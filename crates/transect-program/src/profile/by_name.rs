//! Values of the transforms that a profile stores by name.

/// Declares a module that serializes values of a type by name.
macro_rules! by_name {
    ($module:ident, $type:ty, $what:literal) => {
        #[doc = concat!("Serializes a ", $what, " by its name.")]
        pub mod $module {
            use serde::{Deserialize, Deserializer, Serializer, de::Error};

            type Named = $type;

            /// Writes the name.
            pub fn serialize<S: Serializer>(
                value: &Named,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(value.as_str())
            }

            /// Reads the name.
            pub fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Named, D::Error> {
                let name = String::deserialize(deserializer)?;
                let known = Named::ALL.iter().find(|value| value.as_str() == name).copied();
                known.ok_or_else(|| D::Error::custom(format!("no {} is called '{name}'", $what)))
            }
        }
    };
}

by_name!(method, transect_transform::pass::IoMethod, "method");
by_name!(load, transect_transform::pass::Load, "load");
by_name!(size_class, transect_transform::pass::SizeClass, "size");
