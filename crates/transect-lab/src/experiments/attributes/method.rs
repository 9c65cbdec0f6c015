//! The methods: every way of asking that this lab knows.

use std::path::Path;

use super::spec::Task;
use crate::experiments::method::{self, Runner};
use crate::rivals::contender::{self, Contender};
use crate::spec::{Cell, FLOOR};

/// The method that others are compared with: one question to the system for each path.
pub const BASE: &str = "stat";

/// The contender's method that makes the calls and nothing else.
pub const FLOOR_STATX: &str = "floor-statx";

/// One way of asking.
pub type Method = method::Method<AttributesRunner>;

/// How a method that asks is run.
#[derive(Clone, Debug)]
pub struct AttributesRunner {
    /// What it can be asked.
    pub tasks: Vec<Task>,
    /// On how many threads it asks.
    pub threads: usize,
    /// What runs it.
    pub implementation: Implementation,
}

impl Runner for AttributesRunner {
    fn kind(&self) -> &'static str {
        match self.implementation {
            Implementation::Engine(_) => "engine",
            Implementation::Contender(_) => "contender",
        }
    }

    fn contender(&self) -> Option<&Contender> {
        match &self.implementation {
            Implementation::Engine(_) => None,
            Implementation::Contender(contender) => Some(contender),
        }
    }
}

/// What runs a method.
#[derive(Clone, Debug)]
pub enum Implementation {
    /// A way of this program, in a process of its own.
    Engine(QueryMethod),
    /// A method of a contender.
    Contender(Box<Contender>),
}

/// The ways of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryMethod {
    /// One question for each path; of a name, one for each directory until one holds it.
    Stat,
    /// The same, sorted, and relative to open directories.
    StatAt,
    /// The directory listed, and all in it asked about.
    Listing,
    /// A cache that knows nothing, asked path by path; of few in a huge directory, one for each.
    Get,
    /// A cache that knows all, asked path by path.
    GetKnown,
    /// A cache that knows nothing, asked for all at once.
    GetMany,
    /// A cache that knows all, likewise.
    GetManyKnown,
    /// Every path is asked about once, and the answer kept by the path.
    Memo,
    /// A cache that may never ask twice looks for names.
    ResolveFrozen,
    /// A cache that checks its listings for each unit looks for names.
    ResolveChecked,
    /// A service that knows all, asked for all at once.
    Service,
}

/// The tasks that ask about many paths.
const OF_PATHS: &[Task] = &[Task::Article, Task::Uptodate, Task::CompileDatabase];

impl QueryMethod {
    /// All ways.
    pub const ALL: &'static [Self] = &[
        Self::Stat,
        Self::StatAt,
        Self::Listing,
        Self::Get,
        Self::GetKnown,
        Self::GetMany,
        Self::GetManyKnown,
        Self::Memo,
        Self::ResolveFrozen,
        Self::ResolveChecked,
        Self::Service,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stat => BASE,
            Self::StatAt => "stat-at",
            Self::Listing => "listing",
            Self::Get => "get",
            Self::GetKnown => "get-known",
            Self::GetMany => "get-many",
            Self::GetManyKnown => "get-many-known",
            Self::Memo => "memo",
            Self::ResolveFrozen => "resolve-frozen",
            Self::ResolveChecked => "resolve-checked",
            Self::Service => "service",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Stat => "one statx per path; for a name, one per directory until it is found",
            Self::StatAt => "one statx per name in its open directory, sorted",
            Self::Listing => "a listing of the directory, with all attributes",
            Self::Get => "an empty cache, path by path",
            Self::GetKnown => "a full cache, path by path",
            Self::GetMany => "an empty cache, all paths at once",
            Self::GetManyKnown => "a full cache, all paths at once",
            Self::Memo => "a hash table of all probed paths",
            Self::ResolveFrozen => "an empty cache, frozen",
            Self::ResolveChecked => "an empty cache, checked every 100 includes",
            Self::Service => "a service with a full cache, all paths at once",
        }
    }

    fn tasks(self) -> &'static [Task] {
        match self {
            Self::Stat => Task::ALL,
            Self::StatAt | Self::GetMany | Self::GetManyKnown => OF_PATHS,
            Self::Listing => &[Task::Article],
            Self::Get => &[Task::ThreadsMisses, Task::OneCold],
            Self::GetKnown => &[Task::ThreadsHits],
            Self::Memo | Self::ResolveFrozen | Self::ResolveChecked => &[Task::Includes],
            Self::Service => &[Task::Uptodate, Task::CompileDatabase],
        }
    }

    fn unavailable_reason(self) -> Option<&'static str> {
        let linux = matches!(self, Self::StatAt | Self::Service);
        (linux && cfg!(not(target_os = "linux"))).then_some("on Linux only")
    }
}

