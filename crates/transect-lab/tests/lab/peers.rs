//! Tests of every installed peer on all named trees.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]
#![allow(clippy::print_stdout, reason = "a test says what it left out")]

use std::path::Path;
use std::process::Stdio;

use transect_lab::rivals::peer::{Inventory, PEERS, Peer, ReportedCounts};
use transect_testkit::{TempDir, loudly_skip, trees, within};

/// Creates all named trees, and ignore rules that no peer may follow.
fn everything(at: &Path) {
    for (name, build) in trees::ALL {
        std::fs::create_dir(at.join(name)).unwrap();
        build(&at.join(name));
    }
    std::fs::create_dir_all(at.join(".git/info")).unwrap();
    std::fs::create_dir_all(at.join("node_modules/below")).unwrap();
    for (name, content) in [
        (".gitignore", "*.log\nnode_modules\nwide\n"),
        (".ignore", "deep\n"),
        (".fdignore", "links\n"),
        (".git/info/exclude", "times\n"),
        ("noise.log", "ignored"),
        ("node_modules/below/file", "ignored with all around it"),
    ] {
        std::fs::write(at.join(name), content).unwrap();
    }
}

/// Returns the installed peers. Missing Debian packages are reported as skipped; other peers are tested
/// if they were built.
fn peers(test: &str) -> Vec<&'static Peer> {
    let is_here = |peer: &&Peer| match peer.unavailable_reason() {
        None => true,
        Some(reason) if peer.install.starts_with("apt-get") => {
            loudly_skip(&format!("{test}_{}", peer.name), reason);
            false
        }
        Some(reason) => {
            println!("left out: {}: {reason}", peer.name);
            false
        }
    };
    let peers: Vec<&Peer> = PEERS.iter().filter(is_here).collect();
    for name in ["find", "du"] {
        assert!(peers.iter().any(|peer| peer.name == name), "every Debian has {name}");
    }
    peers
}

/// Runs a peer to its end and returns the counts it reports.
fn reported_counts(peer: &Peer, root: &Path) -> ReportedCounts {
    let mut child = peer.command(root).unwrap().stdout(Stdio::piped()).spawn().unwrap();
    let claimed = peer.output_format.parse(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success(), "{}", peer.name);
    claimed.unwrap_or_else(|reason| panic!("{}: {reason}", peer.name))
}

#[test]
fn peers_report_expected_counts_on_named_trees() {
    let temp = TempDir::new();
    everything(temp.path());
    let mut roots = vec![(temp.path().to_owned(), Inventory::of(temp.path()))];
    // Each tree alone, too: in small trees, errors cannot cancel each other.
    for (name, _) in trees::ALL {
        let root = temp.join(name);
        let inventory = Inventory::of(&root);
        roots.push((root, inventory));
    }
    for peer in peers("peers_report_expected_counts_on_named_trees") {
        for (root, inventory) in roots.clone() {
            assert_eq!((inventory.errors, inventory.unasked), (0, 0), "{}", root.display());
            within(&peer.name, move || {
                let judged = peer.check_counts(reported_counts(peer, &root), &inventory);
                assert_eq!(judged, Ok(()), "{} in {}", peer.name, root.display());
            });
        }
    }
}

/// Counts that match any tree would prove nothing.
#[test]
fn peers_detect_a_changed_tree() {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("below")).unwrap();
    std::fs::write(temp.join("below/file"), "12345").unwrap();
    let before = Inventory::of(temp.path());
    std::fs::write(temp.join("below/another"), "123").unwrap();
    for peer in peers("peers_detect_a_changed_tree") {
        let wrong = peer.check_counts(reported_counts(peer, temp.path()), &before).unwrap_err();
        assert!(wrong.starts_with("claims "), "{}: {wrong}", peer.name);
        let after = Inventory::of(temp.path());
        assert_eq!(
            peer.check_counts(reported_counts(peer, temp.path()), &after),
            Ok(()),
            "{}",
            peer.name
        );
    }
}

#[test]
fn peers_walk_root_named_like_an_option() {
    let temp = TempDir::new();
    let root = temp.join("-v é\n7 \"asize\":8");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("file"), "12345").unwrap();
    for peer in peers("peers_walk_root_named_like_an_option") {
        let judged = peer.check_counts(reported_counts(peer, &root), &Inventory::of(&root));
        assert_eq!(judged, Ok(()), "{}", peer.name);
    }
}
