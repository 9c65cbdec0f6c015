//! `transect lab explain`: what limits the fastest of a session, and what the planner is to do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use transect_lab::explain::{Choice, Chosen, Explained, Fastest, Part, decisions, explain};
use transect_lab::harness::environment::{Environment, FileSystem};
use transect_lab::harness::log::{SessionData, SessionLog};
use transect_lab::tune::profile::Profile;
use transect_text::size;

use crate::args::LabExplainArgs;
use crate::exit::{End, Fatal};
use crate::output::units::{bytes, count, duration};
use crate::output::{self, BOLD, DIM, GOOD, WARN, quote};
use crate::profile::{self, profiles};

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report<'e> {
    schema: &'static str,
    explained: &'e [Explained],
    stored: Option<&'e Path>,
}

pub(crate) fn run(args: &LabExplainArgs) -> Result<End, Fatal> {
    let data = SessionLog::read(&args.session).map_err(|error| Fatal::Lab(error.to_string()))?;
    let explained = explain(&data).ok_or_else(|| {
        let (file, about) = (args.session.display(), data.spec.kind().about());
        let why = "only passes over files are explained; `transect lab tune` is for walks";
        Fatal::Lab(format!("'{file}' is a session of {about}: {why}"))
    })?;
    let stored = if args.save { store(&data, &explained)? } else { None };
    let mut text = output::buffer();
    if args.json {
        let schema = "transect.lab.explanation/1";
        let report = Report { schema, explained: &explained, stored: stored.as_deref() };
        output::write_json(&mut text, &report)?;
    } else {
        explained.iter().try_for_each(|it| write(&mut text, it))?;
        if args.save {
            write_stored(&mut text, stored.as_deref())?;
        }
    }
    output::print(text)?;
    Ok(End::Complete)
}

/// Stores what was decided in the profile of the file system that was measured; returns its file,
/// nothing if nothing was decided.
fn store(data: &SessionData, explained: &[Explained]) -> Result<Option<PathBuf>, Fatal> {
    let decisions = decisions(data, explained);
    if decisions.is_empty() {
        return Ok(None);
    }
    let spec = &data.spec;
    let (then, now) = (&spec.environment, Environment::capture(Vec::new()));
    if (&then.processor, then.cores, &then.system) != (&now.processor, now.cores, &now.system) {
        let why = "the session was measured on another machine or system: nothing is stored for it";
        return Err(Fatal::Lab(why.to_owned()));
    }
    let root = spec.datasets.first().map_or(Path::new("."), |dataset| &dataset.root);
    let identity = transect_sys::host::file_system_identity(root).ok_or_else(|| {
        let root = root.display();
        Fatal::Lab(format!("nothing tells the file system of '{root}' from others"))
    })?;
    let new = || Profile::new(identity, FileSystem::of(root), root.to_owned());
    let mut profile = profile::load(root).unwrap_or_else(new);
    profile.take(decisions);
    Ok(Some(profiles()?.store(&profile)?))
}

fn time(nanoseconds: f64) -> String {
    duration(Duration::from_nanos(nanoseconds as u64))
}

fn write(out: &mut impl Write, explained: &Explained) -> std::io::Result<()> {
    let name = quote::for_terminal(explained.name.as_ref());
    writeln!(out, "{BOLD}{name}{BOLD:#}, {}", explained.conditions)?;
    match &explained.fastest {
        Some(fastest) => write_fastest(out, fastest)?,
        None => writeln!(out, "  {WARN}no method has a time{WARN:#}")?,
    }
    if let Some(choice) = &explained.choice {
        write_choice(out, choice)?;
    }
    writeln!(out)
}

fn write_fastest(out: &mut impl Write, fastest: &Fastest) -> std::io::Result<()> {
    let cell = quote::for_terminal(fastest.cell.as_ref());
    let summary = &fastest.time;
    let [median, min, max] = [summary.median, summary.min, summary.max].map(time);
    writeln!(out, "  the fastest is {BOLD}{cell}{BOLD:#}: {median}, {min} to {max}")?;
    match (&fastest.limit, &fastest.undecided) {
        (Some(limit), _) => writeln!(out, "  its limit is {GOOD}{}{GOOD:#}", limit.word())?,
        (None, Some(why)) => writeln!(out, "  its limit is {WARN}undecided{WARN:#}: {why}")?,
        (None, None) => {}
    }
    // A part that rounds to nothing is none worth a line.
    for Part { what, share } in fastest.parts.iter().filter(|part| part.share.high >= 0.005) {
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        let [median, low, high] = [share.median, share.low, share.high].map(percent);
        writeln!(out, "  {median:>5} % {DIM}({low} to {high}){DIM:#} {}", what.word())?;
    }
    writeln!(out, "  {DIM}{}{DIM:#}", counters(fastest).join(", "))
}

/// What the kernel kept account of, as far as it is known.
fn counters(fastest: &Fastest) -> Vec<String> {
    let length = |number: Option<f64>, what: &str| {
        number.map(|number| format!("{} {what}", bytes(number as u64)))
    };
    [
        fastest.faults.map(|faults| format!("{} faults", count(faults as u64))),
        Some(match fastest.calls {
            Some(calls) => format!("{} system calls", count(calls)),
            None => "system calls not counted".to_owned(),
        }),
        length(fastest.device_read, "read from devices"),
        length(fastest.device_written, "for devices to write"),
        length(fastest.unwritten, "unwritten at the end"),
        fastest.fresh.map(|times| format!("fresh memory {times:.2}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn write_choice(out: &mut impl Write, choice: &Choice) -> std::io::Result<()> {
    let Choice { load, size, by_default, chosen } = choice;
    let files = size.map_or("small files", |size| size.about());
    let (load, by_default) = (load.as_str(), by_default.as_str());
    write!(out, "  the planner does {by_default} for {load} work on {files}; here: ")?;
    match chosen {
        Chosen::Preferred { method, block, evidence } => {
            let block = block.map_or(String::new(), |it| format!(", block {}", size::shortest(it)));
            let (ratios, confirmed) = (evidence.ratios, evidence.confirmed);
            writeln!(out, "{GOOD}{}{block}{GOOD:#}", method.as_str())?;
            writeln!(out, "    {ratios} of its time, and {confirmed} in rounds that did not choose")
        }
        Chosen::Default => writeln!(out, "{GOOD}the same{GOOD:#}, nothing is faster"),
        Chosen::Undecided { reason } => {
            let reason = quote::for_terminal(reason.as_ref());
            writeln!(out, "{WARN}undecided{WARN:#}: {reason}")
        }
    }
}

fn write_stored(out: &mut impl Write, stored: Option<&Path>) -> std::io::Result<()> {
    match stored {
        Some(file) => writeln!(
            out,
            "stored in {}; `transect doctor` shows it, `--no-profile` does without",
            quote::for_terminal(file.as_os_str())
        ),
        None => writeln!(out, "nothing was decided, and nothing is stored"),
    }
}
