//! A reader that is one of several kinds.

/// Defines a reader that is one of several kinds, and the handle of its directories. The kind is chosen when a reader is
/// made, by a variant of the first enum.
///
/// A call reads a directory, opens one or queries the entries of a whole batch. Beside that, the choice between the
/// kinds at each call costs nothing, and the walker is compiled once for all of them.
#[doc(hidden)]
#[macro_export]
macro_rules! reader_of_kinds {
    (
        $(#[$reader_attribute:meta])* $reader:ident($kinds:ident),
        $(#[$handle_attribute:meta])* $handle:ident($handles:ident):
        $($(#[$cfg:meta])? $kind:ident($of_kind:ty),)*
    ) => {
        $(#[$reader_attribute])*
        ///
        /// # Panics
        /// Its methods panic if a handle comes from a reader of another kind.
        #[derive(Debug)]
        pub struct $reader($kinds);

        $(#[$handle_attribute])*
        #[derive(Debug)]
        pub struct $handle($handles);

        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "a thread has one of them")]
        enum $kinds {
            $($(#[$cfg])? $kind($of_kind),)*
        }

        #[derive(Debug)]
        enum $handles {
            $($(#[$cfg])? $kind(<$of_kind as $crate::Reader>::Handle),)*
        }

        #[allow(unreachable_patterns, reason = "there may be one kind")]
        impl $crate::Reader for $reader {
            type Handle = $handle;

            fn prepare(&mut self, want: &$crate::Want) {
                match &mut self.0 {
                    $($(#[$cfg])? $kinds::$kind(reader) => reader.prepare(want),)*
                }
            }

            #[inline]
            fn stat_root(
                &mut self,
                path: &::std::path::Path,
                want: $crate::FieldMask,
                follow: bool,
            ) -> Result<$crate::Attributes, $crate::Fault> {
                match &mut self.0 {
                    $($(#[$cfg])? $kinds::$kind(reader) => reader.stat_root(path, want, follow),)*
                }
            }

            #[inline]
            fn open_root(
                &mut self,
                path: &::std::path::Path,
                follow: bool,
            ) -> Result<$handle, $crate::Fault> {
                match &mut self.0 {
                    $($(#[$cfg])? $kinds::$kind(reader) => {
                        reader.open_root(path, follow).map($handles::$kind).map($handle)
                    })*
                }
            }

            #[inline]
            fn open(
                &mut self,
                anchor: &$handle,
                steps: &[&::std::ffi::OsStr],
                follow: bool,
            ) -> Result<$handle, $crate::Fault> {
                match (&mut self.0, &anchor.0) {
                    $($(#[$cfg])? ($kinds::$kind(reader), $handles::$kind(anchor)) => {
                        reader.open(anchor, steps, follow).map($handles::$kind).map($handle)
                    })*
                    _ => $crate::foreign_handle(),
                }
            }

            #[inline]
            fn stat_open(
                &mut self,
                handle: &mut $handle,
                want: $crate::FieldMask,
            ) -> Result<$crate::Attributes, $crate::Fault> {
                match (&mut self.0, &mut handle.0) {
                    $($(#[$cfg])? ($kinds::$kind(reader), $handles::$kind(handle)) => {
                        reader.stat_open(handle, want)
                    })*
                    _ => $crate::foreign_handle(),
                }
            }

            #[inline]
            fn stat(
                &mut self,
                anchor: &$handle,
                steps: &[&::std::ffi::OsStr],
                want: $crate::FieldMask,
                follow: bool,
            ) -> Result<$crate::Attributes, $crate::Fault> {
                match (&mut self.0, &anchor.0) {
                    $($(#[$cfg])? ($kinds::$kind(reader), $handles::$kind(anchor)) => {
                        reader.stat(anchor, steps, want, follow)
                    })*
                    _ => $crate::foreign_handle(),
                }
            }

            #[inline]
            fn list(
                &mut self,
                handle: &$handle,
                batch: &mut $crate::Batch,
                want: &$crate::Want,
            ) -> Result<$crate::ListStatus, $crate::Fault> {
                match (&mut self.0, &handle.0) {
                    $($(#[$cfg])? ($kinds::$kind(reader), $handles::$kind(handle)) => {
                        reader.list(handle, batch, want)
                    })*
                    _ => $crate::foreign_handle(),
                }
            }

            #[inline]
            fn fill(&mut self, handle: &$handle, batch: &mut $crate::Batch, want: &$crate::Want) {
                match (&mut self.0, &handle.0) {
                    $($(#[$cfg])? ($kinds::$kind(reader), $handles::$kind(handle)) => {
                        reader.fill(handle, batch, want);
                    })*
                    _ => $crate::foreign_handle(),
                }
            }

            #[inline]
            fn shares_queries(handle: &$handle) -> bool {
                match &handle.0 {
                    $($(#[$cfg])? $handles::$kind(handle) => <$of_kind>::shares_queries(handle),)*
                }
            }

            #[inline]
            fn volume(handle: &$handle) -> $crate::Volume {
                match &handle.0 {
                    $($(#[$cfg])? $handles::$kind(handle) => <$of_kind>::volume(handle),)*
                }
            }

            #[inline]
            fn may_be_mount_point(handle: &$handle) -> bool {
                match &handle.0 {
                    $($(#[$cfg])? $handles::$kind(handle) => <$of_kind>::may_be_mount_point(handle),)*
                }
            }
        }
    };
}

/// Panics: a caller passed a handle to a reader of another kind.
#[doc(hidden)]
#[cold]
pub fn foreign_handle() -> ! {
    panic!("this handle comes from a reader of another kind")
}
