//! The steps that create a corpus, in order. Iterating over them writes nothing.

use std::path::PathBuf;
use std::time::Duration;

use super::corpus::{Content, Corpus};
use super::random::{LENGTHS, Random, SHARES};

/// Largest depth of a corpus, in levels below the root.
pub const MAX_DEPTH: u32 = 14;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A directory; the files that follow are in it. Files before the first directory are in the root.
    Directory {
        /// Its path relative to the root. Its parent comes earlier.
        path: PathBuf,
    },
    /// A file in the last directory.
    File {
        name: String,
        length: u64,
        /// Its modification time, since the Unix epoch.
        modified: Duration,
        /// Seed of its text; `None` if it is sparse.
        text: Option<u64>,
    },
}

/// Iterator over the steps that create a corpus, so that two million names are never in memory.
#[derive(Clone, Debug)]
pub struct Plan {
    random: Random,
    content: Content,
    /// The root first, a parent before its children.
    directories: Vec<Directory>,
    /// Index of the current directory.
    here: usize,
    /// Number of its files already returned.
    delivered: u64,
}

#[derive(Clone, Debug)]
struct Directory {
    /// Index of its parent, which comes before it; the root is its own parent.
    parent: usize,
    depth: u32,
    name: String,
    files: u64,
}

impl Corpus {
    /// Returns the steps that create the corpus. Nothing is written.
    pub fn plan(&self) -> Plan {
        let mut random = Random::new(self.seed * 7919 + 12_345);
        let mut directories = draw_directories(&mut random, self.directories as usize);
        spread_files(&mut random, &mut directories, self.files);
        Plan { random, content: self.content, directories, here: 0, delivered: 0 }
    }
}

impl Plan {
    fn path(&self, mut at: usize) -> PathBuf {
        let mut names = Vec::new();
        while at != 0 {
            names.push(&self.directories[at].name);
            at = self.directories[at].parent;
        }
        names.into_iter().rev().collect()
    }

    fn draw_file(&mut self, index: u64) -> Step {
        let random = &mut self.random;
        let name = draw_file_name(random, index);
        let (length, text) = match self.content {
            Content::Text => (200 + random.below(7800), Some(random.draw())),
            Content::Sparse if random.one_in(25) => (0, None),
            Content::Sparse => (LENGTHS.draw(random), None),
        };
        let seconds = 1_500_000_000 + random.below(200_000_000);
        let modified = Duration::new(seconds, random.below(1_000_000_000) as u32);
        Step::File { name, length, modified, text }
    }
}

impl Iterator for Plan {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.delivered < self.directories[self.here].files {
            let step = self.draw_file(self.delivered);
            self.delivered += 1;
            return Some(step);
        }
        if self.here + 1 == self.directories.len() {
            return None;
        }
        self.here += 1;
        self.delivered = 0;
        Some(Step::Directory { path: self.path(self.here) })
    }
}

fn draw_directories(random: &mut Random, below_root: usize) -> Vec<Directory> {
    let root = Directory { parent: 0, depth: 0, name: String::new(), files: 0 };
    let mut directories = vec![root];
    for index in 1..=below_root {
        let parent = loop {
            let parent = draw_parent(random, index);
            if directories[parent].depth < MAX_DEPTH {
                break parent;
            }
        };
        let depth = directories[parent].depth + 1;
        let syllables = draw_syllables(random, 3);
        let name = format!("{syllables}{}{index}", draw_separator(random));
        directories.push(Directory { parent, depth, name, files: 0 });
    }
    directories
}

/// Draws a parent, preferring recent directories, so that the tree grows deep as well as wide.
fn draw_parent(random: &mut Random, index: usize) -> usize {
    if random.below(100) < 60 {
        index - 1 - random.below(index.min(12) as u64) as usize
    } else {
        random.below(index as u64) as usize
    }
}

/// Distributes exactly `files` files: one for each directory that has any, the rest by drawn shares. A
/// tree without directories has all files in the root.
fn spread_files(random: &mut Random, directories: &mut [Directory], files: u64) {
    let is_flat = directories.len() == 1;
    let shares: Vec<u64> = directories
        .iter()
        .map(|_| if !is_flat && random.one_in(5) { 0 } else { SHARES.draw(random) })
        .collect();
    let with_files = shares.iter().filter(|&&share| share > 0).count() as u64;
    let rest = files.checked_sub(with_files).expect("BUG: more directories than files");
    let all: u64 = shares.iter().sum();
    // Rounding remainders carry over to the next directory.
    let (mut shared, mut spread) = (0, 0);
    for (directory, share) in directories.iter_mut().zip(shares) {
        if share > 0 {
            shared += share;
            let upto = rest * shared / all;
            directory.files = 1 + upto - spread;
            spread = upto;
        }
    }
}

