//! Made-up trees.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use transect::table::{Table, TableImporter, UnreadReason};
use transect::{Attributes, Cancel, FieldMask, FileType};
use transect_snapshot::{Metadata, write};
use transect_sys::name_from_bytes;

/// An entry, and what is in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: Vec<u8>,
    pub(crate) own: Own,
    pub(crate) children: Vec<Node>,
    /// A directory could not be read.
    pub(crate) is_unreadable: bool,
}

/// The attributes of an entry. Those above 32 bits are rare in real trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) file_type: u8,
    pub(crate) size: Option<u64>,
    pub(crate) mtime: i64,
    pub(crate) mode: u16,
    pub(crate) uid: u32,
    pub(crate) inode: u64,
    pub(crate) nlink: u32,
}

pub(crate) const TYPES: [FileType; 4] =
    [FileType::File, FileType::Directory, FileType::Symlink, FileType::Fifo];

impl Own {
    pub(crate) fn file_type(&self) -> FileType {
        TYPES[usize::from(self.file_type)]
    }

    pub(crate) fn attributes(&self) -> Attributes {
        let mut of = Attributes::of_type(self.file_type());
        if let Some(size) = self.size {
            of.set_size(size);
            of.set_allocated(size.next_multiple_of(512).max(size));
        }
        of.set_mtime(self.mtime);
        of.set_ctime(self.mtime / 2);
        of.set_btime(self.mtime / 3);
        of.set_atime(7);
        of.set_mode(self.mode);
        of.set_uid(self.uid);
        of.set_gid(self.uid / 2);
        of.set_inode(self.inode);
        of.set_device(u64::MAX);
        of.set_nlink(self.nlink);
        of
    }
}

#[allow(dead_code, reason = "each test uses some")]
impl Node {
    pub(crate) fn file(name: &str) -> Self {
        let inode =
            name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let own = Own {
            file_type: 0,
            size: Some(inode % 100_000),
            mtime: 1_700_000_000_000_000_000 + (inode % 1_000_000_000) as i64,
            mode: 0o100_644,
            uid: 1000,
            inode,
            nlink: 1,
        };
        Self { name: name.into(), own, children: Vec::new(), is_unreadable: false }
    }

    pub(crate) fn directory(name: &str, children: Vec<Self>) -> Self {
        let mut node = Self { children, ..Self::file(name) };
        node.own.file_type = 1;
        node.own.size = Some(4096);
        node
    }
}

fn own() -> impl Strategy<Value = Own> {
    let size = prop::option::weighted(0.9, prop_oneof![9 => 0..1_000_000_u64, 1 => 0..1_u64 << 60]);
    let mtime = prop_oneof![9 => 0..2_000_000_000_000_000_000_i64, 1 => any::<i64>()];
    let inode = prop_oneof![1..40_u64, any::<u64>()];
    (0..4_u8, size, mtime, any::<u16>(), 0..3_u32, inode, 1..3_u32).prop_map(
        |(file_type, size, mtime, mode, uid, inode, nlink)| Own {
            file_type: if file_type == 1 { 0 } else { file_type },
            size,
            mtime,
            mode,
            uid,
            inode,
            nlink,
        },
    )
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let hostile = vec(any::<u8>(), 1..12).prop_map(|mut name| {
        for byte in &mut name {
            let separates = std::path::is_separator((*byte).into());
            if *byte == 0 || separates || (cfg!(windows) && *byte >= 0x80) {
                *byte = b'_';
            }
        }
        if name == b"." || name == b".." { b"dot".to_vec() } else { name }
    });
    prop_oneof![6 => "[a-d]{1,2}".prop_map(String::into_bytes), 1 => hostile]
}

/// The attributes of an entry, and what is in a directory: its entries, and whether it is unreadable.
type Content = (Own, Option<(Vec<Node>, bool)>);

fn named(nodes: BTreeMap<Vec<u8>, Content>) -> Vec<Node> {
    let node = |(name, (mut own, inside)): (_, Content)| {
        let (children, is_unreadable) = match inside {
            Some(inside) => {
                own.file_type = 1;
                own.nlink = 1;
                inside
            }
            None => (Vec::new(), false),
        };
        Node { name, own, children, is_unreadable }
    };
    nodes.into_iter().map(node).collect()
}

