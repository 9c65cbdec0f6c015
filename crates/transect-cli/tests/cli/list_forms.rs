//! What `list` writes: JSON, CSV, columns, sizes, colours.

use std::os::unix::ffi::OsStrExt;

use crate::harness::{TestEnv, skip};
use crate::terminal::on_terminal;
use crate::tree;

/// Returns the objects that `list --json` prints, one per line.
pub(crate) fn objects(env: &TestEnv, args: &[&str]) -> Vec<serde_json::Value> {
    let listed = env.transect(["list", "--json"].iter().chain(args)).exits(0).quiet();
    let lines = listed.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("an object a line")).collect()
}

#[test]
fn list_json_matches_system() {
    use std::os::unix::fs::MetadataExt;

    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let columns = "name,path,type,size,allocated,mtime,ctime,atime,mode,uid,gid,nlink,inode,device";
    let listed = objects(&env, &["-c", columns, "tree"]);
    assert_eq!(listed.len(), tree::paths(&env, "tree").len());
    let mut not_text = 0;
    for object in &listed {
        assert_eq!(
            object.as_object().unwrap().len(),
            16,
            "every column, and name_raw and path_raw"
        );
        let path = match object["path_raw"].as_str() {
            None => object["path"].as_str().unwrap().as_bytes().to_vec(),
            Some(raw) => {
                not_text += 1;
                let raw = raw.as_bytes();
                let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
                raw.chunks(2).map(|pair| byte(pair).unwrap()).collect()
            }
        };
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(&path)).to_owned();
        // The path is too long for one system call.
        if path.as_os_str().len() > 1000 {
            continue;
        }
        let is = env.path(&path).symlink_metadata().unwrap();
        let number =
            |key: &str| object[key].as_i64().unwrap_or_else(|| panic!("{key} of {object}"));
        assert_eq!(number("size"), is.size() as i64, "{path:?}");
        assert_eq!(number("allocated"), is.blocks() as i64 * 512, "{path:?}");
        assert_eq!(number("mode"), i64::from(is.mode()), "{path:?}");
        assert_eq!(number("nlink"), is.nlink() as i64, "{path:?}");
        assert_eq!(number("inode"), is.ino() as i64, "{path:?}");
        assert_eq!(number("device"), is.dev() as i64, "{path:?}");
        assert_eq!((number("uid"), number("gid")), (is.uid().into(), is.gid().into()));
        assert_eq!(number("mtime"), is.mtime() * 1_000_000_000 + is.mtime_nsec(), "{path:?}");
        assert_eq!(number("ctime"), is.ctime() * 1_000_000_000 + is.ctime_nsec(), "{path:?}");
        assert_eq!(object["type"] == "directory", is.is_dir(), "{path:?}");
        assert_eq!(object["type"] == "symlink", is.is_symlink(), "{path:?}");
    }
    assert!(not_text > 1, "names that are not UTF-8");
}

#[test]
fn list_csv_matches_find() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/one", 10);
    env.write("tree/sub/two", 20_000);
    std::fs::hard_link(env.path("tree/one"), env.path("tree/sub/three")).unwrap();
    if !env.has("find") {
        return skip("list_csv_matches_find", "there is no find").unwrap_or_default();
    }
    let listed = env.transect(["list", "--csv", "-c", "size,inode,nlink,uid,gid,path", "tree"]);
    let listed = listed.exits(0).quiet().stdout_text();
    let (header, rows) = listed.split_once('\n').unwrap();
    assert_eq!(header, "size,inode,nlink,uid,gid,path");
    let found = env.sh("find tree -printf '%s,%i,%n,%U,%G,\"%p\"\\n' | sort").stdout_text();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, found.lines().collect::<Vec<_>>());
    assert_eq!(rows.len(), 5);
}

#[test]
fn list_csv_quotes_special_fields() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/a, \"b\"\nc", 3);
    let listed = env.transect(["list", "--csv", "-c", "path,size", "-t", "f", "tree"]);
    assert_eq!(listed.exits(0).quiet().stdout_text(), "path,size\n\"tree/a, \"\"b\"\"\nc\",3\n");
}

