//! What has to be known of a tree before its first row is written: how many rows each directory has,
//! and its digest.

use transect::FileType;
use transect::table::{Children, Row, Table, UnreadReason};

use crate::digest::{Digest, DirectoryDigest};
use crate::schema::GROUP_ROWS;

/// A directory, by its number in tree order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutlinedDirectory {
    /// The number of its rows: itself and all entries below it.
    pub(super) rows: u64,
    pub(super) digest: Digest,
}

/// The rows of a group.
#[derive(Debug, Default)]
pub(super) struct GroupRows {
    /// The rows with their depths.
    pub(super) rows: Vec<(Row, u32)>,
    /// The number of the first directory in the group, or of the next one if there is none.
    pub(super) first_directory: usize,
}

/// The tree order of a table.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) groups: Vec<GroupRows>,
    pub(super) directories: Vec<OutlinedDirectory>,
}

/// A directory whose entries are being visited.
struct OpenDirectory {
    number: usize,
    row: Row,
    children: Children,
    /// The row of the entry visited last.
    last: Option<Row>,
    digest: DirectoryDigest,
    rows: u64,
}

impl Outline {
    pub(super) fn of(table: &Table) -> Self {
        let mut outline = Self::default();
        let mut open: Vec<OpenDirectory> = Vec::new();
        let mut free: Vec<DirectoryDigest> = Vec::new();
        let mut last_root: Option<Row> = None;
        for root in table.roots() {
            if last_root.is_some_and(|last| table.name(last) == table.name(root)) {
                continue;
            }
            last_root = Some(root);
            outline.visit(table, root, &mut open, &mut free);
            while let Some(directory) = open.last_mut() {
                let Some(row) = directory.children.next() else {
                    outline.leave(table, &mut open, &mut free);
                    continue;
                };
                // A directory that changes during its listing may list a name twice; a row is
                // identified by its path.
                if directory.last.is_some_and(|last| table.name(last) == table.name(row)) {
                    continue;
                }
                directory.last = Some(row);
                outline.visit(table, row, &mut open, &mut free);
            }
        }
        outline
    }

    fn visit(
        &mut self,
        table: &Table,
        row: Row,
        open: &mut Vec<OpenDirectory>,
        free: &mut Vec<DirectoryDigest>,
    ) {
        if self.groups.last().is_none_or(|group| group.rows.len() == GROUP_ROWS) {
            let first_directory = self.directories.len();
            self.groups.push(GroupRows { rows: Vec::new(), first_directory });
        }
        let group = self.groups.last_mut().expect("BUG: a group was just made");
        group.rows.push((row, open.len() as u32));
        if table.file_type(row) == FileType::Directory {
            let mut digest = free.pop().unwrap_or_default();
            digest.begin(table.unread_reason(row).map(UnreadReason::as_str));
            let number = self.directories.len();
            self.directories.push(OutlinedDirectory::default());
            let children = table.children(row);
            open.push(OpenDirectory { number, row, children, last: None, digest, rows: 1 });
        } else if let Some(directory) = open.last_mut() {
            let name = table.name(row).as_encoded_bytes();
            directory.digest.add(name, &table.attributes(row), None);
            directory.rows += 1;
        }
    }

    fn leave(
        &mut self,
        table: &Table,
        open: &mut Vec<OpenDirectory>,
        free: &mut Vec<DirectoryDigest>,
    ) {
        let Some(OpenDirectory { number, row, mut digest, rows, .. }) = open.pop() else { return };
        let own = digest.finish();
        self.directories[number] = OutlinedDirectory { rows, digest: own };
        free.push(digest);
        if let Some(parent) = open.last_mut() {
            parent.rows += rows;
            let name = table.name(row).as_encoded_bytes();
            parent.digest.add(name, &table.attributes(row), Some(&own));
        }
    }
}
