//! `Attributes`: what the system reports of a file or directory.

use pyo3::prelude::*;
use transect::FileType;

use crate::getters::methods;

/// Nanoseconds in a second.
pub(crate) const BILLION: i64 = 1_000_000_000;

/// The attributes of a file or directory when they were queried. One that is not known is None.
#[pyclass(frozen, subclass, module = "transect")]
pub(crate) struct Attributes(transect::Attributes);

impl Attributes {
    pub(crate) fn new(attributes: transect::Attributes) -> Self {
        Self(attributes)
    }
}

/// Names of `os.stat_result`, and of the attributes here that have its values.
const STAT_NAMES: [(&str, &str); 11] = [
    ("st_mode", "mode"),
    ("st_ino", "inode"),
    ("st_dev", "device"),
    ("st_nlink", "nlink"),
    ("st_uid", "uid"),
    ("st_gid", "gid"),
    ("st_size", "size"),
    ("st_mtime", "mtime"),
    ("st_mtime_ns", "mtime_ns"),
    ("st_ctime_ns", "ctime_ns"),
    ("st_atime_ns", "atime_ns"),
];

/// Adds the class to the module, with the names of `os.stat_result`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Attributes>()?;
    let class = module.py().get_type::<Attributes>();
    STAT_NAMES.iter().try_for_each(|(name, own)| class.setattr(*name, class.getattr(*own)?))
}

methods! {
    impl Attributes {
        getters {
            /// The type: "file", "directory", "symlink", "block", "char", "fifo", "socket" or "unknown".
            r#type(&self) -> &'static str = self.0.file_type().as_str();
            /// The length in bytes.
            size(&self) -> Option<u64> = self.0.size();
            /// The bytes that it occupies on the device.
            allocated(&self) -> Option<u64> = self.0.allocated();
            /// When the content last changed, in nanoseconds since 1970 UTC.
            mtime_ns(&self) -> Option<i64> = self.0.mtime();
            /// When the attributes last changed, in nanoseconds since 1970 UTC.
            ctime_ns(&self) -> Option<i64> = self.0.ctime();
            /// When the content was last read, in nanoseconds since 1970 UTC.
            atime_ns(&self) -> Option<i64> = self.0.atime();
            /// When it was created, in nanoseconds since 1970 UTC.
            btime_ns(&self) -> Option<i64> = self.0.btime();
            /// The type and permission bits, as in os.stat.
            mode(&self) -> Option<u16> = self.0.mode();
            /// The user id of the owner.
            uid(&self) -> Option<u32> = self.0.uid();
            /// The group id.
            gid(&self) -> Option<u32> = self.0.gid();
            /// The number of names of the file.
            nlink(&self) -> Option<u32> = self.0.nlink();
            /// The inode number.
            inode(&self) -> Option<u64> = self.0.inode();
            /// The device number.
            device(&self) -> Option<u64> = self.0.device();
        }

        /// When the content last changed, in seconds since 1970 UTC.
        #[getter]
        fn mtime(&self) -> Option<f64> {
            // The same rounding as in os.stat.
            let seconds = |time: i64| time.div_euclid(BILLION) as f64;
            self.mtime_ns().map(|time| seconds(time) + 1e-9 * time.rem_euclid(BILLION) as f64)
        }

        /// When the content last changed, as a datetime in UTC, to the microsecond. The filters `newer` and `older` accept it.
        #[getter]
        fn modified<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
            let Some(time) = self.mtime_ns() else { return Ok(None) };
            let module = py.import("datetime")?;
            let utc = module.getattr("timezone")?.getattr("utc")?;
            let epoch = module.getattr("datetime")?.call_method1("fromtimestamp", (0, utc))?;
            let since = module.getattr("timedelta")?.call1((0, 0, time.div_euclid(1000)))?;
            epoch.add(since).map(Some)
        }

        /// Return whether it is a directory.
        fn is_dir(&self) -> bool {
            self.0.file_type() == FileType::Directory
        }

        /// Return whether it is a regular file.
        fn is_file(&self) -> bool {
            self.0.file_type() == FileType::File
        }

        /// Return whether it is a symbolic link.
        fn is_symlink(&self) -> bool {
            self.0.file_type() == FileType::Symlink
        }

        fn __repr__(&self) -> String {
            let of = self.r#type();
            match self.size() {
                Some(size) => format!("<transect.Attributes: {of}, {size} bytes>"),
                None => format!("<transect.Attributes: {of}>"),
            }
        }
    }
}