/// Names that spreadsheets take for formulas are those of the files: a prefix would name others.
#[test]
fn list_csv_names_like_formulas_unchanged() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let names = ["+1", "-1", "=1+1", "@SUM(1)"];
    names.iter().for_each(|name| env.text(format!("tree/{name}"), ""));
    let args = ["list", "--csv", "-c", "name", "-t", "f", "--sort", "name", "tree"];
    let listed = env.transect(args).exits(0).quiet().stdout_text();
    assert_eq!(listed, "name\n\"+1\"\n\"-1\"\n\"=1+1\"\n\"@SUM(1)\"\n");
}

#[test]
fn list_long_matches_ls() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/plain", 10);
    env.chmod(&env.path("tree/plain"), 0o4750);
    env.chmod(&env.path("tree/sub"), 0o1777);
    std::os::unix::fs::symlink("plain", env.path("tree/link")).unwrap();
    let listed = env.sh(r#""$TRANSECT" list --long tree | sort"#).exits(0).quiet().stdout_text();
    for path in ["tree", "tree/sub", "tree/plain", "tree/link"] {
        let style = "--time-style='+%Y-%m-%d %H:%M:%S'";
        let shown = env.sh(&format!("ls -ld {style} {path}"));
        if shown.code != Some(0) {
            return skip("list_long_matches_ls", "ls knows no --time-style").unwrap_or_default();
        }
        let shown = shown.stdout_text();
        let shown: Vec<&str> = shown.split_whitespace().collect();
        let is_about = |line: &&str| line.split_whitespace().nth(8) == Some(path);
        let line = listed.lines().find(is_about).expect("a line of its own");
        assert_eq!(line.trim_end(), line);
        let line: Vec<&str> = line.split_whitespace().collect();
        // Mode, links, owner, group; then the size with a unit, the date, the time and the path.
        assert_eq!(line[..4], shown[..4], "{path}");
        assert_eq!(line[6..], shown[5..], "{path}");
    }
    assert!(listed.contains("  10 B  "), "{listed}");
}

#[test]
fn list_time_out_of_range_shown_as_after() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/future", 1);
    if env.sh("touch -d 2300-01-01 tree/future && stat -c %y tree/future | grep 2300").code
        != Some(0)
    {
        let test = "list_time_out_of_range_shown_as_after";
        return skip(test, "this file system does not reach so far").unwrap_or_default();
    }
    let shown = env.transect(["list", "-c", "mtime,name", "tree/future"]).exits(0).quiet();
    assert!(shown.stdout_text().trim_start().starts_with("after 2262-04-1"), "{}", shown.text());
    let object = objects(&env, &["-c", "mtime", "tree/future"]).remove(0);
    assert_eq!(object["mtime"], i64::MAX);
    let newest = env.transect(["list", "--sort", "mtime", "-n", "1", "tree"]).exits(0).quiet();
    assert_eq!(newest.stdout_text(), "tree/future\n");
}

#[test]
fn list_bytes_have_no_unit() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/file", 1_234_567);
    let listed = env.transect(["list", "--bytes", "-c", "size,name", "-tf", "tree"]).exits(0);
    assert_eq!(listed.quiet().stdout_text(), "     1234567  file\n");
    let long = env.transect(["list", "-l", "--bytes", "-tf", "tree"]).exits(0).stdout_text();
    assert!(long.contains(" 1234567  20"), "{long}");
}

#[test]
fn list_color_as_requested() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/picture.png", 1);
    let colours = "export LS_COLORS='di=31:*.png=35'";
    let list = r#""$TRANSECT" list tree --color"#;
    let painted = env.sh(&format!("{colours} NO_COLOR=1; {list} always | cat")).exits(0).quiet();
    assert!(painted.stdout_text().contains("\x1b[31mtree\x1b[0m\n"), "{:?}", painted.stdout_text());
    assert!(painted.stdout_text().contains("\x1b[35mpicture.png\x1b[0m"));
    for arguments in ["auto", "never", "always --json", "always --csv", "always -0"] {
        let plain = env.sh(&format!("{colours}; {list} {arguments}")).exits(0).quiet();
        assert!(!plain.stdout.contains(&0x1b), "{arguments}: {}", plain.text());
    }
    let _ = env.transect(["list", "--color", "sometimes"]).exits(2);
    let test = "list_color_as_requested";
    for (when, variables, expected) in [
        ("auto", "LS_COLORS=di=31", true),
        ("auto", "LS_COLORS=di=31 NO_COLOR=1", false),
        ("always", "LS_COLORS=di=31 NO_COLOR=1", true),
        ("never", "LS_COLORS=di=31", false),
    ] {
        let Some(shown) = on_terminal(&env, test, variables, &format!("{list} {when}")) else {
            return;
        };
        assert_eq!(shown.stdout_text().contains("\x1b[31m"), expected, "{when}: {}", shown.text());
    }
}

