//! Trees that are read again with the help of a snapshot equal those that are read without it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use transect::table::{Table, TableBuilder};
use transect::{Attributes, Cancel, FieldMask, FileType, ScanOptions};
use transect_snapshot::{
    Baseline, BaselineRoot, Changes, FileSystem, Inherited, Metadata, Scope, SinceLevel,
    SinceReader, Snapshot, write,
};
use transect_sys::file::query_attributes;
use transect_testkit::{TempDir, wait_until};

const COLUMNS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
    .union(FieldMask::BTIME)
    .union(FieldMask::MODE)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::NLINK)
    .union(FieldMask::FILE_ID);

const SECOND: i64 = 1_000_000_000;

/// A tree, and a snapshot of it.
struct Fixture {
    temp: TempDir,
    table: Table,
    metadata: Metadata,
}

impl Fixture {
    /// Stores a tree made by `make`. All later changes get later times.
    fn new(make: impl FnOnce(&Path)) -> Self {
        let temp = TempDir::new();
        let root = temp.join("tree");
        fs::create_dir(&root).expect("a temporary tree");
        make(&root);
        let table = read(&root);
        let newest = table
            .iter()
            .filter_map(|row| table.attributes(row).ctime())
            .max()
            .expect("an attribute that Linux reports");
        let clock = temp.join("clock");
        wait_until("the clock of the file system goes on", || {
            fs::write(&clock, "").expect("a temporary tree");
            query_attributes(&clock, FieldMask::CTIME, false)
                .expect("an attribute that Linux reports")
                .ctime()
                .expect("an attribute that Linux reports")
                > newest
        });
        let mut metadata = Metadata::default();
        metadata.roots = vec![root.to_string_lossy().into_owned()];
        metadata.file_systems = vec![FileSystem::new(device(&root), "this one".to_owned())];
        metadata.scope = Some(Scope::default());
        // The clock of the snapshot: long after all changes.
        metadata.started = Some(newest + 10 * SECOND);
        metadata.set_fields(COLUMNS);
        Self { temp, table, metadata }
    }

    fn root(&self) -> PathBuf {
        self.temp.join("tree")
    }

    fn base(&self, level: SinceLevel) -> Result<Baseline, String> {
        self.base_of(&self.root(), "this one", level)
    }

    fn base_of(&self, root: &Path, identity: &str, level: SinceLevel) -> Result<Baseline, String> {
        self.base_with(root, identity, level, COLUMNS)
    }

    fn base_with(
        &self,
        root: &Path,
        identity: &str,
        level: SinceLevel,
        fields: FieldMask,
    ) -> Result<Baseline, String> {
        self.any_base(root, identity, level, fields, None)
    }

    /// Returns the snapshot for a walk that gets a report of what changed.
    fn base_with_changes(&self, level: SinceLevel, mut inodes: Vec<u64>) -> Baseline {
        inodes.sort_unstable();
        let changes = Some(Changes { since: 7, device: device(&self.root()), inodes });
        let base = self.any_base(&self.root(), "this one", level, COLUMNS, changes);
        base.expect("a snapshot that fits")
    }

    fn any_base(
        &self,
        root: &Path,
        identity: &str,
        level: SinceLevel,
        fields: FieldMask,
        changes: Option<Changes>,
    ) -> Result<Baseline, String> {
        let mut bytes = Vec::new();
        write(&self.table, &self.metadata, &Cancel::new(), &mut bytes).expect("a snapshot");
        let snapshot = Snapshot::new(bytes).expect("a snapshot");
        let file_system = FileSystem::new(device(&self.root()), identity.to_owned());
        let (named, stored) = (root.to_owned(), root.to_owned());
        let roots = vec![BaselineRoot { named, stored, file_system }];
        let now = self.metadata.started.unwrap_or(0) + SECOND;
        Baseline::new(&snapshot, roots, level, fields, now, changes)
            .map_err(|error| error.to_string())
    }

    /// Reads the tree again.
    fn read(&self, level: SinceLevel) -> (Table, Inherited) {
        self.read_since(self.base(level).expect("a snapshot that fits"))
    }

