//! `transect doctor`: shows what the system supports, and the default reader.

mod leftovers;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "other.rs")]
mod platform;
mod profile;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use leftovers::Leftover;
use serde::Serialize;
use transect::ReaderKind;
use transect::internal::Order;
use transect_program::profile::Profile;
use transect_sys::DiskSpace;
use transect_text::disk;

use crate::args::DoctorArgs;
use crate::output::{self, BOLD, DIM, GOOD, WARN, json, quote};
use transect_program::{CliError, ExitStatus};

/// The width of a line of names, without its margin.
const WIDTH: usize = 76;

/// Why the tables of a volume are not read by default.
const PART: &str = "this is a part of the volume";

/// What was found of the system and a path.
struct Report<'a> {
    system: String,
    cores: usize,
    path: &'a Path,
    file_system: Option<FileSystem>,
    disk: Option<DiskSpace>,
    volume: VolumeRow,
    profile: Option<Profile>,
    /// `None` without a PATH argument.
    leftovers: Option<Vec<Leftover>>,
}

#[derive(Serialize)]
struct Capability {
    name: &'static str,
    allowed: bool,
    meaning: &'static str,
}

/// The file system of a path. Only Windows has a label and a serial number.
#[derive(Default, Serialize)]
struct FileSystem {
    kind: Option<String>,
    mount_point: Option<String>,
    /// Why mount point, source and options are missing.
    why_no_mount: Option<&'static str>,
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<String>,
    options: Option<String>,
    pseudo: bool,
    end_of_listing_marked: bool,
}

