//! Pages of known trees, parsed again.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use serde_json::Value;
use transect::table::{PartialTable, TableBuilder};
use transect::{Cancel, FieldMask, Progress, ScanOptions};
use transect_remove::RemovalKind;
use transect_testkit::TempDir;

use super::*;
use crate::serve::{Action, EntryId, PageSource, Refusal};

/// Returns the page with a fixed nonce.
fn html(table: &Table, settings: &Settings) -> io::Result<String> {
    super::html(table, settings, &Nonce::predictable(1))
}

fn table(roots: &[&Path]) -> Table {
    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME);
    let plan = ScanOptions::new(roots.iter().copied()).plan().unwrap();
    plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap()
}

fn settings(max_entries: usize) -> Settings {
    Settings {
        measure: Measure::Apparent,
        max_entries,
        owner_name: |uid| format!("user {uid}"),
        read_at: 1_800_000_000,
        followed: false,
        interrupted: false,
        disk: None,
        served: None,
        removal: None,
    }
}

/// A page as its scripts read it.
struct Opened {
    about: Value,
    bytes: Vec<u8>,
}

impl Opened {
    fn of(page: &str) -> Self {
        let about = serde_json::from_str(between(page, "id=\"about\">", "</script>")).unwrap();
        let packed = STANDARD.decode(between(page, "id=\"columns\">", "</script>")).unwrap();
        Self { about, bytes: inflated(&packed) }
    }

    /// Parses an update.
    fn of_columns(columns: &[u8]) -> Self {
        let end = columns.iter().position(|&byte| byte == b'\n').unwrap();
        let about = serde_json::from_slice(&columns[..end]).unwrap();
        Self { about, bytes: inflated(&columns[end + 1..]) }
    }

    fn column(&self, name: &str) -> Vec<i64> {
        let columns = self.about["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column[0] == name).unwrap();
        let number = |at: usize| column[at].as_u64().unwrap() as usize;
        let width = match column[1].as_str().unwrap() {
            "u8" => 1,
            "u16" => 2,
            "u32" | "i32" => 4,
            _ => panic!("{column}"),
        };
        assert_eq!(number(2) % 8, 0, "{column}");
        let bytes = &self.bytes[number(2)..number(2) + width * number(3)];
        let padded = |bytes: &[u8]| {
            let mut all = [0; 8];
            all[..width].copy_from_slice(bytes);
            i64::from_le_bytes(all)
        };
        bytes.chunks(width).map(padded).collect()
    }

    fn names(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.column("names").iter().map(|&byte| byte as u8).collect();
        let names = bytes.strip_suffix(&[0]).unwrap().split(|&byte| byte == 0);
        names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect()
    }
}

fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

fn files(temp: &TempDir, files: &[(&str, usize)]) {
    for (path, bytes) in files {
        let path = temp.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![0; *bytes]).unwrap();
    }
}

#[test]
fn entries_breadth_first_largest_first() {
    let temp = TempDir::new();
    files(&temp, &[("a/small.txt", 10), ("b/c/large.rs", 500), ("b/d.mkv", 20), ("e", 100)]);
    let page = Opened::of(&html(&table(&[temp.path()]), &settings(1000)).unwrap());
    let names = page.names();
    assert_eq!(names[1..], ["b", "e", "a", "c", "d.mkv", "small.txt", "large.rs"]);
    assert_eq!(page.column("children"), [3, 2, 0, 1, 1, 0, 0, 0]);
    assert_eq!(page.column("size"), [630, 520, 100, 10, 500, 20, 10, 500]);
    assert_eq!(page.column("entries"), [8, 4, 1, 2, 2, 1, 1, 1]);
    assert_eq!(page.column("type"), [2, 2, 1, 2, 2, 1, 1, 1]);
    let kinds: Vec<i64> = page.column("kind");
    assert_eq!((kinds[0], kinds[5], kinds[7]), (255, 0, 5));
    let owners: Vec<i64> = page.column("owner");
    let owner = owners[0];
    assert!(owners.iter().all(|&other| other == owner), "one owner has it all, or none is known");
    assert!(owner == 0 || cfg!(windows), "owners have numbers");
}

