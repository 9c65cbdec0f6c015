//! Files with one bit changed: every answer is an error, or the same as before.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use transect::table::PartialTable;
use transect::{Cancel, FieldMask};
use transect_snapshot::{
    DiffOptions, LargestLimits, NamePattern, ReadError, Search, Snapshot, StoredMeasure, diff,
};

use crate::model::{self, Node};

/// A number that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 32) as usize) % limit
    }
}

type File = Snapshot<Vec<u8>>;

/// What a command answers from a file, as text.
type Question = fn(&File, &File) -> Result<String, ReadError>;

/// Questions, by the command that puts them. The second file is another snapshot of the same tree.
const QUESTIONS: [(&str, Question); 6] = [
    ("list", list),
    ("usage", usage),
    ("table", table),
    ("find", find),
    ("diff", changes),
    ("files", files),
];

fn list(file: &File, _: &File) -> Result<String, ReadError> {
    let (mut rows, mut text) = (file.rows(), String::new());
    while rows.advance(true)? {
        let of = (rows.name(), rows.attributes(), rows.totals(), rows.digest(), rows.unread());
        text.push_str(&format!("{} {of:?}\n", rows.depth()));
    }
    Ok(text)
}

fn usage(file: &File, _: &File) -> Result<String, ReadError> {
    let mut limits = LargestLimits::new(4);
    limits.totals = true;
    let largest = |measure| -> Result<_, ReadError> {
        let largest = file.largest_directories(measure, &limits)?.expect("one tree");
        let names = file.names_of(&largest.directories)?;
        Ok((largest, names))
    };
    let largest = (largest(StoredMeasure::DiskUsage)?, largest(StoredMeasure::Apparent)?);
    let partial = file.partial_table(FieldMask::MTIME, 4, true)?;
    let totals = |partial: PartialTable| {
        let table = partial.table().expect("a few directories");
        table.iter().map(|row| table.totals(row)).collect::<Vec<_>>()
    };
    Ok(format!("{largest:?} {:?}", partial.map(totals)))
}

fn table(file: &File, _: &File) -> Result<String, ReadError> {
    let table = file.table(FieldMask::MTIME | FieldMask::UID)?;
    let of = |row| (table.path(row), table.attributes(row), table.totals(row), table.shared(row));
    Ok(format!("{:?} {:?}", table.iter().map(of).collect::<Vec<_>>(), table.diagnostics().errors))
}

fn find(file: &File, _: &File) -> Result<String, ReadError> {
    let mut text = String::new();
    let search = Search::new([NamePattern::substring(b"name 123")]).fields(FieldMask::all());
    file.find(&search, &Cancel::new(), |hit| {
        text.push_str(&format!("{hit:?}\n"));
        ControlFlow::Continue(())
    })?;
    let all = Search::new([NamePattern::substring(b"4 of")]);
    Ok(format!("{text} {}", file.count(&all, &Cancel::new())?))
}

fn changes(file: &File, other: &File) -> Result<String, ReadError> {
    let mut text = String::new();
    for verify in [false, true] {
        let mut options = DiffOptions::default();
        options.verify = verify;
        text.push_str(&format!("{:?}", diff(file, other, &options)?));
        text.push_str(&format!("{:?}", diff(other, file, &options)?));
    }
    Ok(text)
}

fn files(file: &File, _: &File) -> Result<String, ReadError> {
    Ok(format!("{} {:?}", file.len(), file.metadata()))
}

/// The answers to changed files.
#[derive(Debug, Default)]
struct Answers {
    errors: u64,
    same: u64,
}

/// Changes `flips` bits, one at a time, and puts the questions to each file.
fn flip(bytes: &[u8], other: &File, questions: &[(&'static str, Question)], flips: usize) {
    let good = Snapshot::new(bytes.to_vec()).expect("a snapshot");
    let expected: Vec<String> =
        questions.iter().map(|(_, ask)| ask(&good, other).expect("a snapshot")).collect();
    let mut answers: BTreeMap<&str, Answers> = BTreeMap::new();
    let mut random = Random(7);
    for _ in 0..flips {
        let bit = random.below(8 * bytes.len());
        let mut changed = bytes.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        let changed = Snapshot::new(changed);
        for ((name, ask), expected) in questions.iter().zip(&expected) {
            let of = answers.entry(name).or_default();
            match changed.as_ref().ok().and_then(|changed| ask(changed, other).ok()) {
                None => of.errors += 1,
                Some(answer) if answer == *expected => of.same += 1,
                Some(_) => panic!("{name} has another answer: bit {bit} of {}", 8 * bytes.len()),
            }
        }
    }
    let all_answered = |of: &Answers| of.errors + of.same == flips as u64;
    assert!(answers.values().all(all_answered), "{flips} flips: {answers:?}");
}

/// Returns how many bits are changed: few, or as many as the variable for long tests asks for.
fn flips(few: usize) -> usize {
    if std::env::var_os("TRANSECT_TORTURE").is_some() { few * 100 } else { few }
}

/// The same tree with some changes.
fn changed(mut tree: Vec<Node>) -> Vec<Node> {
    let directories = &mut tree[0].children;
    directories[1].children[7].own.size = Some(99);
    directories[2].children.remove(300);
    directories[3].children[499].own.mode ^= 1;
    tree
}

#[test]
fn snapshot_with_flipped_bit_is_an_error_or_has_the_same_answers() {
    let tree = model::tree_of_pages();
    let other = Snapshot::new(model::snapshot_of(&changed(tree.clone()))).unwrap();
    flip(&model::snapshot_of(&tree), &other, &QUESTIONS, flips(100));
}

/// Only files of several groups have an index of names.
#[test]
fn indexed_snapshot_with_flipped_bit_is_an_error_or_has_the_same_answers() {
    let inner = |directory: u32| {
        (0..23_000).map(|number| Node::file(&format!("name {number:05} of {directory}"))).collect()
    };
    let directories = (0..6).map(|number| Node::directory(&format!("d{number}"), inner(number)));
    let bytes = model::snapshot_of(&[Node::directory("/root", directories.collect())]);
    let other = Snapshot::new(bytes.clone()).unwrap();
    flip(&bytes, &other, &[("usage", usage), ("find", find)], flips(20));
}

/// The description of the file, and that of each page, say what the rest means: every bit of them counts.
#[test]
fn snapshot_with_any_flipped_bit_at_its_end_is_an_error() {
    let bytes = model::snapshot_of(&[Node::directory("/root", vec![Node::file("a")])]);
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    let begin = bytes.len() - 8 - footer;
    for bit in (0..32).chain(8 * begin..8 * bytes.len()) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let opened = Snapshot::new(changed);
        assert!(matches!(opened, Err(ReadError::Damaged(_) | ReadError::NotParquet)), "{bit}");
    }
}