/// Whether the tables of the volume can be read, in place of a walk.
#[derive(Default, Serialize)]
struct VolumeRow {
    reader: Option<&'static str>,
    /// The path stands for all of the volume, not for a directory in it.
    is_whole: Option<bool>,
    /// Why `--reader auto` walks, although they can be read.
    why_walked: Option<&'static str>,
    why_not: Option<String>,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<ExitStatus, CliError> {
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let mut report = Report {
        system: transect_sys::host::system_version(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        path,
        file_system: platform::file_system(path)?,
        disk: transect::internal::disk_space_of(&[path.to_owned()]),
        volume: volume_row(path),
        profile: Profile::of_path(path),
        leftovers: None,
    };
    let mut end = ExitStatus::Complete;
    if let Some(path) = &args.path {
        let (leftovers, diagnostics) = leftovers::find(path)?;
        output::show_errors(&diagnostics, false);
        end = ExitStatus::from_diagnostics(&diagnostics, false);
        report.leftovers = Some(leftovers);
    }
    if args.json {
        output::print_json(&object(&report))?;
    } else {
        let mut text = output::buffer();
        write(&mut text, &report)?;
        output::print_wrapped(text)?;
    }
    Ok(end)
}

fn object(report: &Report<'_>) -> impl Serialize {
    let readers = ReaderKind::DIRECTORIES.iter().map(|reader| {
        let why_not = reader.unavailable_reason();
        json::object! {
            name: reader.as_str(),
            available: why_not.is_none(),
            why_not: why_not,
            about: reader.about(),
        }
    });
    let orders = Order::ALL.iter().map(|order| {
        json::object! { name: order.as_str(), about: order.about() }
    });
    json::object! {
        schema: "transect.doctor/1",
        version: env!("CARGO_PKG_VERSION"),
        system: &report.system,
        cores: report.cores,
        open_file_limit: platform::open_file_limit(),
        calls: platform::capabilities(),
        path: report.path.to_string_lossy(),
        file_system: &report.file_system,
        disk: report.disk.map(json::disk),
        volume: &report.volume,
        readers: readers.collect::<Vec<_>>(),
        reader: ReaderKind::best().as_str(),
        orders: orders.collect::<Vec<_>>(),
        order: Order::default().as_str(),
        profile: &report.profile,
        leftovers: &report.leftovers,
    }
}

fn volume_row(path: &Path) -> VolumeRow {
    match transect_volumes::probe(path) {
        Ok(found) => VolumeRow {
            reader: Some(found.reader.as_str()),
            is_whole: Some(found.is_whole),
            why_walked: found.why_walked.or((!found.is_whole).then_some(PART)),
            why_not: None,
        },
        Err(error) => VolumeRow { why_not: Some(transect::reason(&error)), ..VolumeRow::default() },
    }
}

fn write(out: &mut impl Write, report: &Report<'_>) -> std::io::Result<()> {
    writeln!(out, "{BOLD}transect {}{BOLD:#} on {}", env!("CARGO_PKG_VERSION"), report.system)?;
    writeln!(out, "  {DIM}{:<12}{DIM:#}{}", "cores", report.cores)?;
    if let Some(limit) = platform::open_file_limit() {
        writeln!(out, "  {DIM}{:<12}{DIM:#}{limit} for this process", "open files")?;
    }
    for call in platform::capabilities() {
        let (style, word) = if call.allowed { (GOOD, "yes") } else { (WARN, "no") };
        writeln!(out, "  {DIM}{:<12}{DIM:#}{style}{word:<5}{style:#}{}", call.name, call.meaning)?;
    }
    writeln!(out, "\n{BOLD}{}{BOLD:#}", quote::for_terminal(report.path.as_os_str()))?;
    if let Some(file_system) = &report.file_system {
        write_file_system(out, file_system)?;
    }
    if let Some(disk) = &report.disk {
        writeln!(out, "  {DIM}{:<12}{DIM:#}{}", "disk", disk::space(disk))?;
    }
    write_volume(out, &report.volume)?;
    write_readers(out)?;
    writeln!(out, "\n{BOLD}orders{BOLD:#}")?;
    let width = column(Order::ALL.iter().map(|order| order.as_str()));
    for &order in Order::ALL {
        let mark = if order == Order::default() { '*' } else { ' ' };
        writeln!(out, "{mark} {:<width$}{}", order.as_str(), order.about())?;
    }
    writeln!(out, "\n* used by default; a profile, --reader or --order can choose another.")?;
    profile::write(out, report.profile.as_ref(), &report.system, report.cores)?;
    match &report.leftovers {
        Some(leftovers) => leftovers::write(out, leftovers),
        None => Ok(()),
    }
}

fn write_volume(out: &mut impl Write, volume: &VolumeRow) -> std::io::Result<()> {
    let text = match (volume.reader, &volume.why_not) {
        (Some(reader), _) => {
            let auto = match volume.why_walked {
                None => "does so".to_owned(),
                Some(why) => format!("walks, as {why}"),
            };
            format!("can be read with --reader {reader}; --reader auto {auto}")
        }
        (None, Some(why_not)) => format!("cannot be read: {why_not}"),
        (None, None) => return Ok(()),
    };
    let text = quote::for_terminal(text.as_ref());
    writeln!(out, "  {DIM}{:<12}{DIM:#}{text}", "tables")
}

/// Writes the available readers, one per line, then the others grouped by the reason: most belong to
/// another system.
fn write_readers(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "\n{BOLD}readers{BOLD:#}")?;
    let mut available = Vec::new();
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &reader in ReaderKind::DIRECTORIES {
        match reader.unavailable_reason() {
            None => available.push(reader),
            Some(why_not) => others.entry(why_not).or_default().push(reader.as_str()),
        }
    }
    let width = column(available.iter().map(|reader| reader.as_str()));
    for reader in available {
        let mark = if reader == ReaderKind::best() { '*' } else { ' ' };
        writeln!(out, "{mark} {GOOD}{:<width$}{GOOD:#}{}", reader.as_str(), reader.about())?;
    }
    for (why_not, names) in others {
        let text = format!("not available ({why_not}): {}", names.join(", "));
        for line in output::wrap(
            &text,
            output::terminal_width().unwrap_or(WIDTH).min(WIDTH).saturating_sub(2),
        ) {
            writeln!(out, "  {DIM}{line}{DIM:#}")?;
        }
    }
    Ok(())
}

/// Returns the width of a column of names, including the gap.
fn column<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0) + 2
}

fn write_file_system(out: &mut impl Write, found: &FileSystem) -> std::io::Result<()> {
    let mut line = |label: &str, text: &Option<String>| match text {
        Some(text) => {
            writeln!(out, "  {DIM}{label:<12}{DIM:#}{}", quote::for_terminal(text.as_ref()))
        }
        None => Ok(()),
    };
    let note = match found {
        _ if found.pseudo => " (pseudo: skipped below other file systems)",
        _ if found.end_of_listing_marked => " (the end of a listing is marked: one call saved)",
        _ => "",
    };
    line("kind", &found.kind.as_ref().map(|kind| format!("{kind}{note}")))?;
    line("mounted at", &found.mount_point)?;
    line("mounted at", &found.why_no_mount.map(str::to_owned))?;
    line("source", &found.source)?;
    line("label", &found.label)?;
    line("serial", &found.serial)?;
    line("options", &found.options)
}
