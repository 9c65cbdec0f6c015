//! Presets of walk sessions.
//!
//! The presets of the articles follow their protocols exactly (rows P1 to P6 of the seed contract), except
//! for two faults: every method has its own process, so that it does not warm caches for the next one,
//! and a method with wrong counts has no time. A single run decides nothing; `--rounds` adds more.
//!
//! Presets of programs measure whole processes, from start to exit, instead of the walks in them.

use std::path::Path;

use transect::ReaderKind;
use transect::internal::Order;

use crate::experiments::walk::keep::Keep;
use crate::experiments::walk::method::{Method, WalkRunner};
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::State;
use crate::rivals::external::External;
use crate::spec::pairs::PresetPair;

/// The rules of a session.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    /// The row of the seed contract that it implements.
    pub contract: Option<&'static str>,
    /// The states of the caches before the runs of a cell in a round.
    pub cache_states: &'static [State],
    pub rounds: usize,
    /// Time limit of a session, in seconds, for further rounds until every ratio is precise enough.
    pub max_time: Option<u64>,
    /// Walks in one process.
    pub runs: usize,
    /// The corpora of the article, which are created if the user names no tree.
    pub corpora: &'static [&'static str],
    /// The orders of the engine's methods; empty for all.
    orders: &'static [Order],
    /// The number of threads of the engine's parallel methods.
    threads: Option<usize>,
    /// The records that methods of the default reader also keep, each in every order.
    keeps: &'static [Keep],
    /// The contenders and peers included.
    others: Others,
    /// The commands included, as a user would type them; [`PROGRAM`] stands for the program `transect`. A preset with
    /// commands measures whole processes and includes no method of the engine; the first command is the
    /// base.
    commands: &'static [&'static str],
    /// Whether programs print all names and query no lengths. This work has no floor.
    pub names_only: bool,
    /// Number of runs after which a cell gets a new copy of its program; `None` to run the original.
    pub runs_of_a_copy: Option<usize>,
    /// Whether calls are counted and timed afterwards, in separate runs.
    pub calls: bool,
    /// Whether every run of the engine also times its calls, so that these times and the wall time are those of
    /// one run.
    pub times_calls: bool,
    /// The questions that it answers, beside the comparisons with the base.
    pub pairs: &'static [PresetPair],
}

/// The contenders and peers that a preset includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    All,
    Quick,
    Peers,
    Only(&'static str),
    None,
}

/// Stands for the path of the program `transect` in the commands of a preset.
const PROGRAM: &str = "{transect}";

/// Stands for the tree in a command.
pub const ROOT: &str = "{root}";

const ITERATION: &[Order] = &[Order::Recursive, Order::Queue, Order::Stack, Order::StackPresized];

/// The questions of the article about recursion and iteration.
const RECURSION: &[PresetPair] = &[
    ("recursion against a queue", "{best}/recursive", "{best}/queue"),
    ("a queue against a stack", "{best}/queue", "{best}/stack"),
    ("a stack of fixed size against a growing one", "{best}/stack-presized", "{best}/stack"),
    ("recursion against a queue, Qt", "qt-iterator-recursive", "qt-iterator-queue"),
    ("a list against an iterator, Qt", "qt-list-recursive", "qt-iterator-recursive"),
    ("recursion against a queue, C#", "csharp-enumerate-recursive", "csharp-enumerate-queue"),
    ("recursion against a queue, Java", "java-directory-stream", "java-directory-stream-queue"),
    ("a visitor against a stream, Java", "java-walk-file-tree", "java-directory-stream"),
];

/// The questions of the articles about options of `FindFirstFileEx`, in one order, and further ones.
macro_rules! find_first_file {
    ($order:literal $(, $further:expr)*) => {
        &[
            $($further,)*
            (
                "large against small fetch, Basic",
                concat!("find-first-file-ex-basic-large/", $order),
                concat!("find-first-file-ex-basic/", $order),
            ),
            (
                "large against small fetch, Standard",
                concat!("find-first-file-ex-standard-large/", $order),
                concat!("find-first-file-ex-standard/", $order),
            ),
            (
                "Basic against Standard",
                concat!("find-first-file-ex-basic/", $order),
                concat!("find-first-file-ex-standard/", $order),
            ),
            (
                "attributes by path against listing them",
                concat!("file-attributes-ex/", $order),
                concat!("find-first-file/", $order),
            ),
        ]
    };
}

