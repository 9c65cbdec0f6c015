//! Peers: the programs that people use today for what this engine does, as they come.
//!
//! ```text
//! peer ─► command, its root in place ─► a process ─► what it prints ─► what it claims to have found
//!                                          │                              │ compared, exactly, with
//!                                          └─ its time, from outside      └ the inventory of the tree
//! ```
//!
//! A peer walks once in a process and has no clock of ours: its time is that of the process, from
//! its start to its end, so starting it is counted and so is printing. What it prints is parsed into
//! what it claims, by its own definition, and held against an [`Inventory`]: no time before that.
//!
//! * A peer that prints one sum is read in every run ([`Peer::is_read_in_every_run`]): a claim comes
//!   with every time.
//! * A peer that can only prove its work by a listing is read in a run of its own. In the runs that
//!   are timed the same command writes to the null device: parsing would take a core of the machine
//!   from it, and a pipe makes it wait for us. It is the same command because cheaper ones do less:
//!   `find -printf ''` asks for no length at all, and `bfs -size -0c`, which nothing can match, is
//!   seen through and asks nothing either (by `strace`). `find -size -0c` does ask and saves about
//!   a tenth, but goes another way through the program than the one that was proved.
//! * Every peer asks for the length of every file. What merely lists names is no peer here: the
//!   other methods of the lab would be measured with more work.
//! * What cannot be read makes `find`, `bfs`, `du` and `dua` end with an error, which is a failure to
//!   the lab; the others say nothing of it and are compared as ever.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

mod all;
mod claimed;
mod inventory;
mod parse;
mod run;

pub use all::PEERS;
pub use claimed::Claimed;
pub use inventory::{Inventory, Part};
pub use parse::Output;
pub use run::{Aim, Ran};

use crate::rivals::contender::is_on_path;

/// A program that walks trees, and how it is made to do the work of all methods.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name, of which there is one in the lab.
    pub name: &'static str,
    /// The names that its program goes by; the first one is taken that is installed.
    pub programs: &'static [&'static str],
    /// What its `--version` says and that of other programs of the same name does not.
    mark: &'static str,
    /// The language it is written in.
    pub language: &'static str,
    /// It walks on several threads.
    pub parallel: bool,
    /// How to get it on Debian.
    pub install: &'static str,
    /// What it does with these arguments, in one line.
    pub about: &'static str,
    /// The arguments; [`ROOT`] stands for the root.
    arguments: &'static [&'static str],
    /// How its output is understood.
    pub output: Output,
    /// What it may claim: one definition, and those of other versions of it.
    definitions: &'static [Definition],
}

/// Stands for the root among the arguments of a peer.
pub const ROOT: &str = "{root}";

/// What the figures of a peer mean.
#[derive(Clone, Copy, Debug)]
struct Definition {
    /// In words, after "counts".
    says: &'static str,
    /// What they must be in a tree.
    of: fn(&Inventory) -> Claimed,
}

/// What is no place for the files of anybody: whoever looks there for settings or rules finds none.
const NOWHERE: &str = "/nonexistent";

impl Peer {
    /// Returns the peer of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PEERS.iter().find(|peer| peer.name == name)
    }

    /// Returns why it cannot run here, if it cannot, and what would help.
    ///
    /// It is asked for its version, because short names are taken twice: `fd` is also a file
    /// manager, `gdu` is GNU `du` where that is a guest.
    pub fn why_not(&self) -> Option<String> {
        if cfg!(not(target_os = "linux")) {
            return Some("what it counts is known on Linux only".to_owned());
        }
        let Some(program) = self.program() else {
            return Some(format!("needs {}: {}", self.programs.join(" or "), self.install));
        };
        // Who says nothing, or cannot be started, is nobody known.
        let said = self.said_version().unwrap_or_default();
        (!said.contains(self.mark))
            .then(|| format!("'{program}' is another program ({said}): {}", self.install))
    }

    /// Returns its version, without its name.
    pub fn version(&self) -> Option<String> {
        version_in(&self.said_version().filter(|said| said.contains(self.mark))?)
    }

    /// Returns what its figures mean, with the one of the newest version first.
    pub fn counts(&self) -> impl Iterator<Item = &'static str> {
        self.definitions.iter().map(|definition| definition.says)
    }

    /// Returns whether its output is so short that reading it costs nothing, so that every run that
    /// is timed can be read, too. The others are read in a run of their own, and write to the null
    /// device while they are timed.
    pub fn is_read_in_every_run(&self) -> bool {
        self.output == Output::Sum
    }

    /// Returns what makes a process that walks a root: a directory, not a link to one. `None` if it
    /// is not installed.
    ///
    /// The environment is empty but for the search path, so that nobody's settings count: peers
    /// read options, units, colours and rules of what to leave out from variables and from the home
    /// directory.
    pub fn command(&self, root: &Path) -> Option<Command> {
        let mut command = self.bare()?;
        for &argument in self.arguments {
            if argument == ROOT {
                // One that begins with a dash would be an option.
                command.arg(Path::new(".").join(root));
            } else {
                command.arg(argument);
            }
        }
        Some(command)
    }

    /// Returns its command line for people, with [`ROOT`] for the root.
    pub fn command_line(&self) -> String {
        let mut line = self.program().unwrap_or(self.programs[0]).to_owned();
        for argument in self.arguments {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-=./{}+".contains(&byte);
            line += &if argument.bytes().all(plain) {
                format!(" {argument}")
            } else {
                format!(" '{argument}'")
            };
        }
        line
    }

    /// Reads what it printed, to the end.
    ///
    /// # Errors
    /// It is something else than it should print.
    pub fn parse(&self, output: impl Read) -> Result<Claimed, String> {
        self.output.parse(output)
    }

    /// Compares what it claims with what is there.
    ///
    /// # Errors
    /// What differs.
    pub fn judge(&self, claimed: Claimed, inventory: &Inventory) -> Result<(), String> {
        let definitions: Vec<Claimed> =
            self.definitions.iter().map(|definition| (definition.of)(inventory)).collect();
        claimed.must_be_one_of(&definitions)
    }

    /// Reads what it printed and compares it with what is there.
    ///
    /// # Errors
    /// What it printed instead, or what differs.
    pub fn check(&self, output: impl Read, inventory: &Inventory) -> Result<(), String> {
        self.judge(self.parse(output)?, inventory)
    }

    fn program(&self) -> Option<&'static str> {
        self.programs.iter().copied().find(|program| is_on_path(program))
    }

    /// Returns its program without arguments, in the environment in which it is measured.
    fn bare(&self) -> Option<Command> {
        let mut command = Command::new(self.program()?);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([("LC_ALL", "C"), ("HOME", NOWHERE)]).stdin(Stdio::null());
        Some(command)
    }

    /// Returns the first line of what it says of its version that says anything.
    fn said_version(&self) -> Option<String> {
        let said = self.bare()?.arg("--version").output().ok()?.stdout;
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().take(8).collect();
        Some(words.join(" "))
    }
}

