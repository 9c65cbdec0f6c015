//! Journals of ext4 that are damaged: what the kernel refuses is an error, and everything else is read as the kernel
//! shows it. Mounting needs privileges; without them the tests print that they are skipped.
//!
//! With `TRANSECT_TORTURE` set, every byte of interest is damaged; otherwise a sample.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use transect::ReaderKind;
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::scan;
use crate::volumes::run;

const MAGIC: u32 = 0xC03B_3998;
/// Transactions that are in the journal only.
const TRANSACTIONS: u32 = 5;
/// Faults of each journal that `make test` tries.
const SAMPLE: usize = 30;

/// The names of all files, or none if the volume is refused; and whether something is reported as damaged.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    names: Option<BTreeSet<String>>,
    is_partial: bool,
}

impl Shown {
    fn has(&self, name: &str) -> bool {
        self.names.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Says what differs from what the kernel shows.
    fn difference(&self, kernel: &Self) -> String {
        let only = |shown: &Self, other: &Self| -> Vec<String> {
            let names = shown.names.iter().flatten();
            names.filter(|name| !other.has(name)).take(5).cloned().collect()
        };
        let says = |shown: &Self| match (&shown.names, shown.is_partial) {
            (None, _) => "refuses",
            (Some(_), true) => "reports errors",
            (Some(_), false) => "reports nothing",
        };
        let (ours, theirs) = (only(self, kernel), only(kernel, self));
        let (here, there) = (says(self), says(kernel));
        format!("the reader {here}, with {ours:?} more; the kernel {there}, with {theirs:?} more")
    }
}

/// Returns what a walk shows.
fn shown(root: &Path, reader: Option<ReaderKind>) -> Shown {
    let options = match reader {
        Some(reader) => scan(root).reader(reader),
        None => scan(root),
    };
    let mut walk = options.into_iter();
    let mut names = BTreeSet::new();
    let mut is_refused = false;
    for entry in &mut walk {
        match entry {
            Ok(entry) => {
                let path = entry.path();
                names.insert(path.strip_prefix(root).unwrap().display().to_string());
            }
            Err(_) => is_refused |= names.is_empty(),
        }
    }
    let is_partial = walk.diagnostics().errors > 0;
    Shown { names: (!is_refused).then_some(names), is_partial }
}

/// Returns what the kernel shows after its recovery of the journal.
fn shown_by_kernel(image: &Path, at: &Path) -> Shown {
    // Not read-only: then its device cannot be written either, and the kernel does not recover.
    match Mount::new(&["-t", "ext4", "-o", "loop", image.to_str().unwrap()], at) {
        Ok(_mount) => shown(at, None),
        Err(_) => Shown { names: None, is_partial: true },
    }
}

/// Makes an image whose journal has changes that are nowhere else.
///
/// # Errors
/// Why it cannot be made or mounted.
fn crashed(temp: &Path, make: &[&str], mount_options: &str) -> Result<Vec<u8>, String> {
    let (image, at) = (temp.join("image"), temp.join("mounted"));
    File::create(&image).unwrap().set_len(8 << 20).unwrap();
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F", "-N", "512", "-J", "location=3M"])
        .args(make)
        .arg(&image)
        .output();
    let made = made.map_err(|error| error.to_string())?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // A mount of its own, so that the journal begins with the transactions that follow.
    let mount = || Mount::new(&["-o", mount_options, image.to_str().unwrap()], &at);
    let first = mount()?;
    for number in 1..=TRANSACTIONS {
        let directory = at.join(format!("freed {number}"));
        fs::create_dir(&directory).unwrap();
        (0..40).for_each(|file| fs::write(directory.join(format!("{file}")), "").unwrap());
    }
    run(&["sync", "-f"], &at);
    drop(first);
    let mount = mount()?;
    for number in 1..=TRANSACTIONS {
        // Its blocks are revoked, if they are in the journal.
        let path = at.join(format!("freed {number}"));
        fs::write(path.join("another"), "").unwrap();
        if let Some(before) = number.checked_sub(1).filter(|&before| before > 0) {
            fs::remove_dir_all(at.join(format!("freed {before}"))).unwrap();
        }
        (0..10).for_each(|file| fs::write(at.join(format!("{number} {file}")), "").unwrap());
        // Commits the transaction, and does not write its blocks to their places.
        File::open(&at).unwrap().sync_all().unwrap();
    }
    let copy = fs::read(&image).unwrap();
    drop(mount);
    Ok(copy)
}

fn be(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(*bytes[at..].first_chunk().unwrap())
}

/// The checksums of the journal, bit by bit.
fn crc32c(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82F6_3B78 * (crc & 1)))
    })
}

