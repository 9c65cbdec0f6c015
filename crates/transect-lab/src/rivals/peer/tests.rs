use std::collections::HashSet;
#[cfg(target_os = "linux")]
use std::path::Path;

use super::*;

#[test]
fn peers_have_unique_names_and_one_root() {
    let names: HashSet<&str> = PEERS.iter().map(|peer| peer.name.as_str()).collect();
    assert_eq!(names.len(), PEERS.len());
    for peer in PEERS.iter() {
        let places = peer.arguments.iter().filter(|argument| *argument == ROOT).count();
        assert_eq!(places, 1, "{}", peer.name);
        assert!(!peer.counts.is_empty() && !peer.programs.is_empty(), "{}", peer.name);
    }
}

fn peer(name: &str) -> &'static Peer {
    PEERS.iter().find(|peer| peer.name == name).unwrap()
}

#[test]
fn peers_recognized_by_version_output() {
    for (name, said) in [
        ("find", "find (GNU findutils) 4.9.0"),
        ("bfs", "bfs 2.6.1"),
        ("fd", "fdfind 8.6.0"),
        ("fd", "fd 10.5.0"),
        ("du", "du (GNU coreutils) 9.1"),
        ("pdu", "pdu 0.24.0"),
        ("dust", "Dust 1.2.7"),
        ("dua", "dua 3.0.0"),
        ("diskus", "diskus 0.9.0"),
        ("gdu", "Version: 5.22.0-1+b1"),
        ("gdu", "Version: v5.30.1"),
        ("ncdu", "ncdu 1.18"),
    ] {
        assert!(said.contains(&peer(name).version_marker), "{said}");
    }
    // GNU du under the name gdu, and the du of uutils.
    assert!(!"du (GNU coreutils) 9.4".contains(&peer("gdu").version_marker));
    assert!(!"du (uutils coreutils) 0.2.2".contains(&peer("du").version_marker));
}

#[cfg(target_os = "linux")]
#[test]
fn command_ignores_settings_and_option_like_roots() {
    let du = peer("du");
    assert_eq!(du.unavailable_reason(), None);
    let command = du.command(Path::new("-s")).unwrap();
    assert_eq!(command.get_args().last(), Some(std::ffi::OsStr::new("./-s")));
    assert!(
        command
            .get_envs()
            .all(|(name, _)| ["HOME", "LC_ALL", "PATH"].contains(&name.to_str().unwrap()))
    );
    let words: Vec<_> = command.get_args().collect();
    let options = ["--summarize", "--apparent-size", "--count-links", "--block-size=1"];
    assert_eq!(words[..4], options);
}

#[cfg(target_os = "linux")]
#[test]
fn other_program_of_same_name_refused() {
    let mut peer = peer("du").clone();
    peer.version_marker = "a marker that GNU du lacks".to_owned();
    assert!(
        peer.unavailable_reason()
            .unwrap()
            .starts_with("'du' is another program (du (GNU coreutils)")
    );
    peer.programs = ["no-such-program", "neither-this"].map(str::to_owned).into();
    let why_not = peer.unavailable_reason().unwrap();
    assert!(why_not.starts_with("needs no-such-program or neither-this: "), "{why_not}");
    assert!(peer.command(Path::new("/")).is_none());
}