#[test]
fn entries_beyond_limit_summed_up_by_directory() {
    let temp = TempDir::new();
    let mut all: Vec<(String, usize)> = (0..50).map(|n| (format!("many/{n:02}"), 7)).collect();
    all.push(("many/large".into(), 1000));
    all.push(("one".into(), 500));
    let all: Vec<(&str, usize)> = all.iter().map(|(path, size)| (path.as_str(), *size)).collect();
    files(&temp, &all);
    let table = table(&[temp.path()]);
    for most in [1, 2, 4, 7, 20, 54, 55] {
        let page = Opened::of(&html(&table, &settings(most)).unwrap());
        let shown = page.about["shown"].as_u64().unwrap() as usize;
        assert_eq!(shown, most.min(54), "of {most}");
        let (children, sizes) = (page.column("children"), page.column("size"));
        let mut next = 1;
        for (at, &count) in children.iter().enumerate() {
            let end = next + count as usize;
            if count > 0 {
                assert_eq!(
                    sizes[next..end].iter().sum::<i64>(),
                    sizes[at],
                    "{most}: nothing is lost"
                );
            }
            assert!(sizes[next..end].is_sorted_by(|a, b| a >= b), "{most}: {sizes:?}");
            next = end;
        }
        assert_eq!(next, sizes.len());
    }
    let page = Opened::of(&html(&table, &settings(4)).unwrap());
    assert_eq!(page.names()[1..], ["many", "one", "large", ""]);
    assert_eq!(page.column("size")[4], 350);
    assert_eq!(page.column("entries")[4], 50);
}

#[test]
fn roots_several_below_top_and_empty_page() {
    let temp = TempDir::new();
    files(&temp, &[("a/x", 10), ("b/y", 20)]);
    let (a, b) = (temp.join("a"), temp.join("b"));
    let page = Opened::of(&html(&table(&[&a, &b]), &settings(1)).unwrap());
    assert_eq!(page.column("type")[..3], [9, 2, 2]);
    assert_eq!(page.column("children")[..3], [2, 1, 1]);
    assert!(page.about["title"].as_str().unwrap().ends_with(" and 1 more"));
    fs::create_dir(temp.join("empty")).unwrap();
    let page = Opened::of(&html(&table(&[&temp.join("empty")]), &settings(10)).unwrap());
    assert_eq!(page.column("children"), [0]);
}

#[test]
fn partial_table_unlisted_entries_summed_up() {
    let temp = TempDir::new();
    files(&temp, &[("a/x", 10), ("a/y", 20), ("a/b/z", 40), ("c/v", 5)]);
    fs::create_dir(temp.join("a/empty")).unwrap();
    let (outline, cancel, progress) =
        (PartialTable::new(), Cancel::new(), Arc::new(Progress::new()));
    let live = LiveMap::new(outline.clone(), settings(10), Arc::clone(&progress), cancel.clone());
    let nothing = Opened::of(&live.page().unwrap().unwrap());
    assert_eq!((&nothing.about["version"], &nothing.about["reading"]), (&0.into(), &true.into()));
    assert_eq!((nothing.column("type"), nothing.column("children")), (vec![9], vec![0]));
    assert!(live.columns(0).unwrap().is_none() && live.is_reading());

    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME).partial_table(&outline);
    let options = ScanOptions::new([temp.path()]).progress(progress);
    let sink = options.plan().unwrap().run(|| builder.sink()).unwrap().sink;
    let table = sink.into_table().unwrap();
    let outlined = Opened::of_columns(&live.columns(0).unwrap().unwrap());
    assert_eq!(outlined.names()[1..], ["a", "c", "b", "", "empty"]);
    assert_eq!(outlined.column("size"), [75, 70, 5, 40, 30, 0]);
    assert_eq!(outlined.column("children"), [2, 3, 0, 0, 0, 0]);
    assert_eq!(outlined.column("entries"), [9, 6, 2, 2, 2, 1]);
    assert_eq!(outlined.about["complete"], false);
    let version = outlined.about["version"].as_u64().unwrap();
    assert_eq!((version, live.entries()), (9, 9));
    assert!(live.columns(version).unwrap().is_none());

    live.finish(table, &settings(10)).unwrap();
    let (page, columns) = (live.page().unwrap().unwrap(), live.columns(version).unwrap().unwrap());
    let (page, newer) = (Opened::of(&page), Opened::of_columns(&columns));
    assert_eq!((&page.about, &page.bytes), (&newer.about, &newer.bytes));
    assert_eq!((&newer.about["reading"], &newer.about["complete"]), (&false.into(), &true.into()));
    assert_eq!(newer.names().len(), 9);
    assert!(live.columns(newer.about["version"].as_u64().unwrap()).unwrap().is_none());
    live.abandon();
    assert!(!live.is_reading() && !live.has_ended(), "what is finished stays");
    cancel.cancel();
    assert!(live.has_ended());
}

