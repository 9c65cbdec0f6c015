//! `transect lab explain`: prints what limits the fastest method of a session, and the choice for the planner.

use std::path::{Path, PathBuf};

use transect_lab::explain::{Explanation, apply, decisions, explain};
use transect_lab::harness::environment::{Environment, FileSystem};
use transect_lab::harness::log::{Session, SessionData};
use transect_lab::report::explanation::{self, ExplanationReport};
use transect_lab::tune::stored;
use transect_program::profile::{Profile, ProfileStore};

use super::error::{identity_of, lab};
use crate::args::LabExplainArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::output;

pub(crate) fn run(args: &LabExplainArgs) -> Result<ExitStatus, CliError> {
    let data = Session::read(&args.session).map_err(lab)?;
    let explained = explain(&data).ok_or_else(|| {
        let (file, about) = (args.session.display(), data.spec.words().plural);
        let why = "only sessions of transforms are explained; `transect lab tune` is for walks";
        CliError::Failed(format!("'{file}' is a session of {about}: {why}"))
    })?;
    let file = if args.save { store(&data, &explained)? } else { None };
    let mut text = output::buffer();
    if args.json {
        let (schema, stored) = (explanation::SCHEMA, file.as_deref());
        let report = ExplanationReport { schema, explained: &explained, stored };
        output::write_json(&mut text, &report)?;
        output::print(text)?;
    } else {
        explained.iter().try_for_each(|it| explanation::write(&mut text, it))?;
        if args.save {
            let nothing = "nothing was decided, and nothing is stored";
            explanation::write_stored(&mut text, file.as_deref(), nothing)?;
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
        return Err(CliError::Failed(why.to_owned()));
    }
    let root = spec.datasets.first().map_or(Path::new("."), |dataset| &dataset.root);
    let (identity, file_system) = (identity_of(root)?, stored(&FileSystem::of(root)));
    let new = || Profile::new(identity, file_system, root.to_owned(), stored(&now));
    let mut profile = Profile::of_path(root).unwrap_or_else(new);
    apply(decisions, &mut profile);
    Ok(Some(ProfileStore::of_user()?.store(&profile)?))
}
