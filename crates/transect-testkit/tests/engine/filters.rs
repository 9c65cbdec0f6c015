//! Filters, observed through the listed paths.

use std::path::{MAIN_SEPARATOR, Path};

use transect::internal::Order;
use transect::table::Table;
use transect::{
    Conditions, Error, FaultKind, FieldMask, FileType, Filters, Operation, ScanOptions, SkipReason,
};
use transect_testkit::oracle::oracle;
use transect_testkit::{TempDir, trees};

use crate::support::{
    assert_complete, combinations, counts, paths, paths_of_table, readable, readers, scan, skipped,
    totals,
};

/// Creates files; a path that ends with a slash is a directory.
fn build(root: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        let whole = root.join(path);
        if path.ends_with('/') {
            std::fs::create_dir_all(&whole).unwrap();
        } else {
            std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
            std::fs::write(whole, content).unwrap();
        }
    }
}

/// Returns the paths listed below the root, without the root's own path, with slashes, sorted. All
/// readers and orders must list the same paths, and so must a table that was filled without filters.
fn list(root: &Path, options: impl Fn(ScanOptions) -> ScanOptions) -> Vec<String> {
    let mut first: Option<Vec<String>> = None;
    for reader in readers() {
        for order in [Order::WorkStealing, Order::Recursive, Order::Queue] {
            let (listed, diagnostics) = paths(options(scan(root).reader(reader).order(order)));
            assert_complete(&diagnostics, reader.as_str());
            let mut below: Vec<String> = readable(&listed)
                .iter()
                .map(|path| path.strip_prefix(root.to_str().unwrap()).unwrap())
                .map(|path| path.replace(MAIN_SEPARATOR, "/").trim_start_matches('/').to_owned())
                .collect();
            below.sort();
            let first = first.get_or_insert_with(|| Vec::clone(&below));
            assert_eq!(&below, first, "{} in {}", reader.as_str(), order.as_str());
        }
    }
    let walked = || options(scan(root).order(Order::Recursive));
    let of_table = if walked().follow_links { None } else { paths_of_table(walked()) };
    if let Some((delivered, diagnostics)) = of_table {
        let (listed, walked) = paths(walked());
        assert_eq!(readable(&delivered), readable(&listed), "a table");
        assert_eq!(diagnostics.skipped, walked.skipped, "a table");
    }
    first.expect("there is a reader")
}

fn globs(globs: &[&str]) -> Filters {
    Filters::new().globs(globs.iter().copied())
}

fn gitignore() -> Filters {
    Filters::new().gitignore(true)
}

fn sources() -> TempDir {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            ("top.rs", "1"),
            ("top.c", "22"),
            ("src/one.rs", "333"),
            ("src/two.c", "4444"),
            ("src/deep/three.rs", "55555"),
            ("build/out.rs", "666666"),
            ("src/build", "a file of that name"),
            ("docs/", ""),
        ],
    );
    temp
}

// ---- globs ----

#[test]
fn globs_include_exclude_last_match_decides() {
    let temp = sources();
    for (patterns, expected) in [
        (&["*.rs"][..], &["build/out.rs", "src/deep/three.rs", "src/one.rs", "top.rs"][..]),
        (&["!*.rs"], &["", "build", "docs", "src", "src/build", "src/deep", "src/two.c", "top.c"]),
        (&["*.rs", "!top*"], &["build/out.rs", "src/deep/three.rs", "src/one.rs"]),
        // The last match decides.
        (&["!*.rs", "top.rs"], &["top.rs"]),
        // A slash at the start or inside: a path below the root.
        (&["/*.rs"], &["top.rs"]),
        (&["src/*.rs"], &["src/one.rs"]),
        (&["src/**/*.rs"], &["src/deep/three.rs", "src/one.rs"]),
        (
            &["!build"],
            &[
                "",
                "docs",
                "src",
                "src/deep",
                "src/deep/three.rs",
                "src/one.rs",
                "src/two.c",
                "top.c",
                "top.rs",
            ],
        ),
        // A slash at the end: directories only.
        (
            &["!build/"],
            &[
                "",
                "docs",
                "src",
                "src/build",
                "src/deep",
                "src/deep/three.rs",
                "src/one.rs",
                "src/two.c",
                "top.c",
                "top.rs",
            ],
        ),
        (&["*.{c,h}"], &["src/two.c", "top.c"]),
        (&["nothing"], &[]),
    ] {
        let listed = list(temp.path(), |options| options.filters(globs(patterns)));
        assert_eq!(listed, expected, "{patterns:?}");
    }
}

