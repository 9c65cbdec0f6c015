//! The list of peers: `peers.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::spec::Peer;

pub static PEERS: LazyLock<Vec<Peer>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        peer: Vec<Peer>,
    }
    let file: File = toml::from_str(include_str!("peers.toml")).expect("BUG: the list is correct");
    file.peer
});

impl Peer {
    pub fn find(name: &str) -> Option<&'static Self> {
        PEERS.iter().find(|peer| peer.name == name)
    }
}
