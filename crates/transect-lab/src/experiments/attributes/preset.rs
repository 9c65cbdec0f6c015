//! Presets of attribute sessions: `presets.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::experiments::preset;
use crate::list::list;
use crate::spec::attributes::{Scale, Task};

pub type Preset = preset::Preset<AttributesWork>;

pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| list(include_str!("presets.toml")));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributesWork {
    includes: Scale,
    /// Numbers of files of the other tasks, each of which makes a dataset.
    files: BTreeMap<Task, Vec<usize>>,
}

impl Preset {
    /// Returns the names and scales of a task's datasets, each of which has its own ranking. `paths` replaces
    /// them by one dataset of this number of paths.
    pub fn datasets(&self, task: Task, paths: Option<usize>) -> Vec<(String, Scale)> {
        let AttributesWork { includes, files } = &self.work;
        let plain = |&files: &usize| Scale { files, search_dirs: 0, headers: 0 };
        let scales = match (task, paths) {
            (Task::Includes, paths) => {
                let files = paths.unwrap_or(includes.files);
                let search_dirs = includes.search_dirs.min(files.div_ceil(4));
                vec![Scale { files, search_dirs, ..*includes }]
            }
            (_, Some(files)) => vec![plain(&files)],
            (_, None) => files.get(&task).unwrap_or(&vec![0]).iter().map(plain).collect(),
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
    use crate::rivals::contender::Contender;
    use transect_stats::verdict::can_decide;
    use transect_testkit::TempDir;

    #[test]
    fn rounds_of_presets_decide_among_cells_of_every_task() {
        let temp = TempDir::new();
        let folder = builtin::unpack(temp.path()).unwrap();
        let methods = Method::all(&Contender::load_all(&folder, false).0);
        let judged = |method: &&Method| ![BASE, FLOOR_STATX].contains(&method.name.as_str());
        for preset in PRESETS.iter() {
            for &task in Task::ALL {
                let doing = methods.iter().filter(|method| method.does(task));
                let cells = doing.filter(judged).count();
                assert!(can_decide(cells, preset.rounds), "{}, {}", preset.name, task.as_str());
            }
        }
    }

    #[test]
    fn full_preset_has_scale_of_targets() {
        let full = PRESETS.iter().find(|preset| preset.name == "full").unwrap();
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