#[test]
fn globs_excluded_entries_counted_as_skipped() {
    let temp = sources();
    for (reader, order, threads) in combinations() {
        let options = scan(temp.path()).reader(reader).order(order).threads(threads);
        let got = totals(options.filters(globs(&["!*.rs", "!build/"])));
        assert_complete(&got.diagnostics, order.as_str());
        assert_eq!((got.files, got.directories), (3, 4));
        assert_eq!(got.sizes.apparent, 2 + 4 + 19);
        assert_eq!(skipped(&got.diagnostics, SkipReason::Excluded), 4);
    }
}

#[test]
fn globs_traversed_directories_not_counted() {
    let temp = sources();
    for (reader, order, threads) in combinations() {
        let options = scan(temp.path()).reader(reader).order(order).threads(threads);
        let got = totals(options.filters(globs(&["*.rs"])));
        assert_eq!((got.files, got.directories), (4, 0), "{}", order.as_str());
        assert_eq!(got.sizes.apparent, 1 + 3 + 5 + 6);
    }
}

#[test]
fn globs_invalid_pattern_error_names_it() {
    let error = scan(".").filters(globs(&["*.rs", "a{b"])).plan().unwrap_err();
    assert!(matches!(&error, Error::InvalidPattern(pattern, _) if pattern == "a{b"), "{error}");
}

/// An including glob descends into directories that it does not match. A followed link to a
/// directory is a directory.
#[cfg(unix)]
#[test]
fn globs_followed_link_to_directory_entered() {
    let temp = TempDir::new();
    build(temp.path(), &[("tree/a.rs", "1"), ("outside/b.rs", "2"), ("outside/c.c", "3")]);
    std::os::unix::fs::symlink("../outside", temp.join("tree/link")).unwrap();
    let listed =
        list(&temp.join("tree"), |options| options.follow_links(true).filters(globs(&["*.rs"])));
    assert_eq!(listed, ["a.rs", "link/b.rs"]);
}

// ---- roots ----

/// Regression: a root was listed whatever the globs were: `list -g '*.tmp' victim` named `victim`
/// itself.
#[test]
fn root_not_matching_filters_not_listed() {
    let temp = TempDir::new();
    build(temp.path(), &[("victim/a.tmp", "1"), ("victim/b", "22"), ("victim/zzz/", "")]);
    let root = temp.join("victim");
    let both = |globs_of: &[&str], types: &[FileType]| {
        let filters = globs(globs_of).types(types.to_vec());
        list(&root, |options| options.filters(filters.clone()))
    };
    let nothing: &[&str] = &[];
    assert_eq!(both(&["*.tmp"], &[]), ["a.tmp"]);
    assert_eq!(both(&["!*"], &[]), nothing);
    assert_eq!(both(&["zz"], &[FileType::Directory]), nothing);
    assert_eq!(both(&["zzz"], &[FileType::Directory]), ["zzz"]);
    assert_eq!(both(&["victim"], &[]), [""]);
    assert_eq!(both(&["victim"], &[FileType::File]), nothing);
    assert_eq!(both(&["!a.tmp"], &[]), ["", "b", "zzz"]);
    assert_eq!(both(&["!victim"], &[]), nothing, "with all that is below");
    assert_eq!(both(&["/victim"], &[]), nothing, "a path below the root");
    let filters = globs(&["!victim"]);
    assert!(list(&root, |options| options.filters(filters.clone()).min_depth(1)).is_empty());
    let filters = globs(&["!victim", "!*.tmp"]).read_roots(true);
    assert_eq!(list(&root, |options| options.filters(filters.clone())), ["b", "zzz"]);
    let got = totals(scan(&root).filters(globs(&["!victim"])));
    assert_eq!((got.entries(), skipped(&got.diagnostics, SkipReason::Excluded)), (0, 1));
}