    fn read_since(&self, base: Baseline) -> (Table, Inherited) {
        let base = Arc::new(base);
        let plan = ScanOptions::new([self.root()]).plan().expect("a tree that can be read");
        let builder = TableBuilder::new(COLUMNS);
        let reader = || SinceReader::new(plan.reader(), Arc::clone(&base), COLUMNS);
        let outcome = plan.run_with(|| builder.sink(), reader).expect("a tree that can be read");
        (outcome.sink.into_table().expect("a tree that can be read"), base.inherited())
    }
}

fn device(path: &Path) -> u64 {
    query_attributes(path, FieldMask::DEVICE, false)
        .expect("an attribute that Linux reports")
        .device()
        .expect("an attribute that Linux reports")
}

fn read(root: &Path) -> Table {
    let builder = TableBuilder::new(COLUMNS);
    let plan = ScanOptions::new([root]).plan().expect("a tree that can be read");
    plan.run(|| builder.sink())
        .expect("a tree that can be read")
        .sink
        .into_table()
        .expect("a tree that can be read")
}

/// Returns what is known of each entry, by path.
fn facts(table: &Table) -> BTreeMap<PathBuf, String> {
    let fact = |row| {
        let (of, totals) = (table.attributes(row), table.totals(row));
        (table.path(row), format!("{} {totals:?} {}", shown(&of), table.errors(row)))
    };
    table.iter().map(fact).collect()
}

fn attributes(table: &Table) -> BTreeMap<PathBuf, Attributes> {
    table.iter().map(|row| (table.path(row), table.attributes(row))).collect()
}

fn shown(of: &Attributes) -> String {
    let (times, sizes) = ((of.mtime(), of.ctime(), of.btime()), (of.size(), of.allocated()));
    let owner = (of.mode(), of.uid(), of.gid(), of.nlink(), of.file_id());
    format!("{:?} {times:?} {sizes:?} {owner:?}", of.file_type())
}

/// Returns the inodes that changed since the snapshot, as a file system would report them: a full read shows them.
fn changed(fixture: &Fixture, full: &Table) -> Vec<u64> {
    let times = |table: &Table| -> BTreeMap<u64, i64> {
        let all = table.iter().map(|row| table.attributes(row));
        all.filter_map(|of| of.inode().zip(of.ctime())).collect()
    };
    let before = times(&fixture.table);
    let new = times(full).into_iter().filter(|(inode, time)| before.get(inode) != Some(time));
    new.map(|(inode, _)| inode).collect()
}

/// Checks both levels against a full read; returns what was inherited at the level of names.
fn assert_equal_to_a_full_read(fixture: &Fixture) -> Inherited {
    let full = read(&fixture.root());
    let (again, _) = fixture.read(SinceLevel::Attributes);
    assert_eq!(facts(&again), facts(&full));
    for &level in SinceLevel::ALL {
        let (again, _) =
            fixture.read_since(fixture.base_with_changes(level, changed(fixture, &full)));
        assert_eq!(facts(&again), facts(&full), "changes are reported, {level:?}");
    }
    let (names, inherited) = fixture.read(SinceLevel::Names);
    let (names, full) = (attributes(&names), attributes(&full));
    let before = attributes(&fixture.table);
    assert!(names.keys().eq(full.keys()), "{:?} {:?}", names.keys(), full.keys());
    for (path, of) in &names {
        let is_current = shown(of) == shown(&full[path]);
        // Only files may be as they were, and only if they were there.
        let is_inherited = of.file_type() != FileType::Directory
            && of.file_id() == full[path].file_id()
            && before.get(path).is_some_and(|before| shown(of) == shown(before));
        assert!(is_current || is_inherited, "{}: {}", path.display(), shown(of));
    }
    inherited
}

#[test]
fn since_attributes_that_were_not_loaded_are_queried() {
    let fixture = Fixture::new(make);
    let (root, full) = (fixture.root(), facts(&read(&fixture.root())));
    for (fields, is_inherited) in [(FieldMask::SIZE, false), (COLUMNS, true)] {
        let base = fixture.base_with(&root, "this one", SinceLevel::Names, fields);
        let (table, inherited) = fixture.read_since(base.expect("a snapshot that fits"));
        assert_eq!(facts(&table), full);
        assert_eq!(inherited.directories > 0, is_inherited);
    }
}

