//! The interface of `ignore` returns what that crate returns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use transect::{FileType, Filters};
use transect_testkit::TempDir;

/// Depth, path, whether it is a directory, a file and a link.
type Found = (usize, PathBuf, [bool; 3]);

/// Globs that override rules: relative to the tree, not to the root.
const OVERRIDES: [&[&str]; 7] = [
    &[],
    &[".*", "*.o"],
    &["!*.rs", "!a/b/c/", "!/d"],
    &["*", "!.dot", "!keep.o"],
    &["!*.c", "x.{c,h}", "/top"],
    &["/a/b/*.c", "d/**", ".hidden/"],
    &["excluded", "*.tmp", "!inner", "!.*"],
];

const DEFINITIONS: [(&str, &str); 6] = [
    ("rust", "*.rs"),
    ("c", "*.[ch]"),
    ("h", "*.h"),
    ("logs", "{show,z}.log"),
    ("logs", "y*"),
    ("dots", ".d*"),
];

/// Types to select and to negate.
const TYPES: [[&[&str]; 2]; 5] = [
    [&[], &[]],
    [&["rust", "dots"], &[]],
    [&[], &["c", "logs"]],
    [&["all"], &["h"]],
    [&["c", "logs", "dots"], &["rust", "h"]],
];

/// The same program with either crate: what both ways to walk find.
macro_rules! found_by {
    ($krate:ident, $root:expr, $tree:expr, $flags:expr) => {{
        let [hidden, ignore, git, custom, follow, deep, filter, threads, below, anywhere] =
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map(|flag| $flags & flag != 0);
        let mut builder = $krate::WalkBuilder::new($root);
        builder.hidden(hidden).ignore(ignore).git_ignore(git).follow_links(follow);
        builder.threads(usize::from(threads) * 3).parents(!below).require_git(!anywhere);
        // That crate looks for repositories only for rules in them, and above the roots only with `git_ignore`.
        let exclude = (git || $root.join(".git").exists()) && $flags / 3 % 4 != 1;
        builder.git_exclude(exclude).git_global((git || exclude) && $flags / 3 % 4 != 2);
        if custom {
            builder.add_custom_ignore_filename(".one").add_custom_ignore_filename(".two");
        }
        // Relative to the current directory, in which the tree is not.
        for added in ["added-1", "added-2"].map(|name| $root.join(name)) {
            assert_eq!(builder.add_ignore(&added).is_some(), !added.exists());
        }
        if deep {
            builder.max_depth(Some(3));
        }
        // Some files of rules are longer.
        if $flags % 3 == 0 {
            builder.max_filesize(Some(5));
        }
        let mut globs = $krate::overrides::OverrideBuilder::new($tree);
        for glob in OVERRIDES[$flags % OVERRIDES.len()] {
            globs.add(glob).unwrap();
        }
        builder.overrides(globs.build().unwrap());
        let mut types = $krate::types::TypesBuilder::new();
        for (name, glob) in DEFINITIONS {
            types.add(name, glob).unwrap();
        }
        let [selected, negated] = TYPES[$flags / 7 % TYPES.len()];
        for name in selected {
            types.select(name);
        }
        for name in negated {
            types.negate(name);
        }
        builder.types(types.build().unwrap());
        if filter {
            builder.filter_entry(|entry| entry.file_name() != "b");
        }
        let of = |entry: $krate::DirEntry| -> Found {
            let file_type = entry.file_type().expect("a type");
            let types = [file_type.is_dir(), file_type.is_file(), entry.path_is_symlink()];
            (entry.depth(), entry.into_path(), types)
        };
        let serial: BTreeSet<Found> = builder.build().filter_map(Result::ok).map(of).collect();
        let parallel = Mutex::new(BTreeSet::new());
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                if let Ok(entry) = entry {
                    parallel.lock().unwrap().insert(of(entry));
                }
                $krate::WalkState::Continue
            })
        });
        [serial, parallel.into_inner().unwrap()]
    }};
}

fn compare(root: &Path, flags: usize) {
    // The globs begin in the tree, if it is the root or holds it.
    let tree = root.parent().filter(|tree| tree.join("added-1").exists()).unwrap_or(root);
    let expected = {
        use ::ignore;
        found_by!(ignore, root, tree, flags)
    };
    let found = {
        use transect::ignore;
        found_by!(ignore, root, tree, flags)
    };
    for (found, expected) in found.iter().zip(&expected) {
        // There, a root that is a link remains one.
        let differs = |it: &Found| it.0 == 0 && root.is_symlink();
        let odd: Vec<&Found> = found.symmetric_difference(expected).collect();
        let odd: Vec<_> = odd.iter().filter(|it| !differs(it)).collect();
        assert!(odd.is_empty(), "{} {flags:#b}: {odd:?}", root.display());
        assert!(expected.iter().any(|it| !differs(it)), "nothing was compared");
    }
}