/// The default values of presets.
const PLAIN: Preset = Preset {
    name: "full",
    about: "twenty rounds and up to ten minutes for more, all methods in all orders",
    contract: None,
    cache_states: &[State::Warm],
    rounds: 20,
    max_time: Some(600),
    runs: 1,
    corpora: &[],
    orders: &[],
    threads: None,
    keeps: &[],
    others: Others::All,
    commands: &[],
    names_only: false,
    runs_of_a_copy: None,
    calls: true,
    times_calls: false,
    pairs: &[],
};

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        about: "twelve rounds and up to three minutes for more, three orders, not all forms of a language",
        // The minimum for verdicts among forty cells.
        rounds: 12,
        max_time: Some(180),
        orders: &[Order::WorkStealing, Order::Recursive, Order::SharedQueue],
        others: Others::Quick,
        ..PLAIN
    },
    PLAIN,
    Preset {
        name: "programs",
        about: "whole programs, from start to exit: transect, peers, --command, and the floors",
        corpora: &["data"],
        others: Others::Peers,
        commands: &[
            "transect={transect} scan --json {root}",
            "transect-usage={transect} usage --depth 0 --json {root}",
        ],
        max_time: Some(180),
        ..PLAIN
    },
    Preset {
        name: "names",
        about: "whole programs that print all paths and query no attributes",
        corpora: &["data"],
        others: Others::None,
        commands: &[
            "transect={transect} list -0 {root}",
            "find=find {root} -print0",
            "bfs=bfs {root} -print0",
            "fd=fd --unrestricted --print0 --search-path {root}",
            "fdfind=fdfind --unrestricted --print0 --search-path {root}",
            "rg=rg --files --no-ignore --hidden --null {root}",
        ],
        names_only: true,
        max_time: Some(180),
        ..PLAIN
    },
    Preset {
        name: "start",
        about: "what programs cost before they do anything: ten files, 720 rounds, fresh copies of each",
        // Twelve copies of each program.
        rounds: 720,
        max_time: None,
        runs_of_a_copy: Some(60),
        corpora: &["tiny"],
        others: Others::Only("du"),
        commands: &["transect={transect} scan --json {root}"],
        calls: false,
        ..PLAIN
    },
    Preset {
        name: "article-s0",
        about: "1,000, 2,000 and 5,000 files in a directory, cold and at once warm, times against the slowest",
        contract: Some("P3"),
        cache_states: &[State::Cold, State::Warm],
        rounds: 1,
        max_time: None,
        corpora: &["flat-1000", "flat-2000", "flat-5000"],
        orders: &[Order::Queue],
        keeps: &[Keep::Names, Keep::Times],
        pairs: find_first_file!(
            "queue",
            (
                "with write times against without",
                "{best}/queue,keep=times",
                "{best}/queue,keep=names"
            )
        ),
        ..PLAIN
    },
    Preset {
        name: "article-s1",
        about: "recursion and iteration in every language: eleven walks in a process, the mean of the last ten",
        contract: Some("P1"),
        rounds: 1,
        max_time: None,
        runs: 11,
        corpora: &["music", "data"],
        orders: ITERATION,
        pairs: RECURSION,
        ..PLAIN
    },
    Preset {
        name: "article-s2",
        about: "a shared queue and seven threads, cold, once; time inside the calls summed over the threads",
        contract: Some("P5"),
        cache_states: &[State::Cold],
        rounds: 1,
        max_time: None,
        corpora: &["data"],
        orders: &[Order::SharedQueue],
        threads: Some(7),
        others: Others::None,
        times_calls: true,
        keeps: &[Keep::Large, Keep::LargeAfter],
        pairs: find_first_file!(
            "shared-queue,threads=7",
            (
                "a filter in the walk against one afterwards",
                "{best}/shared-queue,threads=7,keep=large",
                "{best}/shared-queue,threads=7,keep=large-after"
            )
        ),
        ..PLAIN
    },
    Preset {
        name: "article-s3",
        about: "the rules of the file transforms: five processes, caches emptied before each, min, max, median",
        contract: Some("P2"),
        cache_states: &[State::Cold],
        rounds: 5,
        max_time: None,
        corpora: &["data"],
        orders: &[Order::WorkStealing, Order::Recursive],
        ..PLAIN
    },
    Preset {
        name: "article-s3-naive",
        about: "the same command three times, caches emptied before the first: shows the effect of caching",
        contract: Some("P6"),
        cache_states: &[State::Cold, State::AsIs, State::AsIs],
        rounds: 1,
        max_time: None,
        corpora: &["data"],
        orders: &[Order::WorkStealing, Order::Recursive],
        calls: false,
        ..PLAIN
    },
    Preset {
        name: "article-s4",
        about: "all readers in all orders, ten times, every value",
        contract: Some("P4"),
        rounds: 10,
        max_time: None,
        corpora: &["data"],
        others: Others::None,
        calls: false,
        pairs: find_first_file!("recursive"),
        ..PLAIN
    },
];