/// Only what is reported is listed or queried: a change that is not reported stays hidden. So a report of everything that
/// changed gives a full read, at both levels, also where times are too new to prove anything.
#[test]
fn since_reported_changes_and_nothing_else_read() {
    let mut fixture = Fixture::new(make);
    fixture.metadata.started = fixture.metadata.started.map(|it| it - 10 * SECOND);
    let (root, before) = (fixture.root(), facts(&fixture.table));
    let file = |path: &PathBuf| path.is_file() && !path.is_symlink();
    let files: Vec<PathBuf> = before.keys().filter(|path| file(path)).cloned().collect();
    let directories: Vec<PathBuf> = before.keys().filter(|path| path.is_dir()).cloned().collect();
    let [changed, hidden] = [&files[0], &files[files.len() - 1]];
    fs::write(changed, "changed and reported").expect("a temporary tree");
    fs::write(hidden, "changed, and not reported").expect("a temporary tree");
    fs::write(directories[1].join("new"), "").expect("a temporary tree");
    let inode = |path: &Path| {
        let found = query_attributes(path, FieldMask::INODE, false);
        found.ok().and_then(|it| it.inode()).expect("an attribute that Linux reports")
    };
    let read_again = |inodes: &[u64]| {
        let mut tables = SinceLevel::ALL.iter().map(|&level| {
            let base = fixture.base_with_changes(level, inodes.to_vec());
            let (table, inherited) = fixture.read_since(base);
            assert_eq!(inherited.since_generation, Some(7));
            assert_eq!(inherited.older_entries(), 0);
            assert!(inherited.entries > 0 && inherited.directories > 0, "{inherited:?}");
            facts(&table)
        });
        let (first, second) = (tables.next(), tables.next());
        assert_eq!(first, second, "both levels");
        first.expect("two levels")
    };
    let reported = [inode(changed), inode(&directories[1]), inode(&directories[1].join("new"))];
    let full = facts(&read(&root));
    let found = read_again(&reported);
    assert_eq!(found[changed], full[changed]);
    assert_ne!(found[hidden], full[hidden]);
    assert_eq!(found[hidden], before[hidden]);
    assert!(found.keys().eq(full.keys()));
    assert_eq!(read_again(&[&reported[..], &[inode(hidden)]].concat()), full);
}

/// A change of a tree. Numbers choose among the paths of the snapshot.
#[derive(Clone, Debug)]
enum Mutation {
    Write(usize, u16),
    Create(usize, u8),
    MakeDirectory(usize, u8),
    Remove(usize),
    Rename(usize, usize, u8),
    Mode(usize, bool),
    Link(usize, usize, u8),
    Symlink(usize),
    /// Another directory with the same name and the same names in it.
    Replace(usize),
    /// A new entry, but the old mtime.
    Conceal(usize, u8),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let (path, name) = (any::<usize>, 0..6_u8);
    prop_oneof![
        (path(), any::<u16>()).prop_map(|(at, size)| Mutation::Write(at, size)),
        (path(), name.clone()).prop_map(|(at, name)| Mutation::Create(at, name)),
        (path(), name.clone()).prop_map(|(at, name)| Mutation::MakeDirectory(at, name)),
        path().prop_map(Mutation::Remove),
        (path(), path(), name.clone()).prop_map(|(at, to, name)| Mutation::Rename(at, to, name)),
        (path(), any::<bool>()).prop_map(|(at, is_open)| Mutation::Mode(at, is_open)),
        (path(), path(), name.clone()).prop_map(|(at, to, name)| Mutation::Link(at, to, name)),
        path().prop_map(Mutation::Symlink),
        path().prop_map(Mutation::Replace),
        (path(), name).prop_map(|(at, name)| Mutation::Conceal(at, name)),
    ]
}

