//! `transect doctor`: what is allowed here, and which reader would be used.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use transect::{Order, ReaderName};

use crate::args::DoctorArgs;
use crate::exit::{End, Fatal};
use crate::output::{self, BOLD, DIM, GOOD, WARN, quote};

/// What was found out.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    version: &'static str,
    system: String,
    cores: usize,
    open_file_limit: Option<u64>,
    calls: Vec<Ability>,
    path: String,
    file_system: Option<FileSystem>,
    readers: Vec<ReaderRow>,
    reader: &'static str,
    orders: Vec<OrderRow>,
    order: &'static str,
}

/// Something that a kernel, a sandbox or a privilege allows, and what it is for.
#[derive(Serialize)]
struct Ability {
    name: &'static str,
    allowed: bool,
    meaning: &'static str,
}

/// Where a path lies.
#[derive(Serialize)]
struct FileSystem {
    kind: Option<String>,
    mount_point: Option<String>,
    source: Option<String>,
    options: Option<String>,
    pseudo: bool,
    short_read_is_end: bool,
}

#[derive(Serialize)]
struct ReaderRow {
    name: &'static str,
    available: bool,
    why_not: Option<&'static str>,
    about: &'static str,
}

#[derive(Serialize)]
struct OrderRow {
    name: &'static str,
    about: &'static str,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<End, Fatal> {
    let report = examine(&args.path)?;
    let mut text = output::buffer();
    if args.json {
        output::write_json(&mut text, &report)?;
    } else {
        write(&mut text, &report)?;
    }
    output::print(text)?;
    Ok(End::Complete)
}

fn examine(path: &Path) -> Result<Report, Fatal> {
    Ok(Report {
        schema: "transect.doctor/1",
        version: env!("CARGO_PKG_VERSION"),
        system: platform::system(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        open_file_limit: platform::open_file_limit(),
        calls: platform::abilities(),
        path: path.to_string_lossy().into_owned(),
        file_system: platform::file_system(path)?,
        readers: ReaderName::ALL.iter().map(|&reader| row(reader)).collect(),
        reader: ReaderName::best().as_str(),
        orders: Order::ALL
            .iter()
            .map(|order| OrderRow { name: order.as_str(), about: order.about() })
            .collect(),
        order: Order::default().as_str(),
    })
}

fn row(reader: ReaderName) -> ReaderRow {
    let why_not = reader.why_not();
    ReaderRow {
        name: reader.as_str(),
        available: why_not.is_none(),
        why_not,
        about: reader.about(),
    }
}

fn write(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let limit = report.open_file_limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    writeln!(out, "{BOLD}transect {}{BOLD:#} on {}", report.version, report.system)?;
    writeln!(out, "  {DIM}{:<12}{DIM:#}{}", "cores", report.cores)?;
    writeln!(out, "  {DIM}{:<12}{DIM:#}{limit} for this process", "open files")?;
    for call in &report.calls {
        let (style, word) = if call.allowed { (GOOD, "yes") } else { (WARN, "no") };
        writeln!(out, "  {DIM}{:<12}{DIM:#}{style}{word:<5}{style:#}{}", call.name, call.meaning)?;
    }
    writeln!(out, "\n{BOLD}{}{BOLD:#}", quote::for_terminal(report.path.as_ref()))?;
    if let Some(file_system) = &report.file_system {
        write_file_system(out, file_system)?;
    }
    writeln!(out, "\n{BOLD}readers{BOLD:#}")?;
    for reader in &report.readers {
        let mark = if reader.name == report.reader { '*' } else { ' ' };
        let text = reader.why_not.unwrap_or(reader.about);
        let style = if reader.available { GOOD } else { WARN };
        writeln!(out, "{mark} {style}{:<18}{style:#}{text}", reader.name)?;
    }
    writeln!(out, "\n{BOLD}orders{BOLD:#}")?;
    for order in &report.orders {
        let mark = if order.name == report.order { '*' } else { ' ' };
        writeln!(out, "{mark} {:<18}{}", order.name, order.about)?;
    }
    writeln!(out, "\n* is what is used unless --reader or --order say otherwise.")
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
        _ if found.short_read_is_end => " (a short listing is the last: one call saved)",
        _ => "",
    };
    line("kind", &found.kind.as_ref().map(|kind| format!("{kind}{note}")))?;
    line("mounted at", &found.mount_point)?;
    line("source", &found.source)?;
    line("options", &found.options)
}

#[cfg(target_os = "linux")]
mod platform {
    use std::path::Path;

    use transect::{Error, Operation, ScanError};
    use transect_sys::linux;

    use super::{Ability, FileSystem};
    use crate::exit::Fatal;

    pub(super) fn system() -> String {
        linux::kernel()
    }

    pub(super) fn open_file_limit() -> Option<u64> {
        linux::open_file_limit()
    }

    pub(super) fn abilities() -> Vec<Ability> {
        vec![
            Ability {
                name: "statx",
                allowed: linux::has_statx(),
                meaning: "asks for the wanted attributes only (Linux 4.11)",
            },
            Ability {
                name: "openat2",
                allowed: linux::has_openat2(),
                meaning: "opens far below a handle in one call (Linux 5.6)",
            },
            Ability {
                name: "drop caches",
                allowed: linux::may_drop_caches(),
                meaning: "cold measurements (root)",
            },
        ]
    }

    pub(super) fn file_system(path: &Path) -> Result<Option<FileSystem>, Fatal> {
        let failed = |source| {
            let error = ScanError::new(Operation::Stat, path.to_owned(), 0, source);
            Fatal::Walk(Error::Root(error))
        };
        let path = path.canonicalize().map_err(failed)?;
        let (name, volume) = linux::file_system_of(&path).map_err(failed)?;
        // The last mount of the longest point hides the others.
        let mount = linux::mounts()
            .unwrap_or_default()
            .into_iter()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.as_os_str().len());
        let (mut kind, mut point, mut source, mut options) =
            (name.map(str::to_owned), None, None, None);
        if let Some(mount) = mount {
            kind = Some(mount.file_system);
            point = Some(mount.point.to_string_lossy().into_owned());
            source = Some(mount.source);
            options = Some(mount.options);
        }
        Ok(Some(FileSystem {
            kind,
            mount_point: point,
            source,
            options,
            pseudo: volume.pseudo,
            short_read_is_end: volume.short_read_is_end,
        }))
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::path::Path;

    use super::{Ability, FileSystem};
    use crate::exit::Fatal;

    pub(super) fn system() -> String {
        std::env::consts::OS.to_owned()
    }

    pub(super) fn open_file_limit() -> Option<u64> {
        None
    }

    pub(super) fn abilities() -> Vec<Ability> {
        Vec::new()
    }

    pub(super) fn file_system(_: &Path) -> Result<Option<FileSystem>, Fatal> {
        Ok(None)
    }
}
