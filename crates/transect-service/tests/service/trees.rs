//! Trees that are followed: entries and changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;

use transect::internal::StoredRows;
use transect::{FieldMask, FileType};
use transect_live::{ChangeKind, Cursor};
use transect_service::protocol::WordSearch;
use transect_service::{Client, Error, Event, TreeChanges};
use transect_testkit::{TempDir, trees, wait_for};

use crate::support::{Served, told_with};

pub(crate) const WANT: FieldMask = transect_live::COLUMNS.union(FieldMask::NLINK);

/// A tree, and a service that follows it.
pub(crate) struct Followed {
    pub(crate) served: Served,
    pub(crate) root: PathBuf,
}

impl Followed {
    pub(crate) fn new(build: impl FnOnce(&Path)) -> Self {
        let temp = TempDir::new();
        let root = temp.join("tree");
        fs::create_dir(&root).unwrap();
        build(&root);
        Self { served: Served::following(temp, root.clone()), root }
    }

    /// Returns the paths whose names have all words, and the types and attributes of all that was sent.
    fn entries(&self, path: &Path, words: &[&str], ignore_case: bool) -> Vec<PathBuf> {
        let words = words.iter().map(|word| word.as_bytes()).collect();
        let search = WordSearch { words, ignore_case };
        let mut entries = self.served.client().entries(path, WANT, search).unwrap().unwrap();
        let (mut above, mut found) = (PathBuf::new(), Vec::new());
        let mut depths: Vec<PathBuf> = Vec::new();
        while entries.advance(true).unwrap() {
            depths.truncate(entries.depth());
            above.clone_from(depths.last().unwrap_or(&PathBuf::new()));
            let path = above.join(entries.name());
            if entries.is_match() {
                let system = transect_sys::file::query_attributes(&path, WANT, false).unwrap();
                let mut attributes = entries.attributes(WANT);
                if attributes.file_type() == FileType::Directory {
                    assert_eq!(attributes.nlink(), None);
                    system.nlink().into_iter().for_each(|count| attributes.set_nlink(count));
                }
                let told = |it| told_with(it, WANT);
                assert_eq!(told(attributes), told(system), "{}", path.display());
                found.push(path.clone());
            }
            depths.push(path);
        }
        found
    }

    fn changes(&self, cursor: Option<Cursor>) -> TreeChanges {
        self.served.client().changes(&self.root, cursor, false).unwrap().unwrap()
    }

    /// Waits until this number of requests has arrived.
    fn wait_for_requests(&self, count: u64) {
        wait_for("the requests", || {
            let stats = self.served.client().stats().unwrap();
            let requests = stats.into_iter().find(|(name, _)| name == "requests")?;
            (requests.1 >= count).then_some(())
        });
    }

    fn cursor(&self) -> Cursor {
        self.changes(None).header.cursor
    }
}

/// Returns what a walk finds, in tree order.
fn walked(root: &Path) -> Vec<PathBuf> {
    let table = transect::table::Table::read(root).unwrap();
    table.iter().map(|row| table.path(row)).collect()
}

#[test]
fn entries_of_followed_tree_are_those_of_a_walk() {
    let followed = Followed::new(|root| {
        for (name, build) in trees::ALL {
            fs::create_dir(root.join(name)).unwrap();
            build(&root.join(name));
        }
    });
    let all = walked(&followed.root);
    assert_eq!(followed.entries(&followed.root, &[], false), all);
    for word in ["a", "file", "1", "no such name", "\n"] {
        let has_word = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| {
                name.as_encoded_bytes().windows(word.len()).any(|it| it == word.as_bytes())
            })
        };
        // Of the root the whole path counts.
        let expected: Vec<&PathBuf> = all[1..].iter().filter(has_word).collect();
        let mut found = followed.entries(&followed.root, &[word], false);
        found.retain(|path| *path != followed.root);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{word}");
    }
    let below = followed.root.join("wide");
    assert_eq!(followed.entries(&below, &[], false), walked(&below));
}

