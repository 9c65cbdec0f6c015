//! `transect lab run attributes`: a session of attribute queries.

use std::io::Write;

use transect::Cancel;
use transect_lab::experiments::attributes::{
    self, Asked, AttributesExperiment, AttributesPart, BASE, FLOOR_STATX, Method, Scale, Source,
    Task,
};
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::possible_states::{DropScope, PossibleStates};
use transect_lab::harness::scratch::Scratch;
use transect_lab::spec::SessionSpec;
use transect_lab::spec::attributes::WORDS;
use transect_lab::spec::words::Words;

use super::request::{Request, choose, contenders, possible, rounds, scratch};
use crate::args::{LabAttributesArgs, LabSessionArgs};
use transect_program::exit::CliError;
use transect_program::output;
use transect_program::status_line::StatusLine;
use transect_text::units::counted;

/// A dataset to create: its name, the task, the scale, and the source of the user's own files, if any.
type Wanted = (String, Task, Scale, Option<Source>);

impl Request for LabAttributesArgs {
    type Part = AttributesPart;
    type Experiment<'s> = AttributesExperiment<'s>;
    type Scratch = Scratch;
    const WORDS: &'static Words = &WORDS;

    fn session(&self) -> &LabSessionArgs {
        &self.session
    }

    fn counts_calls(&self) -> bool {
        true
    }

    fn methods(&self, _: Option<&SessionSpec>) -> Result<Vec<Method>, CliError> {
        Ok(Method::all(&contenders(&self.session.all)?.0))
    }

    fn scratch(&self) -> Result<Scratch, CliError> {
        scratch(self.dir.as_deref())
    }

    fn write_plan(&self, out: &mut dyn Write, methods: &[Method]) -> Result<(), CliError> {
        let chosen = chosen(self, methods)?;
        let cache_states = cache_states(self)?.states.len();
        let rounds = rounds(&self.session, self.preset.rounds);
        let mut samples = 0;
        for (name, task, ..) in wanted(self)? {
            let doing: Vec<&str> =
                chosen.iter().filter(|it| it.does(task)).map(|it| it.name.as_str()).collect();
            // The base runs twice.
            samples += (doing.len() + 1) * cache_states * rounds;
            writeln!(out, "{name}: {}\n  {}", task.about(), doing.join(", "))?;
        }
        writeln!(out, "{}", counted(samples as u64, "sample", "samples"))?;
        Ok(())
    }

    fn plan(
        &self,
        methods: &[Method],
        scratch: &Scratch,
        _: &Cancel,
    ) -> Result<Option<SessionSpec>, CliError> {
        let chosen = chosen(self, methods)?;
        let cache_states = cache_states(self)?;
        let mut datasets = Vec::new();
        let mut status = StatusLine::on_terminal();
        for (name, task, scale, source) in wanted(self)? {
            status.show(|| format!("creating the files of '{name}'"));
            datasets.push(attributes::dataset(name, task, &scale, source.as_ref(), scratch)?);
        }
        drop(status);
        let is_asked =
            |method: &&Method| datasets.iter().any(|it| method.does(attributes::asked(it).task));
        let doing: Vec<&Method> = chosen.into_iter().filter(is_asked).collect();
        let floor = doing.iter().any(|method| method.name == FLOOR_STATX);
        let cells = attributes::cells(&doing);
        let floor = floor.then(|| FLOOR_STATX.to_owned());
        let spec = SessionSpec { floor, ..self.preset.spec(datasets, cells, BASE) };
        Ok(Some(spec.with_states(cache_states)))
    }

    /// Recreates the datasets of a session, and checks that they have not changed.
    fn check_resumed(&self, spec: &SessionSpec, scratch: &Scratch) -> Result<(), CliError> {
        for then in &spec.datasets {
            let Asked { task, scale, source, .. } = attributes::asked(then);
            let now =
                attributes::dataset(then.name.clone(), *task, scale, source.as_ref(), scratch)?;
            if (now.expected, &now.asked) != (then.expected, &then.asked) {
                let name = &then.name;
                return Err(format!("'{name}' has changed since the session began").into());
            }
        }
        Ok(())
    }

    fn experiment<'s>(
        methods: &'s [Method],
        launcher: &'s Launcher,
        scratch: &'s Scratch,
    ) -> AttributesExperiment<'s> {
        AttributesExperiment::new(methods, launcher, scratch)
    }
}

fn cache_states(args: &LabAttributesArgs) -> Result<PossibleStates, CliError> {
    possible(&args.state, &[], DropScope::System)
}

/// Returns the datasets of a session: those of the named tasks, or of all available tasks.
fn wanted(args: &LabAttributesArgs) -> Result<Vec<Wanted>, CliError> {
    let list = args.files_from.as_ref().map(std::path::absolute).transpose()?;
    let source = list.map(Source::Paths);
    let is_wanted = |task: &Task| match args.tasks.as_slice() {
        [] => !task.needs_a_source() || source.is_some(),
        named => named.contains(task),
    };
    let mut wanted = Vec::new();
    for &task in Task::ALL.iter().filter(|task| is_wanted(task)) {
        let source = source.clone().filter(|_| task.needs_a_source());
        if task.needs_a_source() && source.is_none() {
            let task = task.as_str();
            return Err(format!("task '{task}' needs --files-from FILE").into());
        }
        let datasets = args.preset.datasets(task, args.paths.map(|paths| paths as usize));
        wanted
            .extend(datasets.into_iter().map(|(name, scale)| (name, task, scale, source.clone())));
    }
    Ok(wanted)
}

/// Returns the methods of the session; prints those that cannot run here.
fn chosen<'m>(
    args: &LabAttributesArgs,
    methods: &'m [Method],
) -> Result<Vec<&'m Method>, CliError> {
    let is_always = |method: &Method| [BASE, FLOOR_STATX].contains(&&*method.name);
    let chosen = choose(&args.session.methods, methods, |_| true, is_always)?;
    for Method { name, unavailable_reason, .. } in methods {
        if let Some(reason) = unavailable_reason {
            output::hint(&format!("{name} is left out: {reason}"));
        }
    }
    Ok(chosen)
}
