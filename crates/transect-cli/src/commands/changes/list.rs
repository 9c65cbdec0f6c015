//! `transect changes --for`: what changed, as a list of paths for a program that copies files.

use std::io::Write;
use std::path::Path;

use transect::{Attributes, FieldMask, FileType};
use transect_snapshot::{EntryPair, Metadata, changed_fields};
use transect_volumes::VolumeChanges;

use crate::args::{ComparisonArgs, ListFor};
use crate::commands::diff::{Sides, note_inherited};
use crate::commands::snapshot::reported_changes;
use crate::output::units::counted;
use crate::output::{self, quote, stream};
use transect_program::{CliError, ExitStatus};

/// Prints how a directory, the `root`, differs from its snapshot.
pub(super) fn run(
    args: &ComparisonArgs,
    tool: ListFor,
    must_be_exact: bool,
    root: &Path,
    sides: &Sides,
) -> Result<ExitStatus, CliError> {
    // After the tree was read: what changed meanwhile is listed, too.
    let reported = reported_changes(root, sides.before.metadata());
    let mut list = List { reported, ..List::default() };
    sides.for_each_pair(|pair| list.add(tool, pair))?;
    sides.show_stored_errors(args.errors);
    note_inherited("PATH", sides.after.metadata());
    match list.why_not_exact(sides) {
        None => output::note("exact: Btrfs reports every change since the snapshot"),
        Some(why) if must_be_exact => {
            return Err(CliError::Failed(format!("cannot list exactly what changed: {why}")));
        }
        Some(why) => {
            let times = if list.lacks_ctime { "mtime" } else { "mtime, ctime" };
            output::note(&format!(
                "not exact, as {why}: a file is missing if its content changed, and its size, {times}, attributes and file id \
                 did not"
            ));
        }
    }
    if let Some(first) = list.unwritable.first() {
        let first = quote::for_terminal(&transect_sys::name_from_bytes(first.clone()));
        let more = match list.unwritable.len() {
            1 => String::new(),
            all => format!(" and {}", counted(all as u64 - 1, "other path", "other paths")),
        };
        return Err(CliError::Failed(format!(
            "cannot write '{first}'{more} for rclone: its lists have no control characters, nor those that it shows instead"
        )));
    }
    let mut out = stream::stdout();
    out.write_all(&list.out)?;
    out.flush()?;
    Ok(ExitStatus::complete_if(sides.are_complete()))
}

/// Collects paths in the form of a program.
#[derive(Default)]
struct List {
    reported: Option<VolumeChanges>,
    out: Vec<u8>,
    /// What the list of the program cannot have.
    unwritable: Vec<Vec<u8>>,
    /// The last path at which a directory is gone, with everything in it.
    gone: Option<Vec<u8>>,
    /// The attributes of a directory changed, and nothing in it has been listed since.
    needs_entry: bool,
    /// Whether the time that no program can set is unknown for some entry.
    lacks_ctime: bool,
    /// Whether an entry is on a device whose changes are not reported.
    is_elsewhere: bool,
}

impl List {
    fn add(&mut self, tool: ListFor, pair: &EntryPair<'_>) {
        let is_changed = self.is_changed(pair);
        match tool {
            ListFor::Rsync => self.add_for_rsync(pair, is_changed),
            ListFor::Restic => self.add_for_restic(pair, is_changed),
            ListFor::Rclone => self.add_for_rclone(pair, is_changed),
        }
    }

    /// Returns whether an entry is not certain to be as it was. Unlike a diff, this finds a file that took the place of a
    /// similar one.
    fn is_changed(&mut self, pair: &EntryPair<'_>) -> bool {
        if let Some(after) = &pair.after
            && let Some(reported) = &self.reported
            && after.device() != Some(reported.device)
        {
            // Of a mount point that was not entered, only the attributes of what it covers matter.
            self.is_elsewhere |= !pair.is_unread;
        }
        let (Some(before), Some(after)) = (&pair.before, &pair.after) else { return true };
        let differ =
            |a: Option<u64>, b: Option<u64>| matches!((a, b), (Some(a), Some(b)) if a != b);
        let ctime = |of: &Attributes| of.ctime().map(|time| time as u64);
        self.lacks_ctime |= ctime(before).is_none() || ctime(after).is_none();
        let is_reported = self.reported.as_ref().is_some_and(|reported| {
            let is_among = |inode| reported.inodes.binary_search(&inode).is_ok();
            after.inode().is_none_or(is_among)
        });
        is_reported
            || before.file_type() != after.file_type()
            // The system allocates when it likes.
            || !(changed_fields(before, after) - FieldMask::ALLOCATED).is_empty()
            || differ(before.inode(), after.inode())
            || differ(ctime(before), ctime(after))
    }

