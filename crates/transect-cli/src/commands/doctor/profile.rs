//! The stored profile of the file system, as `doctor` shows it.

use std::io::Write;

use transect_program::profile::{Profile, write_evidence};
use transect_text::settings;

use crate::output::time::age;
use crate::output::units::count;
use crate::output::{BOLD, DIM, GOOD, WARN, quote};
use crate::parts::HOW_TO_STORE_SETTINGS;

/// Writes the stored profile: settings, age and evidence.
///
/// It is out of date if it was measured on another `system`, with other `cores` or by another version.
pub(super) fn write(
    out: &mut impl Write,
    profile: Option<&Profile>,
    system: &str,
    cores: usize,
) -> std::io::Result<()> {
    writeln!(out, "\n{BOLD}profile{BOLD:#}")?;
    let Some(profile) = profile else {
        return writeln!(out, "  none; {HOW_TO_STORE_SETTINGS}");
    };
    write_passes(out, profile)?;
    if !profile.has_walks() {
        return Ok(());
    }
    let Profile { settings, measured, entries, environment, evidence, .. } = profile;
    writeln!(out, "  {GOOD}{}{GOOD:#}", settings::describe(settings))?;
    let age = age(environment.began);
    let measured = quote::for_terminal(measured.as_os_str());
    writeln!(out, "  {DIM}measured {age} ago on {measured}, {} entries{DIM:#}", count(*entries))?;
    for (what, then, now) in [
        ("system", environment.system.as_str(), system),
        ("version", &environment.version, env!("CARGO_PKG_VERSION")),
        ("cores", &environment.cores.to_string(), &cores.to_string()),
    ] {
        if then != now {
            writeln!(out, "  {WARN}{what} was {then}, is {now}: measure again{WARN:#}")?;
        }
    }
    writeln!(out)?;
    write_evidence(out, evidence)
}

fn write_passes(out: &mut impl Write, profile: &Profile) -> std::io::Result<()> {
    for setting in &profile.passes {
        writeln!(out, "  {GOOD}{setting}{GOOD:#}")?;
        let (age, by_default) = (age(setting.environment.began), setting.by_default.as_str());
        let evidence: Vec<String> =
            setting.evidence.iter().map(|seen| seen.ratios.to_string()).collect();
        let evidence = evidence.join(", ");
        writeln!(
            out,
            "  {DIM}measured {age} ago with {}: {evidence} times {by_default}{DIM:#}",
            setting.kind
        )?;
    }
    Ok(())
}
