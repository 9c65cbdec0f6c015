//! The options of walks and tables.

use std::path::Path;

use transect::{FieldMask, Filters, ScanOptions};

use crate::attributes::FIELDS;
use crate::boundary::{Out, Text, guard, guard_or, required};
use crate::failure::{CallError, Failure};

/// Keys of options, by the names that they have in the header without `TRANSECT_OPTION_`.
#[expect(missing_docs, reason = "the header documents them")]
pub mod option {
    pub const FIELDS: i32 = 1;
    pub const THREADS: i32 = 2;
    pub const CONCURRENT: i32 = 3;
    pub const MAX_DEPTH: i32 = 4;
    pub const FOLLOW: i32 = 5;
    pub const ONE_FILE_SYSTEM: i32 = 6;
    pub const PSEUDO_FILE_SYSTEMS: i32 = 7;
    pub const EXCLUDE_HIDDEN: i32 = 8;
    pub const GITIGNORE: i32 = 9;
    pub const IGNORE_CASE: i32 = 10;
    pub const GLOB: i32 = 64;
    pub const REGEX: i32 = 65;
    pub const EXTENSION: i32 = 66;
}

/// `transect_options`.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Everything but the root.
    scan: ScanOptions,
    fields: Option<FieldMask>,
    concurrent: bool,
}

impl WalkOptions {
    fn set(&mut self, option: i32, value: u64) -> Result<(), Failure<'static>> {
        let scan = &mut self.scan;
        match option {
            option::FIELDS => self.fields = Some(fields(value)?),
            option::THREADS => scan.threads = Some(number(value)?).filter(|&threads| threads > 0),
            option::CONCURRENT => self.concurrent = flag(value)?,
            option::MAX_DEPTH => scan.max_depth = Some(number(value)?),
            option::FOLLOW => scan.follow = flag(value)?,
            option::ONE_FILE_SYSTEM => scan.one_file_system = flag(value)?,
            option::PSEUDO_FILE_SYSTEMS => scan.pseudo_file_systems = flag(value)?,
            option::EXCLUDE_HIDDEN => scan.filters.exclude_hidden = flag(value)?,
            option::GITIGNORE => scan.filters.gitignore = flag(value)?,
            option::IGNORE_CASE => scan.filters.ignore_case = flag(value)?,
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    fn add(&mut self, option: i32, text: &str) -> Result<(), Failure<'static>> {
        let Filters { globs, regexes, extensions, .. } = &mut self.scan.filters;
        match option {
            option::GLOB => globs.push(text.to_owned()),
            option::REGEX => regexes.push(text.to_owned()),
            option::EXTENSION => extensions.push(text.to_owned()),
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    /// Returns the requested fields, or else `default`.
    pub(crate) fn fields_or(&self, default: FieldMask) -> FieldMask {
        self.fields.unwrap_or(default)
    }

    /// Returns whether a callback may run on several threads at once.
    pub(crate) fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    /// Returns the options for a root.
    pub(crate) fn with_root(&self, root: &Path) -> ScanOptions {
        let mut scan = self.scan.clone();
        scan.roots = vec![root.to_owned()];
        scan
    }
}

/// Returns a set of fields.
pub(crate) fn fields(value: u64) -> Result<FieldMask, Failure<'static>> {
    let bits = number(value)?;
    let fields = FieldMask::from_bits(bits).filter(|fields| FIELDS.contains(*fields));
    fields.ok_or_else(|| Failure::Invalid(format!("{value:#x} is not a sum of fields").into()))
}

/// Returns a value as a smaller number.
pub(crate) fn number<T: TryFrom<u64>>(value: u64) -> Result<T, Failure<'static>> {
    let too_large = |_| Failure::Invalid(format!("{value} is too large for this option").into());
    value.try_into().map_err(too_large)
}

fn flag(value: u64) -> Result<bool, Failure<'static>> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => Err(Failure::Invalid(format!("{value} is neither 0 nor 1").into())),
    }
}

/// Returns the failure for a key that a function does not have.
pub(crate) fn unknown(option: i32) -> Failure<'static> {
    Failure::Invalid(format!("this function has no option {option}").into())
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn transect_options_new() -> Option<Box<WalkOptions>> {
    guard_or(None, || Some(Box::default()))
}

/// Frees options.
#[unsafe(no_mangle)]
pub extern "C" fn transect_options_free(options: Option<Box<WalkOptions>>) {
    guard_or((), || drop(options));
}

/// Sets an option that is a number.
#[unsafe(no_mangle)]
pub extern "C" fn transect_options_set(
    options: Option<&mut WalkOptions>,
    option: i32,
    value: u64,
    error: Out<'_, CallError>,
) -> i32 {
    guard(error, || required(options, "options")?.set(option, value))
}

/// Adds a text to an option.
#[unsafe(no_mangle)]
pub extern "C" fn transect_options_add(
    options: Option<&mut WalkOptions>,
    option: i32,
    text: Text<'_>,
    error: Out<'_, CallError>,
) -> i32 {
    guard(error, || required(options, "options")?.add(option, text.utf8("text")?))
}
