//! Watchman's queries: which files of a followed tree exist, or changed since a clock.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha1::{Digest as _, Sha1};
use transect::table::{Row, Table, TreeOrder};
use transect::{Attributes, FieldMask, FileType};
use transect_live::{Change, ChangeKind, Cursor, SharedTree, View};
use transect_sys::file::query_attributes;
use transect_sys::input::open_regular;
use transect_sys::name_from_bytes;

use super::expression::{Candidate, Expression, Pattern, has_suffix, letter, suffixes};
use super::value::Value;

#[derive(Debug)]
pub(super) struct Query {
    /// Only what changed since then is wanted.
    since: Option<Clock>,
    /// Names are relative to this path below the root.
    relative_root: PathBuf,
    globs: Option<Vec<Pattern>>,
    suffixes: Option<Vec<Vec<u8>>>,
    paths: Option<Vec<Expression>>,
    expression: Expression,
    fields: Vec<Field>,
    is_empty_if_fresh: bool,
}

/// A place in the changes, as clients name it.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Known(Cursor),
    /// Of another service, or of Watchman itself.
    Unknown,
}

/// What a query found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cursor: Cursor,
    /// The client must forget what it has: all files are listed, not changes.
    pub(super) is_fresh: bool,
    pub(super) files: Vec<Value>,
}

impl Found {
    pub(super) fn add_to(self, answer: &mut Value) {
        answer.push("clock", clock_text(self.cursor));
        answer.push("is_fresh_instance", self.is_fresh);
        answer.push("files", self.files);
    }
}

/// Returns a cursor as clients receive it.
pub(super) fn clock_text(cursor: Cursor) -> String {
    format!("c:{cursor}")
}

impl Clock {
    fn parse(value: &Value) -> Result<Self, String> {
        let value = value.get("clock").unwrap_or(value);
        let text = value.str().ok_or("`since` is not a clock")?;
        let cursor = text.strip_prefix("c:").and_then(|text| text.parse().ok());
        Ok(cursor.map_or(Self::Unknown, Self::Known))
    }
}

transect_sys::words! {
    /// What a client wants to know of each file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Field {
        Name = "name",
        Exists = "exists",
        New = "new",
        Type = "type",
        Size = "size",
        Mtime = "mtime",
        MtimeMs = "mtime_ms",
        MtimeUs = "mtime_us",
        MtimeNs = "mtime_ns",
        Ctime = "ctime",
        CtimeMs = "ctime_ms",
        CtimeUs = "ctime_us",
        CtimeNs = "ctime_ns",
        Inode = "ino",
        Device = "dev",
        Mode = "mode",
        Links = "nlink",
        User = "uid",
        Group = "gid",
        Sha1 = "content.sha1hex",
    }
}

impl Field {
    fn parse(value: &Value) -> Result<Self, String> {
        let name = value.str().ok_or("a field is not a string")?;
        let known = Self::ALL.iter().copied().find(|field| field.as_str() == name);
        known.ok_or_else(|| format!("unknown field name '{name}'"))
    }

    /// Returns what a followed tree does not have.
    fn asked_of_the_system(self) -> FieldMask {
        match self {
            Self::Mode => FieldMask::MODE,
            Self::Links => FieldMask::NLINK,
            Self::User => FieldMask::UID,
            Self::Group => FieldMask::GID,
            _ => FieldMask::empty(),
        }
    }
}

/// A file that a query may find.
struct File<'t> {
    /// The path below the root of the query.
    name: &'t [u8],
    /// If it exists.
    row: Option<Row>,
    /// The type of what does not exist is what it was.
    file_type: FileType,
    is_new: bool,
}

