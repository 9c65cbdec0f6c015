//! Presets of attribute sessions.

use crate::spec::attributes::{Scale, Task};
use crate::spec::pairs::PresetPair;

/// The rules of a session.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    pub rounds: usize,
    /// Time limit of a session, in seconds, for further rounds until every ratio is precise enough.
    pub max_time: Option<u64>,
    uptodate: usize,
    threads: usize,
    huge: usize,
    includes: Scale,
}

/// The pairs of all presets. They are comparisons with the base, so they add no test.
pub const PAIRS: &[PresetPair] = &[
    ("sorted against unsorted paths", "stat-at", "stat"),
    ("listing against single queries", "listing", "stat"),
    ("a frozen cache against single queries", "resolve-frozen", "stat"),
    ("a full cache against single queries", "get-many-known", "stat"),
    ("a service against single queries", "service", "stat"),
];

/// The directory sizes of the article, in files.
const OF_THE_ARTICLE: [usize; 3] = [1000, 2000, 5000];

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        about: "twelve rounds and up to two minutes for more; 40,000 paths, 2,000 includes in 50 directories",
        rounds: 12,
        max_time: Some(120),
        uptodate: 40_000,
        threads: 10_000,
        huge: 20_000,
        includes: Scale { files: 2000, search_dirs: 50, headers: 40 },
    },
    Preset {
        name: "full",
        about: "twelve rounds and up to ten minutes for more; 400,000 paths, 20,000 includes in 200 directories, one file of 100,000",
        rounds: 12,
        max_time: Some(600),
        uptodate: 400_000,
        threads: 100_000,
        huge: 100_000,
        includes: Scale { files: 20_000, search_dirs: 200, headers: 100 },
    },
];

impl Preset {
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the names and scales of a task's datasets, each of which has its own ranking. `paths` replaces
    /// them by one dataset of this number of paths.
    pub fn datasets(&self, task: Task, paths: Option<usize>) -> Vec<(String, Scale)> {
        let plain = |files| Scale { files, search_dirs: 0, headers: 0 };
        let scales = match (task, paths) {
            (Task::Includes, Some(files)) => {
                let search_dirs = self.includes.search_dirs.min(files.div_ceil(4));
                vec![Scale { files, search_dirs, ..self.includes }]
            }
            (Task::Includes, None) => vec![self.includes],
            (_, Some(files)) => vec![plain(files)],
            (Task::Article, None) => OF_THE_ARTICLE.map(plain).into(),
            (Task::Uptodate, None) => vec![plain(self.uptodate)],
            (Task::ThreadsHits | Task::ThreadsMisses, None) => vec![plain(self.threads)],
            (Task::OneCold, None) => vec![plain(self.huge)],
            (Task::CompileDatabase, None) => vec![plain(0)],
        };
        let several = scales.len() > 1;
        let name = |scale: &Scale| match several {
            true => format!("{}-{}", task.as_str(), scale.files),
            false => task.as_str().to_owned(),
        };
        scales.into_iter().map(|scale| (name(&scale), scale)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::{BASE, FLOOR_STATX, Method};
    use super::*;
    use crate::rivals::builtin;
    use transect_stats::verdict::can_decide;
    use transect_testkit::TempDir;

    #[test]
    fn rounds_of_presets_decide_among_cells_of_every_task() {
        let temp = TempDir::new();
        let (methods, _) = Method::all(Some(&builtin::unpack(temp.path()).unwrap()));
        let judged = |method: &&Method| ![BASE, FLOOR_STATX].contains(&method.name.as_str());
        for preset in PRESETS {
            for &task in Task::ALL {
                let doing = methods.iter().filter(|method| method.does(task));
                let cells = doing.filter(judged).count();
                assert!(can_decide(cells, preset.rounds), "{}, {}", preset.name, task.as_str());
            }
        }
    }

    #[test]
    fn full_preset_has_scale_of_targets() {
        let full = Preset::find("full").unwrap();
        let scale = |task| full.datasets(task, None)[0].1;
        assert_eq!(scale(Task::Uptodate).files, 400_000);
        let includes = scale(Task::Includes);
        assert_eq!((includes.files, includes.search_dirs), (20_000, 200));
        assert_eq!(scale(Task::OneCold).files, 100_000);
        let names: Vec<String> =
            full.datasets(Task::Article, None).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["article-1000", "article-2000", "article-5000"]);
    }
}
