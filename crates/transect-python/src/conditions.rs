//! Conditions on times, owners and permissions, as Python writes them.

use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use transect::ModeCondition;

use crate::attributes::BILLION;

/// Returns a time in nanoseconds since 1970 UTC: of seconds since then, a datetime, or a timedelta before
/// now.
pub(crate) fn time(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let py = value.py();
    if value.is_none() {
        return Ok(None);
    }
    let module = py.import("datetime")?;
    let is = |class: &str| value.is_instance(&module.getattr(class)?);
    let seconds: f64 = if is("timedelta")? {
        let now: f64 = py.import("time")?.call_method0("time")?.extract()?;
        now - value.call_method0("total_seconds")?.extract::<f64>()?
    } else if is("datetime")? {
        value.call_method0("timestamp")?.extract()?
    } else if let Ok(seconds) = value.extract::<i64>() {
        let nanoseconds = seconds.checked_mul(BILLION);
        return nanoseconds.map(Some).ok_or_else(out_of_range);
    } else {
        value.extract().map_err(|_| {
            PyTypeError::new_err(
                "a time must be a datetime, a timedelta before now, or seconds since 1970",
            )
        })?
    };
    let nanoseconds = seconds * BILLION as f64;
    // Comparisons with NaN are false.
    match nanoseconds.abs() < i64::MAX as f64 {
        // In microseconds, as a float has no nanoseconds of this century.
        true => Ok(Some((seconds * 1e6).round() as i64 * 1000)),
        false => Err(out_of_range()),
    }
}

fn out_of_range() -> PyErr {
    PyOverflowError::new_err("the time is out of range")
}

/// Returns the user and the group that are meant by a user id or by `USER`, `USER:GROUP` or `:GROUP`, each a
/// name or a number.
pub(crate) fn owner(value: &Bound<'_, PyAny>) -> PyResult<(Option<u32>, Option<u32>)> {
    if value.is_none() {
        return Ok((None, None));
    }
    if !cfg!(unix) {
        return Err(PyValueError::new_err("this system has no numeric owners to filter by"));
    }
    if let Ok(uid) = value.extract::<u32>() {
        return Ok((Some(uid), None));
    }
    let text = value.cast::<PyString>()?.to_str()?;
    let (user, group) = text.split_once(':').unwrap_or((text, ""));
    let owner = (
        id(value.py(), user, ("pwd", "getpwnam", "pw_uid"), "user")?,
        id(value.py(), group, ("grp", "getgrnam", "gr_gid"), "group")?,
    );
    match owner {
        (None, None) => Err(PyValueError::new_err("name a user or a group")),
        owner => Ok(owner),
    }
}

/// Returns the number of a user or group; `None` for an empty name.
fn id(
    py: Python<'_>,
    name: &str,
    (module, function, attribute): (&str, &str, &str),
    what: &str,
) -> PyResult<Option<u32>> {
    if name.is_empty() {
        return Ok(None);
    }
    match py.import(module)?.call_method1(function, (name,)) {
        Ok(found) => found.getattr(attribute)?.extract().map(Some),
        Err(error) if !error.is_instance_of::<PyKeyError>(py) => Err(error),
        Err(_) => {
            let no_such = |_| PyValueError::new_err(format!("no such {what}: '{name}'"));
            name.parse().map(Some).map_err(no_such)
        }
    }
}

/// Returns the condition that permissions are exactly these bits; or of a text of octal digits, all of them
/// after `-`, at least one of them after `/`.
pub(crate) fn mode(value: &Bound<'_, PyAny>) -> PyResult<Option<ModeCondition>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(bits) = value.extract::<u16>() {
        return Ok(Some(ModeCondition::Exactly(bits)));
    }
    let text = value.cast::<PyString>()?.to_str()?;
    let condition = text.parse().map(Some);
    condition.map_err(|why| PyValueError::new_err(format!("perm '{text}' is {why}")))
}
