//! Sets the name under which programs load the shared library.

use std::env;

fn main() {
    let set = |name| env::var(name).unwrap_or_default();
    // Until 1.0, each second number of the version is another interface.
    let (major, minor) = (set("CARGO_PKG_VERSION_MAJOR"), set("CARGO_PKG_VERSION_MINOR"));
    if set("CARGO_CFG_TARGET_OS") == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtransect.so.{major}.{minor}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
