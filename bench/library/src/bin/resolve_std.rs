//! The example `resolve` with the standard library: every question goes to the system.

use std::collections::HashSet;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let first = args.next().ok_or("usage: resolve FILE.c DIRECTORY…")?;
    let dirs: Vec<PathBuf> = args.collect();
    let mut left = vec![first];
    let mut seen: HashSet<PathBuf> = HashSet::new();
    while let Some(file) = left.pop() {
        let text = fs::read(&file)?;
        let beside = file.parent().map(PathBuf::from).unwrap_or_default();
        for name in included(&String::from_utf8_lossy(&text)) {
            let found = [&beside].into_iter().chain(&dirs).map(|dir| dir.join(name));
            match found.into_iter().find(|path| path.exists()) {
                Some(path) if seen.insert(path.clone()) => {
                    println!("{}", path.display());
                    left.push(path);
                }
                Some(_) => {}
                None => println!("{name}: not found"),
            }
        }
    }
    Ok(())
}

fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let name = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let name = name.trim_start().strip_prefix(['"', '<'])?;
        name.split(['"', '>']).next()
    })
}
