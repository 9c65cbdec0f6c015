//! `transect lab tune`: finds the fastest settings for a file system, and stores them for `scan` and `list`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use transect::internal::WalkSettings;
use transect_lab::harness::environment::{Environment, FileSystem};
use transect_lab::harness::error::cannot;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::possible_states::{DropScope, PossibleStates};
use transect_lab::report::explanation::write_stored;
use transect_lab::tune::{TuneProgress, TuneRequest, TuneResult, stored, tune};
use transect_program::profile::{Profile, ProfileStore, write_evidence};
use transect_sys::private_dir::PrivateTempDir;
use transect_text::settings;
use transect_text::style::BOLD;

use super::host::{identity_of, own_program};
use super::request;
use crate::args::LabTuneArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;
use transect_program::output;
use transect_program::status_line::StatusLine;
use transect_text::quote;
use transect_text::units::{count, duration};

pub(crate) fn run(args: &LabTuneArgs) -> Result<ExitStatus, CliError> {
    let path = args.path.canonicalize().map_err(cannot("access", &args.path))?;
    let identity = identity_of(&path)?;
    if args.forget {
        return forget(&identity);
    }
    let PossibleStates { states, dropped, .. } =
        request::possible(&args.state, &[], DropScope::System)?;
    if dropped.is_some() {
        let why = "nothing proves that caches are cold on this system; use --state warm";
        return Err(CliError::failed(why));
    }
    let folder = PrivateTempDir::new("tune").map_err(|error| {
        let reason = transect::reason(&error);
        format!("cannot create a temporary directory: {reason}")
    })?;
    let request = TuneRequest {
        path: &path,
        states: &states,
        time: Duration::from_secs(args.seconds),
        launcher: Launcher { program: own_program()?, built: BTreeMap::new(), disturbable: true },
        files: ["samples", "confirmation"].map(|name| folder.path().join(name)),
    };
    let Some(tuned) = measure(&request)? else { return Ok(ExitStatus::Interrupted) };
    let TuneResult { sample_tree, settings, evidence, noisy, busy } = tuned;
    let file_system = stored(&FileSystem::of(&path));
    let environment = stored(&Environment::of_this_command());
    let profile = Profile {
        entries: sample_tree.entries,
        states,
        settings,
        evidence,
        // Keep the settings for transforms.
        passes: Profile::of_path(&path).map_or(Vec::new(), |before| before.passes),
        ..Profile::new(identity, file_system, sample_tree.root, environment)
    };
    // On a busy machine, keep an earlier profile.
    let file = if args.dry_run || noisy || busy {
        None
    } else {
        Some(ProfileStore::of_user()?.store(&profile)?)
    };
    show(args, &profile, file.as_deref(), busy)?;
    if busy {
        output::hint(
            "the machine was too busy to compare wall times; nothing is stored, try again",
        );
    } else if noisy {
        output::hint("the default differed from itself: the machine was not quiet; try again");
    }
    Ok(ExitStatus::Complete)
}

/// Measures with progress; returns `None` if the user interrupts.
fn measure(request: &TuneRequest<'_>) -> Result<Option<TuneResult>, CliError> {
    let cancel = cancel_on_signal()?;
    let mut status = StatusLine::on_terminal();
    let tuned = tune(request, &cancel, &mut |step| match step {
        TuneProgress::Started { sample_tree, walks, time } => output::hint(&format!(
            "reads '{}' ({} entries) {walks} times, for about {}, and again what wins",
            sample_tree.root.display(),
            count(sample_tree.entries),
            duration(time)
        )),
        TuneProgress::Confirming(settings) => {
            let settings = settings::describe(settings);
            output::hint(&format!("wins so far: {settings}; measured once more, together"));
        }
        TuneProgress::WalksLeft(left) => status.show(|| format!("{left} walks left")),
    });
    drop(status);
    Ok(tuned?)
}

fn forget(identity: &str) -> Result<ExitStatus, CliError> {
    let profiles = ProfileStore::of_user()?;
    let gone = profiles.forget(identity).map_err(cannot("remove", &profiles.file(identity)))?;
    let mut text = output::buffer();
    match gone {
        Some(file) => writeln!(text, "removed {}", quote::for_terminal(file.as_os_str()))?,
        None => writeln!(text, "nothing was stored for this file system")?,
    }
    output::print(text)?;
    Ok(ExitStatus::Complete)
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Stored<'p> {
    #[serde(flatten)]
    profile: &'p Profile,
    stored: Option<&'p Path>,
}

fn show(
    args: &LabTuneArgs,
    profile: &Profile,
    stored: Option<&Path>,
    busy: bool,
) -> Result<(), CliError> {
    let mut text = output::buffer();
    if args.json {
        output::write_json(&mut text, &Stored { profile, stored })?;
    } else {
        write_evidence(&mut text, &profile.evidence)?;
        write_result(&mut text, &profile.settings, stored, busy)?;
    }
    Ok(output::print(text)?)
}

/// Writes the settings that won, and where they were stored. `busy` is
/// [`TuneResult::busy`].
fn write_result(
    out: &mut impl Write,
    settings: &WalkSettings,
    stored: Option<&Path>,
    busy: bool,
) -> std::io::Result<()> {
    if busy {
        writeln!(
            out,
            "\nUndecided: this machine was too busy to compare wall times, and CPU times say nothing \
             about speed."
        )?;
    } else if settings.is_default() {
        writeln!(out, "\nNo setting is significantly faster than the defaults, which stay.")?;
    } else {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", settings::describe(settings))?;
    }
    write_stored(out, stored, "not stored")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_of_busy_machine_is_undecided() {
        let mut text = Vec::new();
        write_result(&mut text, &WalkSettings::default(), None, true).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("too busy to compare wall times") && text.contains("not stored"));
    }
}