/// The journal of an image, whose blocks are consecutive: there is nothing else behind 3 MB.
struct Journal {
    /// Where it begins in the image.
    begin: usize,
    block_size: usize,
    incompat: u32,
}

impl Journal {
    fn of(image: &[u8]) -> Self {
        let first = [&MAGIC.to_be_bytes()[..], &4_u32.to_be_bytes()].concat();
        let begin = (0..image.len()).step_by(1024).find(|&at| image[at..].starts_with(&first));
        let begin = begin.expect("a journal");
        let block_size = be(image, begin + 12) as usize;
        Self { begin, block_size, incompat: be(image, begin + 0x28) }
    }

    fn has(&self, feature: u32) -> bool {
        self.incompat & feature != 0
    }

    /// Returns whether it has checksums, of any version.
    fn is_summed(&self, image: &[u8]) -> bool {
        self.has(0x18) || image[self.begin + 0x27] & 1 != 0
    }

    /// Returns the offset of each block of the log that belongs to the transactions, and its kind; 0 for a copy.
    fn blocks(&self, image: &[u8]) -> Vec<(usize, u32)> {
        let start = be(image, self.begin + 0x1C) as usize;
        let mut sequence = be(image, self.begin + 0x18);
        let (mut at, mut blocks) = (self.begin + start * self.block_size, Vec::new());
        while be(image, at) == MAGIC && be(image, at + 8) == sequence {
            let kind = be(image, at + 4);
            blocks.push((at, kind));
            let copies = if kind == 1 { self.tags(&image[at..]).len() } else { 0 };
            blocks.extend((1..=copies).map(|copy| (at + copy * self.block_size, 0)));
            at += (1 + copies) * self.block_size;
            sequence += u32::from(kind == 2);
        }
        blocks
    }

    /// Returns the place of each tag in a descriptor.
    fn tags(&self, descriptor: &[u8]) -> Vec<usize> {
        let has = |feature| self.has(feature);
        let length = match has(0x10) {
            true => 16,
            false => 8 + 2 * usize::from(has(8)) + 4 * usize::from(has(2)),
        };
        let (mut at, mut tags) = (12, Vec::new());
        loop {
            tags.push(at);
            let flags = descriptor[at + 7];
            if flags & 8 != 0 {
                return tags;
            }
            at += length + if flags & 2 == 0 { 16 } else { 0 };
        }
    }

    /// Turns checksums of the third version into those of the second, which kernels no longer write.
    fn make_second_version(&mut self, image: &mut [u8]) {
        let seed = crc32c(!0, &image[self.begin + 0x30..self.begin + 0x40]);
        let blocks = self.blocks(image);
        let is_wide = self.has(2);
        for &(at, _) in blocks.iter().filter(|&&(_, kind)| kind == 1) {
            let block = &mut image[at..at + self.block_size];
            let mut tags = Vec::new();
            for place in self.tags(block) {
                let tag = &block[place..place + 16];
                tags.extend_from_slice(&tag[..4]);
                // The lower halves of the checksum and of the flags.
                tags.extend_from_slice(&[tag[14], tag[15], tag[6], tag[7]]);
                tags.extend_from_slice(if is_wide { &tag[8..12] } else { &[] });
                // The kernel's structure counts the checksum twice.
                tags.extend_from_slice(&[0; 2]);
                if tag[7] & 2 == 0 {
                    tags.extend_from_slice(&block[place + 16..place + 32]);
                }
            }
            let end = self.block_size - 4;
            block[12..end].fill(0);
            block[12..12 + tags.len()].copy_from_slice(&tags);
            let crc = crc32c(crc32c(seed, &block[..end]), &[0; 4]);
            block[end..].copy_from_slice(&crc.to_be_bytes());
        }
        self.incompat = self.incompat & !0x10 | 8;
        let first = &mut image[self.begin..self.begin + 1024];
        first[0x28..0x2C].copy_from_slice(&self.incompat.to_be_bytes());
        first[0xFC..0x100].fill(0);
        let crc = crc32c(!0, first);
        first[0xFC..0x100].copy_from_slice(&crc.to_be_bytes());
    }