impl Method {
    /// Returns all methods, with the contenders that a folder holds, and what is wrong with those that
    /// could not be read.
    pub fn all(contenders: Option<&Path>) -> (Vec<Self>, Vec<String>) {
        let (contenders, wrong) = contenders.map(Contender::load_all).unwrap_or_default();
        let contenders = contenders.iter().filter(|it| it.task == contender::Task::Attributes);
        let engine = QueryMethod::ALL.iter().flat_map(|&query| Self::of_the_engine(query));
        (engine.chain(contenders.flat_map(Self::of_a_contender)).collect(), wrong)
    }

    /// Returns whether it can be asked this.
    pub fn does(&self, task: Task) -> bool {
        self.runner.tasks.contains(&task)
    }

    fn of_the_engine(query: QueryMethod) -> Vec<Self> {
        let method = |name: String, threads: usize, tasks: &[Task]| {
            let runner = AttributesRunner {
                tasks: tasks.to_vec(),
                threads,
                implementation: Implementation::Engine(query),
            };
            let method = Self::own(name, query.about(), runner);
            let unavailable_reason = query.unavailable_reason().map(str::to_owned);
            Self { parallel: threads > 1, unavailable_reason, ..method }
        };
        let mut methods = vec![method(query.as_str().to_owned(), 1, query.tasks())];
        let scales = |task: &Task| matches!(task, Task::ThreadsHits | Task::ThreadsMisses);
        let scaled: Vec<Task> = query.tasks().iter().copied().filter(scales).collect();
        if !scaled.is_empty() {
            let with = |threads: usize| {
                method(format!("{},threads={threads}", query.as_str()), threads, &scaled)
            };
            methods.extend([2, 4].map(with));
        }
        methods
    }

    fn of_a_contender(contender: &Contender) -> impl Iterator<Item = Self> {
        contender.methods.iter().map(move |described| {
            let can = |task: &&Task| described.kinds.iter().any(|kind| kind == task.as_str());
            let tasks = Task::ALL.iter().filter(can).copied().collect();
            let implementation = Implementation::Contender(Box::new(contender.clone()));
            let runner = AttributesRunner { tasks, threads: 1, implementation };
            Self::of_contender(contender, described, runner)
        })
    }

    fn cell_of(&self) -> Cell {
        // A cache asks less often than the floor does: that is its purpose.
        let floors = if self.name == BASE { vec![FLOOR_STATX.to_owned()] } else { Vec::new() };
        let cell =
            Cell { floors: Some(floors), tasks: Some(self.runner.tasks.clone()), ..self.cell() };
        let is_floor = self.name == FLOOR_STATX;
        if is_floor { Cell { kind: FLOOR.to_owned(), ..cell } } else { cell }
    }
}

/// Returns the cells of some methods, the base twice.
pub fn cells(methods: &[&Method]) -> Vec<Cell> {
    let both = |method: &&Method| {
        let cell = method.cell_of();
        let second = (cell.name == BASE).then(|| cell.second_base());
        std::iter::once(cell).chain(second)
    };
    methods.iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rivals::builtin;
    use transect_testkit::TempDir;

    #[test]
    fn every_task_has_the_base_and_something_beside_it() {
        let temp = TempDir::new();
        let folder = builtin::unpack(temp.path()).unwrap();
        let (methods, wrong) = Method::all(Some(&folder));
        assert_eq!(wrong, [""; 0]);
        for &task in Task::ALL {
            let doing = methods.iter().filter(|method| method.does(task));
            let names: Vec<&str> = doing.map(|method| method.name.as_str()).collect();
            assert!(names.contains(&BASE) && names.len() > 1, "{task:?}: {names:?}");
            let has_floor = names.contains(&FLOOR_STATX);
            assert_eq!(has_floor, task != Task::Includes, "{task:?}: {names:?}");
        }
        assert!(methods.iter().all(|method| !method.runner.tasks.is_empty()));
        let python = methods.iter().find(|method| method.name == "python-os-stat").unwrap();
        assert!(python.does(Task::Article) && !python.does(Task::Includes));
    }

    #[test]
    fn threads_are_cells_of_the_tasks_that_scale() {
        let (methods, _) = Method::all(None);
        let names = |task| {
            let doing = methods.iter().filter(|method| method.does(task));
            doing.map(|method| method.name.clone()).collect::<Vec<_>>()
        };
        let of = |name: &str| {
            [name.to_owned(), format!("{name},threads=2"), format!("{name},threads=4")]
        };
        assert_eq!(names(Task::ThreadsHits), [of("stat"), of("get-known")].concat());
        assert_eq!(names(Task::ThreadsMisses), [of("stat"), of("get")].concat());
        assert_eq!(names(Task::OneCold), ["stat", "get"]);
        let cells = cells(&methods.iter().collect::<Vec<_>>());
        assert_eq!([&*cells[0].name, &*cells[1].name], ["stat", "stat (again)"]);
    }
}