fn tree() -> TempDir {
    let temp = TempDir::new();
    for (path, text) in [
        (".git/info/exclude", "excluded\n"),
        (".gitignore", "*.o\n!keep.o\n/top\nd/inner\n*.log\n"),
        (".ignore", "*.tmp\n!show.log\n"),
        ("a/.gitignore", "*.c\n!b/*.c\n"),
        ("a/.ignore", "!*.o\n"),
        ("a/.one", "*.rs\n"),
        ("a/b/.one", "!*.rs\n*.h\n"),
        ("a/b/.two", "!*.h\n*.c\n"),
        ("d/.two", "*\n!x.rs\n"),
        ("added-1", "*.h\nkeep.o\n/a\n"),
        ("added-2", "!keep.o\nd/x.rs\n**/d/x.c\n"),
    ] {
        write(temp.path(), path, text);
    }
    for directory in ["", "a/", "a/b/", "a/b/c/", "d/", "d/inner/", ".hidden/", "top/"] {
        for name in [
            "x.o", "keep.o", "y.tmp", "show.log", "z.log", "x.c", "x.rs", "x.h", "excluded", ".dot",
        ] {
            write(temp.path(), &format!("{directory}{name}"), "");
        }
    }
    temp
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn ignore_any_options_same_entries() {
    let temp = tree();
    #[cfg(unix)]
    for (target, link) in [("a/b", "to-directory"), ("a/x.h", "to-file"), ("nowhere", "broken")] {
        std::os::unix::fs::symlink(target, temp.join(link)).unwrap();
    }
    // The rules are the same on both systems, and listings take long under Wine.
    for flags in (0..256).step_by(if cfg!(windows) { 5 } else { 1 }) {
        compare(temp.path(), flags);
    }
    for flags in (0..1024).step_by(17) {
        compare(&temp.join("a"), flags);
        #[cfg(unix)]
        compare(&temp.join("to-directory"), flags);
    }
}

/// The user's file of rules is found through the environment, so another process compares.
#[test]
#[cfg(unix)]
fn ignore_git_global_and_exclude_same_entries() {
    const TREE: &str = "TRANSECT_TEST_TREE";
    let Some(tree) = std::env::var_os(TREE) else {
        let temp = tree();
        write(temp.path(), "home/git/ignore", "*.rs\n!excluded\n");
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ignore::ignore_git_global_and_exclude_same_entries"])
            .env(TREE, temp.path())
            .env("XDG_CONFIG_HOME", temp.join("home"))
            .env("HOME", temp.join("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output();
        let child = child.unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        return;
    };
    let tree = Path::new(&tree);
    for root in [tree.to_owned(), tree.join("a/b")] {
        (0..256).step_by(5).for_each(|flags| compare(&root, flags));
    }
    let count = |exclude: bool, global: bool| {
        let mut builder = transect::ignore::WalkBuilder::new(tree.join("a/b"));
        builder.ignore(false).git_ignore(false).git_exclude(exclude).git_global(global);
        let names = builder.build().map(|entry| entry.unwrap().file_name().to_owned());
        let names: Vec<_> = names.collect();
        ["excluded", "x.rs", "x.o"].map(|name| names.iter().any(|it| *it == *name))
    };
    assert_eq!(count(true, true), [false, false, true]);
    assert_eq!(count(true, false), [false, true, true]);
    assert_eq!(count(false, true), [true, false, true]);
    assert_eq!(count(false, false), [true, true, true]);
}

#[test]
fn ignore_repositories_below_roots_same_entries() {
    let temp = TempDir::new();
    for repository in ["one", "two/three"] {
        write(temp.path(), &format!("{repository}/.git/info/exclude"), "excluded\nkept\n");
        write(temp.path(), &format!("{repository}/.gitignore"), "*.o\n!kept\n");
    }
    // In a repository, `ignore` does not apply the rules around it.
    write(temp.path(), ".gitignore", "*.tmp\n");
    write(temp.path(), "two/.gitignore", "*.log\n");
    for directory in ["", "one/", "one/a/", "two/", "two/b/"] {
        for name in ["x.o", "excluded", "kept", "y.rs"] {
            write(temp.path(), &format!("{directory}{name}"), "");
        }
    }
    for outside in ["y.tmp", "two/y.tmp", "two/b/z.log"] {
        write(temp.path(), outside, "");
    }
    for flags in (0..1024).filter(|flags| flags & 0b111 == 0b100 || flags % 23 == 0) {
        for root in ["", "one", "one/a", "two", "two/b", "two/three"] {
            compare(&temp.join(root), flags);
        }
    }
}

#[test]
fn gitignore_rules_of_repositories_below_a_root_apply() {
    let temp = TempDir::new();
    for directory in ["", "one/", "one/a/", "two/"] {
        write(temp.path(), &format!("{directory}excluded"), "");
    }
    write(temp.path(), "one/.git/info/exclude", "excluded\n");
    let filters = Filters::new().gitignore(true).types([FileType::File]);
    let walk = transect::walk(temp.path()).filters(filters).sort_by_name(true);
    let found: Vec<PathBuf> = walk.into_iter().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, ["excluded", "two/excluded"].map(|path| temp.join(path)));
}

#[test]
fn ignore_skip_quit_and_least_depth_obeyed() {
    use transect::ignore::{Walk, WalkBuilder, WalkState};
    let temp = tree();
    let names = Mutex::new(Vec::new());
    WalkBuilder::new(temp.path()).standard_filters(false).build_parallel().run(|| {
        Box::new(|entry| {
            let entry = entry.unwrap();
            names.lock().unwrap().push(entry.path().to_owned());
            if entry.file_name() == "a" { WalkState::Skip } else { WalkState::Continue }
        })
    });
    let names = names.into_inner().unwrap();
    assert!(names.contains(&temp.join("a")) && !names.contains(&temp.join("a/b")), "{names:?}");
    let depths = |least| {
        let walk = WalkBuilder::new(temp.path()).min_depth(Some(least)).build();
        walk.map(|entry| entry.unwrap().depth()).filter(|depth| *depth > 1).count()
    };
    assert!(depths(0) > 0 && depths(0) == depths(2), "`ignore` panics with a least depth");
    let count = Mutex::new(0);
    WalkBuilder::new(temp.path()).threads(1).build_parallel().run(|| {
        Box::new(|_| {
            *count.lock().unwrap() += 1;
            WalkState::Quit
        })
    });
    assert_eq!(count.into_inner().unwrap(), 1);
    assert!(Walk::new(temp.join("none")).next().unwrap().is_err());
}

#[test]
fn ignore_wrong_option_one_error() {
    use transect::ignore::{WalkBuilder, WalkState};
    let temp = tree();
    let mut builder = WalkBuilder::new(temp.path());
    builder.min_depth(Some(2)).max_depth(Some(1));
    assert!(builder.build().next().unwrap().is_err());
    let errors = Mutex::new(Vec::new());
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            errors.lock().unwrap().push(entry.unwrap_err().to_string());
            WalkState::Continue
        })
    });
    let errors = errors.into_inner().unwrap();
    assert!(errors.len() == 1 && errors[0].contains("depth"), "{errors:?}");
    let mut globs = transect::ignore::overrides::OverrideBuilder::new(temp.path());
    let error = globs.add("a{b").unwrap_err().to_string();
    assert!(error.starts_with("cannot parse pattern 'a{b': unclosed"), "{error}");
    let mut types = transect::ignore::types::TypesBuilder::new();
    let error = types.add("c-sharp", "*.cs").unwrap_err().to_string();
    assert!(error.starts_with("invalid type name 'c-sharp'"), "{error}");
    let error = types.select("rust").build().unwrap_err().to_string();
    assert_eq!(error, "unrecognized file type: rust");
    assert!(types.add_defaults().build().is_ok());
}

