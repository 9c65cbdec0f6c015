//! The methods: every way of doing the work that this lab knows, here or not.

use std::path::Path;

use transect::{Order, ReaderKind};

use crate::experiments::method_info::MethodInfo;
use crate::experiments::walk::variant::Variant;
use crate::rivals::contender::{Contender, Task};
use crate::rivals::peer::{PEERS, Peer};
use crate::spec::{Cell, again};

/// One way of doing the work.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name, of which there is one.
    pub name: String,
    /// The rows of the seed contract that it is.
    pub contract: Vec<String>,
    /// The language it is written in.
    pub language: String,
    /// What it does, in one line.
    pub about: String,
    /// It walks on several threads.
    pub parallel: bool,
    /// It takes part in a quick session, too.
    pub quick: bool,
    /// Why it cannot run here, and what would help.
    pub why_not: Option<String>,
    /// How it is run.
    pub kind: Kind,
}

/// How a method is run.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A reader and an order of this engine, with their settings, in a process of its own.
    Engine(Variant),
    /// A method of a contender.
    Contender(Box<Contender>),
    /// A program as it comes.
    Peer(&'static Peer),
    /// It cannot exist here.
    Absent,
}

impl Kind {
    /// Returns the word for the kind, as it stands in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Engine(..) => "engine",
            Self::Contender(_) => "contender",
            Self::Peer(_) => "peer",
            Self::Absent => "absent",
        }
    }
}

/// Rows that no program can be any more, or not by these means: the nearest living equivalent.
const ABSENT: &[(&str, &str, &str, &str)] = &[
    (
        "mfc-cfilefind",
        "A10",
        "C++",
        "MFC is not free, and a wrapper of FindFirstFile: find-first-file",
    ),
    ("usn-journal", "A11", "C", "a log of changes, no tree: the roadmap has it for `watch`"),
    ("ntfs-file-table", "A12", "C", "needs a whole NTFS volume: the roadmap has volume readers"),
    ("windirstat", "A24", "C++", "a program with a window on Windows: its walk is find-first-file"),
    (
        "altwindirstat",
        "A25",
        "C++",
        "a program with a window on Windows: its walk is find-first-file",
    ),
];

impl Method {
    /// Returns all methods, with the contenders that a folder holds, and what is wrong with those
    /// that could not be read. Test doubles are left out unless asked for.
    ///
    /// The caller must trust the folder: commands in a contender's description are executed.
    pub fn all(contenders: Option<&Path>, test_doubles: bool) -> (Vec<Self>, Vec<String>) {
        let mut methods: Vec<Self> = ReaderKind::ALL
            .iter()
            .flat_map(|&reader| Order::ALL.iter().map(move |&order| Variant::new(reader, order)))
            .map(|variant| Self::variant(&variant))
            .collect();
        let (contenders, mut wrong) = contenders.map(Contender::load_all).unwrap_or_default();
        let walk = |contender: &&Contender| contender.task == Task::Enumerate;
        let wanted = |contender: &&Contender| test_doubles || !contender.test_double;
        for contender in contenders.iter().filter(walk).filter(wanted) {
            let why_not = contender.unavailable_reason();
            methods.extend(contender.methods.iter().map(|method| Self {
                name: method.name.clone(),
                contract: method.contract.clone(),
                language: contender.language.clone(),
                about: method.about.clone(),
                parallel: method.parallel,
                quick: method.quick,
                why_not: why_not.clone(),
                kind: Kind::Contender(Box::new(contender.clone())),
            }));
        }
        methods.extend(PEERS.iter().map(|peer| Self {
            name: peer.name.to_owned(),
            contract: Vec::new(),
            language: peer.language.to_owned(),
            about: peer.about.to_owned(),
            parallel: peer.parallel,
            quick: true,
            why_not: peer.unavailable_reason(),
            kind: Kind::Peer(peer),
        }));
        methods.extend(ABSENT.iter().map(|&(name, contract, language, why_not)| Self {
            name: name.to_owned(),
            contract: vec![contract.to_owned()],
            language: language.to_owned(),
            about: why_not.to_owned(),
            parallel: false,
            quick: false,
            why_not: Some(why_not.to_owned()),
            kind: Kind::Absent,
        }));
        let mut seen = std::collections::HashSet::new();
        methods.retain(|method| {
            let new = seen.insert(method.name.clone());
            if !new {
                wrong.push(format!("method '{}' is there twice: the first one stays", method.name));
            }
            new
        });
        (methods, wrong)
    }