/// What is known of a path that changed.
struct Touched {
    /// Whether it existed at the cursor: what happened first tells.
    existed: bool,
    file_type: FileType,
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// The reason why it is malformed or not supported.
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        let array = |key: &str| match value.get(key).map(Value::array) {
            None => Ok(None),
            Some(Some(values)) => Ok(Some(values)),
            Some(None) => Err(format!("`{key}` is not an array")),
        };
        let is_set = |key| value.get(key).is_some_and(Value::is_true);
        let hidden = is_set("glob_includedotfiles");
        let ignore_case = value.get("case_sensitive").is_some_and(|it| !it.is_true());
        let globs = array("glob")?.map(|globs| {
            globs.iter().map(|glob| Pattern::new(glob, ignore_case, hidden)).collect()
        });
        let relative_root = value.get("relative_root").map(Value::bytes);
        let relative_root =
            relative_root.unwrap_or(Some(b"")).ok_or("`relative_root` is not a path")?;
        let expression = value.get("expression");
        let expression =
            expression.map_or(Ok(Expression::True), |it| Expression::parse(it, ignore_case));
        let usual = ["name", "exists", "new", "size", "mode"].map(Value::from);
        let fields = array("fields")?.unwrap_or(&usual).iter().map(Field::parse);
        Ok(Self {
            since: value.get("since").map(Clock::parse).transpose()?,
            relative_root: name_from_bytes(relative_root.to_vec()).into(),
            globs: globs.transpose()?,
            suffixes: value.get("suffix").map(suffixes).transpose()?,
            paths: array("path")?
                .map(|it| it.iter().map(|it| path(it, ignore_case)).collect())
                .transpose()?,
            expression: expression?,
            fields: fields.collect::<Result<_, _>>()?,
            is_empty_if_fresh: is_set("empty_on_fresh_instance"),
        })
    }

    /// Goes on after what was found.
    pub(super) fn set_since(&mut self, cursor: Cursor) {
        self.since = Some(Clock::Known(cursor));
    }

    /// Returns what is in or below a directory of a followed tree, every change included that was made before this call.
    ///
    /// # Errors
    /// The reason why it cannot be answered.
    pub(super) fn run(&self, tree: &SharedTree, root: &Path) -> Result<Found, String> {
        let since = match self.since {
            Some(Clock::Known(cursor)) => tree.all_changes_since(Some(cursor)),
            // Makes the next question answerable.
            _ => tree.all_changes_since(None),
        };
        let since = since.map_err(|error| error.to_string())?;
        let is_known = matches!(self.since, Some(Clock::Known(_)));
        // The table after the changes: what it has more is reported again, with the next cursor.
        let view = followed(tree, root)?;
        let base = root.join(&self.relative_root);
        let row = below(&view.table, view.row, &self.relative_root);
        let changes = since.changes.filter(|_| is_known);
        let touched =
            changes.and_then(|changes| touched(&changes, &view.table, tree.root(), &base));
        let cursor = since.cursor;
        let mut files = Vec::new();
        let mut add = |file: &File<'_>| {
            files.extend(self.describe(file, &view.table, &base));
        };
        if let Some(touched) = &touched {
            for (name, Touched { existed, file_type }) in touched {
                let row = row.and_then(|row| below(&view.table, row, path_of(name).as_ref()));
                let file_type = row.map_or(*file_type, |row| view.table.file_type(row));
                add(&File { name, row, file_type, is_new: !existed });
            }
        } else if !self.is_empty_if_fresh {
            all_below(&view.table, row, add);
        }
        Ok(Found { cursor, is_fresh: touched.is_none(), files })
    }

    /// Returns the fields of a file if it is wanted.
    fn describe(&self, file: &File<'_>, table: &Table, base: &Path) -> Option<Value> {
        let mut attributes = file.row.map(|row| table.attributes(row));
        let size = attributes.and_then(|it| it.size()).unwrap_or(0);
        let (name, file_type) = (file.name, file.file_type);
        let candidate = Candidate { name, exists: file.row.is_some(), file_type, size };
        let is_wanted = self.globs.as_ref().is_none_or(|it| it.iter().any(|it| it.matches(name)))
            && self.suffixes.as_ref().is_none_or(|suffixes| has_suffix(name, suffixes))
            && self.paths.as_ref().is_none_or(|it| it.iter().any(|it| it.accepts(&candidate)))
            && self.expression.accepts(&candidate);
        if !is_wanted {
            return None;
        }
        let masks = self.fields.iter().map(|field| field.asked_of_the_system());
        let masks = masks.fold(FieldMask::empty(), FieldMask::union);
        if attributes.is_some() && !masks.is_empty() {
            let want = masks | transect_live::COLUMNS;
            attributes = query_attributes(&base.join(path_of(name)), want, false).ok();
        }
        // It may have gone just now.
        let value = |field: &Field| match field {
            Field::Sha1 if attributes.is_some() && file_type == FileType::File => {
                sha1(&base.join(path_of(name)))
            }
            _ => value_of(*field, file, attributes.as_ref()),
        };
        Some(match self.fields.as_slice() {
            [only] => value(only),
            fields => Value::Object(
                fields.iter().map(|field| (field.as_str().into(), value(field))).collect(),
            ),
        })
    }
}

