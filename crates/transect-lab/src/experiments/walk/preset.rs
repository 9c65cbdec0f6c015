//! Presets of walk sessions: `presets.toml`.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use transect::ReaderKind;
use transect::internal::Order;

use crate::experiments::method::Origin;
use crate::experiments::preset;
use crate::experiments::walk::method::Method;
use crate::experiments::walk::variant::Variant;
use crate::list::list;
use crate::rivals::external::External;
use crate::rivals::peer::ROOT;

pub type Preset = preset::Preset<WalkWork>;

pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| list(include_str!("presets.toml")));

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalkWork {
    /// The corpora of the article, which are created if the user names no tree.
    pub corpora: Vec<String>,
    /// The orders of the engine's methods; empty for all.
    orders: Vec<String>,
    others: Others,
    /// The commands included, as a user would type them; [`PROGRAM`] stands for the program `transect`. A preset with
    /// commands measures whole processes and includes no method of the engine; the first command is the
    /// base.
    commands: Vec<String>,
    /// Whether programs print all names and query no lengths.
    pub names_only: bool,
    /// Whether the work is to print the same lines as the base, instead of counting the tree. All programs are
    /// commands of the user, and the first is the base.
    pub same_lines: bool,
    /// Whether the work has no floor: it can be done without the system calls of a walk, or with fewer.
    pub has_no_floor: bool,
    /// Number of runs after which a cell gets a new copy of its program; `None` to run the original.
    pub runs_of_a_copy: Option<usize>,
    /// Whether the default method runs on 1, 2, 4, … threads, instead of the orders.
    doubles_threads: bool,
    /// Whether every run of the engine also times its calls, so that these times and the wall time are those of
    /// one run.
    pub times_calls: bool,
}

/// The contenders and peers that a preset includes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Others {
    #[default]
    All,
    Quick,
    Peers,
    Only(String),
    None,
}

/// Stands for the path of the program `transect` in the commands of a preset.
const PROGRAM: &str = "{transect}";

impl Preset {
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub fn measures_processes(&self) -> bool {
        !self.work.commands.is_empty() || self.work.same_lines
    }

    /// Returns the commands included, the base first; `program` is the path of `transect`.
    pub fn commands(&self, program: &Path) -> Vec<External> {
        let expand = |word: String| match word == PROGRAM {
            true => program.to_string_lossy().into_owned(),
            false => word,
        };
        let parsed = self.work.commands.iter().map(|text| {
            let External { name, words } =
                External::parse(text, &[ROOT]).expect("BUG: a preset has a wrong command");
            External { name, words: words.into_iter().map(expand).collect() }
        });
        parsed.collect()
    }

    /// Returns the variants of the engine to run if the user names no method.
    pub fn variants(&self) -> Vec<Variant> {
        if self.contract.is_some() {
            return self.compared().iter().filter_map(|name| name.parse().ok()).collect();
        }
        if self.work.doubles_threads {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            return thread_counts(processors).map(on_threads).collect();
        }
        let orders = &self.work.orders;
        let is_named =
            |order: &Order| orders.is_empty() || orders.iter().any(|it| it == order.as_str());
        let is_order = |order: &&Order| !self.measures_processes() && is_named(order);
        let of_reader = |&reader: &ReaderKind| {
            Order::ALL.iter().filter(is_order).map(move |&order| Variant::new(reader, order))
        };
        ReaderKind::DIRECTORIES.iter().flat_map(of_reader).collect()
    }

    /// Returns whether to run a method that is not the engine's if the user names no method.
    pub fn holds(&self, other: &Method) -> bool {
        match &self.work.others {
            _ if self.contract.is_some() => self.compared().contains(&other.name),
            _ if matches!(other.origin, Origin::External(_)) => true,
            Others::All => true,
            Others::Quick => other.quick,
            Others::Peers => matches!(other.origin, Origin::Peer(_)),
            Others::Only(name) => other.name == *name,
            Others::None => false,
        }
    }
}

