//! Every peer that is installed, on trees with everything that has ever broken a walker.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]
#![allow(clippy::print_stdout, reason = "a test says what it left out")]

use std::path::Path;
use std::process::Stdio;

use transect_lab::rivals::peer::{Inventory, PEERS, Peer, ReportedCounts};
use transect_testkit::{TempDir, loudly_skip, trees, within};

/// All named trees, side by side, and rules of what to leave out, which no peer may follow.
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

/// Returns the peers that can run here. Those of Debian must, where nothing may be skipped; the
/// others have to be built, and are tried where somebody did.
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

/// Runs a peer to its end and returns what it claims.
fn claims(peer: &Peer, root: &Path) -> ReportedCounts {
    let mut child = peer.command(root).unwrap().stdout(Stdio::piped()).spawn().unwrap();
    let claimed = peer.parse(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success(), "{}", peer.name);
    claimed.unwrap_or_else(|reason| panic!("{}: {reason}", peer.name))
}

#[test]
fn every_peer_finds_what_it_should_by_its_own_definition() {
    let temp = TempDir::new();
    everything(temp.path());
    let mut roots = vec![(temp.path().to_owned(), Inventory::of(temp.path()))];
    // One by one, too: in small trees no file can make up for another.
    for (name, _) in trees::ALL {
        let root = temp.join(name);
        let inventory = Inventory::of(&root);
        roots.push((root, inventory));
    }
    for peer in peers("every_peer_finds_what_it_should_by_its_own_definition") {
        for (root, inventory) in roots.clone() {
            assert_eq!((inventory.errors, inventory.unasked), (0, 0), "{}", root.display());
            within(peer.name, move || {
                let judged = peer.check_counts(claims(peer, &root), &inventory);
                assert_eq!(judged, Ok(()), "{} in {}", peer.name, root.display());
            });
        }
    }
}

/// A claim that is right whatever is there would prove nothing.
#[test]
fn no_peer_is_right_about_a_tree_that_has_changed() {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("below")).unwrap();
    std::fs::write(temp.join("below/file"), "12345").unwrap();
    let before = Inventory::of(temp.path());
    std::fs::write(temp.join("below/another"), "123").unwrap();
    for peer in peers("no_peer_is_right_about_a_tree_that_has_changed") {
        let wrong = peer.check_counts(claims(peer, temp.path()), &before).unwrap_err();
        assert!(wrong.starts_with("claims "), "{}: {wrong}", peer.name);
        let after = Inventory::of(temp.path());
        assert_eq!(peer.check_counts(claims(peer, temp.path()), &after), Ok(()), "{}", peer.name);
    }
}

#[test]
fn a_root_whose_name_looks_like_an_option_and_like_figures_is_walked() {
    let temp = TempDir::new();
    let root = temp.join("-v é\n7 \"asize\":8");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("file"), "12345").unwrap();
    for peer in peers("a_root_whose_name_looks_like_an_option_and_like_figures_is_walked") {
        let judged = peer.check_counts(claims(peer, &root), &Inventory::of(&root));
        assert_eq!(judged, Ok(()), "{}", peer.name);
    }
}
