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
use serde::{Serialize, Serializer};
use transect::ReaderKind;
use transect::internal::Order;
use transect_program::profile::Profile;
use transect_sys::DiskSpace;
use transect_text::disk;

use crate::args::DoctorArgs;
use crate::output::{self, BOLD, DIM, GOOD, WARN, json, quote};
use transect_program::exit::{CliError, ExitStatus};

/// The width of a line of names, without its margin.
const WIDTH: usize = 76;

/// Why the tables of a volume are not read by default.
const PART: &str = "this is a part of the volume";

/// The result, as `--json` prints it.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    version: &'static str,
    system: String,
    cores: usize,
    open_file_limit: Option<u64>,
    calls: Vec<Capability>,
    path: String,
    file_system: Option<FileSystem>,
    #[serde(serialize_with = "disk_object")]
    disk: Option<DiskSpace>,
    volume: VolumeRow,
    readers: Vec<ReaderRow>,
    reader: &'static str,
    orders: Vec<OrderRow>,
    order: &'static str,
    profile: Option<Profile>,
    /// `None` without a PATH argument.
    leftovers: Option<Vec<Leftover>>,
}

fn disk_object<S: Serializer>(disk: &Option<DiskSpace>, to: S) -> Result<S::Ok, S::Error> {
    disk.map(json::disk).serialize(to)
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

#[derive(Serialize)]
struct ReaderRow {
    name: &'static str,
    available: bool,
    why_not: Option<&'static str>,
    about: &'static str,
}

/// Whether the tables of the volume can be read, in place of a walk.
#[derive(Serialize)]
struct VolumeRow {
    reader: Option<&'static str>,
    /// The path stands for all of the volume, not for a directory in it.
    is_whole: Option<bool>,
    /// Why `--reader auto` walks, although they can be read.
    why_walked: Option<&'static str>,
    why_not: Option<String>,
}

#[derive(Serialize)]
struct OrderRow {
    name: &'static str,
    about: &'static str,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<ExitStatus, CliError> {
    let mut report = examine(args.path.as_deref().unwrap_or(Path::new(".")))?;
    let mut end = ExitStatus::Complete;
    if let Some(path) = &args.path {
        let (leftovers, diagnostics) = leftovers::find(path)?;
        output::show_errors(&diagnostics, false);
        end = ExitStatus::from_diagnostics(&diagnostics, false);
        report.leftovers = Some(leftovers);
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        let mut text = output::buffer();
        write(&mut text, &report)?;
        output::print_wrapped(text)?;
    }
    Ok(end)
}

fn examine(path: &Path) -> Result<Report, CliError> {
    Ok(Report {
        schema: "transect.doctor/1",
        version: env!("CARGO_PKG_VERSION"),
        system: transect_sys::host::system_version(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        open_file_limit: platform::open_file_limit(),
        calls: platform::capabilities(),
        path: path.to_string_lossy().into_owned(),
        file_system: platform::file_system(path)?,
        disk: transect::internal::disk_space_of(&[path.to_owned()]),
        volume: volume_row(path),
        readers: ReaderKind::DIRECTORIES.iter().map(|&reader| row(reader)).collect(),
        reader: ReaderKind::best().as_str(),
        orders: Order::ALL
            .iter()
            .map(|order| OrderRow { name: order.as_str(), about: order.about() })
            .collect(),
        order: Order::default().as_str(),
        profile: Profile::of_path(path),
        leftovers: None,
    })
}

fn row(reader: ReaderKind) -> ReaderRow {
    let why_not = reader.unavailable_reason();
    ReaderRow {
        name: reader.as_str(),
        available: why_not.is_none(),
        why_not,
        about: reader.about(),
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
        Err(error) => VolumeRow {
            reader: None,
            is_whole: None,
            why_walked: None,
            why_not: Some(transect::reason(&error)),
        },
    }
}

fn write(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    writeln!(out, "{BOLD}transect {}{BOLD:#} on {}", report.version, report.system)?;
    writeln!(out, "  {DIM}{:<12}{DIM:#}{}", "cores", report.cores)?;
    if let Some(limit) = report.open_file_limit {
        writeln!(out, "  {DIM}{:<12}{DIM:#}{limit} for this process", "open files")?;
    }
    for call in &report.calls {
        let (style, word) = if call.allowed { (GOOD, "yes") } else { (WARN, "no") };
        writeln!(out, "  {DIM}{:<12}{DIM:#}{style}{word:<5}{style:#}{}", call.name, call.meaning)?;
    }
    writeln!(out, "\n{BOLD}{}{BOLD:#}", quote::for_terminal(report.path.as_ref()))?;
    if let Some(file_system) = &report.file_system {
        write_file_system(out, file_system)?;
    }
    if let Some(disk) = &report.disk {
        writeln!(out, "  {DIM}{:<12}{DIM:#}{}", "disk", disk::space(disk))?;
    }
    write_volume(out, &report.volume)?;
    write_readers(out, report)?;
    writeln!(out, "\n{BOLD}orders{BOLD:#}")?;
    let width = column(report.orders.iter().map(|order| order.name));
    for order in &report.orders {
        let mark = if order.name == report.order { '*' } else { ' ' };
        writeln!(out, "{mark} {:<width$}{}", order.name, order.about)?;
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
fn write_readers(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    writeln!(out, "\n{BOLD}readers{BOLD:#}")?;
    let available = || report.readers.iter().filter(|reader| reader.available);
    let width = column(available().map(|reader| reader.name));
    for reader in available() {
        let mark = if reader.name == report.reader { '*' } else { ' ' };
        writeln!(out, "{mark} {GOOD}{:<width$}{GOOD:#}{}", reader.name, reader.about)?;
    }
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for reader in &report.readers {
        if let Some(why_not) = reader.why_not {
            others.entry(why_not).or_default().push(reader.name);
        }
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