/// The same sorted loop with either crate: the paths in their order.
macro_rules! sorted_by {
    ($krate:ident, $roots:expr, $by_path:expr, $follow:expr) => {{
        let [first, second] = $roots;
        let mut builder = $krate::WalkBuilder::new(first);
        builder.add(second).follow_links($follow).git_ignore(false).git_exclude(false);
        // Names that end alike are neighbours: the byte at the end first, then the whole.
        match $by_path {
            true => builder.sort_by_file_path(|one, other| other.cmp(one)),
            false => builder.sort_by_file_name(|one, other| {
                let key = |name: &std::ffi::OsStr| name.as_encoded_bytes().last().copied();
                key(one).cmp(&key(other)).then_with(|| other.cmp(one))
            }),
        };
        let found = builder.build().map(|entry| entry.unwrap().into_path());
        found.collect::<Vec<PathBuf>>()
    }};
}

#[test]
fn ignore_sorted_same_order() {
    let temp = tree();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../a/b", temp.join("d/to-b")).unwrap();
    for (by_path, follow) in [(false, false), (false, true), (true, false), (true, true)] {
        // The roots stay in this order.
        let roots = [temp.join("d"), temp.join("a")];
        let roots = || [&roots[0], &roots[1]];
        let expected = {
            use ::ignore;
            sorted_by!(ignore, roots(), by_path, follow)
        };
        let found = {
            use transect::ignore;
            sorted_by!(ignore, roots(), by_path, follow)
        };
        assert_eq!(found, expected, "{by_path} {follow}");
        assert!(found.len() > 20 && found[0] == temp.join("d"), "{found:?}");
    }
}

