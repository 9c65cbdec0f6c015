//! The example `du` with `ignore`: disk usage of the directories right below a path.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

fn main() {
    for root in std::env::args_os().skip(1).map(PathBuf::from) {
        let totals: Mutex<HashMap<PathBuf, u64>> = Mutex::default();
        let seen: Mutex<HashSet<(u64, u64)>> = Mutex::default();
        WalkBuilder::new(&root).standard_filters(false).build_parallel().run(|| {
            Box::new(|entry| {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        eprintln!("not counted: {error}");
                        return WalkState::Continue;
                    }
                };
                let Ok(metadata) = entry.metadata() else { return WalkState::Continue };
                let id = (metadata.dev(), metadata.ino());
                let linked = metadata.nlink() > 1 && !metadata.is_dir();
                let counts = !linked || seen.lock().unwrap().insert(id);
                let below = entry.path().strip_prefix(&root).unwrap();
                let mut totals = totals.lock().unwrap();
                let mut add = |path: PathBuf| {
                    *totals.entry(path).or_default() +=
                        if counts { metadata.blocks() * 512 } else { 0 };
                };
                add(root.clone());
                if let Some(first) = below.components().next() {
                    if below.components().count() > 1 || metadata.is_dir() {
                        add(root.join(first));
                    }
                }
                WalkState::Continue
            })
        });
        let mut totals: Vec<_> = totals.into_inner().unwrap().into_iter().collect();
        totals.sort();
        for (path, total) in totals {
            println!("{total:>15} {}", path.display());
        }
    }
}
