//! The local time zone.

use jiff::tz::TimeZone;

/// Returns the local time zone. `TimeZone::system` looks its name up in the database of zones, and lists all
/// directories of that first, which takes as long as a short command; `/etc/localtime` alone has what times need.
pub(crate) fn local() -> TimeZone {
    let is_file = cfg!(unix) && std::env::var_os("TZ").is_none();
    let zone = if is_file { of_file("/etc/localtime") } else { None };
    zone.unwrap_or_else(TimeZone::system)
}

/// Returns the zone of a file in the format of RFC 9636; `None` if it is missing or another format.
fn of_file(path: &str) -> Option<TimeZone> {
    let data = transect_sys::input::read_regular(path.as_ref()).ok()?;
    TimeZone::tzif("Local", &data).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    #[cfg(unix)]
    fn a_file_has_the_times_of_its_name() {
        use jiff::Timestamp;
        use transect_testkit::loudly_skip;
        const ZONE: &str = "Europe/Berlin";
        let Some(file) = of_file(&format!("/usr/share/zoneinfo/{ZONE}")) else {
            return loudly_skip("a_file_has_the_times_of_its_name", "no database of time zones");
        };
        let named = TimeZone::get(ZONE).unwrap();
        for second in (-3_000_000_000..6_000_000_000).step_by(3_000_000) {
            let moment = Timestamp::from_second(second).unwrap();
            let time = |zone: &TimeZone| moment.to_zoned(zone.clone()).datetime();
            assert_eq!(time(&file), time(&named), "{moment}");
        }
    }

    #[test]
    fn other_files_are_no_zone() {
        let temp = TempDir::new();
        let path = temp.join("zone").to_str().unwrap().to_owned();
        assert!(of_file(&path).is_none());
        std::fs::write(&path, "TZif").unwrap();
        assert!(of_file(&path).is_none());
    }
}