/// Applies a mutation. One that is not possible, such as a new entry in a file, does nothing.
fn mutate(paths: &[PathBuf], mutation: &Mutation) {
    let path = |number: &usize| &paths[number % paths.len()];
    let name = |of: &usize, name: &u8| path(of).join(format!("n{name}"));
    let _ = match mutation {
        Mutation::Write(at, size) => {
            let at = path(at);
            if at.is_file() { fs::write(at, vec![1; (*size).into()]) } else { Ok(()) }
        }
        Mutation::Create(at, new) => fs::write(name(at, new), "new"),
        Mutation::MakeDirectory(at, new) => fs::create_dir(name(at, new)),
        // The first path is the root.
        Mutation::Remove(at) if at % paths.len() == 0 => Ok(()),
        Mutation::Remove(at) => fs::remove_dir_all(path(at)).or_else(|_| fs::remove_file(path(at))),
        Mutation::Rename(at, to, new) => fs::rename(path(at), name(to, new)),
        Mutation::Mode(at, is_open) => {
            let mode = if *is_open { 0o755 } else { 0o750 };
            fs::set_permissions(path(at), fs::Permissions::from_mode(mode))
        }
        Mutation::Link(at, to, new) => fs::hard_link(path(at), name(to, new)),
        Mutation::Symlink(at) if at % paths.len() == 0 => Ok(()),
        Mutation::Symlink(at) => {
            let at = path(at);
            fs::rename(at, at.with_extension("away")).and_then(|()| symlink("..", at))
        }
        Mutation::Replace(at) => replace(paths, path(at)),
        Mutation::Conceal(at, new) => conceal(path(at), &name(at, new)),
    };
}

fn replace(paths: &[PathBuf], directory: &Path) -> std::io::Result<()> {
    if !directory.is_dir() || directory.is_symlink() {
        return Ok(());
    }
    let away = directory.with_extension("replaced");
    fs::rename(directory, &away)?;
    fs::create_dir(directory)?;
    for inside in paths.iter().filter(|path| path.parent() == Some(directory)) {
        let name = inside.file_name().expect("a name");
        match away.join(name).is_dir() {
            true => fs::create_dir(directory.join(name))?,
            false => fs::write(directory.join(name), "other")?,
        }
    }
    // Beside a root would be outside.
    if *directory == paths[0] { fs::remove_dir_all(away) } else { Ok(()) }
}

fn conceal(directory: &Path, new: &Path) -> std::io::Result<()> {
    let before = fs::File::open(directory)?;
    let mtime = query_attributes(directory, FieldMask::MTIME, false)?
        .modified()
        .expect("an attribute that Linux reports");
    fs::write(new, "concealed")?;
    before.set_times(fs::FileTimes::new().set_modified(mtime))
}

/// Creates three levels of directories with files, a link and a name that is not UTF-8.
fn make(root: &Path) {
    use std::os::unix::ffi::OsStrExt;

    for a in 0..3 {
        for b in 0..3 {
            let inner = root.join(format!("d{a}/n{b}"));
            fs::create_dir_all(&inner).expect("a temporary tree");
            for c in 0..3 {
                fs::write(inner.join(format!("n{c}")), vec![0; a * 1000 + c])
                    .expect("a temporary tree");
            }
        }
        fs::hard_link(root.join(format!("d{a}/n0/n0")), root.join(format!("d{a}/linked")))
            .expect("a temporary tree");
    }
    symlink("d0", root.join("link")).expect("a temporary tree");
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"\xff")), "x").expect("a temporary tree");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn since_after_any_mutations_equals_a_full_read(
        mutations in prop::collection::vec(mutation(), 0..6)
    ) {
        let fixture = Fixture::new(make);
        let paths: Vec<PathBuf> = attributes(&fixture.table).into_keys().collect();
        mutations.iter().for_each(|mutation| mutate(&paths, mutation));
        assert_equal_to_a_full_read(&fixture);
    }
}

#[test]
fn since_of_an_unchanged_tree_lists_nothing() {
    let fixture = Fixture::new(make);
    let inherited = assert_equal_to_a_full_read(&fixture);
    // The root, three directories and three in each; three files in each of these, and five others.
    assert_eq!((inherited.directories, inherited.entries), (13, 32), "{inherited:?}");
    assert_eq!(inherited.level, "names");
    assert_eq!(Some(inherited.taken), fixture.metadata.started);
    let (_, inherited) = fixture.read(SinceLevel::Attributes);
    assert_eq!((inherited.directories, inherited.entries), (13, 0), "{inherited:?}");
}