#[test]
fn roots_several_each_judged_by_own_name() {
    let temp = TempDir::new();
    build(temp.path(), &[("a.c/x.rs", ""), ("b.rs/x.c", ""), ("c.rs", ""), ("d.c", "")]);
    let names = ["a.c", "b.rs", "c.rs", "d.c"];
    let list = |patterns: &[&str]| {
        let roots = names.map(|name| temp.join(name));
        let (listed, diagnostics) = paths(ScanOptions::new(roots).filters(globs(patterns)));
        assert_complete(&diagnostics, format!("{patterns:?}"));
        let start = temp.path().to_str().unwrap().len() + 1;
        let mut names: Vec<String> = readable(&listed)
            .iter()
            .map(|path| path[start..].replace(MAIN_SEPARATOR, "/"))
            .collect();
        names.sort();
        names
    };
    assert_eq!(list(&["*.rs"]), ["a.c/x.rs", "b.rs", "c.rs"]);
    assert_eq!(list(&["!*.rs"]), ["a.c", "d.c"]);
    assert_eq!(list(&["!*.c"]), ["b.rs", "c.rs"]);
}

#[cfg(unix)]
#[test]
fn root_link_judged_by_own_name_and_type() {
    let temp = TempDir::new();
    build(temp.path(), &[("tree/file", "")]);
    std::os::unix::fs::symlink("tree", temp.join("link")).unwrap();
    let link = temp.join("link");
    let (tree, nothing): (&[&str], &[&str]) = (&["", "file"], &[]);
    assert_eq!(list(&link, |options| options.filters(globs(&["tree"]))), nothing);
    assert_eq!(list(&link, |options| options.filters(globs(&["link"]))), [""]);
    assert_eq!(list(&link, |options| options.filters(types(&[FileType::Directory]))), nothing);
    let followed = |patterns: &[&str]| {
        list(&link, |options| options.follow_links(true).filters(globs(patterns)))
    };
    assert_eq!(followed(&["link", "file"]), tree);
    assert_eq!(followed(&["tree"]), nothing);
    assert_eq!(followed(&["!link/"]), nothing);
}

#[test]
fn root_ignored_by_rules_above_left_out() {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            (".git/HEAD", ""),
            (".git/info/exclude", "excluded\n"),
            (".gitignore", "/target/\n*.log\n!keep.log\n"),
            ("target/x", ""),
            ("sub/target/x", ""),
            ("a.log", ""),
            ("keep.log", ""),
            ("excluded/x", ""),
            ("inner/.git/HEAD", ""),
            ("inner/x", ""),
            ("inner/.gitignore", "*\n!x\n"),
        ],
    );
    let listed = |root: &str| list(&temp.join(root), |options| options.filters(gitignore()));
    for root in ["target", "a.log", "excluded", ".git", "inner/.git"] {
        assert!(listed(root).is_empty(), "{root}");
    }
    assert_eq!(listed("sub/target"), ["", "x"], "the rule is anchored");
    assert_eq!(listed("keep.log"), [""]);
    assert_eq!(listed("inner"), ["", "x"], "a repository of its own");
    let got = totals(scan(temp.join("target")).filters(gitignore()));
    assert_eq!((got.entries(), skipped(&got.diagnostics, SkipReason::Gitignore)), (0, 1));
}

/// As a line of a gitignore file, such a glob would be a comment, or empty, and would match
/// everything.
#[test]
fn globs_gitignore_special_characters_match_literally() {
    let temp = TempDir::new();
    build(temp.path(), &[("#x", ""), ("x", "")]);
    assert_eq!(list(temp.path(), |options| options.filters(globs(&["#*"]))), ["#x"]);
    for empty in ["", "!"] {
        let error = scan(temp.path()).filters(globs(&[empty])).plan().unwrap_err();
        assert!(matches!(&error, Error::InvalidPattern(..)), "{error}");
    }
}

// ---- gitignore ----

#[test]
fn gitignore_far_ancestor_applies_unreadable_file_is_error() {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            (".gitignore", "*.log\n/a/b/anchored\nc/named\n"),
            ("a/.gitignore", "/b/c/d/far\n"),
            ("a/b/anchored", ""),
            ("a/b/c/d/anchored", ""),
            ("a/b/c/d/far", ""),
            ("a/b/c/d/near", ""),
            ("a/b/c/d/x.log", ""),
            ("a/b/c/named", ""),
            ("c/named", ""),
        ],
    );
    let listed = list(temp.path(), |options| options.filters(gitignore()));
    let files = |path: &&String| temp.join(path).is_file();
    let files: Vec<_> = listed.iter().filter(files).collect();
    assert_eq!(
        files,
        [".gitignore", "a/.gitignore", "a/b/c/d/anchored", "a/b/c/d/near", "a/b/c/named"]
    );
    // Longer than every file of rules: a hole.
    let rules = std::fs::File::create(temp.join("a/b/.gitignore")).unwrap();
    rules.set_len((16 << 20) + 1).unwrap();
    let (listed, diagnostics) = paths(scan(temp.path()).filters(gitignore()));
    let by: Vec<_> = diagnostics.errors_by.into_iter().collect();
    assert_eq!(by, [((Operation::ReadRules, FaultKind::InvalidData), 1)]);
    assert_eq!(listed.len(), 12, "{:?}", readable(&listed));
}

