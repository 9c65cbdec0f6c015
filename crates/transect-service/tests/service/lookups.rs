//! Single paths in trees that are followed: answers equal those of the system.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use transect::{FaultKind, FieldMask};
use transect_cache::LookupResult;
use transect_service::Client;
use transect_sys::file::query_attributes;
use transect_testkit::{Mount, skip, trees};

use crate::answers::paths_below;
use crate::support::told_of;
use crate::trees::{Followed, WANT};

impl Followed {
    /// Asserts that the answers about paths are those of the system. Returns how many were from the table.
    fn assert_equal(&self, paths: &[PathBuf]) -> u64 {
        let (mut client, before) = (self.served.client(), self.followed());
        for follow in [false, true] {
            let of_system =
                |path: &PathBuf| -> LookupResult { Ok(query_attributes(path, WANT, follow)?) };
            let answers = client.attributes(paths, WANT, follow).unwrap();
            for (path, answer) in paths.iter().zip(&answers) {
                let expected = of_system(path);
                let (told, expected) = (told_of(answer, WANT), told_of(&expected, WANT));
                assert_eq!(told, expected, "{}, {follow}: {answer:?}", path.display());
            }
        }
        let from_table = self.followed() - before;
        let exist = client.exists(paths).unwrap();
        for (path, exists) in paths.iter().zip(exist) {
            let found = query_attributes(path, FieldMask::empty(), true);
            let is_missing = |error: std::io::Error| transect_cache::LookupError::from(error);
            let expected = found.map(|_| true).map_err(is_missing);
            let expected = expected.or_else(|it| if it.is_missing() { Ok(false) } else { Err(it) });
            assert_eq!(exists, expected, "{}", path.display());
        }
        from_table
    }

    fn followed(&self) -> u64 {
        let stats = self.served.client().stats().unwrap();
        stats.into_iter().find(|(name, _)| name == "followed").unwrap().1
    }

    fn size(&self, client: &mut Client, path: &Path) -> Option<u64> {
        let answers = client.attributes(&[path], FieldMask::SIZE, false).unwrap();
        answers[0].ok().and_then(|it| it.size())
    }

    fn below(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.root.join(name)).collect()
    }
}