#[test]
fn tasks_exclude_each_other() {
    let temp = TempDir::new();
    files(&temp, &[("a/x", 10), ("b", 20)]);
    let settings = Settings { removal: Some(|| Err("no trash here".to_owned())), ..settings(10) };
    let cancel = Cancel::new();
    let live = LiveMap::new(PartialTable::new(), settings, Arc::default(), cancel.clone());
    let prepare = |version, index| {
        let entry = EntryId { version, index };
        live.act(Action::PrepareRemoval { kind: RemovalKind::Delete, entry })
    };
    let refused = |answer: Result<Option<Value>, Refusal>| answer.unwrap_err().reason;
    assert_eq!(refused(prepare(0, 0)), "the tree is still being read");
    assert_eq!(live.act(Action::Rescan), Ok(None), "it is being read");

    live.finish(table(&[temp.path()]), &settings).unwrap();
    let Opened { about, .. } = Opened::of(&live.page().unwrap().unwrap());
    let version = about["version"].as_u64().unwrap();
    let plan = prepare(version, 1).unwrap().unwrap();
    let number = u128::from_str_radix(plan["confirm"].as_str().unwrap(), 16).unwrap();
    assert_eq!(live.task()["running"], false);
    let started = live.act(Action::Confirm(number)).unwrap().unwrap();
    assert_eq!(
        (&live.task()["number"], &live.task()["running"]),
        (&started["number"], &true.into())
    );
    // Until the removal has ended, nothing else begins.
    let entry = EntryId { version, index: 1 };
    for action in [
        Action::Rescan,
        Action::Confirm(number),
        Action::FindDuplicates(entry),
        Action::PrepareRemoval { kind: RemovalKind::Trash, entry },
    ] {
        assert_eq!(refused(live.act(action)), "busy: removing entries", "{action:?}");
    }
    assert_eq!(live.act(Action::Stop), Ok(None));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| live.run_tasks_until_rescan().unwrap());
        transect_testkit::wait_until("the end", || live.task()["running"] == false);
        cancel.cancel();
        assert!(!running.join().unwrap(), "no walk was requested");
    });
    assert_eq!(live.task()["outcome"]["stopped"], true, "stopped before it began");
    assert!(temp.join("a/x").exists() && temp.join("b").exists());
}

