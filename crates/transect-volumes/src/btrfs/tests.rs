//! Items that no kernel returns.

use super::*;

/// An item with its header.
fn item(object: u64, kind: u32, offset: u64, content: &[u8]) -> Vec<u8> {
    let mut bytes = [7, object, offset].map(u64::to_ne_bytes).concat();
    bytes.extend([kind, content.len() as u32].map(u32::to_ne_bytes).concat());
    bytes.extend(content);
    bytes
}

fn inode(object: u64, mode: u32) -> Vec<u8> {
    let mut content = [0; 160];
    content[52..56].copy_from_slice(&mode.to_le_bytes());
    content[40] = 1;
    item(object, 1, 0, &content)
}

fn entry(directory: u64, index: u64, name: &str, inode: u64, file_type: u8) -> Vec<u8> {
    let mut content = inode.to_le_bytes().to_vec();
    content.push(1);
    content.resize(27, 0);
    content.extend((name.len() as u16).to_le_bytes());
    content.push(file_type);
    content.extend(name.as_bytes());
    item(directory, 96, index, &content)
}

/// A tree of three directories with twenty files each.
fn tree() -> Vec<u8> {
    let mut bytes = inode(256, 0o40755);
    (0..3).for_each(|at| bytes.extend(entry(256, at, &format!("d{at}"), 300 + 100 * at, 2)));
    for directory in [300, 400, 500] {
        bytes.extend(inode(directory, 0o40755));
        let names = (1..21).map(|at| entry(directory, at, &format!("f{at}"), directory + at, 1));
        names.for_each(|name| bytes.extend(name));
        (1..21).for_each(|at| bytes.extend(inode(directory + at, 0o10_0644)));
    }
    bytes
}

fn count(items: &[u8]) -> io::Result<usize> {
    super::super::count_btrfs_entries(items)
}

#[test]
fn btrfs_parts_joined_names_lead_to_their_inodes() {
    let index = read_items(&tree()).unwrap();
    let top = index.top.unwrap();
    assert_eq!(index.inode_number(index.inode_of(top)), 256);
    for (name, number) in [(b"d0", 300), (b"d1", 400), (b"d2", 500)] {
        let directory = index.subdirectory(top, name).unwrap();
        assert_eq!(index.find_directory(number), Some(directory));
        let (mut position, mut inodes) = (index.begin(directory), Vec::new());
        while let Some((_, inode)) = index.next(&mut position) {
            inodes.push(index.attributes(inode).unwrap().inode().unwrap());
        }
        assert_eq!(inodes, (number + 1..number + 21).collect::<Vec<_>>());
    }
    assert_eq!(index.find_directory(301), None, "it is a file");
    assert_eq!(index.find_directory(299), None);
}

#[test]
fn btrfs_search_continues_at_next_wanted_item() {
    let key = |object, kind, offset| BtrfsKey { object, kind, offset };
    assert_eq!(after(key(5, 1, 0)), Some(key(5, 96, 0)), "entries follow the attributes");
    assert_eq!(after(key(5, 84, 9)), Some(key(5, 96, 0)));
    assert_eq!(after(key(5, 96, 9)), Some(key(5, 96, 10)));
    assert_eq!(after(key(5, 96, u64::MAX)), Some(key(6, 0, 0)));
    assert_eq!(after(key(5, 108, 4096)), Some(key(6, 0, 0)));
    assert_eq!(after(key(u64::MAX, 108, 0)), None);
}

#[test]
fn btrfs_hostile_items_no_panic_and_an_end() {
    let mut bytes = tree();
    assert_eq!(count(&bytes).unwrap(), 63);
    assert!(count(&[]).is_err());
    (0..bytes.len()).step_by(11).for_each(|end| drop(count(&bytes[..end])));
    let mut random = 0x1234_5678_9ABC_DEF0_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % below
    };
    let (mut failed, mut read) = (0, 0);
    for _ in 0..5_000 {
        let mut change = || {
            let at = next(bytes.len());
            (at, std::mem::replace(&mut bytes[at], [0, 0xFF, 1, next(256) as u8][next(4)]))
        };
        let changes = [change(), change(), change()];
        match count(&bytes) {
            Ok(entries) => {
                read += 1;
                assert!(entries <= 63 * 2, "{entries} entries, {changes:?}");
            }
            Err(_) => failed += 1,
        }
        for (at, byte) in changes.into_iter().rev() {
            bytes[at] = byte;
        }
    }
    assert_eq!(count(&bytes).unwrap(), 63, "all changes were undone");
    assert!(failed > 5 && read > 2_500, "{failed} failed, {read} were read");
}
