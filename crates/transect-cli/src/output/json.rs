//! The objects that `--json` prints. Keys are the words of the glossary, sizes are bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use transect::{
    AlternateStreams, Diagnostics, LargestEntry, Order, Outcome, ReaderKind, ScanError, StatOrder,
    Totals, WalkProfile, WalkSettings,
};
use transect_sys::DiskSpace;
use transect_text::quote;

use super::inherited::InheritedObject;
use super::not_found::{Deleted, NotFound};

/// Writes a value as JSON. Its strings escape all control characters, so that a terminal can show
/// JSON unchanged. Pipes get the same bytes: they may end up on a terminal later.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, TerminalSafe))?)
}

/// Returns a value as a line of JSON.
pub(crate) fn line(value: &impl Serialize) -> String {
    let mut line = Vec::new();
    write(&mut line, value).expect("BUG: nothing in it cannot be written");
    line.push(b'\n');
    String::from_utf8(line).expect("BUG: JSON is UTF-8")
}

/// Escapes characters that JSON allows unescaped: DEL, C1 controls, bidirectional marks.
struct TerminalSafe;

impl Formatter for TerminalSafe {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        // Fast path: of ASCII, only DEL is left to escape.
        while rest.bytes().any(|byte| byte >= 0x7f)
            && let Some((at, hostile)) = rest.char_indices().find(|(_, c)| quote::is_hostile(*c))
        {
            out.write_all(&rest.as_bytes()[..at])?;
            // All of them fit into 16 bits.
            write!(out, "\\u{:04x}", u32::from(hostile))?;
            rest = &rest[at + hostile.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// The object of `scan --json`.
#[derive(Serialize)]
pub(crate) struct Scan<'a> {
    schema: &'static str,
    roots: Vec<PathKey<'a>>,
    complete: bool,
    interrupted: bool,
    files: u64,
    directories: u64,
    symlinks: u64,
    others: u64,
    apparent_size: u64,
    allocated_size: u64,
    directories_apparent_size: u64,
    directories_allocated_size: u64,
    hard_links: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternate_streams: Option<StreamsObject>,
    disk: Option<DiskObject>,
    not_found: Option<NotFoundObject<'a>>,
    errors: u64,
    errors_by: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    vanished: u64,
    skipped: BTreeMap<&'static str, u64>,
    elapsed_ns: u64,
    reader: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reader_reason: Option<&'a str>,
    order: &'static str,
    threads: usize,
    profile: Option<ProfileUsed<'a>>,
    inherited: Option<&'a InheritedObject>,
    largest_directories: Vec<LargestObject<'a>>,
    largest_files: Vec<LargestObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_list: Option<Vec<ErrorEntry<'a>>>,
}

/// Alternate streams of NTFS.
#[derive(Serialize)]
struct StreamsObject {
    count: u64,
    apparent_size: u64,
    allocated_size: u64,
}

impl From<AlternateStreams> for StreamsObject {
    fn from(streams: AlternateStreams) -> Self {
        let AlternateStreams { count, apparent, allocated, .. } = streams;
        Self { count, apparent_size: apparent, allocated_size: allocated }
    }
}

/// The space of a file system.
#[derive(Serialize)]
pub(crate) struct DiskObject {
    size: u64,
    free: u64,
    available: u64,
}

impl DiskObject {
    pub(crate) fn space(&self) -> DiskSpace {
        DiskSpace { size: self.size, free: self.free, available: self.available }
    }
}

impl From<DiskSpace> for DiskObject {
    fn from(disk: DiskSpace) -> Self {
        Self { size: disk.size, free: disk.free, available: disk.available }
    }
}

/// Space in use that a scan of the whole file system did not find.
#[derive(Serialize)]
struct NotFoundObject<'a> {
    size: u64,
    deleted_files: DeletedObject,
    covered_directories: Vec<CoveredObject<'a>>,
    mounted_directory: Option<PathKey<'a>>,
    reserved: u64,
}

/// Deleted files that are still open.
#[derive(Serialize)]
struct DeletedObject {
    files: u64,
    size: u64,
    unreadable_processes: u64,
}

/// A directory that something is mounted on.
#[derive(Serialize)]
struct CoveredObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    size: Option<u64>,
}

impl<'a> From<&'a NotFound> for NotFoundObject<'a> {
    fn from(found: &'a NotFound) -> Self {
        let Deleted { files, size, unreadable_processes, .. } = found.deleted;
        let covered = found.covered.iter();
        Self {
            size: found.size,
            deleted_files: DeletedObject { files, size, unreadable_processes },
            covered_directories: covered
                .map(|it| CoveredObject { path: it.path.as_path().into(), size: it.size })
                .collect(),
            mounted_directory: found.mounted_directory.as_deref().map(PathKey::from),
            reserved: found.reserved,
        }
    }
}

/// The profile that was used.
#[derive(Serialize)]
struct ProfileUsed<'a> {
    identity: &'a str,
    tuned: u64,
    settings: SettingsObject,
}

/// The settings of a walk. A missing key is the default.
#[derive(Serialize)]
struct SettingsObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    reader: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_size: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stat_order: Option<&'static str>,
}

/// One of the largest entries.
#[derive(Serialize)]
struct LargestObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    apparent_size: u64,
    allocated_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    directories_allocated_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

/// One error.
#[derive(Serialize)]
pub(crate) struct ErrorEntry<'a> {
    operation: &'static str,
    #[serde(flatten)]
    path: PathEntry<'a>,
    kind: &'static str,
    os_error: Option<i32>,
}