impl Preset {
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns whether times are those of whole processes.
    pub fn measures_processes(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Returns the commands included, the base first; `program` is the path of `transect`.
    pub fn commands(&self, program: &Path) -> Vec<External> {
        let expand = |word: String| match word == PROGRAM {
            true => program.to_string_lossy().into_owned(),
            false => word,
        };
        let parsed = self.commands.iter().map(|text| {
            let External { name, words } =
                External::parse(text, &[ROOT]).expect("BUG: a preset has a wrong command");
            External { name, words: words.into_iter().map(expand).collect() }
        });
        parsed.collect()
    }

    /// Returns the variants of the engine to run if the user names no method.
    pub fn variants(&self) -> impl Iterator<Item = Variant> {
        let orders = match self.orders {
            _ if self.measures_processes() => &[],
            [] => Order::ALL,
            orders => orders,
        };
        let keeps = self.keeps.iter().map(|&keep| (ReaderKind::best(), Some(keep)));
        let readers = ReaderKind::ALL.iter().map(|&reader| (reader, None));
        readers.chain(keeps).flat_map(move |(reader, keep)| {
            orders.iter().map(move |&order| {
                let threads = self.threads.filter(|_| order.is_parallel());
                Variant { threads, keep, ..Variant::new(reader, order) }
            })
        })
    }

    /// Returns whether to run a method that is not the engine's if the user names no method.
    pub fn holds(&self, other: &Method) -> bool {
        match self.others {
            _ if matches!(other.runner, WalkRunner::External(_)) => true,
            Others::All => true,
            Others::Quick => other.quick,
            Others::Peers => matches!(other.runner, WalkRunner::Peer(_)),
            Others::Only(name) => other.name == name,
            Others::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora;

    #[test]
    fn presets_found_by_name_and_their_corpora_exist() {
        for preset in PRESETS {
            assert_eq!(Preset::find(preset.name).map(|found| found.about), Some(preset.about));
            assert!(!preset.cache_states.is_empty() && preset.rounds > 0 && preset.runs > 0);
            for name in preset.corpora {
                assert!(corpora::find(name).is_some(), "{name}");
            }
        }
        assert!(Preset::find("fast").is_none());
    }

    #[test]
    fn presets_of_programs_have_this_program_as_base_and_no_engine_methods() {
        let program = Path::new("/opt/bin dir/transect");
        for (name, subcommand) in [("programs", "scan"), ("names", "list"), ("start", "scan")] {
            let preset = Preset::find(name).expect("a preset");
            assert!(preset.measures_processes());
            assert_eq!(preset.variants().count(), 0);
            let commands = preset.commands(program);
            assert_eq!(commands[0].name, "transect");
            assert_eq!(commands[0].words[..2], ["/opt/bin dir/transect", subcommand]);
            assert!(commands.iter().all(|it| it.words.iter().any(|word| word == ROOT)));
        }
        assert!(!Preset::find("full").expect("a preset").measures_processes());
    }

    #[test]
    fn preset_of_article_with_seven_threads_uses_seven() {
        let preset = Preset::find("article-s2").expect("a preset");
        let variants: Vec<String> = preset.variants().map(|variant| variant.to_string()).collect();
        assert_eq!(variants.len(), ReaderKind::ALL.len() + 2);
        assert!(variants.iter().all(|name| name.contains("/shared-queue,threads=7")));
    }

    #[test]
    fn preset_pairs_name_existing_readers_and_orders() {
        for preset in PRESETS {
            for (question, cell, against) in preset.pairs {
                assert_ne!(cell, against, "{question}");
                for name in [cell, against].into_iter().filter(|name| name.contains('/')) {
                    let name = name.replace("{best}", ReaderKind::best().as_str());
                    assert!(name.parse::<Variant>().is_ok(), "{question}: {name}");
                }
            }
        }
    }

    #[test]
    fn presets_cover_every_protocol_of_the_articles() {
        for protocol in ["P1", "P2", "P3", "P4", "P5", "P6"] {
            assert_eq!(PRESETS.iter().filter(|p| p.contract == Some(protocol)).count(), 1);
        }
    }
}