#[test]
fn ignore_sorted_undecided_names_stay_with_what_is_in_them() {
    let temp = tree();
    let mut builder = transect::ignore::WalkBuilder::new(temp.path());
    builder.sort_by_file_name(|_, _| std::cmp::Ordering::Equal);
    let paths: Vec<PathBuf> = builder.build().map(|entry| entry.unwrap().into_path()).collect();
    let mut sorted = paths.clone();
    sorted.sort();
    assert_eq!(paths, sorted);
}

/// Regression: a file of rules for all roots had no place. Its rules begin in the current directory, that of this
/// crate.
#[test]
fn ignore_added_rules_apply_below_current_directory() {
    let temp = TempDir::new();
    let rules = temp.join("rules");
    std::fs::write(&rules, "/tests/engine\n**/lib.rs\n!/src/lib.rs\n").unwrap();
    macro_rules! found_below {
        ($krate:ident, $root:expr) => {{
            let mut builder = $krate::WalkBuilder::new($root);
            assert!(builder.add_ignore(&rules).is_none());
            assert!(builder.add_ignore(temp.join("none")).is_some());
            builder.build().map(|entry| entry.unwrap().into_path()).collect::<BTreeSet<_>>()
        }};
    }
    let current = std::env::current_dir().unwrap();
    for root in [".", "src", "tests", "../transect/src", current.to_str().unwrap()] {
        let expected = {
            use ::ignore;
            found_below!(ignore, root)
        };
        let found = {
            use transect::ignore;
            found_below!(ignore, root)
        };
        assert_eq!(found, expected, "{root}");
        assert!(found.len() > 1, "{found:?}");
    }
    let filters = transect::Filters::new().ignore_paths([temp.join("none")]);
    let error = transect::walk(".").filters(filters).plan().unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}

#[test]
#[cfg(unix)]
fn ignore_followed_links_back_or_nowhere_same_errors() {
    let temp = TempDir::new();
    write(temp.path(), "a/b/file", "");
    for (target, link) in [("nowhere", "a/long-broken"), ("self", "a/self"), ("..", "a/b/up")] {
        std::os::unix::fs::symlink(target, temp.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("b", temp.join("a/to-b")).unwrap();
    /// The text of each error, in both ways to walk.
    macro_rules! errors_by {
        ($krate:ident, $follow:expr) => {{
            let mut builder = $krate::WalkBuilder::new(temp.path());
            builder.follow_links($follow).max_filesize(Some(3));
            let serial: BTreeSet<String> =
                builder.build().filter_map(Result::err).map(|error| error.to_string()).collect();
            let parallel = Mutex::new(BTreeSet::new());
            builder.build_parallel().run(|| {
                Box::new(|entry| {
                    if let Err(error) = entry {
                        parallel.lock().unwrap().insert(error.to_string());
                    }
                    $krate::WalkState::Continue
                })
            });
            [serial, parallel.into_inner().unwrap()]
        }};
    }
    for follow in [false, true] {
        let expected = {
            use ::ignore;
            errors_by!(ignore, follow)
        };
        let found = {
            use transect::ignore;
            errors_by!(ignore, follow)
        };
        let links = ["a/long-broken", "a/self", "a/b/up", "a/to-b/up"];
        let links = links.map(|link| temp.join(link).display().to_string());
        for errors in found.iter().chain(&expected) {
            let of = |link: &&String| errors.iter().any(|error| error.contains(*link));
            assert_eq!(links.iter().filter(of).count(), errors.len(), "{errors:?}");
            assert_eq!(errors.len(), if follow { links.len() } else { 0 }, "{errors:?}");
        }
    }
}

/// Regression: what lies in several roots was returned once.
#[test]
fn ignore_overlapping_roots_same_entries_for_each() {
    let temp = tree();
    let roots = ["a/b", "a", "a/b/c", "a/x.h", "a"].map(|root| temp.join(root));
    macro_rules! found_in {
        ($krate:ident, $follow:expr) => {{
            let mut builder = $krate::WalkBuilder::new(temp.join("d"));
            for root in &roots {
                builder.add(root);
            }
            builder.follow_links($follow).git_ignore(false).git_exclude(false);
            let entries = builder.build();
            let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().into_path()).collect();
            paths.sort();
            paths
        }};
    }
    for follow in [false, true] {
        let expected = {
            use ::ignore;
            found_in!(ignore, follow)
        };
        let found = {
            use transect::ignore;
            found_in!(ignore, follow)
        };
        assert_eq!(found, expected);
        assert_eq!(found.iter().filter(|path| path.ends_with("a/b/c/x.h")).count(), 4);
    }
}
