//! The methods that transform files.

use transect_transform::pass::{self, IoMethod, PassOptions, Plan};
use transect_transform::step::Cost;

use super::BASE;
use super::floor::Floor;
use super::variant::Variant;
use crate::experiments::method::{self, Origin, with_second_base};
use crate::published::contract;
use crate::rivals::contender::{Contender, Task};
use crate::spec::Cell;
use crate::spec::transform::Kind;

pub type Method = method::Method<TransformPart>;

#[derive(Clone, Debug, Default)]
pub struct TransformPart {
    pub takes_block: bool,
    pub takes_hint: bool,
    /// The floors of which it has to be slower than at least one.
    pub floors: Vec<String>,
}

/// A method of the engine: name, description, and the floors that bind it. A method that copies neither out of the
/// input nor into the output may be below the copying floors.
type Known = (&'static str, &'static str, &'static [Floor]);

const METHODS: &[Known] = &[
    ("buffered", "one block, read, changed where it lies, and written", &[Floor::ReadWrite]),
    ("streams", "the buffered reader and writer of the standard library", &[Floor::ReadWrite]),
    ("kernel-copy", "the kernel copies, or shares blocks", &[]),
    ("pipeline", "three threads, for reading, the step and writing", &[Floor::Write]),
    ("mapped-read", "the input mapped into memory, the output written", &[Floor::Write]),
    ("mapped", "input and output mapped into memory", &[Floor::Memory]),
    ("direct", "past the system's cache, one block at a time", &[]),
    ("direct-uring", "past the system's cache, several reads and writes under way at once", &[]),
    ("uring", "several reads and writes under way at once", &[Floor::Write]),
];

/// Methods that read sequentially through the page cache, so that read-ahead helps.
const READS_IN_ORDER: &[IoMethod] =
    &[IoMethod::Buffered, IoMethod::Streams, IoMethod::Pipeline, IoMethod::MappedRead];

/// Methods that quick sessions exclude: variants of others, and methods that leave no unwritten data.
const NOT_QUICK: &[IoMethod] =
    &[IoMethod::Streams, IoMethod::MappedRead, IoMethod::Direct, IoMethod::DirectUring];

impl Method {
    pub fn all(kind: Kind, contenders: &[Contender]) -> Vec<Self> {
        let contenders = contenders.iter().filter(|it| it.task == Task::Transform);
        IoMethod::ALL
            .iter()
            .map(|&method| Self::of_the_engine(method, kind))
            .chain(contenders.flat_map(|contender| Self::of_a_contender(contender, kind)))
            .chain(Floor::ALL.iter().map(|&floor| Self::of_a_floor(floor, kind)))
            .collect()
    }

    fn of_the_engine(method: IoMethod, kind: Kind) -> Self {
        let name = method.as_str();
        let known = METHODS.iter().find(|(known, ..)| *known == name);
        let &(_, about, floors) = known.unwrap_or(&(name, name, &[]));
        let options = PassOptions::default().method(Some(method));
        // Cost and length only matter when the planner chooses the method.
        let task = pass::Task::new(kind.shape(), Cost::Light, 0);
        let chosen = Plan::new(&options, task);
        let part = TransformPart {
            takes_block: method != IoMethod::KernelCopy,
            takes_hint: READS_IN_ORDER.contains(&method),
            floors: floors.iter().map(|floor| floor.as_str().to_owned()).collect(),
        };
        Self {
            contract: contract::rows_of(name),
            parallel: method == IoMethod::Pipeline,
            quick: !NOT_QUICK.contains(&method),
            unavailable_reason: chosen.err().map(|error| error.to_string()),
            ..Self::new(Origin::Engine, name, about, part)
        }
    }

    fn of_a_contender(contender: &Contender, kind: Kind) -> impl Iterator<Item = Self> {
        contender.methods.iter().map(move |method| {
            let refused = || {
                let can = method.kinds.iter().any(|known| known == kind.as_str());
                (!can).then(|| format!("does {} only", method.kinds.join(" and ")))
            };
            let part = TransformPart {
                takes_block: method.block,
                takes_hint: method.hint,
                floors: method.floors.clone(),
            };
            let method = Self::of_contender(contender, method, part);
            Self { unavailable_reason: method.unavailable_reason.or_else(refused), ..method }
        })
    }

    fn of_a_floor(floor: Floor, kind: Kind) -> Self {
        Self {
            unavailable_reason: floor.unavailable_reason(kind).map(str::to_owned),
            ..Self::new(Origin::Floor, floor.as_str(), floor.about(), TransformPart::default())
        }
    }

    /// Returns its variants: one for each block size, with and without the hint, if it supports them.
    fn variants(&self, blocks: &[usize], hint: bool) -> Vec<Variant> {
        if !self.part.takes_block {
            return vec![Variant::plain(&self.name)];
        }
        let hints: &[bool] = if hint && self.part.takes_hint { &[false, true] } else { &[false] };
        let with = |&block: &usize| {
            hints.iter().map(move |&hint| Variant {
                method: self.name.clone(),
                block: Some(block),
                hint,
            })
        };
        blocks.iter().flat_map(with).collect()
    }

    fn cell_of(&self, variant: &Variant) -> Cell {
        let (method, floors) = (variant.to_string(), Some(self.part.floors.clone()));
        Cell { name: method.clone(), method, floors, ..self.cell() }
    }
}

pub fn cells(methods: &[&Method], blocks: &[usize], hint: bool) -> Vec<Cell> {
    let cells = |method: &&Method| {
        let plain = (method.name == BASE).then(|| Variant::plain(BASE));
        let variants = plain.into_iter().chain(method.variants(blocks, hint));
        variants.map(|variant| method.cell_of(&variant)).collect::<Vec<_>>()
    };
    with_second_base(methods.iter().flat_map(cells).collect(), BASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_include_every_method_of_the_engine() {
        let methods = Method::all(Kind::Copy, &[]);
        for &method in IoMethod::ALL {
            let name = method.as_str();
            assert!(
                methods.iter().any(|known| known.name == name && known.about != name),
                "{name}"
            );
        }
    }

    #[test]
    fn unsuitable_method_has_unavailable_reason() {
        let methods = Method::all(Kind::Zstd, &[]);
        let why_not = |name: &str| {
            methods
                .iter()
                .find(|method| method.name == name)
                .and_then(|m| m.unavailable_reason.clone())
        };
        assert_eq!(why_not("buffered"), None);
        assert!(why_not("kernel-copy").unwrap().contains("no step sees it"));
        assert_eq!(why_not("floor-step"), None);
        let copies = Method::all(Kind::Copy, &[]);
        let step = copies.iter().find(|method| method.name == "floor-step").unwrap();
        assert_eq!(step.unavailable_reason.as_deref(), Some("a copy has no step"));
    }

    #[test]
    fn cells_include_base_twice_and_one_for_each_block() {
        let methods = Method::all(Kind::Copy, &[]);
        let chosen: Vec<&Method> = methods
            .iter()
            .filter(|method| ["buffered", "kernel-copy", "floor-read"].contains(&&*method.name))
            .collect();
        let cells = cells(&chosen, &[1024, 65536], true);
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        let expected = [
            "buffered",
            "buffered (again)",
            "buffered,block=1K",
            "buffered,block=1K,hint=sequential",
            "buffered,block=64K",
            "buffered,block=64K,hint=sequential",
            "kernel-copy",
            "floor-read",
        ];
        assert_eq!(names, expected);
        assert!(cells[7].is_floor() && !cells[0].is_floor());
    }
}