#[test]
fn entries_with_words_found_in_either_case_and_after_changes() {
    let followed = Followed::new(|root| {
        fs::create_dir_all(root.join("One/two")).unwrap();
        fs::write(root.join("One/two/Three four"), "1").unwrap();
        fs::write(root.join("One/four three"), "1").unwrap();
    });
    let root = &followed.root;
    let found = |words: &[&str], ignore_case| {
        let found = followed.entries(root, words, ignore_case);
        found.iter().map(|it| it.strip_prefix(root).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (both, one) = ([Path::new("One/four three"), Path::new("One/two/Three four")], 0);
    assert_eq!(found(&["three", "four"], true), both);
    assert_eq!(found(&["four", "three"], false), [both[one]]);
    // Not across the end of a name.
    assert_eq!(found(&["threetwo"], false), [] as [PathBuf; 0]);
    fs::rename(root.join("One"), root.join("Other")).unwrap();
    fs::remove_file(root.join("Other/four three")).unwrap();
    fs::write(root.join("three"), "12").unwrap();
    assert_eq!(found(&["three"], true), [Path::new("Other/two/Three four"), Path::new("three")]);
    assert_eq!(found(&["three"], false), [Path::new("three")]);
    assert_eq!(followed.entries(root, &[], false), walked(root));
}

#[test]
fn entries_unknown_outside_of_followed_trees_and_of_missing_paths() {
    let followed = Followed::new(|root| fs::write(root.join("file"), "1").unwrap());
    let ask = |path: &Path| {
        let entries = followed.served.client().entries(path, WANT, WordSearch::default());
        entries.unwrap().map(drop).unwrap_err()
    };
    assert_eq!(ask(followed.served.temp.path()), "not followed");
    assert!(ask(&followed.root.join("none")).starts_with("not in the followed tree"));
    let below = followed.root.join("file");
    assert_eq!(followed.entries(&below, &[], false), [below.as_path()]);
    let changes = followed.served.client().changes(&below, None, false).unwrap();
    assert_eq!(changes.unwrap_err(), "below a followed tree");
}

#[test]
fn changes_since_a_cursor_until_the_root_is_gone() {
    let followed = Followed::new(|root| fs::create_dir(root.join("a")).unwrap());
    let root = &followed.root;
    let begin = followed.cursor();
    fs::create_dir(root.join("a/new")).unwrap();
    let first = followed.changes(Some(begin));
    // What is new may be noticed more than once while it is made.
    let kinds = |changes: &TreeChanges| {
        let changes = changes.changes.as_ref().expect("a known cursor").iter();
        changes
            .filter(|it| it.kind != ChangeKind::Modified)
            .map(|it| (it.kind, it.path.strip_prefix(root).unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let added = (ChangeKind::Added, PathBuf::from("a/new"));
    assert_eq!(kinds(&first), std::slice::from_ref(&added));
    assert_eq!((first.header.entries, first.header.unwatched), (3, 0));
    fs::rename(root.join("a"), root.join("b")).unwrap();
    let renamed = (ChangeKind::Renamed, PathBuf::from("b"));
    let second = followed.changes(Some(first.header.cursor));
    assert_eq!(kinds(&second), std::slice::from_ref(&renamed));
    assert_eq!(kinds(&followed.changes(Some(begin))), [added, renamed]);
    let other = Cursor { instance: begin.instance ^ 1, ..begin };
    assert_eq!(followed.changes(Some(other)).changes, None, "a cursor of another service");

    fs::rename(root, followed.served.temp.join("elsewhere")).unwrap();
    assert!(followed.changes(Some(begin)).header.is_root_gone);
    let gone = |event: &Event| matches!(event, Event::NotFollowed { .. });
    followed.served.wait_for("the end of the tree", gone);
    // What was changed there meanwhile is not known, even after it has returned.
    for _ in 0..2 {
        let entries = followed.served.client().entries(root, WANT, WordSearch::default()).unwrap();
        assert!(entries.is_err());
        let now = followed.served.client().changes(root, None, false).unwrap();
        assert_eq!(now.unwrap_err(), "its root has gone");
        let _ = fs::rename(followed.served.temp.join("elsewhere"), root);
    }
    assert!(followed.changes(Some(begin)).header.is_root_gone);
}

#[test]
fn changes_awaited_without_a_cursor_begin_at_the_question() {
    let followed = Followed::new(|_| {});
    std::thread::scope(|scope| {
        let mut client = followed.served.client();
        let root = &followed.root;
        let waiting = scope.spawn(move || client.changes(root, None, true));
        let mut number = 0;
        wait_for("an answer", || {
            number += 1;
            fs::write(root.join(number.to_string()), "").unwrap();
            waiting.is_finished().then_some(())
        });
        let changes = waiting.join().unwrap().unwrap().unwrap().changes.unwrap();
        assert_eq!(changes[0].kind, ChangeKind::Added);
    });
}

#[test]
fn changes_awaited_and_clients_that_leave_forgotten() {
    let followed = Followed::new(|_| {});
    let begin = followed.cursor();
    std::thread::scope(|scope| {
        let root = &followed.root;
        let wait = || {
            let mut client = followed.served.client();
            let closer = client.closer();
            let waiting: ScopedJoinHandle<'_, Result<_, Error>> =
                scope.spawn(move || client.changes(root, Some(begin), true));
            (waiting, closer)
        };
        let (first, _) = wait();
        let (second, closer) = wait();
        let (third, _) = wait();
        // Before its request arrives, a client that leaves is not missed.
        followed.wait_for_requests(4);
        closer.close();
        assert!(matches!(second.join().unwrap(), Err(Error::Disconnected)));
        // The connection of the client that left ends without a change.
        let is_over = |event: &Event| matches!(event, Event::Broken { .. });
        followed.served.wait_for("the end of a connection", is_over);
        assert!(!first.is_finished() && !third.is_finished());
        fs::create_dir(followed.root.join("new")).unwrap();
        for waiting in [first, third] {
            let changes = waiting.join().unwrap().unwrap().unwrap();
            assert_eq!(changes.changes.map(|changes| changes[0].kind), Some(ChangeKind::Added));
        }
    });
}

#[test]
fn client_that_does_not_read_delays_nobody() {
    // More than fits into the buffers of a socket.
    let followed = Followed::new(|root| {
        for number in 0..20_000 {
            fs::write(root.join(format!("{number:0>100}")), "").unwrap();
        }
    });
    let search = WordSearch::default();
    let stuck = followed.served.client().entries(&followed.root, WANT, search.clone()).unwrap();
    let begin = followed.cursor();
    fs::create_dir(followed.root.join("new")).unwrap();
    let changes = followed.changes(Some(begin)).changes;
    assert_eq!(changes.map(|changes| changes[0].kind), Some(ChangeKind::Added));
    // It gets what was there when it asked.
    let mut stuck = stuck.unwrap();
    let mut count = 0;
    while stuck.advance(true).unwrap() {
        count += 1;
    }
    assert_eq!(count, 20_001);
    assert_eq!(followed.entries(&followed.root, &["new"], false).len(), 1);
}

/// Regression: `transect list` waited for ever for a service that was stopped (SIGSTOP).
#[test]
fn client_of_stopped_service_gives_up() {
    let temp = TempDir::new();
    let socket = temp.join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // More connections wait than the system lets wait.
    rustix::net::listen(&listener, 0).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| match Client::connect(&socket) {
                Err(Error::NotRunning(_, why)) => assert_eq!(why.kind(), ErrorKind::TimedOut),
                other => panic!("{other:?}"),
            });
        }
    });
}

#[test]
fn service_that_ends_wakes_who_waits() {
    let followed = Followed::new(|_| {});
    let begin = followed.cursor();
    let mut client = followed.served.client();
    let root = followed.root.clone();
    let waiting = std::thread::spawn(move || client.changes(&root, Some(begin), true));
    followed.wait_for_requests(2);
    drop(followed);
    assert!(waiting.join().unwrap().is_err());
}

/// All but the time of the last change of attributes: a file that gets and loses another name between two updates has a new
/// one, of which its own name is not notified.
const STEADY: FieldMask = WANT.difference(FieldMask::CTIME);

/// Returns the attributes of all entries that the service has, and the place of these in the changes.
fn told_entries(followed: &Followed) -> (BTreeMap<PathBuf, Vec<u8>>, Cursor) {
    let client = followed.served.client();
    let mut entries =
        client.entries(&followed.root, STEADY, WordSearch::default()).unwrap().unwrap();
    let (mut all, mut above) = (BTreeMap::new(), Vec::<PathBuf>::new());
    while entries.advance(true).unwrap() {
        above.truncate(entries.depth());
        let path = above.last().map_or(entries.name().into(), |dir| dir.join(entries.name()));
        all.insert(path.clone(), told_with(entries.attributes(STEADY), STEADY));
        above.push(path);
    }
    (all, entries.cursor())
}

/// Changes a tree at random. Names are few, so that they return as other entries.
fn change(root: &Path, random: &mut impl FnMut(usize) -> usize) {
    let mut path = |deepest: usize| {
        (0..=random(deepest)).map(|_| ["a", "b", "c"][random(3)]).collect::<PathBuf>()
    };
    let (one, other) = (root.join(path(4)), root.join(path(3)));
    // Many fail, and change nothing.
    let _ = match random(8) {
        0 => fs::create_dir_all(&one),
        1 | 2 => fs::write(&one, vec![0; random(9999)]),
        3 => fs::rename(&one, &other),
        4 => fs::remove_file(&one),
        5 => fs::remove_dir_all(&one),
        6 => fs::hard_link(&one, &other),
        _ => std::os::unix::fs::symlink("a", &one),
    };
}

#[test]
fn followed_tree_random_changes_entries_equal_a_walk_and_changes_lead_there() {
    let followed = Followed::new(|_| {});
    let root = &followed.root;
    let mut state = 1_u64;
    let mut random = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % end
    };
    let (all, mut cursor) = told_entries(&followed);
    let mut names: BTreeSet<PathBuf> = all.into_keys().collect();
    for step in 0..150 {
        (0..=random(12)).for_each(|_| change(root, &mut random));
        let (all, next) = told_entries(&followed);
        let expected: BTreeMap<PathBuf, Vec<u8>> = walked(root)
            .into_iter()
            .map(|path| {
                let mut it = transect_sys::file::query_attributes(&path, STEADY, false).unwrap();
                if it.file_type() == FileType::Directory {
                    it.retain(STEADY.difference(FieldMask::NLINK));
                }
                (path, told_with(it, STEADY))
            })
            .collect();
        assert_eq!(all, expected, "step {step}");
        if step % 3 > 0 {
            continue;
        }
        let since = followed.changes(Some(cursor));
        assert_eq!(since.header.cursor, next, "step {step}");
        for change in since.changes.expect("a known cursor") {
            let is_below = |path: &&PathBuf| path.starts_with(&change.path);
            if change.kind == ChangeKind::Removed {
                names.retain(|path| !is_below(&path));
            } else if let Some(from) = &change.from {
                let renamed = |path: PathBuf| match path.strip_prefix(from) {
                    Ok(below) => change.path.join(below).components().collect(),
                    Err(_) => path,
                };
                names = names.into_iter().map(renamed).collect();
            } else {
                names.insert(change.path);
            }
        }
        assert!(names.iter().eq(all.keys()), "step {step}: {names:?}");
        cursor = next;
        // The words of a search in a table that was edited often.
        for word in ["a", "b"] {
            let mut found = followed.entries(root, &[word], false);
            found.retain(|path| path != root);
            let has_word = |path: &&PathBuf| path.ends_with(word);
            assert!(all.keys().skip(1).filter(has_word).eq(&found), "step {step}: {found:?}");
        }
    }
}