#[test]
fn gitignore_rules_nest_negate_and_anchor() {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            (".git/HEAD", ""),
            (".git/objects/x", ""),
            (".gitignore", "# comment\n*.log\n!keep.log\n/anchored\nbuild/\nsub/only_here\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("anchored", ""),
            ("deep/anchored", ""),
            ("build/x", ""),
            ("deep/build/x", ""),
            ("deep/er/build", "a file, no directory"),
            ("sub/only_here", ""),
            ("deep/sub/only_here", ""),
            ("nested/.gitignore", "!a.log\n*.txt\n/keep.log\n"),
            ("nested/a.log", ""),
            ("nested/b.log", ""),
            ("nested/c.txt", ""),
            ("nested/keep.log", ""),
            ("nested/deep/keep.log", ""),
            ("nested/deep/c.txt", ""),
            ("c.txt", ""),
            ("nested/.git", "a file, as in a worktree"),
        ],
    );
    let listed = list(temp.path(), |options| options.filters(gitignore()));
    assert_eq!(
        listed,
        [
            "",
            ".gitignore",
            "c.txt",
            "deep",
            "deep/anchored",
            "deep/er",
            "deep/er/build",
            "deep/sub",
            "deep/sub/only_here",
            "keep.log",
            "nested",
            "nested/.gitignore",
            "nested/a.log",
            "nested/deep",
            "nested/deep/keep.log",
            "sub",
        ]
    );
    let got = totals(scan(temp.path()).filters(gitignore()));
    // .git, a.log, anchored, two directories build, only_here; four files and .git in nested.
    assert_eq!(skipped(&got.diagnostics, SkipReason::Gitignore), 11);
}

#[test]
fn gitignore_repository_above_root_applies() {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            (".gitignore", "*.outside\n"),
            ("repo/.git/info/exclude", "*.excluded\n"),
            ("repo/.gitignore", "*.log\n/root/anchored\n/anchored\n"),
            ("repo/root/.gitignore", "!keep.log\n"),
            ("repo/root/x.log", ""),
            ("repo/root/keep.log", ""),
            ("repo/root/x.excluded", ""),
            ("repo/root/x.outside", ""),
            ("repo/root/anchored", ""),
            ("repo/root/below/anchored", ""),
            ("repo/root/below/x.log", ""),
        ],
    );
    let listed = list(&temp.join("repo/root"), |options| options.filters(gitignore()));
    assert_eq!(listed, ["", ".gitignore", "below", "below/anchored", "keep.log", "x.outside"]);
}

#[test]
fn gitignore_without_repository_rules_above_ignored() {
    let temp = TempDir::new();
    build(
        temp.path(),
        &[
            (".gitignore", "*\n"),
            ("root/.gitignore", "*.log\n"),
            ("root/x.log", ""),
            ("root/x", ""),
        ],
    );
    let listed = list(&temp.join("root"), |options| options.filters(gitignore()));
    assert_eq!(listed, ["", ".gitignore", "x"]);
}

// ---- depth ----

#[test]
fn max_depth_directory_not_read() {
    let temp = sources();
    let whole = list(temp.path(), |options| options);
    for depth in 0..5 {
        let listed = list(temp.path(), |options| options.max_depth(depth));
        let expected: Vec<String> =
            whole.iter().filter(|path| depth_of(path) <= depth).cloned().collect();
        assert_eq!(listed, expected, "{depth}");
    }
    for (reader, order, threads) in combinations() {
        let options = scan(temp.path()).reader(reader).order(order).threads(threads);
        let got = totals(options.max_depth(1));
        assert_eq!((got.directories, got.files), (4, 2));
        assert_eq!(skipped(&got.diagnostics, SkipReason::MaxDepth), 3);
        let known = oracle(temp.path()).counts;
        let own = known.directories_allocated_size / 5 * 4;
        assert!(
            known.allocation_unknown || got.sizes.directories_allocated == own,
            "all are of one block"
        );
    }
}

