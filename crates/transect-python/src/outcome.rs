//! `Outcome`: what a transform did with one file.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use transect_transform::step::Finding;
use transect_transform::tree::{FileOutcome, FileStatus, Input};

use crate::errors::ErrorInfo;
use crate::paths::decode;

/// What a transform did with one file.
#[pyclass(frozen, module = "transect")]
pub(crate) struct Outcome {
    /// The path of the file.
    #[pyo3(get)]
    path: OsString,
    /// "changed"; "would_change" with check=True; "same" if the result equals the file; "inspected" if the
    /// steps only compute; "same_file" for another name of a file; "skipped"; "failed".
    #[pyo3(get)]
    status: &'static str,
    /// Why the file was skipped: "binary", if it is not text and a step is for text; otherwise None.
    #[pyo3(get)]
    reason: Option<&'static str>,
    /// The path under which the same file was transformed; None unless the status is "same_file".
    #[pyo3(get)]
    same_file_as: Option<OsString>,
    /// The length of the file in bytes; None if it was not read to its end.
    #[pyo3(get)]
    bytes_in: Option<u64>,
    /// The length of the result in bytes; None if it was not completed.
    #[pyo3(get)]
    bytes_out: Option<u64>,
    findings: Vec<Finding>,
    /// What could not be preserved of the replaced file: "owner", "permissions", or names of extended
    /// attributes.
    #[pyo3(get)]
    lost_metadata: Vec<String>,
    error: Option<transect_transform::Error>,
}

impl Outcome {
    pub(crate) fn new(input: &Input, inputs: &[Input], done: FileOutcome) -> Self {
        let (mut reason, mut same_file_as) = (None, None);
        let (status, error) = match done.status {
            Ok(status) => {
                match status {
                    FileStatus::Skipped(why) => reason = Some(why.as_str()),
                    FileStatus::SameFile(first) => {
                        same_file_as = Some(inputs[first].path.clone().into())
                    }
                    _ => {}
                }
                (status.as_str(), None)
            }
            Err(error) => ("failed", Some(error)),
        };
        Self {
            path: input.path.clone().into(),
            status,
            reason,
            same_file_as,
            bytes_in: done.pass.as_ref().map(|pass| pass.bytes_in),
            bytes_out: done.pass.as_ref().map(|pass| pass.bytes_out),
            findings: done.pass.map(|pass| pass.findings).unwrap_or_default(),
            lost_metadata: done.lost_metadata.into_iter().map(|lost| lost.what).collect(),
            error,
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }
}

#[pymethods]
impl Outcome {
    /// What the steps computed: dicts with `step` (as given), `stage` ("input", "between" or "result": the
    /// bytes that it is of), `name` such as "blake3", and `value`, a text.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let dict = |finding: &Finding| {
            let dict = PyDict::new(py);
            dict.set_item("step", &finding.step)?;
            dict.set_item("stage", finding.stage.as_str())?;
            dict.set_item("name", finding.name)?;
            dict.set_item("value", &finding.value)?;
            Ok(dict)
        };
        self.findings.iter().map(dict).collect()
    }

    /// Why the file could not be transformed, as an ErrorInfo object; otherwise None.
    #[getter]
    fn error(&self) -> Option<ErrorInfo> {
        self.error.as_ref().map(ErrorInfo::of_file)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<transect.Outcome {}: {}>", decode(py, &self.path).repr()?, self.status))
    }
}