    /// Returns the bytes to damage.
    fn faults(&self, image: &[u8]) -> Vec<usize> {
        let last = self.block_size - 1;
        let description =
            [3, 7, 11, 15, 19, 22, 23, 27, 30, 31, 35, 39, 43, 47, 50, 67, 75, 80, 90, 0xFE, 0x100];
        let mut faults: Vec<usize> = description.iter().map(|at| self.begin + at).collect();
        // Nothing tells that a copy is damaged where there are no checksums.
        let is_summed = self.is_summed(image);
        for (at, kind) in self.blocks(image) {
            let mut places = match kind {
                0 if !is_summed => continue,
                0 => vec![0, 40, last / 2],
                // Magic number, kind, transaction; kind, length and value of checksums; time; behind the header.
                2 => vec![12, 13, 14, 18, 19, 40, 54, 55, 59, 62, 100],
                5 => vec![12, 14, 15, 19, 23, 27],
                1 => {
                    let tags = self.tags(&image[at..]);
                    let ends = [tags[0], tags[tags.len() / 2], tags[tags.len() - 1]];
                    let of_tag = |tag: usize| [1, 3, 4, 5, 6, 7, 11, 15, 20].map(|it| tag + it);
                    ends.into_iter().flat_map(of_tag).collect()
                }
                kind => panic!("a block of kind {kind}"),
            };
            if kind != 0 {
                places.extend([2, 7, 11]);
            }
            places.extend([last - 300, last]);
            faults.extend(places.into_iter().map(|place| at + place));
        }
        faults.sort_unstable();
        faults.dedup();
        faults
    }
}

/// The results of all faults of a journal, which are those of the kernel.
#[derive(Debug, Default)]
struct Counts {
    refused: usize,
    other_names: usize,
    same_names: usize,
}

