//! The example `index` with `walkdir`: the file (type, length, time and path) is written by hand.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::{env, ffi::OsString, fs, path::PathBuf};

use walkdir::WalkDir;

type Entries = BTreeMap<PathBuf, [i64; 3]>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let (index, root) = args.next().zip(args.next()).ok_or("usage: index INDEX PATH")?;
    let mut now = Entries::new();
    for entry in WalkDir::new(std::path::absolute(root)?) {
        let entry = entry?;
        let status = entry.metadata()?;
        let time = status.mtime() * 1_000_000_000 + status.mtime_nsec();
        let kind = i64::from(status.mode() & 0o170_000);
        now.insert(entry.into_path(), [kind, status.len() as i64, time]);
    }
    match fs::read(&index) {
        Ok(stored) => print_changes(&parse(&stored).ok_or("not an index")?, &now),
        Err(_) => println!("{} entries", now.len()),
    }
    let mut stored = Vec::new();
    for (path, [kind, size, time]) in &now {
        write!(stored, "{kind} {size} {time} ")?;
        stored.extend(path.as_os_str().as_bytes());
        stored.push(0);
    }
    Ok(fs::write(index, stored)?)
}

fn parse(stored: &[u8]) -> Option<Entries> {
    let parse = |line: &[u8]| {
        let mut parts = line.splitn(4, |&byte| byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let entry = [number()?, number()?, number()?];
        Some((OsString::from_vec(parts.next()?.to_vec()).into(), entry))
    };
    stored.strip_suffix(b"\0")?.split(|&byte| byte == 0).map(parse).collect()
}

fn print_changes(old: &Entries, now: &Entries) {
    let lost = old.keys().filter(|path| !now.contains_key(*path));
    for path in now.keys().chain(lost) {
        let in_both = path.parent().is_some_and(|it| old.contains_key(it) && now.contains_key(it));
        let kind = match (old.get(path), now.get(path)) {
            (None, _) if in_both => "added",
            (_, None) if in_both => "removed",
            (Some(old), Some(now)) if old[0] != now[0] => "type_changed",
            (Some(old), Some(now)) if old != now && now[0] != 0o040_000 => "modified",
            _ => continue,
        };
        println!("{kind} {}", path.display());
    }
}