    /// Returns the method that a variant of this engine is.
    pub fn variant(variant: &Variant) -> Self {
        let Variant { reader, order, .. } = *variant;
        let refused = || Some(variant.options(Path::new(".")).plan().err()?.to_string());
        Self {
            name: variant.to_string(),
            contract: rows_of_reader(reader)
                .iter()
                .copied()
                .chain(row_of_order(order))
                .map(str::to_owned)
                .collect(),
            language: "Rust".to_owned(),
            about: format!("{}; {}", reader.about(), order.about()),
            parallel: variant.is_parallel(),
            quick: true,
            why_not: reader.unavailable_reason().map(str::to_owned).or_else(refused),
            kind: Kind::Engine(*variant),
        }
    }
}

fn rows_of_reader(reader: ReaderKind) -> &'static [&'static str] {
    match reader {
        ReaderKind::FindFirstFile => &["A1"],
        ReaderKind::FindFirstFileExBasic => &["A2", "A5"],
        ReaderKind::FindFirstFileExStandard => &["A3", "A5"],
        ReaderKind::FindFirstFileExBasicLarge | ReaderKind::FindFirstFileExStandardLarge => {
            &["A4", "A5", "A26", "A27"]
        }
        ReaderKind::FileAttributesEx => &["A6"],
        ReaderKind::ByHandle => &["A8"],
        ReaderKind::NtQuery => &["A9"],
        _ => &[],
    }
}

fn row_of_order(order: Order) -> Option<&'static str> {
    match order {
        Order::Recursive => Some("A29"),
        Order::Queue => Some("A30"),
        Order::Stack => Some("A31"),
        Order::StackPresized => Some("A32"),
        Order::Array => Some("A35"),
        Order::Futures => Some("A36"),
        Order::SharedQueue => Some("A37"),
        _ => None,
    }
}

impl MethodInfo for Method {
    fn name(&self) -> &str {
        &self.name
    }

    fn contract(&self) -> &[String] {
        &self.contract
    }

    fn language(&self) -> &str {
        &self.language
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn kind(&self) -> &'static str {
        self.kind.as_str()
    }

    fn is_parallel(&self) -> bool {
        self.parallel
    }

    fn unavailable_reason(&self) -> Option<&str> {
        self.why_not.as_deref()
    }

    fn contender(&self) -> Option<&Contender> {
        match &self.kind {
            Kind::Contender(contender) => Some(contender),
            _ => None,
        }
    }
}

/// Returns the cells of some methods, each once, then the base once more, and the name of the latter.
pub fn cells(methods: &[&Method], base: &str) -> (Vec<Cell>, String) {
    let mut cells: Vec<Cell> = methods.iter().map(|method| method.cell()).collect();
    let second = cells.iter().find(|cell| cell.name == base).map(Cell::again);
    cells.extend(second);
    (cells, again(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_in_every_order_is_a_method_of_its_own() {
        let (methods, wrong) = Method::all(None, false);
        assert!(wrong.is_empty(), "{wrong:?}");
        let engine = methods.iter().filter(|m| matches!(m.kind, Kind::Engine(..))).count();
        assert_eq!(engine, ReaderKind::ALL.len() * Order::ALL.len());
        let names: std::collections::HashSet<&str> =
            methods.iter().map(|method| method.name.as_str()).collect();
        assert_eq!(names.len(), methods.len());
    }

    #[test]
    fn a_variant_is_a_method_unless_its_reader_does_not_take_its_settings() {
        let method = |name: &str| Method::variant(&name.parse().unwrap());
        let name = "portable/futures,threads=3";
        let tuned = method(name);
        assert_eq!((tuned.name.as_str(), tuned.parallel, tuned.why_not), (name, true, None));
        assert_eq!(tuned.contract, method("portable/futures").contract);
        assert!(!method("portable/futures,threads=1").parallel);
        for (name, why_not) in [
            ("portable/queue,buffer=64K", "reader 'portable' takes no buffer size"),
            ("portable/queue,stat-order=inode", "reader 'portable' takes no stat order"),
        ] {
            assert_eq!(method(name).why_not.as_deref(), Some(why_not));
        }
        let best = ReaderKind::best().as_str();
        let small = method(&format!("{best}/queue,buffer=1K")).why_not;
        assert_eq!(
            small.as_deref(),
            Some("buffer size 1024 is not between 4096 and 4194304 bytes")
        );
    }
}