#[test]
fn lookups_in_followed_tree_equal_system_after_every_change() {
    let followed = Followed::new(|root| {
        for (name, build) in trees::ALL {
            fs::create_dir(root.join(name)).unwrap();
            build(&root.join(name));
        }
    });
    let root = &followed.root;
    let compare = |at_least: u64| {
        let mut paths = Vec::new();
        paths_below(root, &mut paths);
        let from_table = followed.assert_equal(&paths);
        let asked = 2 * paths.len() as u64;
        assert!(from_table > asked * at_least / 100, "{from_table} of {asked}");
    };
    compare(40);
    fs::create_dir_all(root.join("new/below")).unwrap();
    fs::write(root.join("new/below/file"), "1").unwrap();
    fs::rename(root.join("new"), root.join("renamed")).unwrap();
    fs::rename(root.join("wide"), root.join("renamed/wide")).unwrap();
    symlink("renamed", root.join("link")).unwrap();
    fs::hard_link(root.join("renamed/below/file"), root.join("second")).unwrap();
    compare(40);
    fs::write(root.join("second"), "12345").unwrap();
    fs::set_permissions(root.join("renamed/below"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_dir_all(root.join("renamed/wide")).unwrap();
    fs::write(root.join("renamed/wide"), "a file").unwrap();
    compare(10);
}

#[test]
fn lookups_only_of_plain_paths_from_the_table() {
    let followed = Followed::new(|root| {
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "1").unwrap();
        fs::write(root.join("a/two"), "1").unwrap();
        fs::hard_link(root.join("a/two"), root.join("a/names")).unwrap();
        fs::create_dir(root.join("closed")).unwrap();
        fs::write(root.join("closed/file"), "1").unwrap();
        symlink("a", root.join("link")).unwrap();
    });
    let root = &followed.root;
    // Each is asked twice.
    let plain = followed.below(&["a/b/file", "a//b/./file", "a/none", "none/x", "a/b/none"]);
    assert_eq!(followed.assert_equal(&plain), 2 * plain.len() as u64);
    let long = "x".repeat(256);
    let others = [
        followed.below(&[
            "a/",
            "a/.",
            "a/b/..",
            "a/../a/b/file",
            "link/two",
            "link/none",
            "a/b/file/x",
        ]),
        followed.below(&["../tree/a", &long, "a/names", ""]),
        vec![followed.served.temp.path().to_owned()],
    ];
    assert_eq!(followed.assert_equal(&others.concat()), 0);
    // A directory has another number of links when one is created in it.
    assert_eq!(followed.assert_equal(&followed.below(&["a", "a/b"])), 0);
    assert_eq!(followed.size(&mut followed.served.client(), &root.join("a")), {
        query_attributes(&root.join("a"), WANT, false).unwrap().size()
    });
    // A link itself, but not what it leads to.
    assert_eq!(followed.assert_equal(&followed.below(&["link"])), 1);
    let nul = followed.served.client().exists(&followed.below(&["a/b/\0"])).unwrap();
    assert_eq!(nul[0].unwrap_err().kind(), Some(FaultKind::InvalidName));
    // Whoever may read a directory may not be permitted to query what is in it.
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(followed.assert_equal(&followed.below(&["closed/file", "closed/none"])), 0);
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn lookups_below_a_mount_answered_by_the_system() {
    let followed = Followed::new(|root| {
        fs::create_dir(root.join("mounted")).unwrap();
        fs::write(root.join("mounted/file"), "1").unwrap();
    });
    let paths = followed.below(&["mounted", "mounted/file", "mounted/other", "mounted2"]);
    assert_eq!(followed.assert_equal(&paths[1..]), 6);
    let mount = match Mount::tmpfs("1M", &paths[0]) {
        Ok(mount) => mount,
        Err(why) => {
            skip::<()>("lookups_below_a_mount_answered_by_the_system", &why);
            return;
        }
    };
    fs::write(&paths[2], "123").unwrap();
    assert_eq!(followed.assert_equal(&paths[..3]), 0);
    assert_eq!(followed.assert_equal(&paths[3..]), 2);
    drop(mount);
    assert_eq!(followed.assert_equal(&paths[1..]), 6);
}

#[test]
fn lookups_after_invalidate_have_changes_without_notification() {
    let followed = Followed::new(|root| {
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("sub/file"), "1").unwrap();
    });
    let (mut client, file) = (followed.served.client(), followed.root.join("sub/file"));
    let outside = followed.served.temp.join("outside");
    fs::hard_link(&file, &outside).unwrap();
    for (length, what) in [(2, Some(followed.root.join("sub"))), (3, Some(file.clone())), (4, None)]
    {
        fs::write(&outside, "x".repeat(length)).unwrap();
        match what {
            Some(path) => client.invalidate(path).unwrap(),
            None => client.clear().unwrap(),
        }
        assert_eq!(followed.size(&mut client, &file), Some(length as u64));
    }
}

#[test]
fn lookups_of_frozen_service_stay() {
    let followed = Followed::new(|root| fs::write(root.join("file"), "1").unwrap());
    let (mut client, file) = (followed.served.client(), followed.root.join("file"));
    client.freeze().unwrap();
    assert_eq!(followed.size(&mut client, &file), Some(1));
    fs::write(&file, "22").unwrap();
    assert_eq!(followed.size(&mut client, &file), Some(1));
    assert_eq!(followed.followed(), 0);
    client.thaw().unwrap();
    assert_eq!(followed.size(&mut client, &file), Some(2));
    assert_eq!(followed.followed(), 1);
}

#[test]
fn resolve_in_followed_tree_finds_first_file() {
    let followed = Followed::new(|root| {
        for directory in ["a/x", "b", "c/x"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::create_dir(root.join("a/both")).unwrap();
        fs::write(root.join("b/both"), "1").unwrap();
        fs::write(root.join("c/both"), "12").unwrap();
        fs::write(root.join("c/x/deep"), "123").unwrap();
        symlink("../b/both", root.join("a/link")).unwrap();
    });
    let directories = followed.below(&["a", "b", "c"]);
    let names = ["both", "x/deep", "none", "link", "x"].map(PathBuf::from);
    let mut client = followed.served.client();
    let found = client.resolve(&names, &directories, FieldMask::SIZE).unwrap();
    let found: Vec<_> = found
        .into_iter()
        .map(|it| it.unwrap().map(|it| (it.index, it.attributes.size().unwrap())))
        .collect();
    assert_eq!(found, [Some((1, 1)), Some((2, 3)), None, Some((0, 1)), None]);
    // All but the link.
    assert_eq!(followed.followed(), 4);
    fs::remove_file(followed.root.join("b/both")).unwrap();
    let found = client.resolve(&names[..1], &directories, FieldMask::SIZE).unwrap();
    assert_eq!(found[0].unwrap().unwrap().index, 2);
}