/// Returns 1, 2, 4, … up to twice the number of processors.
fn thread_counts(processors: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |&threads| Some(2 * threads))
        .take_while(move |&threads| threads <= 2 * processors)
}

fn on_threads(threads: usize) -> Variant {
    Variant { threads: Some(threads), ..Variant::new(ReaderKind::best(), Order::default()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora;
    use crate::experiments::transform;
    use crate::spec::pairs::expand;

    #[test]
    fn presets_found_by_name_and_their_corpora_exist() {
        for preset in PRESETS.iter() {
            assert_eq!(Preset::find(&preset.name).map(|it| &it.about), Some(&preset.about));
            assert!(!preset.states.is_empty() && preset.rounds > 0 && preset.runs > 0);
            let WalkWork { corpora, orders, .. } = &preset.work;
            for name in corpora {
                assert!(corpora::find(name).is_some(), "{name}");
            }
            for name in orders {
                assert!(Order::ALL.iter().any(|order| order.as_str() == name), "{name}");
            }
        }
        assert!(Preset::find("fast").is_none());
    }

    #[test]
    fn presets_of_programs_have_this_program_as_base_and_no_engine_methods() {
        let program = Path::new("/opt/bin dir/transect");
        for (name, subcommand) in
            [("programs", "scan"), ("names", "list"), ("answers", "scan"), ("start", "scan")]
        {
            let preset = Preset::find(name).expect("a preset");
            assert!(preset.measures_processes());
            assert!(preset.variants().is_empty());
            let commands = preset.commands(program);
            assert_eq!(commands[0].name, "transect");
            assert_eq!(commands[0].words[..2], ["/opt/bin dir/transect", subcommand]);
            assert!(commands.iter().all(|it| it.words.iter().any(|word| word == ROOT)));
        }
        assert!(!Preset::find("full").expect("a preset").measures_processes());
    }

    #[test]
    fn presets_of_articles_have_what_they_compare_and_their_base() {
        for preset in PRESETS.iter().filter(|preset| preset.contract.is_some()) {
            let compared = preset.compared();
            let is_there = |name: &String| compared.contains(&expand(name));
            assert!(!preset.base.is_empty() && preset.base.iter().all(is_there), "{}", preset.name);
            let variants = preset.variants();
            assert!(variants.iter().all(|variant| compared.contains(&variant.to_string())));
            assert!(preset.protocol_rounds > 0 && preset.protocol_rounds <= preset.rounds);
        }
        let seven = Preset::find("article-s2").expect("a preset").variants();
        assert!(seven.iter().all(|variant| variant.threads == Some(7)), "{seven:?}");
    }

    #[test]
    fn preset_cores_doubles_threads_from_its_base() {
        let counts = |processors| thread_counts(processors).collect::<Vec<_>>();
        assert_eq!(
            (counts(1), counts(2), counts(6)),
            (vec![1, 2], vec![1, 2, 4], vec![1, 2, 4, 8])
        );
        let cores = Preset::find("cores").expect("a preset");
        assert_eq!(expand(&cores.base[0]), cores.variants()[0].to_string());
    }

    #[test]
    fn preset_pairs_name_existing_readers_and_orders() {
        for preset in PRESETS.iter() {
            for (question, cell, against) in &preset.pairs {
                assert_ne!(cell, against, "{question}");
                for name in [cell, against].into_iter().filter(|name| name.contains('/')) {
                    let name = expand(name);
                    assert!(name.parse::<Variant>().is_ok(), "{question}: {name}");
                }
            }
        }
    }

    #[test]
    fn presets_cover_every_protocol_of_the_articles() {
        let walks = PRESETS.iter().map(|preset| &preset.contract);
        let passes = transform::PRESETS.iter().map(|preset| &preset.contract);
        let mut protocols: Vec<&String> = walks.chain(passes).flatten().collect();
        protocols.sort();
        assert_eq!(protocols, ["P1", "P2", "P3", "P4", "P5", "P6"]);
    }
}