#[test]
fn min_depth_entries_above_not_listed() {
    let temp = sources();
    let whole = list(temp.path(), |options| options);
    for least in 0..5 {
        let listed = list(temp.path(), |options| options.min_depth(least));
        let expected: Vec<String> =
            whole.iter().filter(|path| depth_of(path) >= least).cloned().collect();
        assert_eq!(listed, expected, "{least}");
    }
    // Filters that are set later do not take it back.
    let two = |options: ScanOptions| options.max_depth(2).min_depth(2).filters(Filters::new());
    let exactly_two = list(temp.path(), two);
    assert_eq!(exactly_two, ["build/out.rs", "src/build", "src/deep", "src/one.rs", "src/two.c"]);
}

/// A table once held the files that a reader drops after the query, because only directories are
/// passed through.
#[test]
fn min_depth_files_above_not_in_table() {
    let temp = sources();
    for reader in readers() {
        for least in 0..5 {
            let options = scan(temp.path()).reader(reader).min_depth(least);
            let table = Table::read_with(options.clone(), FieldMask::empty()).unwrap();
            let files = table.iter().filter(|&row| table.file_type(row) == FileType::File);
            let mut in_table: Vec<_> = files.map(|row| table.path(row)).collect();
            let walk = options.into_iter().map(Result::unwrap);
            let mut walked: Vec<_> = walk
                .filter(|entry| entry.file_type().is_file())
                .map(|entry| entry.path())
                .collect();
            in_table.sort();
            walked.sort();
            assert_eq!(in_table, walked, "{} {least}", reader.as_str());
            assert_eq!(table.grand_total().files as usize, walked.len());
        }
    }
}

fn depth_of(path: &str) -> u32 {
    if path.is_empty() {
        return 0;
    }
    path.split('/').count() as u32
}

#[test]
fn depths_min_above_max_is_error() {
    let error = scan(".").max_depth(1).min_depth(2).plan();
    assert!(matches!(error, Err(Error::InvalidDepths { min: 2, max: 1 })));
}

#[test]
fn filters_matching_everything_change_nothing() {
    let temp = TempDir::new();
    trees::basic(temp.path());
    let expected = oracle(temp.path());
    for (reader, order, threads) in combinations() {
        let options = scan(temp.path())
            .reader(reader)
            .order(order)
            .threads(threads)
            .filters(globs(&["!no such name"]));
        counts(&totals(options.clone())).assert_are(&expected.counts, order.as_str());
        assert_eq!(paths(options).0, expected.paths);
    }
}

// ---- types and attributes ----

fn types(types: &[FileType]) -> Filters {
    Filters::new().types(types.to_vec())
}

fn conditions(conditions: Conditions) -> Filters {
    Filters::new().conditions(conditions)
}