/// Returns the word in a line that is a version: that begins with a digit and has a dot.
fn version_in(line: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    line.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(is_version)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_peer_has_a_name_of_its_own_and_one_place_for_the_root() {
        let names: HashSet<&str> = PEERS.iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), PEERS.len());
        for peer in PEERS {
            let places = peer.arguments.iter().filter(|&&argument| argument == ROOT).count();
            assert_eq!(places, 1, "{}", peer.name);
            assert!(!peer.definitions.is_empty() && !peer.programs.is_empty(), "{}", peer.name);
            assert_eq!(Peer::find(peer.name).map(|found| found.name), Some(peer.name));
        }
        assert!(Peer::find("nothing").is_none());
    }

    #[test]
    fn peers_are_known_by_what_they_say_of_their_versions() {
        for (name, said, version) in [
            ("find", "find (GNU findutils) 4.9.0", "4.9.0"),
            ("bfs", "bfs 2.6.1", "2.6.1"),
            ("fd", "fdfind 8.6.0", "8.6.0"),
            ("fd", "fd 10.5.0", "10.5.0"),
            ("du", "du (GNU coreutils) 9.1", "9.1"),
            ("pdu", "pdu 0.24.0", "0.24.0"),
            ("dust", "Dust 1.2.7", "1.2.7"),
            ("dua", "dua 3.0.0", "3.0.0"),
            ("diskus", "diskus 0.9.0", "0.9.0"),
            ("gdu", "Version: 5.22.0-1+b1", "5.22.0-1+b1"),
            ("gdu", "Version: v5.30.1", "5.30.1"),
            ("ncdu", "ncdu 1.18", "1.18"),
        ] {
            assert!(said.contains(Peer::find(name).unwrap().mark), "{said}");
            assert_eq!(version_in(said).as_deref(), Some(version));
        }
        assert_eq!(version_in("2 programs."), None);
        // GNU du, where that is a guest; and du of another house.
        assert!(!"du (GNU coreutils) 9.4".contains(Peer::find("gdu").unwrap().mark));
        assert!(!"du (uutils coreutils) 0.2.2".contains(Peer::find("du").unwrap().mark));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_root_is_no_option_and_no_setting_of_anybody_counts() {
        let du = Peer::find("du").unwrap();
        assert_eq!(du.why_not(), None);
        assert!(du.version().is_some_and(|version| version.contains('.')));
        let command = du.command(Path::new("-s")).unwrap();
        assert_eq!(command.get_args().last(), Some(std::ffi::OsStr::new("./-s")));
        assert!(
            command
                .get_envs()
                .all(|(name, _)| ["HOME", "LC_ALL", "PATH"].contains(&name.to_str().unwrap()))
        );
        assert_eq!(
            du.command_line(),
            "du --summarize --apparent-size --count-links --block-size=1 {root}"
        );
        assert_eq!(Peer::find("find").unwrap().command_line(), "find {root} -printf '%y %s\\n'");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_program_of_the_same_name_is_not_taken_for_it() {
        let mut peer = *Peer::find("du").unwrap();
        peer.mark = "a mark that GNU has not";
        assert!(peer.why_not().unwrap().starts_with("'du' is another program (du (GNU coreutils)"));
        assert_eq!(peer.version(), None);
        peer.programs = &["no-such-program", "neither-this"];
        let why_not = peer.why_not().unwrap();
        assert!(why_not.starts_with("needs no-such-program or neither-this: "), "{why_not}");
        assert!(peer.command(Path::new("/")).is_none());
    }
}
