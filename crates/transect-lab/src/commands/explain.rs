//! `transect lab explain`: prints why the walks of a session differ, or what limits its fastest transform and the choice
//! for the planner.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect_lab::explain::{Explanation, apply, decisions, explain};
use transect_lab::harness::environment::{Environment, FileSystem};
use transect_lab::harness::log::{Session, SessionData};
use transect_lab::report::explanation::{self, ExplanationReport, WalkExplanation};
use transect_lab::spec::Spec;
use transect_lab::tune::stored;
use transect_program::profile::{Profile, ProfileStore};

use super::host::identity_of;
use crate::args::LabExplainArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::output;

pub(crate) fn run(args: &LabExplainArgs) -> Result<ExitStatus, CliError> {
    let data = Session::read(&args.session)?;
    match (explain(&data), data.spec.experiment()) {
        (Some(explained), _) => {
            let file = if args.save { store(&data, &explained)? } else { None };
            print(args, &explained, file.as_deref(), explanation::write)
        }
        (None, Spec::Walk) if !args.save => {
            let explained = WalkExplanation::of(&data);
            print(args, &explained, None, |out, it: &WalkExplanation| it.write(out))
        }
        (None, _) => {
            let (file, about) = (args.session.display(), data.spec.words().plural);
            let why =
                "only those of transforms can be stored, and those of attributes are not explained";
            Err(format!("'{file}' is a session of {about}: {why}").into())
        }
    }
}

/// Prints explanations, each as text or all as JSON, and where they were stored.
fn print<E: Serialize>(
    args: &LabExplainArgs,
    explained: &[E],
    stored: Option<&Path>,
    write: fn(&mut dyn Write, &E) -> std::io::Result<()>,
) -> Result<ExitStatus, CliError> {
    let mut text = output::buffer();
    if args.json {
        let report = ExplanationReport { schema: explanation::SCHEMA, explained, stored };
        output::write_json(&mut text, &report)?;
        output::print(text)?;
    } else {
        explained.iter().try_for_each(|it| write(&mut text, it))?;
        if args.save {
            let nothing = "nothing was decided, and nothing is stored";
            explanation::write_stored(&mut text, stored, nothing)?;
        }
        output::print_wrapped(text)?;
    }
    Ok(ExitStatus::Complete)
}

/// Stores the decisions in the profile of the measured file system; returns its file, `None` without
/// decisions.
fn store(data: &SessionData, explained: &[Explanation]) -> Result<Option<PathBuf>, CliError> {
    let decisions = decisions(data, explained);
    if decisions.is_empty() {
        return Ok(None);
    }
    let spec = &data.spec;
    let (then, now) = (&spec.environment, Environment::capture(Vec::new()));
    if (&then.processor, then.cores, &then.system) != (&now.processor, now.cores, &now.system) {
        let why = "the session was measured on another machine or system: nothing is stored for it";
        return Err(CliError::failed(why));
    }
    let root = spec.datasets.first().map_or(Path::new("."), |dataset| &dataset.root);
    let (identity, file_system) = (identity_of(root)?, stored(&FileSystem::of(root)));
    let new = || Profile::new(identity, file_system, root.to_owned(), stored(&now));
    let mut profile = Profile::of_path(root).unwrap_or_else(new);
    apply(decisions, &mut profile);
    Ok(Some(ProfileStore::of_user()?.store(&profile)?))
}
