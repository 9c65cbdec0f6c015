//! Rules of `.gitignore` files, compared with git.
//!
//! Only for Unix: Git for Windows rejects verbatim paths, and is not available under Wine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use transect::{FileType, Filters};
use transect_testkit::{TempDir, loudly_skip};

use crate::support::{assert_complete, paths, scan};

/// Runs git without the user's settings; `None` if it is not installed.
fn git(repository: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(arguments).stderr(Stdio::inherit());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("XDG_CONFIG_HOME", repository.join(".git"));
    let output = command.output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(output)
}

/// Returns the files that git would add, sorted; `None` without git.
fn files_of_git(root: &Path) -> Option<Vec<Vec<u8>>> {
    git(root, &["init", "--quiet"])?;
    let listed = git(root, &["ls-files", "--others", "--exclude-standard", "-z"])?.stdout;
    let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    let mut paths: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
    paths.sort();
    Some(paths)
}

/// Returns the files that a walk delivers, relative to the root, sorted.
fn files_of_walk(root: &Path) -> Vec<Vec<u8>> {
    let filters = Filters::new().gitignore(true).types([FileType::File]);
    let (listed, diagnostics) = paths(scan(root).filters(filters));
    assert_complete(&diagnostics, "rules");
    let below = root.as_os_str().len() + 1;
    let mut paths: Vec<Vec<u8>> = listed.iter().map(|path| path[below..].to_vec()).collect();
    paths.sort();
    paths
}

fn write(root: &Path, path: &[u8], content: &[u8]) {
    let path = root.join(OsStr::from_bytes(path));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Creates directories, each with its rules and the same files, compares, and returns how many files
/// were compared; `None` without git.
fn compare(rules: &[Vec<u8>], files: &[Vec<u8>]) -> Option<usize> {
    let temp = TempDir::new();
    for (number, rules) in rules.iter().enumerate() {
        let at = |path: &[u8]| [format!("{number}/").as_bytes(), path].concat();
        write(temp.path(), &at(b".gitignore"), rules);
        files.iter().for_each(|file| write(temp.path(), &at(file), b""));
    }
    let expected = files_of_git(temp.path())?;
    let listed = files_of_walk(temp.path());
    let odd = |a: &[Vec<u8>], b: &[Vec<u8>]| a.iter().find(|path| !b.contains(path)).cloned();
    if listed != expected {
        for (path, what) in
            [(odd(&listed, &expected), "git ignores"), (odd(&expected, &listed), "git lists")]
        {
            let Some(path) = path else { continue };
            let number = path.split(|&byte| byte == b'/').next().unwrap();
            let number: usize = std::str::from_utf8(number).unwrap().parse().unwrap();
            let (rules, path) = (rules[number].escape_ascii(), path.escape_ascii());
            panic!("{what} {path} with the rules {rules}");
        }
    }
    Some(rules.len() * files.len())
}

/// Compares directories of one line of rules each.
fn compare_lines(test: &str, lines: &[&[u8]], files: &[&[u8]]) {
    let owned = |all: &[&[u8]]| all.iter().map(|one| one.to_vec()).collect::<Vec<_>>();
    if compare(&owned(lines), &owned(files)).is_none() {
        loudly_skip(test, "git is not installed");
    }
}

/// Regression: each of these lines hid or showed a wrong file, or ended the walk with an error.
#[test]
fn gitignore_unusual_lines_equal_git() {
    let lines: [&[u8]; 44] = [
        b"Icon\r\r\n",
        b"Icon\r",
        b"x\r\n",
        b"\r\n",
        b"{a,b}",
        b"!",
        b"!!a",
        b"\\!a",
        b"\\#a",
        b"#a",
        b"[[:digit:]]",
        b"[![:alpha:]]",
        b"[\\]]",
        b"[]]",
        b"[!]]",
        b"[a\\-z]",
        b"[z-a]",
        b"[!z-a]",
        b"[a-]",
        b"[-a]",
        b"[^a]",
        b"[[:foo:]]",
        b"[[:]",
        b"[[:a]",
        b"[[a]]",
        b"a\t",
        b"a ",
        b"a\\ ",
        b"a\\ \\  ",
        b"foo[",
        b"trail\\\\ ",
        b"trail\\",
        b"\xff",
        b"?",
        b"??",
        b"\xc3?",
        b"\xef\xbb\xbfa",
        b"a\n\xef\xbb\xbfb",
        b"a\0b",
        b"*\n!a",
        b"/",
        b"//",
        b"//a",
        b" a",
    ];
    let files: [&[u8]; 27] = [
        b"Icon",
        b"Icon\r",
        b"Icon\r\r",
        b"x",
        b"x\r",
        b"\r",
        b"a",
        b"b",
        b"{a,b}",
        b"!",
        b"!a",
        b"#a",
        b"7",
        b"]",
        b"[",
        b"-",
        b"\\",
        b"a ",
        b"a  ",
        b"a\t",
        b"foo[",
        b"trail\\",
        b"\xff",
        "\u{e4}".as_bytes(),
        b"\xef\xbb\xbfb",
        b":",
        b" a",
    ];
    compare_lines("gitignore_unusual_lines_equal_git", &lines, &files);
}

#[test]
fn gitignore_paths_and_directories_equal_git() {
    let lines: [&[u8]; 24] = [
        b"a/",
        b"/a",
        b"a/b",
        b"/a/b/",
        b"**/b",
        b"**/b/",
        b"a/**",
        b"a/**/b",
        b"/**/b/c",
        b"**",
        b"*",
        b"*/",
        b"*/b",
        b"a/*",
        b"a/*\n!a/b",
        b"a\n!a/b",
        b"a/b/**/",
        b"a/***/c",
        b"**\\/b",
        b"a/**b",
        b"a/[b/]",
        b"a\\/b",
        b"*/*/c",
        b"/*\n!/d\n/d/*\n!/d/b",
    ];
    let files: [&[u8]; 8] =
        [b"a/b/c", b"a/c", b"a/x/b/c", b"b/c", b"b/b", b"c", b"d/b", b"d/e/a/b/c"];
    compare_lines("gitignore_paths_and_directories_equal_git", &lines, &files);
}

#[test]
fn gitignore_classes_equal_git_for_every_byte() {
    let names = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
        "upper", "xdigit", "none",
    ];
    let rules = names.map(|name| format!("[[:{name}:]]").into_bytes());
    let files: Vec<Vec<u8>> =
        (1..=u8::MAX).filter(|byte| !b"/.".contains(byte)).map(|byte| vec![byte]).collect();
    if compare(&rules, &files).is_none() {
        loudly_skip("gitignore_classes_equal_git_for_every_byte", "git is not installed");
    }
}

