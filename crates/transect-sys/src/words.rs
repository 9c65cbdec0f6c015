//! Enums with a word for each variant.

/// Gives each variant of an enum the word that stands for it on the command line, in JSON and in documents.
///
/// The list is the only one: the compiler rejects it if a variant is missing.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($vis:vis $name:ident: $($variant:ident = $word:literal,)*) => {
        impl $name {
            /// All of them, in the order in which they are shown.
            $vis const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word for it.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}
