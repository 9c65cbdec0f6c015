//! The methods that query attributes.

use crate::experiments::method::{self, Origin, with_second_base};
use crate::rivals::contender::{self, Contender};
use crate::spec::attributes::Task;
use crate::spec::{Cell, FLOOR};

/// The base of comparisons: one system call for each path.
pub const BASE: &str = "stat";

/// The contender's method that only makes the calls.
pub const FLOOR_STATX: &str = "floor-statx";

pub type Method = method::Method<AttributesPart>;

#[derive(Clone, Debug)]
pub struct AttributesPart {
    pub tasks: Vec<Task>,
    pub threads: usize,
    pub query: Option<QueryMethod>,
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum QueryMethod {
        Stat = "stat" => "one statx per path; for a name, one per directory until it is found",
        StatAt = "stat-at" => "one statx per name in its open directory, sorted",
        Listing = "listing" => "a listing of the directory, with all attributes",
        Get = "get" => "an empty cache, path by path",
        GetKnown = "get-known" => "a full cache, path by path",
        GetMany = "get-many" => "an empty cache, all paths at once",
        GetManyKnown = "get-many-known" => "a full cache, all paths at once",
        Memo = "memo" => "a hash table of all probed paths",
        ResolveFrozen = "resolve-frozen" => "an empty cache, frozen",
        ResolveChecked = "resolve-checked" => "an empty cache, checked every 100 includes",
        Service = "service" => "a service with a full cache, all paths at once",
    }
}

const OF_PATHS: &[Task] = &[Task::Article, Task::Uptodate, Task::Build];

impl QueryMethod {
    fn tasks(self) -> &'static [Task] {
        match self {
            Self::Stat => Task::ALL,
            Self::StatAt | Self::GetMany | Self::GetManyKnown => OF_PATHS,
            Self::Listing => &[Task::Article],
            Self::Get => &[Task::ThreadsMisses, Task::OneCold],
            Self::GetKnown => &[Task::ThreadsHits],
            Self::Memo | Self::ResolveFrozen | Self::ResolveChecked => &[Task::Includes],
            Self::Service => &[Task::Uptodate, Task::Build],
        }
    }

    fn unavailable_reason(self) -> Option<&'static str> {
        let linux = matches!(self, Self::StatAt | Self::Service);
        (linux && cfg!(not(target_os = "linux"))).then_some("on Linux only")
    }
}

impl Method {
    pub fn all(contenders: &[Contender]) -> Vec<Self> {
        let contenders = contenders.iter().filter(|it| it.task == contender::Task::Attributes);
        let engine = QueryMethod::ALL.iter().flat_map(|&query| Self::of_the_engine(query));
        engine.chain(contenders.flat_map(Self::of_a_contender)).collect()
    }

    pub fn does(&self, task: Task) -> bool {
        self.part.tasks.contains(&task)
    }

    fn of_the_engine(query: QueryMethod) -> Vec<Self> {
        let method = |name: String, threads: usize, tasks: &[Task]| {
            let part = AttributesPart { tasks: tasks.to_vec(), threads, query: Some(query) };
            let method = Self::new(Origin::Engine, name, query.about(), part);
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
            let part = AttributesPart { tasks, threads: 1, query: None };
            Self::of_contender(contender, described, part)
        })
    }

    fn cell_of(&self) -> Cell {
        // The floor binds only the base: a cache makes fewer calls than the floor.
        let floors = if self.name == BASE { vec![FLOOR_STATX.to_owned()] } else { Vec::new() };
        let cell =
            Cell { floors: Some(floors), tasks: Some(self.part.tasks.clone()), ..self.cell() };
        let is_floor = self.name == FLOOR_STATX;
        if is_floor { Cell { kind: FLOOR.to_owned(), ..cell } } else { cell }
    }
}

pub fn cells(methods: &[&Method]) -> Vec<Cell> {
    with_second_base(methods.iter().map(|method| method.cell_of()).collect(), BASE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rivals::builtin;
    use transect_testkit::TempDir;

    #[test]
    fn every_task_has_base_and_other_methods() {
        let temp = TempDir::new();
        let folder = builtin::unpack(temp.path()).unwrap();
        let (contenders, wrong) = Contender::load_all(&folder, false);
        assert_eq!(wrong, [""; 0]);
        let methods = Method::all(&contenders);
        for &task in Task::ALL {
            let doing = methods.iter().filter(|method| method.does(task));
            let names: Vec<&str> = doing.map(|method| method.name.as_str()).collect();
            assert!(names.contains(&BASE) && names.len() > 1, "{task:?}: {names:?}");
            let has_floor = names.contains(&FLOOR_STATX);
            assert_eq!(has_floor, task != Task::Includes, "{task:?}: {names:?}");
        }
        assert!(methods.iter().all(|method| !method.part.tasks.is_empty()));
        let python = methods.iter().find(|method| method.name == "python-os-stat").unwrap();
        assert!(python.does(Task::Article) && !python.does(Task::Includes));
    }

    #[test]
    fn scaling_tasks_have_cells_with_threads() {
        let methods = Method::all(&[]);
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
