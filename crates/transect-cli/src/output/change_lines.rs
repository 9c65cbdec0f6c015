//! Lines for changes of a followed tree.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use serde::Serialize;
use transect_live::{Change, ChangeKind};

use super::json::{self, PathEntry, object};
use super::{BOLD, ERROR, GOOD, WARN, quote, stream};

/// How changes are printed.
#[derive(Clone, Copy)]
pub(crate) struct ChangeLines {
    pub(crate) json: bool,
    /// Only the paths that are there, each ended with NUL.
    pub(crate) null: bool,
}

impl ChangeLines {
    pub(crate) fn print(self, changes: &[Change], was_gap: bool) -> io::Result<()> {
        if was_gap {
            match self.json {
                true => super::print_json(&object! { event: "gap" })?,
                false => super::note("notifications were lost; the whole tree was compared"),
            }
        }
        let is_painted = stream::stdout_colours() != anstream::ColorChoice::Never;
        let mut out = io::BufWriter::new(match is_painted && !self.json && !self.null {
            true => stream::painted_stdout(),
            false => stream::stdout(),
        });
        for change in changes {
            if self.json {
                super::write_json(&mut out, &change_object(change))?;
            } else if !self.null {
                let (style, line) = line(change);
                match is_painted {
                    true => writeln!(out, "{style}{line}{style:#}")?,
                    false => writeln!(out, "{line}")?,
                }
            } else if change.kind != ChangeKind::Removed {
                out.write_all(change.path.as_os_str().as_encoded_bytes())?;
                out.write_all(b"\0")?;
            }
        }
        out.flush()
    }
}

fn line(change: &Change) -> (Style, String) {
    let (mark, style) = match change.kind {
        ChangeKind::Added => ('+', GOOD),
        ChangeKind::Removed => ('-', ERROR),
        ChangeKind::Renamed => ('>', BOLD),
        _ => ('~', WARN),
    };
    let quoted = |path: &Path| {
        let slash = if change.file_type.is_dir() { "/" } else { "" };
        format!("{}{slash}", quote::for_terminal(path.as_os_str()))
    };
    let path = quoted(&change.path);
    match &change.from {
        Some(from) => (style, format!("{mark} {} → {path}", quoted(from))),
        None => (style, format!("{mark} {path}")),
    }
}

fn change_object(change: &Change) -> impl Serialize {
    let from = change.from.as_deref();
    let from_raw = from.filter(|from| from.to_str().is_none());
    object! {
        change: change.kind.as_str(),
        ..path: PathEntry::from(change.path.as_path()),
        from: from.map(|from| from.to_string_lossy().into_owned()),
        from_raw: from_raw.map(|from| json::hex(from.as_os_str().as_encoded_bytes())),
        r#type: change.file_type.as_str(),
    }
}