/// Returns some entries, with what is in them.
pub(crate) fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let leaf = Just(Vec::new());
    leaf.prop_recursive(4, 60, 8, |inside| {
        let inside = (inside, prop::bool::weighted(0.1));
        btree_map(name(), (own(), prop::option::weighted(0.4, inside)), 0..8).prop_map(named)
    })
}

/// Returns a tree with one root.
pub(crate) fn tree() -> impl Strategy<Value = Vec<Node>> {
    (nodes(), own()).prop_map(|(children, mut own)| {
        own.file_type = 1;
        vec![Node { name: b"/made/up".to_vec(), own, children, is_unreadable: false }]
    })
}

/// Returns the columns of a table.
#[allow(dead_code, reason = "each test uses some")]
pub(crate) fn columns() -> impl Strategy<Value = FieldMask> {
    any::<u16>().prop_map(|bits| {
        let fields = FieldMask::from_bits_truncate(bits);
        // Tables know hard links only with both.
        if fields.intersects(FieldMask::FILE_ID | FieldMask::NLINK) {
            fields | FieldMask::FILE_ID | FieldMask::NLINK
        } else {
            fields
        }
    })
}

/// Makes a table of trees.
pub(crate) fn table(roots: &[Node], columns: FieldMask) -> Table {
    enum Step<'n> {
        Enter(&'n Node),
        Leave,
    }
    let mut importer = TableImporter::new(columns);
    let mut waiting: Vec<Step<'_>> = roots.iter().rev().map(Step::Enter).collect();
    while let Some(step) = waiting.pop() {
        let Step::Enter(node) = step else {
            importer.leave().expect("names are unique");
            continue;
        };
        let name = name_from_bytes(node.name.clone());
        let mut attributes = node.own.attributes();
        attributes.retain(columns | FieldMask::SIZE | FieldMask::ALLOCATED);
        enter(&mut importer, &name, &attributes, node);
        if node.own.file_type() == FileType::Directory {
            waiting.push(Step::Leave);
            waiting.extend(node.children.iter().rev().map(Step::Enter));
        }
    }
    importer.finish().expect("few entries")
}

fn enter(importer: &mut TableImporter, name: &OsStr, of: &Attributes, node: &Node) {
    if node.own.file_type() != FileType::Directory {
        importer.add_entry(name, of);
        return;
    }
    importer.enter(name, of);
    if node.is_unreadable {
        importer.fail_directory(io::ErrorKind::PermissionDenied.into());
        let denied = transect::FaultKind::Denied;
        importer.mark_unread(UnreadReason::Failed(denied));
    }
}

/// Returns a tree of several pages of names.
pub(crate) fn tree_of_pages() -> Vec<Node> {
    let file = |directory: u64, number: u64| {
        let mut node = Node::file(&format!("name {number:03} of {directory}"));
        let at = directory * 500 + number;
        node.own.inode = 1_000 + at;
        node.own.size = (at % 7 != 3).then_some(at * at * 977 % 10_000_000);
        node.own.mtime = 1_700_000_000_000_000_000 + (at * 7_919 % 1_000 * 1_000_003) as i64;
        node.own.nlink = 1 + u32::from(at.is_multiple_of(100));
        node
    };
    let inner = |directory| (0..500).map(|number| file(directory, number)).collect();
    let mut directories: Vec<Node> = (0..6)
        .map(|number| Node::directory(&format!("directory {number}"), inner(number)))
        .collect();
    directories[4].is_unreadable = true;
    vec![Node::directory("/golden", directories)]
}

/// Returns the snapshot of a tree with all columns, as it is in a file.
pub(crate) fn snapshot_of(tree: &[Node]) -> Vec<u8> {
    let table = table(tree, FieldMask::all());
    let mut metadata = Metadata::default();
    metadata.set_fields(table.columns());
    metadata.set_diagnostics(table.diagnostics());
    let mut bytes = Vec::new();
    write(&table, &metadata, &Cancel::new(), &mut bytes).expect("memory is enough");
    bytes
}