#[test]
fn since_lists_only_what_changed() {
    let fixture = Fixture::new(make);
    fs::write(fixture.root().join("d1/n1/new"), "").unwrap();
    // Another content is not a change of the directory.
    fs::write(fixture.root().join("d2/n2/n2"), vec![0; 5000]).unwrap();
    let inherited = assert_equal_to_a_full_read(&fixture);
    assert_eq!((inherited.directories, inherited.entries), (12, 29), "{inherited:?}");
    let (names, _) = fixture.read(SinceLevel::Names);
    let written = fixture.root().join("d2/n2/n2");
    assert_eq!(attributes(&names)[&written].size(), Some(2002), "the documented miss");
    let (all, _) = fixture.read(SinceLevel::Attributes);
    assert_eq!(attributes(&all)[&written].size(), Some(5000));
}

#[test]
fn since_directories_replaced_by_others_are_read() {
    let fixture = Fixture::new(make);
    let paths: Vec<PathBuf> = attributes(&fixture.table).into_keys().collect();
    for directory in [fixture.root().join("d1"), fixture.root()] {
        replace(&paths, &directory).unwrap();
        assert_equal_to_a_full_read(&fixture);
    }
    let (_, inherited) = fixture.read(SinceLevel::Names);
    assert_eq!(inherited.directories, 0, "every directory is another one: {inherited:?}");
}

#[test]
fn since_lists_what_may_have_changed_after_it_was_listed() {
    let mut fixture = Fixture::new(make);
    // As if the snapshot was taken right after the last change.
    fixture.metadata.started = fixture.metadata.started.map(|taken| taken - 10 * SECOND);
    let (_, inherited) = fixture.read(SinceLevel::Names);
    assert_eq!(inherited.directories, 0, "{inherited:?}");
    assert_equal_to_a_full_read(&fixture);
}

#[test]
fn since_of_a_large_directory_is_complete() {
    let fixture = Fixture::new(|root| {
        for number in 0..9000 {
            fs::write(root.join(format!("{number}")), "").unwrap();
        }
    });
    let inherited = assert_equal_to_a_full_read(&fixture);
    assert_eq!((inherited.directories, inherited.entries), (1, 9000));
}

#[test]
fn since_inherited_twice_keeps_the_oldest_time() {
    let mut fixture = Fixture::new(make);
    let mut inherited = Inherited::default();
    inherited.oldest = 5;
    fixture.metadata.inherited = Some(inherited);
    assert_eq!(fixture.read(SinceLevel::Names).1.oldest, 5);
    let taken = fixture.metadata.started.unwrap();
    assert_eq!(fixture.read(SinceLevel::Attributes).1.oldest, taken);
}

#[test]
fn since_refuses_snapshots_that_prove_nothing() {
    let fixture = || Fixture::new(make);
    let refused = |change: fn(&mut Metadata)| {
        let mut fixture = fixture();
        change(&mut fixture.metadata);
        fixture.base(SinceLevel::Names).expect_err("refused")
    };
    let without_ctime = refused(|it| it.set_fields(COLUMNS - FieldMask::CTIME));
    assert!(without_ctime.contains("lacks ctime"), "{without_ctime}");
    let filtered = refused(|it| it.scope.as_mut().unwrap().filtered = true);
    assert!(filtered.contains("with filters"), "{filtered}");
    let unknown = refused(|it| it.scope = None);
    assert!(unknown.contains("which entries"), "{unknown}");
    let timeless = refused(|it| it.started = None);
    assert!(timeless.contains("when it was taken"), "{timeless}");
    let back = refused(|it| it.ended = it.started.map(|taken| taken - 1));
    assert!(back.contains("clock was set back"), "{back}");

    let fixture = fixture();
    let other = fixture.base_of(Path::new("/elsewhere"), "this one", SinceLevel::Names);
    assert!(other.unwrap_err().contains("not of '/elsewhere'"));
    let moved = fixture.base_of(&fixture.root(), "another one", SinceLevel::Names);
    assert!(moved.unwrap_err().contains("was on another file system"));
}