#[test]
fn list_fits_narrow_terminals() {
    let env = TestEnv::new();
    let long = "a directory with a rather long name/and another one in it";
    env.mkdir(format!("tree/{long}"));
    env.write(format!("tree/{long}/ünïcøde 日本語日本語日本語日本語.txt"), 123_456);
    let link = env.path(format!("tree/{long}/link"));
    std::os::unix::fs::symlink("../../a directory with a rather long name", link).unwrap();
    let test = "list_fits_narrow_terminals";
    let list = |cols: usize, arguments: &str| {
        let run = format!(r#"stty cols {cols} rows 30; "$TRANSECT" list {arguments} tree"#);
        let shown = on_terminal(&env, test, "NO_COLOR=1", &run)?;
        let text = shown.exits(0).stdout_text().replace('\r', "");
        for line in text.lines() {
            let width = unicode_width(line);
            assert!(width <= cols, "{arguments}: {width} of {cols} columns: {line}");
        }
        Some(text)
    };
    for cols in [40, 60, 80, 100, 200] {
        for arguments in ["-l --total", "-l --bytes --total", "-c size,mtime,name,target"] {
            let Some(text) = list(cols, arguments) else { return };
            assert!(text.contains(" -> "), "{text}");
        }
    }
    // The order in which columns are left out.
    let Some(text) = list(40, "-l -d 0") else { return };
    assert_eq!(text.split_whitespace().count(), 4, "size, unit, date, path: {text}");
    let Some(text) = list(80, "-l -d 0") else { return };
    assert!(text.starts_with("drwx") && text.contains(':') && text.ends_with("  tree\n"), "{text}");
    assert_eq!(text.split_whitespace().count(), 7, "mode, owner, size, time, path: {text}");
    let piped = env.sh(r#"stty cols 40 2>/dev/null; "$TRANSECT" list -l tree"#).exits(0).quiet();
    assert!(piped.stdout_text().contains("/link -> ../../a directory with a rather long name\n"));
}

/// Returns the columns of a line: two for each letter of a script with wide ones.
fn unicode_width(line: &str) -> usize {
    line.chars().map(|letter| if ('\u{3000}'..'\u{a000}').contains(&letter) { 2 } else { 1 }).sum()
}

#[test]
fn list_colours_only_on_terminal() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/picture.png", 1);
    env.write("tree/program", 1);
    env.chmod(&env.path("tree/program"), 0o755);
    std::os::unix::fs::symlink("nowhere", env.path("tree/link")).unwrap();
    let test = "list_colours_only_on_terminal";
    let run = r#""$TRANSECT" list tree"#;
    let colours = "LS_COLORS='di=31:ln=32:ex=33:*.png=35'";
    let Some(shown) = crate::terminal::on_terminal(&env, test, colours, run) else {
        return;
    };
    let shown = shown.exits(0).stdout_text();
    for line in [
        "\x1b[31mtree\x1b[0m\r\n",
        "\x1b[31mtree/\x1b[0m\x1b[32mlink\x1b[0m\r\n",
        "\x1b[31mtree/\x1b[0m\x1b[33mprogram\x1b[0m\r\n",
        "\x1b[31mtree/\x1b[0m\x1b[35mpicture.png\x1b[0m\r\n",
    ] {
        assert!(shown.contains(line), "{line:?} is not in {shown:?}");
    }
    for (variables, run) in [
        (format!("NO_COLOR=1 {colours}"), run.to_owned()),
        (colours.to_owned(), format!("{run} | cat")),
        (colours.to_owned(), format!("{run} --json")),
        (colours.to_owned(), format!("{run} -0")),
    ] {
        let Some(plain) = crate::terminal::on_terminal(&env, test, &variables, &run) else {
            return;
        };
        assert!(!plain.stdout.is_empty() && !plain.stdout.contains(&0x1b), "{}", plain.text());
    }
}
