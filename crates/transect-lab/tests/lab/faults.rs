//! Planted faults on a tree of odd entries: each is caught, and an honest method is not.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use transect::Cancel;
use transect_lab::experiments::method::Origin;
use transect_lab::experiments::walk::measure::{WalkExperiment, dataset};
use transect_lab::experiments::walk::method::{Method, cells};
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::log::{Outcome, Session};
use transect_lab::harness::work::Work;
use transect_lab::ranking::stopping;
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::{CheckedBy, SessionSpec};
use transect_testkit::{TempDir, trees};

/// Creates what methods skip, follow or hide by mistake, and a path longer than the system accepts.
fn create(at: &Path) {
    for (name, build) in [("loops", trees::loops as trees::Build), ("names", trees::weirdnames)] {
        std::fs::create_dir_all(at.join(name)).unwrap();
        build(&at.join(name));
    }
    std::fs::create_dir(at.join("long")).unwrap();
    trees::beyond_path_max(&at.join("long"));
}

/// Runs some methods of a contender once on the tree, and returns the counts that are expected and the outcome of
/// each.
fn outcomes(
    contender: &str,
    wanted: impl Fn(&str) -> bool,
    base: &str,
) -> (Work, BTreeMap<String, (Option<CheckedBy>, Outcome)>) {
    let temp = TempDir::new();
    create(&temp.join("tree"));
    let contenders = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
    let (contenders, wrong) = Contender::load_all(&contenders, true);
    assert!(wrong.is_empty(), "{wrong:?}");
    let (mut methods, _) = Method::all(&contenders);
    methods.retain(|method| {
        let Origin::Contender(it) = &method.origin else { return false };
        it.name == contender && method.unavailable_reason.is_none() && wanted(&method.name)
    });
    let mut built = BTreeMap::new();
    for method in &methods {
        let Origin::Contender(it) = &method.origin else { unreachable!() };
        built.insert(it.name.clone(), it.build(&temp.join("built")).unwrap());
    }
    let launcher = Launcher { program: PathBuf::from("/nowhere"), built, disturbable: false };
    let datasets = vec![dataset("tree".to_owned(), temp.join("tree"))];
    let cells = cells(&methods.iter().collect::<Vec<_>>(), base);
    let checked: BTreeMap<String, Option<CheckedBy>> =
        cells.iter().map(|cell| (cell.name.clone(), cell.checked)).collect();
    let spec = SessionSpec {
        cache_states: vec![State::AsIs],
        limit: 1200,
        ..SessionSpec::new("test", datasets, cells, base)
    };
    let mut session = Session::begin(spec, &temp.join("session.jsonl")).unwrap();
    let mut experiment = WalkExperiment::new(&methods, &launcher);
    session.run(&mut experiment, &stopping::end, &Cancel::new(), &mut |_, _| {}).unwrap();
    let samples = session.data().samples.iter();
    let outcomes = samples
        .map(|sample| (sample.cell.clone(), (checked[&sample.cell], sample.outcome.clone())))
        .collect();
    (session.data().spec.datasets[0].expected, outcomes)
}

#[test]
fn planted_faults_on_odd_entries_are_caught_with_a_reason() {
    let is_fault = |name: &str| {
        ["follows", "hides", "link-for", "skips", "drops-empty", "counts", "part"]
            .iter()
            .any(|fault| name.contains(fault))
    };
    let (expected, outcomes) =
        outcomes("test-double", |name| name == "honest" || is_fault(name), "honest");
    if outcomes.is_empty() {
        return transect_testkit::loudly_skip("planted faults", "needs python3");
    }
    let of = |name: &str| &outcomes[name].1;
    assert_eq!(outcomes["honest"].0, Some(CheckedBy::Digest));
    assert!(matches!(of("honest"), Outcome::Right { .. }), "{:?}", of("honest"));
    let sums = format!("{} files, {} directories", expected.files, expected.directories);
    for name in [
        "wrong-follows-links",
        "wrong-hides-dot-names",
        "wrong-skips-non-utf8",
        "wrong-drops-empty-files",
        "wrong-counts-links",
        "wrong-part",
    ] {
        let Outcome::Wrong { found } = of(name) else { panic!("{name}: {:?}", of(name)) };
        assert!(found.contains(" files, ") && !found.contains(&sums), "{name}: {found}");
    }
    // All sums are right.
    let Outcome::Wrong { found } = of("wrong-link-for-empty-file") else { panic!("not caught") };
    let reason = "as many files, directories and bytes, but other ones: the digest of their paths, \
                  types and lengths is ";
    assert!(found.starts_with(reason), "{found}");
}

#[test]
fn methods_in_c_relative_to_handles_read_long_paths_completely() {
    let by_handle = ["floor", "floor-threads", "c-fts", "c-readdir-fstatat"];
    let wanted = |name: &str| by_handle.contains(&name) || name == "c-readdir-lstat-path";
    let (_, outcomes) = outcomes("c-posix", wanted, "floor");
    if outcomes.is_empty() {
        return transect_testkit::loudly_skip("methods in C", "needs gcc");
    }
    for name in by_handle {
        let (checked, outcome) = &outcomes[name];
        assert_eq!(*checked, Some(CheckedBy::Digest), "{name}");
        assert!(matches!(outcome, Outcome::Right { .. }), "{name}: {outcome:?}");
    }
    // A method by path cannot, and is not the truth.
    let (_, outcome) = &outcomes["c-readdir-lstat-path"];
    assert!(matches!(outcome, Outcome::Wrong { .. }), "{outcome:?}");
}