#[test]
fn types_filtered_directories_still_read() {
    let temp = sources();
    let root = temp.path();
    let files = list(root, |options| options.filters(types(&[FileType::File])));
    let all = list(root, |options| options);
    let directories = list(root, |options| options.filters(types(&[FileType::Directory])));
    assert_eq!(files.len(), 7, "{files:?}");
    assert_eq!(directories, ["", "build", "docs", "src", "src/deep"]);
    assert_eq!(files.len() + directories.len(), all.len());
    let both = types(&[FileType::File, FileType::Directory]);
    assert_eq!(list(root, |options| options.filters(both.clone())), all);
    let none = list(root, |options| options.filters(types(&[FileType::Socket])));
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn size_conditions_match_files_only() {
    let temp = sources();
    let sized = |min_size, max_size| {
        let mut sizes = Conditions::new();
        (sizes.min_size, sizes.max_size) = (min_size, max_size);
        let filters = conditions(sizes);
        list(temp.path(), |options| options.filters(filters.clone()))
    };
    assert_eq!(sized(Some(6), None), ["build/out.rs", "src/build"]);
    assert_eq!(sized(None, Some(1)), ["top.rs"]);
    assert_eq!(sized(Some(4), Some(5)), ["src/deep/three.rs", "src/two.c"]);
    assert!(sized(Some(1000), None).is_empty());
}

#[test]
fn empty_matches_empty_files_and_directories() {
    let temp = TempDir::new();
    let root = temp.path();
    build(root, &[("a/b/c/", ""), ("hidden/.x/", ""), ("full/one", "1"), ("full/zero", "")]);
    build(root, &[("ignored/x.o", "o"), ("ignored/.gitignore", "*.o")]);
    let empty = |more: Filters| list(root, |options| options.filters(more.clone().empty(true)));
    let all = ["a/b/c", "full/zero", "hidden/.x"];
    assert_eq!(empty(Filters::default()), all);
    // Entries that other filters hide make a directory not empty.
    assert_eq!(empty(Filters::new().exclude_hidden(true)), ["a/b/c", "full/zero"]);
    assert_eq!(empty(gitignore()), all);
    assert_eq!(empty(types(&[FileType::Directory])), ["a/b/c", "hidden/.x"]);
    assert_eq!(empty(types(&[FileType::File])), ["full/zero"]);
    assert!(empty(types(&[FileType::Symlink])).is_empty());
    // The last level is not read.
    let shallow = |options: ScanOptions| {
        let filters = Filters::new().empty(true);
        options.filters(filters).max_depth(3)
    };
    assert_eq!(list(root, shallow), all);
    let itself = list(&root.join("a/b/c"), |options| options.filters(Filters::new().empty(true)));
    assert_eq!(itself, [""]);
}

#[cfg(unix)]
#[test]
fn broken_links_are_those_without_target() {
    use std::os::unix::fs::symlink;

    let temp = TempDir::new();
    let root = temp.path();
    build(root, &[("dir/file", "f")]);
    for (target, link) in [
        ("file", "dir/good"),
        ("..", "dir/up"),
        ("nowhere", "dir/dangling"),
        ("dir/file/x", "through_file"),
        ("loop_b", "loop_a"),
        ("loop_a", "loop_b"),
        ("dir/dangling", "to_dangling"),
        ("dir/good", "to_good"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink("x".repeat(300), root.join("too_long")).unwrap();
    let expected = ["dir/dangling", "loop_a", "loop_b", "through_file", "to_dangling", "too_long"];
    let filters = Filters::new().broken_links(true);
    assert_eq!(list(root, |options| options.filters(filters.clone())), expected);
    let itself = list(&root.join("loop_a"), |options| options.filters(filters.clone()));
    assert_eq!(itself, [""]);
}

#[test]
fn time_conditions_match_all_types_old_directories_read() {
    let temp = sources();
    let root = temp.path();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for path in ["src/deep/three.rs", "src/one.rs"] {
        let file = std::fs::File::options().write(true).open(root.join(path)).unwrap();
        file.set_modified(old).unwrap();
    }
    let at = 1_000_000_000_000_000_000;
    let timed = |newer, older| {
        let mut times = Conditions::new();
        (times.newer, times.older) = (newer, older);
        let filters = conditions(times);
        list(root, |options| options.filters(filters.clone()))
    };
    let found = ["src/deep/three.rs", "src/one.rs"];
    assert_eq!(timed(None, Some(at + 1)), found);
    assert_eq!(timed(Some(at - 1), Some(at + 1)), found);
    assert!(timed(None, Some(at)).is_empty());
    let newer = timed(Some(at), None);
    assert_eq!(newer.len(), list(root, |options| options).len() - 2);
    assert!(newer.iter().any(|path| path == "src/deep"), "{newer:?}");
}

#[test]
fn filters_combined_all_must_match() {
    let temp = sources();
    let filters = Filters::new()
        .globs(["*.rs", "!build"])
        .types(vec![FileType::File])
        .conditions(Conditions::new().min_size(2));
    let listed = list(temp.path(), |options| options.filters(filters.clone()));
    assert_eq!(listed, ["src/deep/three.rs", "src/one.rs"]);
}

#[test]
fn filters_totals_equal_list() {
    let temp = sources();
    for reader in readers() {
        let filters = conditions(Conditions::new().min_size(4));
        let options = scan(temp.path()).reader(reader).filters(filters);
        let totals = totals(options);
        assert_eq!((totals.files, totals.directories), (4, 0), "{}", reader.as_str());
        assert_eq!(totals.sizes.apparent, 4 + 5 + 6 + 19, "{}", reader.as_str());
    }
}