/// Git does not read rules through a link in the work tree.
#[test]
fn gitignore_link_to_rules_not_read() {
    let temp = TempDir::new();
    write(temp.path(), b"rules", b"a\n");
    write(temp.path(), b"a", b"");
    std::os::unix::fs::symlink("rules", temp.join(".gitignore")).unwrap();
    assert_eq!(files_of_walk(temp.path()), [&b"a"[..], b"rules"]);
}

/// Returns parts of patterns, and names that have something in common with them.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let special: [&[u8]; 30] = [
        b"*",
        b"*",
        b"**",
        b"**/",
        b"/**",
        b"/**/",
        b"***",
        b"?",
        b"/",
        b"/",
        b"\\",
        b"\\\\",
        b"\\*",
        b"\\ ",
        b" ",
        b"[",
        b"[ab]",
        b"[!a]",
        b"[^b]",
        b"[a-c]",
        b"[c-a]",
        b"[]-]",
        b"[[:alpha:]]",
        b"[[:punct:][:space:]]",
        b"[\\]a]",
        b"[a\\-c]",
        b"[!/]",
        b"\r",
        b"!",
        b"#",
    ];
    let special = select(special.map(<[u8]>::to_vec).to_vec());
    prop_oneof![special, name_part(), name_part()]
}

fn name_part() -> impl Strategy<Value = Vec<u8>> {
    let plain: [&[u8]; 20] = [
        b"a",
        b"a",
        b"a",
        b"b",
        b"b",
        b"c",
        b"A",
        b"-",
        b"]",
        b"[",
        b"\\",
        b" ",
        b"\t",
        b"\r",
        b"{a,b}",
        b".b",
        b"1",
        b"\xff",
        "\u{e4}".as_bytes(),
        b"*",
    ];
    select(plain.map(<[u8]>::to_vec).to_vec())
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let start = select(vec![&b""[..], b"", b"", b"", b"!", b"/", b"**/", b"\\!"]);
    let end = select(vec![&b""[..], b"", b"", b"", b"/", b" ", b"\r", b"/**"]);
    (start, vec(part(), 1..6), end)
        .prop_map(|(start, parts, end)| [start, &parts.concat(), end].concat())
        .prop_filter("git's answer depends on its version", |line| !is_star_in_name(line))
}

/// Returns whether two stars follow literal bytes of a name (`a**/b`). Older versions of git match the
/// rest as if it began after a slash.
fn is_star_in_name(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"!").unwrap_or(line);
    let line = line.strip_prefix(b"/").unwrap_or(line);
    let literal = line.iter().take_while(|byte| !b"*?[\\".contains(byte)).count();
    line[literal..].starts_with(b"**") && literal > 0 && line[literal - 1] != b'/'
}

/// Returns files in a few directories that can exist side by side: none is a directory of another
/// one.
fn files() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let name = || vec(name_part(), 1..4).prop_map(|parts| parts.concat());
    let file = (vec(0_usize..3, 0..3), name());
    (vec(name(), 3), vec(file, 50)).prop_map(|(dirs, files)| {
        let path = |(levels, name): &(Vec<usize>, Vec<u8>)| {
            let levels = levels.iter().map(|&level| &dirs[level]).chain([name]);
            levels.map(Vec::as_slice).collect::<Vec<_>>().join(&b'/')
        };
        let is_free = |file: &(_, Vec<u8>)| !dirs.contains(&file.1);
        let mut files: Vec<Vec<u8>> = files.iter().filter(|file| is_free(file)).map(path).collect();
        files.sort();
        files.dedup();
        files
    })
}

/// `TRANSECT_GITIGNORE_CASES` is how many pairs of a directory's rules and a file to compare, instead
/// of a sample.
#[test]
fn gitignore_generated_rules_equal_git() {
    let cases = std::env::var("TRANSECT_GITIGNORE_CASES");
    let cases = cases.ok().map_or(2_000, |cases| cases.parse().unwrap());
    let rules = vec(vec(line(), 1..4).prop_map(|lines| lines.join(&b'\n')), 40);
    let mut runner = TestRunner::default();
    let mut compared = 0;
    while compared < cases {
        let (rules, files) = (&rules, files()).new_tree(&mut runner).unwrap().current();
        let Some(count) = compare(&rules, &files) else {
            return loudly_skip("gitignore_generated_rules_equal_git", "git is not installed");
        };
        compared += count;
    }
}
