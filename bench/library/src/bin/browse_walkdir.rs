//! The example `browse` with `walkdir`: the totals and the tree have to be kept by hand.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

#[derive(Default)]
struct Node {
    files: u64,
    bytes: u64,
    is_dir: bool,
    children: Vec<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: browse PATH")?);
    let mut nodes: HashMap<PathBuf, Node> = HashMap::new();
    let mut seen = HashSet::new();
    for entry in WalkDir::new(&root).into_iter().flatten() {
        let metadata = entry.metadata()?;
        let is_dir = metadata.is_dir();
        let new = is_dir || metadata.nlink() < 2 || seen.insert((metadata.dev(), metadata.ino()));
        nodes.entry(entry.path().to_owned()).or_default().is_dir = is_dir;
        for path in entry.path().ancestors().take(entry.depth() + 1) {
            let node = nodes.entry(path.to_owned()).or_default();
            node.bytes += if new { metadata.blocks() * 512 } else { 0 };
            node.files += u64::from(metadata.is_file());
        }
        if entry.depth() > 0 {
            let parent = entry.path().parent().map(Path::to_owned).unwrap_or_default();
            nodes.entry(parent).or_default().children.push(entry.path().to_owned());
        }
    }
    let mut here = root.clone();
    let mut lines = io::stdin().lock().lines();
    loop {
        let node = &nodes[&here];
        println!("{}: {} files, {} bytes", here.display(), node.files, node.bytes);
        let mut rows = node.children.clone();
        rows.sort_by_key(|path| std::cmp::Reverse(nodes[path].bytes));
        for (number, path) in rows.iter().take(20).enumerate() {
            let slash = if nodes[path].is_dir { "/" } else { "" };
            let name = path.file_name().unwrap_or_default().display();
            println!("{number:>3} {:>14} {name}{slash}", nodes[path].bytes);
        }
        print!("> ");
        io::stdout().flush()?;
        match lines.next().transpose()?.as_deref().map(str::trim) {
            None | Some("q") => return Ok(()),
            Some("..") if here != root => here = here.parent().unwrap_or(&root).to_owned(),
            Some("..") => {}
            Some(number) => match number.parse().ok().and_then(|number: usize| rows.get(number)) {
                Some(path) if nodes[path].is_dir => here = path.clone(),
                _ => println!("'{number}' is not the number of a directory"),
            },
        }
    }
}
