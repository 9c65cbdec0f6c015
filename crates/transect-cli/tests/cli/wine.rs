//! The program for Windows, run under Wine, compared with the one for Linux: the same trees, seen
//! through the drive `Z:`, which is `/`.
//!
//! `TRANSECT_EXE` names the program, `TRANSECT_WINE` the command that runs it, with its arguments:
//! `TRANSECT_WINE="wine64"`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use transect_testkit::trees::{self, Build};

use crate::harness::{TestEnv, skip};

/// The trees that both systems see alike: without links, which Wine shows as what they lead to.
const TREES: [(&str, Build); 6] = [
    ("basic", without_links(trees::basic)),
    ("wide", trees::wide),
    ("deep", trees::deep),
    ("many_small_dirs", trees::many_small_dirs),
    ("hardlinks", trees::hardlinks),
    ("weirdnames", trees::weirdnames),
];
