//! Structs of options with a method for each option.

/// Declares a struct, and methods that set its fields: of `name: field = parameter`, one named `name` with the same
/// doc comment. The fields are public for programs that read options, or set them by name; documents show the methods.
/// What stands after the `;` gets no method.
#[doc(hidden)]
#[macro_export]
macro_rules! options {
    ($(#[$about:meta])* pub struct $Options:ident {
        $($(#[$doc:meta])* $name:ident: $field:ty = $parameter:ty,)* ;
        $($(#[$other_doc:meta])* $vis:vis $other:ident: $other_field:ty,)*
    }) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $Options {
            $($(#[$doc])* #[doc(hidden)] pub $name: $field,)*
            $($(#[$other_doc])* $vis $other: $other_field,)*
        }

        impl $Options {
            $($(#[$doc])* pub fn $name(mut self, $name: $parameter) -> Self {
                self.$name = $name.into();
                self
            })*
        }
    };
}