#[test]
fn live_map_abandoned_ends() {
    let live = LiveMap::new(PartialTable::new(), settings(10), Arc::default(), Cancel::new());
    assert!(live.page().unwrap().unwrap().contains("connect-src 'self'"));
    assert!(!live.has_ended());
    live.abandon();
    assert!(live.has_ended());
    assert!(live.page().unwrap().is_none() && live.columns(7).unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn columns_large_sizes_and_far_times_exact() {
    let temp = TempDir::new();
    files(&temp, &[("old", 1), ("new", 2), ("now", 3)]);
    let huge = fs::File::create(temp.join("huge")).unwrap();
    let length =
        (33..61).rev().map(|bits| 1_u64 << bits).find(|&length| huge.set_len(length).is_ok());
    for (name, seconds) in [("old", -5_000_000_000_i64), ("new", 9_000_000_000)] {
        let since = std::time::Duration::from_secs(seconds.unsigned_abs());
        let epoch = std::time::SystemTime::UNIX_EPOCH;
        let time = if seconds < 0 { epoch - since } else { epoch + since };
        fs::File::options().write(true).open(temp.join(name)).unwrap().set_modified(time).unwrap();
    }
    let page = Opened::of(&html(&table(&[temp.path()]), &settings(10)).unwrap());
    let whole = |column: &str, name: &str| {
        let place = page.names().iter().position(|other| other == name).unwrap();
        let at = page.column(&format!("{column}_at"));
        let high = at.iter().position(|&at| at as usize == place);
        let high = high.map_or(0, |at| page.column(&format!("{column}_high"))[at] as i32);
        (i64::from(high) << 32) + page.column(column)[place]
    };
    assert_eq!(Some(whole("size", "huge") as u64), length);
    assert!(whole("time", "now") > 1_600_000_000);
    // Some file systems cannot store such times.
    for name in ["old", "new"] {
        let kept = fs::File::open(temp.join(name)).unwrap();
        let kept = std::os::unix::fs::MetadataExt::mtime(&kept.metadata().unwrap());
        assert_eq!(whole("time", name), kept);
    }
}

#[cfg(unix)]
#[test]
fn names_never_become_markup() {
    let temp = TempDir::new();
    let evil = ["<img src=x onerror=\"window.ran = 1\">", "<!-- <script>", "{{script}}"];
    evil.into_iter().for_each(|name| files(&temp, &[(name, 10)]));
    // The slash makes two names of it.
    files(&temp, &[("</script><script>window.ran = 2", 1), ("\u{202e}txt.exe\n", 1)]);
    let page = html(&table(&[temp.path()]), &settings(100)).unwrap();
    assert!(!page.contains("<img"));
    assert_eq!(page.matches("<script").count(), 3, "what it is about, the columns and the script");
    assert_eq!(page.matches("</script").count(), 3);
    let names = Opened::of(&page).names();
    for name in evil.into_iter().chain(["\u{202e}txt.exe\n"]) {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
}

#[test]
fn page_loads_nothing_and_runs_only_its_script() {
    let temp = TempDir::new();
    let page = html(&table(&[temp.path()]), &settings(100)).unwrap();
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let nonce = between(policy, "script-src 'nonce-", "'");
    assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
    let own = SCRIPTS.to_owned() + STYLE;
    for address in
        ["http://", "https://", "@import", "url(", "innerHTML", "insertAdjacent", "fetch("]
    {
        assert!(!own.contains(address), "{address}");
    }
}

#[test]
fn page_reproducible_for_any_thread_count() {
    let temp = TempDir::new();
    files(&temp, &[("a/x", 10), ("b/y", 10), ("c", 10)]);
    let page = |threads| {
        let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME);
        let options = ScanOptions::new([temp.path()]).threads(threads);
        let table =
            options.plan().unwrap().run(|| builder.sink()).unwrap().sink.into_table().unwrap();
        html(&table, &settings(3)).unwrap()
    };
    assert!(page(1) == page(4));
}

/// Returns size before, size now and state of each name on a page of changes; -1 is unknown.
fn changes_by_name(page: &str) -> BTreeMap<String, (i64, i64, i64)> {
    let opened = Opened::of(page);
    let sizes = |which: &str| {
        let mut sizes = opened.column(which);
        let highs = opened.column(&format!("{which}_high"));
        for (&place, &high) in opened.column(&format!("{which}_at")).iter().zip(&highs) {
            assert_eq!(high as u32, i32::MIN as u32, "sizes are small or unknown");
            sizes[place as usize] = -1;
        }
        sizes
    };
    let (before, after, states) = (sizes("before"), sizes("after"), opened.column("states"));
    let all = opened.names().into_iter().zip(before.into_iter().zip(after).zip(states));
    all.map(|(name, ((before, after), state))| (name, (before, after, state))).collect()
}

#[test]
fn changes_sizes_before_and_now() {
    let temp = TempDir::new();
    let before = [("same", 100), ("grown", 1000), ("shrunk", 5000), ("gone/one", 700)];
    let after = [("same", 100), ("grown", 3000), ("shrunk", 1000), ("new/two", 900)];
    let in_tree = |tree: &str, listed: &[(&str, usize)]| {
        let listed: Vec<(String, usize)> =
            listed.iter().map(|(path, size)| (format!("{tree}/{path}"), *size)).collect();
        let listed: Vec<(&str, usize)> =
            listed.iter().map(|(path, size)| (path.as_str(), *size)).collect();
        files(&temp, &listed);
    };
    in_tree("a", &before);
    in_tree("b", &after);
    in_tree("a", &[("old/moved", 70), ("kind", 30)]);
    in_tree("b", &[("other/moved", 70), ("kind/inside", 40)]);
    for (tree, name) in [("a", "same"), ("b", "same"), ("a", "old/moved"), ("b", "other/moved")] {
        let file = fs::File::options().write(true).open(temp.join(tree).join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let [before, after] = ["a", "b"].map(|tree| table(&[&temp.join(tree)]));
    let row = |table: &Table, way: &[&str]| {
        let root = table.roots().next().unwrap();
        way.iter().fold(root, |row, name| table.child(row, name.as_ref()).unwrap())
    };
    let moved = [(row(&before, &["old", "moved"]), row(&after, &["other", "moved"]))];
    let comparison =
        Comparison { before: &before, after: &after, moved: &moved, before_read_at: Some(7) };
    let page = changes_html(comparison, &settings(1000), &Nonce::predictable(1)).unwrap();
    let found = changes_by_name(&page);
    for (name, expected) in [
        ("same", (100, 100, 0)),
        ("grown", (1000, 3000, 1)),
        ("shrunk", (5000, 1000, 1)),
        ("gone", (700, -1, 1)),
        ("one", (700, -1, 0)),
        ("new", (-1, 900, 1)),
        ("two", (-1, 900, 0)),
        ("moved", (70, 70, 2)),
        ("old", (70, -1, 1)),
        ("other", (-1, 70, 1)),
        ("kind", (30, 40, 1)),
        ("inside", (-1, 40, 0)),
    ] {
        assert_eq!(found[name], expected, "{name}");
    }
    let about = Opened::of(&page).about;
    assert_eq!(about["changes"]["before_read_at"], 7);
    assert_eq!(about["changes"]["before"], 100 + 1000 + 5000 + 700 + 70 + 30);
    assert_eq!(about["changes"]["after"], 100 + 3000 + 1000 + 900 + 70 + 40);
    let from = Opened::of(&page).column("moved_from");
    let from: Vec<u8> = from.iter().map(|&byte| byte as u8).collect();
    let expected = Path::new("a").join("old").join("moved");
    assert!(String::from_utf8(from).unwrap().ends_with(&format!("{}\0", expected.display())));
    // A tree compared with itself has no changes.
    let itself = Comparison { before: &after, after: &after, moved: &[], before_read_at: None };
    let page = changes_html(itself, &settings(1000), &Nonce::predictable(1)).unwrap();
    for (name, (before, after, state)) in changes_by_name(&page) {
        assert_eq!((before, state), (after, 0), "{name}");
    }
}