/// Damages the journal of an image in many places, and compares with the kernel.
#[expect(clippy::print_stdout, reason = "a row of the table of `make torture`")]
fn compare_faults(test: &str, mut image: Vec<u8>, is_second: bool) {
    let temp = TempDir::new();
    let mut journal = Journal::of(&image);
    if is_second {
        journal.make_second_version(&mut image);
    }
    let blocks = journal.blocks(&image);
    let count = |wanted| blocks.iter().filter(|&&(_, kind)| kind == wanted).count();
    assert_eq!(count(2), TRANSACTIONS as usize, "{test}: commits");
    assert!(count(5) > 0, "{test}: blocks are revoked");
    let compare = |number: usize, bytes: &[u8], what: &str| {
        let path = temp.join(format!("image {number}"));
        fs::write(&path, bytes).unwrap();
        let found = shown(&path, Some(ReaderKind::Ext4));
        let expected = shown_by_kernel(&path, &temp.join("mounted"));
        fs::remove_file(&path).unwrap();
        // Without checksums, a wrong tag puts a copy in the place of another block: this reader checks more of it.
        let is_reported = !journal.is_summed(bytes) && found.is_partial && expected.names.is_some();
        assert!(
            found == expected || is_reported,
            "{test}, {what}: {}",
            found.difference(&expected)
        );
        found
    };
    let whole = compare(0, &image, "no fault");
    let names = whole.names.as_ref().expect("names");
    assert!(whole.has("5 9") && whole.has("1 0") && !whole.is_partial, "{whole:?}");
    let mut faults = journal.faults(&image);
    if std::env::var_os("TRANSECT_TORTURE").is_none() {
        let step = faults.len().div_ceil(SAMPLE);
        faults = faults.into_iter().step_by(step).collect();
        // The checksum of the third commit, behind which the others were lost.
        let commits = blocks.iter().filter(|&&(_, kind)| kind == 2);
        faults.extend(commits.map(|&(at, _)| at + 19).nth(2));
    }
    let mut counts = Counts::default();
    for (number, &at) in faults.iter().enumerate() {
        // Every bit has its turn.
        let bit = 1 << (number % 8);
        image[at] ^= bit;
        let block = (at - journal.begin) / journal.block_size;
        let what = format!("block {block}, byte {}, bit {bit}", at % journal.block_size);
        let found = compare(number + 1, &image, &what);
        image[at] ^= bit;
        match found.names {
            None => counts.refused += 1,
            Some(found) if found == *names => counts.same_names += 1,
            Some(_) => counts.other_names += 1,
        }
    }
    // The revoke records of the last transaction, which has no commit.
    let last = |wanted| blocks.iter().rfind(|&&(_, kind)| kind == wanted).unwrap().0;
    image[last(2)] ^= 1;
    image[last(5) + 12] ^= 0x80;
    compare(faults.len() + 1, &image, "no last commit, and a wrong number of revoke records");
    let Counts { refused, other_names, same_names } = counts;
    println!("JOURNAL | {test} | {} | {refused} | {other_names} | {same_names} |", faults.len());
    assert!(counts.refused > 0, "{counts:?}");
}

/// Defines a test for each kind of journal: options of `mkfs.ext4`, options of the mount, and whether its checksums
/// become those of the second version.
macro_rules! journals {
    ($($name:ident: $make:expr, $mount:expr, $is_second:expr;)*) => {
        $(#[test]
        fn $name() {
            let temp = TempDir::new();
            match crashed(temp.path(), &$make, $mount) {
                Ok(image) => compare_faults(stringify!($name), image, $is_second),
                Err(reason) => loudly_skip(stringify!($name), reason),
            }
        })*
    };
}

const PLAIN: &str = "^metadata_csum,^64bit";
const PLAIN_64: &str = "^metadata_csum,64bit";
const SUMMED: &str = "metadata_csum,^64bit";
const SUMMED_64: &str = "metadata_csum,64bit";

journals! {
    journal_without_checksums_damaged_as_kernel: ["-b", "1024", "-O", PLAIN], "loop", false;
    journal_without_checksums_64_bits_damaged_as_kernel: ["-b", "1024", "-O", PLAIN_64], "loop", false;
    journal_version_1_damaged_as_kernel: ["-b", "1024", "-O", PLAIN], "loop,journal_checksum", false;
    journal_version_1_async_damaged_as_kernel: ["-b", "1024", "-O", PLAIN_64], "loop,journal_async_commit,data=writeback", false;
    journal_version_2_damaged_as_kernel: ["-b", "1024", "-O", SUMMED], "loop", true;
    journal_version_2_64_bits_damaged_as_kernel: ["-b", "1024", "-O", SUMMED_64], "loop", true;
    journal_version_2_async_damaged_as_kernel: ["-b", "1024", "-O", SUMMED_64], "loop,journal_async_commit,data=writeback", true;
    journal_version_3_damaged_as_kernel: ["-b", "1024", "-O", SUMMED], "loop", false;
    journal_version_3_64_bits_damaged_as_kernel: ["-b", "4096", "-O", SUMMED_64], "loop", false;
    journal_version_3_async_damaged_as_kernel: ["-b", "1024", "-O", SUMMED_64], "loop,journal_async_commit,data=writeback", false;
}