fn value_of(field: Field, file: &File<'_>, attributes: Option<&Attributes>) -> Value {
    // What does not exist has only zeros, as the clients expect.
    let number = |get: fn(&Attributes) -> Option<u64>| {
        let number = attributes.and_then(get).unwrap_or(0);
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    };
    let time = |get: fn(&Attributes) -> Option<i64>, unit: i64| {
        Value::Int(attributes.and_then(get).unwrap_or(0).div_euclid(unit))
    };
    let (mtime, ctime) = (Attributes::mtime, Attributes::ctime);
    match field {
        Field::Name => file.name.into(),
        Field::Exists => attributes.is_some().into(),
        Field::New => file.is_new.into(),
        Field::Type => letter(file.file_type).into(),
        Field::Size => number(Attributes::size),
        Field::Mtime => time(mtime, 1_000_000_000),
        Field::MtimeMs => time(mtime, 1_000_000),
        Field::MtimeUs => time(mtime, 1_000),
        Field::MtimeNs => time(mtime, 1),
        Field::Ctime => time(ctime, 1_000_000_000),
        Field::CtimeMs => time(ctime, 1_000_000),
        Field::CtimeUs => time(ctime, 1_000),
        Field::CtimeNs => time(ctime, 1),
        Field::Inode => number(Attributes::inode),
        Field::Device => number(Attributes::device),
        Field::Mode => number(|it| it.mode().map(u64::from)),
        Field::Links => number(|it| it.nlink().map(u64::from)),
        Field::User => number(|it| it.uid().map(u64::from)),
        Field::Group => number(|it| it.gid().map(u64::from)),
        // Only a file has one.
        Field::Sha1 => Value::Null,
    }
}

