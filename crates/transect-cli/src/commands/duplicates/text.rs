//! Prints groups for people, and paths for `xargs -0`.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstream::ColorChoice;
use anstyle::Style;
use transect_duplicates::{Action, Duplicate};

use super::act::Acted;
use super::found::Found;
use crate::args::DuplicatesArgs;
use crate::output::units::{bytes, count, counted, duration};
use crate::output::{self, BOLD, DIM, WARN, stream, wrap};

/// Bytes collected before they are written.
const BUFFER: usize = 64 << 10;

/// The width of a line without a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Returns a style, empty unless standard output takes colours. The text cannot pass through a filter that
/// removes them: pipes receive paths as exact bytes.
fn styled(style: Style) -> Style {
    match stream::stdout_colours() {
        ColorChoice::Never => Style::new(),
        _ => style,
    }
}

/// Writes the groups and a summary; with `--null` only the paths.
pub(super) fn write(args: &DuplicatesArgs, found: &Found) -> io::Result<()> {
    if args.null {
        return write_paths(found);
    }
    let (bold, dim) = (styled(BOLD), styled(DIM));
    let mut out = stream::stdout();
    let mut text = Vec::new();
    for group in found.groups() {
        let (size, freed) = (bytes(group.size), bytes(group.freed));
        let files = count(group.copies.len() as u64);
        writeln!(text, "{bold}{size} × {files}{bold:#}, frees {freed}")?;
        for (index, file) in group.copies.iter().enumerate() {
            write_file(&mut text, dim, found, index, file)?;
        }
        if text.len() >= BUFFER {
            out.write_all(&text)?;
            text.clear();
        }
    }
    let shown = found.groups().len();
    let all = found.duplicates.groups.len();
    if shown < all {
        let (shown, all) = (count(shown as u64), count(all as u64));
        writeln!(text, "{dim}{shown} of {all} groups shown{dim:#}")?;
    }
    if all > 0 {
        writeln!(text)?;
    }
    write_wrapped(&mut text, &summary(found))?;
    out.write_all(&text)
}

fn write_file(
    text: &mut Vec<u8>,
    dim: Style,
    found: &Found,
    index: usize,
    file: &Duplicate,
) -> io::Result<()> {
    let word = found.action.map(|action| word(action, index, file));
    for (number, &row) in file.names.iter().enumerate() {
        let mark = if number > 0 { "= " } else { "" };
        match word {
            Some(word) => write!(text, "  {dim}{word:<6} {mark}{dim:#}")?,
            None => write!(text, "  {dim}{mark}{dim:#}")?,
        }
        text.extend_from_slice(&output::path_line(&found.table.path(row)));
    }
    Ok(())
}

/// Returns what the action does with a file of a group.
fn word(action: Action, index: usize, file: &Duplicate) -> &'static str {
    match action {
        _ if index == 0 || !action.applies_to(file) => "keep",
        Action::Remove => "remove",
        Action::Link { .. } => "link",
        Action::Clone => "clone",
    }
}

/// Writes one path of each file, ended with NUL, and one more NUL after each group.
fn write_paths(found: &Found) -> io::Result<()> {
    let mut out = stream::stdout();
    let mut paths = Vec::new();
    for group in found.groups() {
        for file in &group.copies {
            let path = found.table.path(file.names[0]);
            paths.extend_from_slice(path.as_os_str().as_encoded_bytes());
            paths.push(b'\0');
        }
        paths.push(b'\0');
        if paths.len() >= BUFFER {
            out.write_all(&paths)?;
            paths.clear();
        }
    }
    out.write_all(&paths)
}

fn summary(found: &Found) -> String {
    let groups = &found.duplicates.groups;
    let mut text = match groups.len() {
        0 => "no duplicates".to_owned(),
        all => format!(
            "{} with {}; removing them would free {}",
            counted(all as u64, "group", "groups"),
            counted(found.copies(), "copy", "copies"),
            bytes(found.freed())
        ),
    };
    let changed = found.duplicates.changed;
    if changed > 0 {
        let _ = write!(text, "; {} changed while being read", counted(changed, "file", "files"));
    }
    let state = match () {
        () if found.interrupted() => "interrupted after",
        () if found.complete() => "complete in",
        () => "partial, in",
    };
    let _ = write!(text, "; {state} {}", duration(found.elapsed));
    text
}

pub(super) fn write_acted(acted: &Acted) -> io::Result<()> {
    let Some(done) = &acted.done else { return Ok(()) };
    let counts = &done.report.counts;
    let names = counted(counts.removed, "name", "names");
    let mut line = format!("{} {names}, freed {}", acted.past_tense(), bytes(counts.freed));
    if counts.kept > 0 {
        let _ = write!(line, "; kept {}", counted(counts.kept, "name", "names"));
    }
    if counts.vanished > 0 {
        let _ = write!(line, "; {} vanished", count(counts.vanished));
    }
    if done.report.cancelled {
        line += "; interrupted";
    }
    let warn = match counts.kept > 0 || done.report.cancelled {
        true => styled(WARN),
        false => Style::new(),
    };
    let mut text = Vec::new();
    write!(text, "{warn}")?;
    write_wrapped(&mut text, &line)?;
    write!(text, "{warn:#}")?;
    stream::stdout().write_all(&text)
}

fn write_wrapped(text: &mut impl Write, line: &str) -> io::Result<()> {
    let width = output::terminal_width().unwrap_or(DEFAULT_WIDTH);
    for line in wrap(line, width) {
        writeln!(text, "{line}")?;
    }
    Ok(())
}
