//! Getters of classes as a table: a name, a type and a value each.

/// Defines the methods of a class: its getters, and others.
macro_rules! methods {
    (impl $class:ident {
        getters {
            $($(#[$doc:meta])* $name:ident$(<$life:lifetime>)?($($self:tt)+) -> $type:ty = $value:expr;)*
        }
        $($others:tt)*
    }) => {
        #[pymethods]
        impl $class {
            $($(#[$doc])* #[getter] fn $name$(<$life>)?($($self)+) -> $type { $value })*

            $($others)*
        }
    };
}
pub(crate) use methods;