const SYLLABLES: [&str; 16] = [
    "ba", "ko", "ri", "ten", "mo", "la", "sur", "ne", "dat", "pho", "to", "img", "re", "port",
    "ver", "cor",
];

const EXTENSIONS: [&str; 16] = [
    ".c", ".h", ".txt", ".md", ".jpg", ".png", ".mp3", ".flac", ".json", ".html", ".js", ".o",
    ".rs", ".pdf", ".docx", "",
];

/// Draws a readable name with a number that is unique in its directory.
fn draw_file_name(random: &mut Random, index: u64) -> String {
    let syllables = draw_syllables(random, 5);
    match random.pick(&EXTENSIONS) {
        // Directories have no dot in their names, so a file never has the name of a directory.
        "" => format!("{syllables}.{index}"),
        extension => format!("{syllables}{}{index}{extension}", draw_separator(random)),
    }
}

fn draw_syllables(random: &mut Random, most: u64) -> String {
    (0..=random.below(most)).map(|_| random.pick(&SYLLABLES)).collect()
}

fn draw_separator(random: &mut Random) -> char {
    if random.one_in(2) { '-' } else { '_' }
}

/// Returns the text of a file: lines of lowercase words.
pub(super) fn text(seed: u64, length: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..length)
        .map(|_| match random.below(72) {
            0 => b'\n',
            1..=7 => b' ',
            _ => b'a' + random.below(26) as u8,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::corpora::find;

    #[test]
    fn plan_paths_are_unique() {
        let mut paths = HashSet::new();
        let mut here = PathBuf::new();
        for step in find("data").unwrap().plan() {
            let path = match step {
                Step::Directory { path } => {
                    here.clone_from(&path);
                    path
                }
                Step::File { name, .. } => here.join(name),
            };
            assert!(paths.insert(path.clone()), "{}", path.display());
        }
    }

    #[test]
    fn plan_parents_come_first_within_max_depth() {
        let plan = find("users").unwrap().plan();
        for (index, directory) in plan.directories.iter().enumerate().skip(1) {
            assert!(directory.parent < index);
            assert_eq!(directory.depth, plan.directories[directory.parent].depth + 1);
            assert!(directory.depth <= MAX_DEPTH);
        }
        assert_eq!(plan.directories.iter().map(|directory| directory.depth).max(), Some(MAX_DEPTH));
    }

    #[test]
    fn plan_one_directory_in_five_is_empty() {
        let plan = find("drive").unwrap().plan();
        let empty = plan.directories.iter().filter(|directory| directory.files == 0).count();
        let of_hundred = empty * 100 / plan.directories.len();
        assert!((19..=21).contains(&of_hundred), "{of_hundred} of 100");
        let most = plan.directories.iter().map(|directory| directory.files).max().unwrap();
        assert!((200..20_000).contains(&most), "{most}");
    }

    #[test]
    fn plan_one_file_in_25_is_empty_and_half_are_small() {
        let lengths: Vec<u64> = find("data")
            .unwrap()
            .plan()
            .filter_map(|step| match step {
                Step::File { length, .. } => Some(length),
                Step::Directory { .. } => None,
            })
            .collect();
        let of_thousand = |count: usize| count * 1000 / lengths.len();
        let empty = of_thousand(lengths.iter().filter(|&&length| length == 0).count());
        let small = of_thousand(lengths.iter().filter(|&&length| length < 4096).count());
        assert!((37..=43).contains(&empty), "{empty} of 1000");
        assert!((510..=530).contains(&small), "{small} of 1000");
    }

    #[test]
    fn text_is_lowercase_words_in_lines() {
        let text = text(1, 1000);
        assert_eq!(text.len(), 1000);
        assert!(text.iter().all(|byte| matches!(byte, b'a'..=b'z' | b' ' | b'\n')));
        assert!(text.contains(&b'\n'));
    }
}
