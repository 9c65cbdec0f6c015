//! Commits parts with a limit on memory, to measure with.
//!
//! `cargo run --release -p transect-snapshot --example commit_parts FOLDER FILE MEMORY` prints the number of entries.
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use transect::Cancel;
use transect_snapshot::tasks::{Commit, CommitLimits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, file, memory] = &arguments[..] else { return Err("FOLDER FILE MEMORY".into()) };
    let memory = memory.to_str().ok_or("MEMORY")?.parse::<u64>()? << 20;
    let limits = CommitLimits { memory, folder: file.parent().ok_or("a folder")?.to_owned() };
    let at = std::time::Instant::now();
    let commit = Commit::open(folder)?;
    eprintln!("opened {:?}", at.elapsed());
    let outlined = commit.outline(&limits, &Cancel::new())?;
    eprintln!("outlined {:?}", at.elapsed());
    println!("{}", outlined.entries());
    outlined.write(&commit.metadata(), &Cancel::new(), &mut BufWriter::new(File::create(file)?))?;
    Ok(())
}