/// Returns the digest of a file's content; null if the file no longer exists, an object with the reason if it cannot be read.
/// If it is written to meanwhile, that is a change after the answer's clock.
fn sha1(path: &Path) -> Value {
    let mut hasher = Sha1::new();
    match open_regular(path).and_then(|mut file| io::copy(&mut file, &mut hasher)) {
        Ok(_) => format!("{:x}", hasher.finalize()).into(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Value::Null,
        Err(error) => {
            let why = format!("cannot read '{}': {}", path.display(), transect::reason(&error));
            Value::object([("error", why.into())])
        }
    }
}

/// Returns the table of a tree with a directory in it, if its answers are complete.
///
/// # Errors
/// The reason why not.
pub(super) fn followed(tree: &SharedTree, root: &Path) -> Result<View, String> {
    let shown = root.display();
    // The changes were requested before: attributes are as current as these.
    let view = tree.view(root, false).map_err(|error| error.to_string())?;
    let view = view.ok_or_else(|| not_watched(root))?;
    // No notification reports a mount.
    let is_below = |mount: &PathBuf| mount != root && mount.starts_with(root);
    let mounts = transect_sys::host::mount_points().unwrap_or_default();
    match mounts.into_iter().find(is_below) {
        Some(mount) => {
            let mount = mount.display();
            Err(format!("cannot watch '{shown}': a file system is mounted at '{mount}'"))
        }
        None => Ok(view),
    }
}

/// Returns the error by which clients recognize that they have to send `watch`.
pub(super) fn not_watched(root: &Path) -> String {
    let root = root.display();
    format!("unable to resolve root {root}: directory {root} is not watched")
}

/// Returns the paths below `base` that changed, in their order; `None` if the directory itself, or one above it, is
/// another one now.
fn touched(
    changes: &[Arc<Change>],
    table: &Table,
    tree_root: &Path,
    base: &Path,
) -> Option<BTreeMap<Vec<u8>, Touched>> {
    let mut all: BTreeMap<Vec<u8>, Touched> = BTreeMap::new();
    let mut touch = |path: &Path, existed, file_type| {
        let Ok(name) = path.strip_prefix(base) else { return };
        let name = name.as_os_str().as_encoded_bytes();
        if !name.is_empty() {
            // The last type counts, as what existed may have been something else.
            let first = all.entry(name.to_vec()).or_insert(Touched { existed, file_type });
            first.file_type = file_type;
        }
    };
    for change in changes {
        let is_modified = change.kind == ChangeKind::Modified;
        let paths = [Some(&change.path), change.from.as_ref()];
        if !is_modified && paths.into_iter().flatten().any(|path| base.starts_with(path)) {
            return None;
        }
        let file_type = change.file_type;
        match (&change.from, change.kind) {
            (Some(from), _) => {
                touch(from, true, file_type);
                touch(&change.path, false, file_type);
                let below_root = change.path.strip_prefix(tree_root).ok();
                let top = table.roots().next();
                let row = top.zip(below_root).and_then(|(top, path)| below(table, top, path));
                for row in row.into_iter().flat_map(|row| table.subtree(row).skip(1)) {
                    touch(&table.path(row), false, table.file_type(row));
                }
            }
            (None, ChangeKind::Added) => touch(&change.path, false, file_type),
            (None, _) => touch(&change.path, true, file_type),
        }
    }
    Some(all)
}

/// Calls `add` with everything below a directory, which exists. Of a directory that cannot be opened any more, this is what
/// was in it before: once it is open again, only what differs from that is a change.
fn all_below(table: &Table, directory: Option<Row>, mut add: impl FnMut(&File<'_>)) {
    let mut order = table.in_tree_order_from(directory.into_iter().collect());
    // The path of the current entry, and where the names in it end.
    let (mut path, mut ends): (Vec<u8>, Vec<usize>) = (Vec::new(), Vec::new());
    while TreeOrder::advance(&mut order, true) {
        let (row, depth) = (order.row(), order.depth());
        if depth == 0 {
            continue;
        }
        ends.truncate(depth - 1);
        path.truncate(ends.last().copied().unwrap_or(0));
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(table.name(row).as_encoded_bytes());
        ends.push(path.len());
        let file_type = table.file_type(row);
        add(&File { name: &path, row: Some(row), file_type, is_new: true });
    }
}

/// Returns the row of a path below another one.
fn below(table: &Table, row: Row, path: &Path) -> Option<Row> {
    path.iter().try_fold(row, |row, name| table.child(row, name))
}

fn path_of(name: &[u8]) -> PathBuf {
    name_from_bytes(name.to_vec()).into()
}

/// Parses an element of `path`: a path, or an object with it and how much deeper files may be.
fn path(value: &Value, ignore_case: bool) -> Result<Expression, String> {
    let path = value.get("path").unwrap_or(value);
    let depth = value.get("depth").and_then(Value::int).filter(|&depth| depth >= 0);
    let mut below = vec!["dirname".into(), path.clone()];
    if let Some(depth) = depth {
        below.push(vec!["depth".into(), "le".into(), Value::Int(depth)].into());
    }
    let itself = vec!["name".into(), path.clone(), "wholename".into()];
    let either = vec!["anyof".into(), below.into(), itself.into()].into();
    Expression::parse(&either, ignore_case)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transect_testkit::TempDir;

    use super::*;

    /// FIPS 180-4's examples.
    #[test]
    fn sha1_of_files_and_of_what_cannot_be_read() {
        let temp = TempDir::new();
        let path = temp.join("a");
        for (content, expected) in [
            ("abc".to_owned(), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("a".repeat(1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ] {
            fs::write(&path, content).unwrap();
            assert_eq!(sha1(&path), expected.into());
        }
        assert_eq!(sha1(&temp.join("none")), Value::Null);
        let error = sha1(temp.path());
        let error = error.get("error").and_then(Value::str).unwrap();
        let expected = format!("cannot read '{}': ", temp.path().display());
        assert!(error.starts_with(&expected), "{error}");
    }
}
