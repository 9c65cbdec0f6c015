//! Files that may have a copy: another file has the same length.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use transect::FileType;
use transect::table::{Row, Table};
use transect_sys::FileId;
use transect_transform::publish::is_temporary;

#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) size: u64,
    pub(crate) id: Option<FileId>,
    /// Its names, sorted by path.
    pub(crate) names: Vec<Row>,
    /// The position of the first name in the order of paths.
    pub(crate) order: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    size: u64,
    id: Option<FileId>,
    order: u32,
    row: Row,
}

/// Returns the regular files of at least `min_size` bytes that another file has the length of, each
/// once whatever its names; only those below a directory, if there is one. They are sorted by device and inode number: on many file systems the
/// order of their content on the device.
pub(crate) fn candidates(table: &Table, below: Option<Row>, min_size: u64) -> Vec<Candidate> {
    let tops = below.map_or_else(|| table.roots().collect(), |row| vec![row]);
    let rows = tops.into_iter().flat_map(|top| table.subtree(top));
    let mut names_of_size: HashMap<u64, u32, FixedState> = HashMap::default();
    let mut files: Vec<(Row, u32, u64)> = Vec::new();
    for (order, row) in rows.enumerate() {
        if table.file_type(row) == FileType::File
            // Written by a running process, or left behind by a killed one, which another run removes.
            && !is_temporary(table.name(row))
            && let Some(size) = table.size(row).filter(|&size| size >= min_size)
        {
            *names_of_size.entry(size).or_default() += 1;
            files.push((row, order as u32, size));
        }
    }
    let names = files.into_iter().filter(|(_, _, size)| names_of_size[size] > 1);
    let mut names: Vec<Name> = names
        .map(|(row, order, size)| Name { size, id: table.attributes(row).file_id(), order, row })
        .collect();
    names.sort_unstable();
    let mut files: Vec<Candidate> = Vec::new();
    for names in names.chunk_by(|one, other| one.size == other.size) {
        let before = files.len();
        // Without an id, each name is a file.
        for names in names.chunk_by(|one, other| one.id.is_some() && one.id == other.id) {
            let Name { size, id, order, .. } = names[0];
            let names = names.iter().map(|name| name.row).collect();
            files.push(Candidate { size, id, names, order });
        }
        if files.len() == before + 1 {
            files.pop();
        }
    }
    files.sort_unstable_by_key(|file| (file.id, file.order));
    files
}