    /// Lists what is new, changed or gone. rsync removes everything in a directory that is gone, and reads nothing in one that
    /// it finds in a list.
    fn add_for_rsync(&mut self, pair: &EntryPair<'_>, is_changed: bool) {
        if pair.after.is_none() && self.is_gone(pair.path) {
            return;
        }
        let was_directory = is_directory(pair.before.as_ref());
        if was_directory && !is_directory(pair.after.as_ref()) {
            self.gone = Some(pair.path.to_vec());
        }
        if !is_changed {
            return;
        }
        match pair.path {
            // rsync takes this for the root with the files in it: only if it is necessary.
            b"" if !has_other_owner_or_mode(pair) => {}
            b"" => self.push(b".", 0),
            path => push_for_rsync(&mut self.out, path),
        }
    }

    /// Lists what exists, and no directories with entries: restic stores all of these. It stores the attributes of the
    /// directories above what is listed, so one entry in a changed directory is listed if no other one is.
    fn add_for_restic(&mut self, pair: &EntryPair<'_>, is_changed: bool) {
        if pair.after.is_none() {
            return;
        }
        if pair.has_entries {
            // restic does not store those of the root.
            self.needs_entry |= is_changed && !pair.path.is_empty();
        } else if !pair.is_unread && (is_changed || self.needs_entry) {
            self.needs_entry = false;
            self.push(if pair.path.is_empty() { b"." } else { pair.path }, 0);
        }
    }

    /// Lists files, also those that are gone: rclone copies nothing else, and removes what it does not find.
    fn add_for_rclone(&mut self, pair: &EntryPair<'_>, is_changed: bool) {
        let copies = |of: &Option<Attributes>| {
            let file_type = of.as_ref().map(Attributes::file_type);
            matches!(file_type, Some(FileType::File | FileType::Symlink))
        };
        if !is_changed || !(copies(&pair.before) || copies(&pair.after)) {
            return;
        }
        // rclone writes U+2400 and following for control characters, and U+201B before what would look like that.
        let is_other = |c: char| c.is_ascii_control() || matches!(c, '\u{2400}'..='\u{2421}' | '‛');
        match String::from_utf8_lossy(pair.path).contains(is_other) {
            true => self.unwritable.push(pair.path.to_vec()),
            false => self.push(pair.path, b'\n'),
        }
    }

    fn push(&mut self, path: &[u8], end: u8) {
        self.out.extend_from_slice(path);
        self.out.push(end);
    }

    /// Returns whether a path is below the last one at which a directory is gone.
    fn is_gone(&self, path: &[u8]) -> bool {
        let gone = self.gone.as_ref().and_then(|gone| path.strip_prefix(&gone[..]));
        gone.is_some_and(|below| below.first() == Some(&b'/'))
    }

    /// Returns why the list may lack changes; `None` if it does not.
    fn why_not_exact(&self, sides: &Sides) -> Option<&'static str> {
        let inherits =
            |of: &Metadata| of.inherited.as_ref().is_some_and(|it| it.older_entries() > 0);
        if !sides.are_complete() {
            Some("something could not be read")
        } else if inherits(sides.after.metadata()) {
            Some("attributes were taken from a snapshot")
        } else if self.reported.is_none() {
            Some("only a whole subvolume of Btrfs, kept and read by root, reports its changes")
        } else if self.is_elsewhere {
            Some("other subvolumes or file systems are below PATH")
        } else {
            None
        }
    }
}

/// Adds a path to a list for rsync.
pub(super) fn push_for_rsync(out: &mut Vec<u8>, path: &[u8]) {
    // It would be a comment, also between NULs.
    if let [b'#' | b';', ..] = path {
        out.extend_from_slice(b"./");
    }
    out.extend_from_slice(path);
    out.push(0);
}

fn is_directory(of: Option<&Attributes>) -> bool {
    of.is_some_and(|of| of.file_type() == FileType::Directory)
}

fn has_other_owner_or_mode(pair: &EntryPair<'_>) -> bool {
    let (Some(before), Some(after)) = (&pair.before, &pair.after) else { return false };
    changed_fields(before, after).intersects(FieldMask::MODE | FieldMask::UID | FieldMask::GID)
}
