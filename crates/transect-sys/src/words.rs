//! Enums with a word for each variant.

/// Declares an enum with the word for each variant that stands for it on the command line, in JSON and in documents; and,
/// if all have one, with a description of each in one line.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal => $line:literal,)*
    }) => {
        $crate::words! {
            $(#[$about])*
            $vis enum $name {
                $(#[doc = $line] #[doc = ""] $(#[$doc])* $variant = $word,)*
            }
        }

        impl $name {
            /// Returns a description in one line.
            $vis fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $line,)*
                }
            }
        }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$doc])* $variant,)*
        }

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
