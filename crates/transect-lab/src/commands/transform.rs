//! `transect lab run transform`: a session of transforms.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use transect::Cancel;
use transect_lab::experiments::method::Origin;
use transect_lab::experiments::transform::{
    self, BASE, Digests, Floor, Method, Needs, Rules, TransformExperiment, TransformPart, rules,
};
use transect_lab::harness::cache_state::State;
use transect_lab::harness::environment::FileSystem;
use transect_lab::harness::error::cannot;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::possible_states::DropScope;
use transect_lab::harness::scratch::Scratch;
use transect_lab::harness::work::Work;
use transect_lab::spec::Pair;
use transect_lab::spec::transform::WORDS;
use transect_lab::spec::words::Words;
use transect_lab::spec::{Cell, Dataset, SessionSpec};
use transect_text::size;

use super::request::{Request, apply, choose, contenders, possible, scratch, write_cells};
use crate::args::{LabSessionArgs, LabTransformArgs};
use transect_program::exit::CliError;
use transect_program::output;
use transect_program::user_dirs;
use transect_text::units::bytes;

impl Request for LabTransformArgs {
    type Part = TransformPart;
    type Experiment<'s> = TransformExperiment<'s>;
    type Scratch = Scratch;
    const WORDS: &'static Words = &WORDS;

    fn session(&self) -> &LabSessionArgs {
        &self.session
    }

    fn counts_calls(&self) -> bool {
        self.preset.calls
    }

    fn methods(&self, resumed: Option<&SessionSpec>) -> Result<Vec<Method>, CliError> {
        let kind = match resumed {
            Some(spec) => rules(spec).kind,
            None => self.kind,
        };
        Ok(Method::all(kind, &contenders(&self.session.all)?.0))
    }

    fn scratch(&self) -> Result<Scratch, CliError> {
        scratch(self.dir.as_deref())
    }

    fn write_plan(&self, out: &mut dyn Write, methods: &[Method]) -> Result<(), CliError> {
        let folder = match &self.dir {
            Some(dir) => dir.clone(),
            None => user_dirs::CACHE.path("scratch")?,
        };
        // A missing directory will be on the file system of its closest existing ancestor.
        let there = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
        let there = there.unwrap_or_else(|| folder.clone());
        let spec = apply(&self.session, plan(self, methods, &there)?)?;
        let (datasets, cache_states) = (spec.datasets.len(), spec.cache_states.len());
        let takes = takes(&spec, &there)?;
        write_cells(out, &spec.cells, (datasets, WORDS.dataset), cache_states, spec.rounds)?;
        writeln!(out, "{takes}")?;
        Ok(())
    }

    fn plan(
        &self,
        methods: &[Method],
        scratch: &Scratch,
        _: &Cancel,
    ) -> Result<Option<SessionSpec>, CliError> {
        plan(self, methods, scratch.parent()).map(Some)
    }

    /// Checks that the directory has enough space and supports the states, and prints the space needed.
    fn check(&self, spec: &SessionSpec, scratch: &Scratch) -> Result<(), CliError> {
        let folder = scratch.parent();
        if spec.cache_states.contains(&State::Cold) {
            let in_memory = |folder: File| transect_sys::residency::is_memory_only(&folder);
            if File::open(folder).is_ok_and(in_memory) {
                let folder = folder.display();
                let why = "its files are only in memory; use --state warm or another --dir";
                return Err(format!("cannot drop files in '{folder}': {why}").into());
            }
        }
        output::hint(&takes(spec, folder)?);
        Ok(())
    }

    fn experiment<'s>(
        methods: &'s [Method],
        launcher: &'s Launcher,
        scratch: &'s Scratch,
    ) -> TransformExperiment<'s> {
        TransformExperiment::new(methods, launcher, scratch)
    }
}

/// Describes the space that a session needs, or returns an error if there is not enough.
fn takes(spec: &SessionSpec, folder: &Path) -> Result<String, CliError> {
    let needs = Needs::of(spec);
    let free = needs.check(folder).map_err(cannot("use", folder))?;
    let free = free.map_or(String::new(), |free| format!(" of {} free", bytes(free)));
    let further = spec.max_time.map_or("", |_| " before further rounds");
    Ok(format!(
        "needs {}{free} in '{}'; writes up to {}{further}, most of which is removed before it \
         reaches the device",
        bytes(needs.room),
        folder.display(),
        bytes(needs.written),
    ))
}

fn plan(
    args: &LabTransformArgs,
    methods: &[Method],
    folder: &Path,
) -> Result<SessionSpec, CliError> {
    let rules = Rules { kind: args.kind, sync: args.sync };
    let is_floor = |method: &Method| matches!(method.origin, Origin::Floor);
    let is_always = |method: &Method| method.name == BASE || is_floor(method);
    let is_default = |method: &Method| args.preset.holds(method);
    let chosen = choose(&args.session.methods, methods, is_default, is_always)?;
    let blocks = given(&args.blocks, &args.preset.blocks());
    let mut cells = transform::cells(&chosen, &blocks, args.seq);
    for external in &args.commands {
        let is_taken = |cell: &Cell| cell.name == external.name;
        if cells.iter().any(is_taken) || methods.iter().any(|it| it.name == external.name) {
            return Err(format!("a cell is already called '{}'", external.name).into());
        }
        let method = Method::of_command(external.clone());
        // A transform by a command is compared with methods on one thread.
        cells.push(Cell { parallel: false, ..method.cell() });
        if let Some(reason) = method.unavailable_reason {
            return Err(reason.into());
        }
    }
    let sizes: Vec<u64> = args.sizes.iter().map(|&size| size as u64).collect();
    let dataset = |size: u64| Dataset {
        name: size::shortest(size as usize),
        root: folder.to_owned(),
        file_system: FileSystem::of(folder),
        expected: Work { files: 1, directories: 0, bytes: size, errors: 0 },
        digests: Some(Digests::expected(size, rules.kind)),
        ..Dataset::default()
    };
    let datasets = given(&sizes, &args.preset.sizes()).into_iter().map(dataset).collect();
    // States run as written: one may occur several times, as in the naive protocol `cold,as-is,as-is`.
    let states = possible(&args.state, &args.preset.states, DropScope::Files)?;
    let mut spec = args.preset.spec(datasets, cells, BASE);
    spec.pairs.extend(Pair::of_hints(&spec.cells));
    spec.floor = Some(Floor::ReadWrite.as_str().to_owned());
    spec.transform = Some(rules);
    Ok(spec.with_states(states))
}

/// Returns the user's values without duplicates, or those of the preset.
fn given<T: Copy + PartialEq>(asked: &[T], of_the_preset: &[T]) -> Vec<T> {
    let values = if asked.is_empty() { of_the_preset } else { asked };
    let mut once = Vec::new();
    for &value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}
