//! The methods that walk trees.

use std::path::Path;

use transect::ReaderKind;
use transect::internal::Order;

use crate::experiments::method::{self, Origin, Runner};
use crate::experiments::walk::floor::Floor;
use crate::experiments::walk::keep::Keep;
use crate::experiments::walk::variant::Variant;
use crate::harness::launch::can_start;
use crate::published::contract;
use crate::rivals::contender::{Contender, Task};
use crate::rivals::external::External;
use crate::rivals::peer::{PEERS, Peer};
use crate::spec::{Cell, CheckedBy, ENGINE, FLOOR};

pub type Method = method::Method<WalkRunner>;

/// How a walking method runs.
#[derive(Clone, Debug)]
pub enum WalkRunner {
    /// A reader and an order of this engine, with their settings, in a separate process.
    Engine(Variant),
    Floor(Floor),
    Contender(Box<Contender>),
    /// An unmodified third-party program.
    Peer(&'static Peer),
    /// A command of the user, or of a preset.
    External(External),
}

impl Runner for WalkRunner {
    fn origin(&self) -> Origin<'_> {
        match self {
            Self::Engine(_) => Origin::Own(ENGINE),
            Self::Floor(_) => Origin::Own(FLOOR),
            Self::Contender(contender) => Origin::Contender(contender),
            Self::Peer(peer) => Origin::Peer(peer),
            Self::External(external) => Origin::Command(external),
        }
    }

    fn checked_by(&self) -> Option<CheckedBy> {
        Some(match self {
            Self::Engine(_) | Self::Floor(_) => CheckedBy::Digest,
            Self::Contender(contender) if contender.has_check() => CheckedBy::Digest,
            _ => CheckedBy::Sums,
        })
    }
}

impl Method {
    /// Returns all methods, including those of contenders, and messages about methods with the name of another.
    pub fn all(contenders: &[Contender]) -> (Vec<Self>, Vec<String>) {
        let mut methods: Vec<Self> = ReaderKind::DIRECTORIES
            .iter()
            .flat_map(|&reader| Order::ALL.iter().map(move |&order| Variant::new(reader, order)))
            .chain(Keep::ALL.iter().map(|&keep| Variant {
                keep: Some(keep),
                ..Variant::new(ReaderKind::best(), Order::default())
            }))
            .map(|variant| Self::variant(&variant))
            .collect();
        methods.extend(Floor::HERE.iter().map(|&floor| Self {
            parallel: floor.is_parallel(),
            quick: floor != Floor::ThirtyTwoThreads,
            ..Self::own(floor.as_str(), floor.about(), WalkRunner::Floor(floor))
        }));
        for contender in contenders.iter().filter(|it| it.task == Task::Enumerate) {
            let of_contender = contender.methods.iter().filter(|method| {
                // Where this program has the floors, the contender that has them elsewhere does not exist.
                contender.is_of_this_system() || Floor::find(&method.name).is_none()
            });
            methods.extend(of_contender.map(|method| {
                let runner = WalkRunner::Contender(Box::new(contender.clone()));
                Self::of_contender(contender, method, runner)
            }));
        }
        methods.extend(PEERS.iter().map(|peer| Self {
            language: peer.language.clone(),
            parallel: peer.parallel,
            unavailable_reason: peer.unavailable_reason(),
            ..Self::own(&*peer.name, &*peer.about, WalkRunner::Peer(peer))
        }));
        let (mut seen, mut wrong) = (std::collections::HashSet::new(), Vec::new());
        methods.retain(|method| {
            let new = seen.insert(method.name.clone());
            if !new {
                wrong.push(format!("method '{}' is there twice: the first one stays", method.name));
            }
            new
        });
        (methods, wrong)
    }

    /// Returns a command as a method. It counts as parallel, since it may use several threads.
    pub fn of_command(external: External) -> Self {
        let program = external.program();
        let reason = (!can_start(program)).then(|| format!("'{program}' cannot be started here"));
        let (name, about) = (external.name.clone(), external.words.join(" "));
        Self {
            language: external.language(),
            parallel: true,
            unavailable_reason: reason,
            ..Self::own(name, about, WalkRunner::External(external))
        }
    }

    pub fn variant(variant: &Variant) -> Self {
        let Variant { reader, order, keep, .. } = *variant;
        let refused = || Some(variant.options(Path::new(".")).plan().err()?.to_string());
        let words = [reader.as_str(), order.as_str()].into_iter().chain(keep.map(Keep::as_str));
        let kept = keep.map_or(String::new(), |keep| format!("; {}", keep.about()));
        let about = format!("{}; {}{kept}", reader.about(), order.about());
        Self {
            contract: words.flat_map(contract::rows_of).collect(),
            parallel: variant.is_parallel(),
            unavailable_reason: reader.unavailable_reason().map(str::to_owned).or_else(refused),
            ..Self::own(variant.to_string(), about, WalkRunner::Engine(*variant))
        }
    }
}

/// Returns one cell for each method, and a second one for the base.
pub fn cells(methods: &[&Method], base: &str) -> Vec<Cell> {
    let mut cells: Vec<Cell> = methods.iter().map(|method| method.cell()).collect();
    let second = cells.iter().find(|cell| cell.name == base).map(Cell::second_base);
    cells.extend(second);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_include_every_reader_in_every_order() {
        let (methods, wrong) = Method::all(&[]);
        assert!(wrong.is_empty(), "{wrong:?}");
        let engine = methods.iter().filter(|m| matches!(m.runner, WalkRunner::Engine(..))).count();
        assert_eq!(engine, ReaderKind::DIRECTORIES.len() * Order::ALL.len() + Keep::ALL.len());
        let names: std::collections::HashSet<&str> =
            methods.iter().map(|method| method.name.as_str()).collect();
        assert_eq!(names.len(), methods.len());
    }

    #[test]
    fn variant_unavailable_if_reader_does_not_support_its_settings() {
        let method = |name: &str| Method::variant(&name.parse().unwrap());
        let name = "portable/futures,threads=3";
        let tuned = method(name);
        assert_eq!(
            (tuned.name.as_str(), tuned.parallel, tuned.unavailable_reason),
            (name, true, None)
        );
        assert_eq!(tuned.contract, method("portable/futures").contract);
        assert!(!method("portable/futures,threads=1").parallel);
        for (name, why_not) in [
            ("portable/queue,buffer=64K", "reader 'portable' does not use a buffer size"),
            ("portable/queue,stat-order=inode", "reader 'portable' does not use a stat order"),
        ] {
            assert_eq!(method(name).unavailable_reason.as_deref(), Some(why_not));
        }
        let best = ReaderKind::best().as_str();
        let small = method(&format!("{best}/queue,buffer=1K")).unavailable_reason;
        assert_eq!(
            small.as_deref(),
            Some("buffer size 1024 is not between 4096 and 4194304 bytes")
        );
    }
}
