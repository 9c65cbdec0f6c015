//! The version of the library.

use std::ffi::c_char;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Returns the version.
#[unsafe(no_mangle)]
pub extern "C" fn transect_version() -> *const c_char {
    VERSION.as_ptr().cast()
}