/// A path that is a value of its own.
struct PathKey<'a>(Cow<'a, str>);

impl<'a> From<&'a Path> for PathKey<'a> {
    fn from(path: &'a Path) -> Self {
        Self(path.to_string_lossy())
    }
}

impl Serialize for PathKey<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A path, and its bytes in hexadecimal where it is not UTF-8.
#[derive(Serialize)]
pub(crate) struct PathEntry<'a> {
    path: PathKey<'a>,
    path_raw: Option<String>,
}

impl<'a> From<&'a Path> for PathEntry<'a> {
    fn from(path: &'a Path) -> Self {
        let path_raw = path.to_str().is_none().then(|| hex(path.as_os_str().as_encoded_bytes()));
        Self { path: path.into(), path_raw }
    }
}

impl<'a> From<&'a [u8]> for PathEntry<'a> {
    fn from(path: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(path);
        let path_raw = matches!(text, Cow::Owned(_)).then(|| hex(path));
        Self { path: PathKey(text), path_raw }
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl<'a> From<&'a ScanError> for ErrorEntry<'a> {
    fn from(error: &'a ScanError) -> Self {
        Self {
            operation: error.operation().as_str(),
            path: error.path().into(),
            kind: error.kind().as_str(),
            os_error: error.io_error().raw_os_error(),
        }
    }
}

impl<'a> ProfileUsed<'a> {
    fn of(profile: &'a WalkProfile) -> Self {
        let WalkProfile { identity, tuned, settings, .. } = profile;
        Self { identity, tuned: *tuned, settings: settings.into() }
    }
}

impl From<&WalkSettings> for SettingsObject {
    fn from(settings: &WalkSettings) -> Self {
        Self {
            reader: settings.reader.map(ReaderKind::as_str),
            order: settings.order.map(Order::as_str),
            busy_threads: settings.busy_threads,
            waiting_threads: settings.waiting_threads,
            buffer_size: settings.buffer_size,
            stat_order: settings.stat_order.map(StatOrder::as_str),
        }
    }
}

impl<'a> LargestObject<'a> {
    fn file(largest: &'a LargestEntry) -> Self {
        Self {
            path: largest.path.as_path().into(),
            apparent_size: largest.sizes.apparent,
            allocated_size: largest.sizes.allocated,
            directories_allocated_size: None,
            complete: None,
        }
    }

    fn directory(largest: &'a LargestEntry) -> Self {
        Self {
            directories_allocated_size: Some(largest.sizes.directories_allocated),
            complete: Some(largest.errors == 0),
            ..Self::file(largest)
        }
    }
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        roots: &'a [std::path::PathBuf],
        outcome: &'a Outcome<Totals>,
        profile: Option<&'a WalkProfile>,
        not_found: Option<&'a NotFound>,
        list_errors: bool,
    ) -> Self {
        let totals = &outcome.sink;
        let diagnostics = &totals.diagnostics;
        Self {
            schema: "transect.scan/1",
            roots: roots.iter().map(|root| root.as_path().into()).collect(),
            complete: diagnostics.is_complete() && !outcome.interrupted,
            interrupted: outcome.interrupted,
            files: totals.files,
            directories: totals.directories,
            symlinks: totals.symlinks,
            others: totals.others,
            apparent_size: totals.sizes.apparent,
            allocated_size: totals.sizes.allocated,
            directories_apparent_size: totals.sizes.directories_apparent,
            directories_allocated_size: totals.sizes.directories_allocated,
            hard_links: totals.hard_links,
            alternate_streams: outcome.alternate_streams.map(Into::into),
            disk: DiskSpace::of_roots(roots).map(DiskObject::from),
            not_found: not_found.map(NotFoundObject::from),
            errors: diagnostics.errors,
            errors_by: errors_by([diagnostics]),
            vanished: diagnostics.vanished,
            skipped: diagnostics.skipped.iter().map(|(reason, n)| (reason.as_str(), *n)).collect(),
            elapsed_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
            reader: outcome.reader.as_str(),
            reader_reason: outcome.reader_reason.as_deref(),
            order: outcome.order.as_str(),
            threads: outcome.threads,
            profile: profile.map(ProfileUsed::of),
            inherited: None,
            largest_directories: totals
                .largest_directories()
                .iter()
                .map(LargestObject::directory)
                .collect(),
            largest_files: totals.largest_files().iter().map(LargestObject::file).collect(),
            error_list: list_errors
                .then(|| diagnostics.kept_errors.iter().map(Into::into).collect()),
        }
    }

    /// Sets what the walk took from a snapshot.
    pub(crate) fn set_inherited(&mut self, inherited: Option<&'a InheritedObject>) {
        self.inherited = inherited;
    }
}

/// Returns the numbers of errors by operation and kind.
pub(crate) fn errors_by<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostics>,
) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let mut by: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for ((operation, kind), count) in diagnostics.into_iter().flat_map(|it| &it.errors_by) {
        *by.entry(operation.as_str()).or_default().entry(kind.as_str()).or_default() += count;
    }
    by
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_hostile_characters_are_escaped_and_round_trip() {
        let hostile = "\x1b]0;t\x07\0\u{7f}\u{80}\u{9b}\u{9f}\u{202e}\u{2066}\u{200f}\u{61c}";
        for text in [hostile, "plain \"quoted\" \\", "é\u{a0}日本語\u{1f600}", ""] {
            let text = format!("{text}é{text}");
            let line = line(&text);
            assert!(!line.trim_end().contains(quote::is_hostile), "{line:?}");
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
        assert_eq!(line(&"é\u{9b}"), "\"é\\u009b\"\n");
    }
}
