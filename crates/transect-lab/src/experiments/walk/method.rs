//! The methods that walk trees.

use std::path::Path;

use transect::ReaderKind;
use transect::internal::Order;

use crate::experiments::method::{self, Origin};
use crate::experiments::walk::floor::Floor;
use crate::experiments::walk::keep::Keep;
use crate::experiments::walk::variant::Variant;
use crate::published::contract;
use crate::rivals::contender::{Contender, Task};
use crate::rivals::peer::PEERS;
use crate::spec::{Cell, CheckedBy};

/// A method that walks trees, with its variant if it is one of the engine.
pub type Method = method::Method<Option<Variant>>;

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
            ..Self::new(Origin::Floor, floor.as_str(), floor.about(), None)
        }));
        for contender in contenders.iter().filter(|it| it.task == Task::Enumerate) {
            let of_contender = contender.methods.iter().filter(|method| {
                // Where this program has the floors, the contender that has them elsewhere does not exist.
                contender.is_of_this_system() || Floor::find(&method.name).is_none()
            });
            methods.extend(of_contender.map(|it| Self::of_contender(contender, it, None)));
        }
        methods.extend(PEERS.iter().map(|peer| Self {
            language: peer.language.clone(),
            parallel: peer.parallel,
            unavailable_reason: peer.unavailable_reason(),
            ..Self::new(Origin::Peer(peer), &*peer.name, &*peer.about, None)
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
            ..Self::new(Origin::Engine, variant.to_string(), about, Some(*variant))
        }
    }
}

/// Returns one cell for each method, and a second one for the base.
pub fn cells(methods: &[&Method], base: &str) -> Vec<Cell> {
    let cell = |method: &&Method| {
        let has_digest = match &method.origin {
            Origin::Engine | Origin::Floor => true,
            Origin::Contender(contender) => contender.has_check(),
            Origin::Peer(_) | Origin::External(_) => false,
        };
        let checked = if has_digest { CheckedBy::Digest } else { CheckedBy::Sums };
        Cell { checked: Some(checked), ..method.cell() }
    };
    let mut cells: Vec<Cell> = methods.iter().map(cell).collect();
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
        let engine = methods.iter().filter(|m| m.part.is_some()).count();
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
