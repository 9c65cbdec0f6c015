//! `treemap`: a tree as an interactive treemap, in a notebook or a file.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use transect_snapshot::LiveTree;
use transect_sys::host::now;
use transect_transform::publish::put_with;
use transect_web::map::{self, Measure, Settings};
use transect_web::page::Nonce;

use crate::columns::Column;
use crate::errors;
use crate::options::choose;
use crate::paths::{parse_path, parse_paths};
use crate::scan;
use crate::table::Table;

/// What the page shows of an entry, besides sizes.
const COLUMNS: [Column; 3] = [Column::Mtime, Column::Uid, Column::Mode];

/// Show a tree as a treemap: area shows size, colour the kind of file. In a notebook, the map appears inline;
/// elsewhere, `Map.write` stores it as a page that works offline.
///
/// tree: a Table, or paths, which are scanned now, with the arguments of `scan`.
/// measure: "disk_usage" or "apparent_size".
/// max_entries: show at most this many entries individually, and sum up smaller ones by directory.
/// height: the height in a notebook, in pixels.
#[pyfunction]
#[pyo3(
    name = "treemap",
    signature = (tree, *, measure="disk_usage", max_entries=100_000, height=600, progress=None, **options),
    text_signature = "(tree, *, measure='disk_usage', max_entries=100000, height=600, progress=None, threads=None, **filters)"
)]
pub(crate) fn map_of(
    py: Python<'_>,
    tree: &Bound<'_, PyAny>,
    measure: &str,
    max_entries: usize,
    height: u32,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Map> {
    let unknown = format!("there is no measure '{measure}'; measures");
    let measure = choose(Measure::ALL, Measure::as_str, measure, &unknown)?;
    let (tree, disk) = match tree.cast::<Table>() {
        Ok(_) if options.is_some() || progress.is_some() => {
            return Err(PyTypeError::new_err(
                "options need paths, not a Table, which was read before",
            ));
        }
        Ok(table) => (Arc::clone(table.get().tree()), None),
        Err(_) => {
            let scanned = scan::table(py, tree, &COLUMNS, progress, options)?;
            (Arc::clone(scanned.tree()), transect::internal::disk_space_of(&parse_paths(tree)?))
        }
    };
    let settings = Settings {
        measure,
        max_entries,
        owner_name,
        read_at: read_at(&tree),
        interrupted: tree.metadata().interrupted,
        disk,
        served: None,
        removal: None,
        followed: false,
    };
    let page = || map::html(tree.table(), &settings, &Nonce::random()?);
    let html = py.detach(page).map_err(|error| errors::os_exception(py, &error, None))?;
    Ok(Map { html, height })
}

/// Returns when a tree was read, in seconds since 1970 UTC.
fn read_at(tree: &LiveTree) -> i64 {
    tree.metadata().ended.unwrap_or_else(now).div_euclid(1_000_000_000)
}

/// Returns the name of a user, or the number if it has no name.
fn owner_name(uid: u32) -> String {
    let name = Python::attach(|py| -> PyResult<String> {
        py.import("pwd")?.call_method1("getpwuid", (uid,))?.getattr("pw_name")?.extract()
    });
    name.unwrap_or_else(|_| uid.to_string())
}

/// A treemap, as a page that needs nothing beside itself.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Map {
    /// The page: HTML with all its data, styles and scripts. It works offline.
    #[pyo3(get)]
    html: String,
    height: u32,
}

#[pymethods]
impl Map {
    /// Write the page to a file, which has its old content until all of the new one is written.
    fn write(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = parse_path(path)?;
        let written = py.detach(|| put_with(&path, |out| out.write_all(self.html.as_bytes())));
        written.map(drop).map_err(|error| errors::file_exception(py, &error))
    }

    /// In a frame of its own, without access to the notebook.
    fn _repr_html_(&self) -> String {
        let page = self.html.replace('&', "&amp;").replace('"', "&quot;");
        let height = self.height;
        format!(
            "<iframe sandbox=\"allow-scripts\" width=\"100%\" height=\"{height}\" style=\"border: 0\" \
             title=\"treemap\" srcdoc=\"{page}\"></iframe>"
        )
    }

    fn __repr__(&self) -> String {
        format!("<transect.Map: a page of {} bytes; write(path) stores it>", self.html.len())
    }
}
