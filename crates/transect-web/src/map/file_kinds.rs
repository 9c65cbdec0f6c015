//! File kinds by extension, to choose colours. A guess.

/// The kinds with their extensions; the last one is for all other files.
const KINDS: &[(&str, &[&str])] = &[
    (
        "video",
        &[
            "3gp", "avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm",
            "wmv",
        ],
    ),
    (
        "audio",
        &["aac", "aif", "aiff", "flac", "m4a", "mid", "mp3", "oga", "ogg", "opus", "wav", "wma"],
    ),
    (
        "images",
        &[
            "avif", "bmp", "cr2", "dng", "gif", "heic", "ico", "icns", "jpeg", "jpg", "jxl", "nef",
            "png", "psd", "raw", "svg", "svgz", "tga", "tif", "tiff", "webp", "xcf",
        ],
    ),
    (
        "documents",
        &[
            "adoc", "djvu", "doc", "docx", "eml", "epub", "htm", "html", "log", "man", "mbox",
            "md", "odp", "ods", "odt", "otf", "pdf", "ppt", "pptx", "ps", "rst", "rtf", "tex",
            "ttc", "ttf", "txt", "woff", "woff2", "xls", "xlsx",
        ],
    ),
    (
        "archives",
        &[
            "7z", "apk", "br", "bz2", "cab", "cpio", "crate", "deb", "gem", "gz", "iso", "jar",
            "lz", "lz4", "lzma", "pack", "qcow2", "rar", "rpm", "snap", "squashfs", "tar", "tgz",
            "txz", "vdi", "vhd", "vhdx", "vmdk", "whl", "xz", "zip", "zst",
        ],
    ),
    (
        "source code",
        &[
            "asm", "bash", "c", "cc", "clj", "cmake", "cpp", "cs", "css", "cxx", "el", "ex", "go",
            "groovy", "h", "hh", "hpp", "hs", "hxx", "inc", "java", "jl", "js", "jsx", "kt",
            "lisp", "lua", "m4", "mjs", "ml", "php", "pl", "pm", "pod", "py", "pyi", "r", "rb",
            "rs", "s", "scala", "scss", "sh", "sql", "swift", "tcl", "ts", "tsx", "vim", "vue",
            "zig",
        ],
    ),
    (
        "programs",
        &[
            "a", "bc", "class", "dll", "dwo", "dylib", "efi", "elc", "exe", "ko", "lib", "msi",
            "node", "o", "obj", "pdb", "pyc", "pyd", "rlib", "rmeta", "so", "sys", "wasm",
        ],
    ),
    (
        "data",
        &[
            "arrow",
            "avro",
            "bin",
            "cfg",
            "conf",
            "csv",
            "dat",
            "db",
            "dbf",
            "feather",
            "gguf",
            "h5",
            "hdf5",
            "idx",
            "img",
            "ini",
            "json",
            "jsonl",
            "lock",
            "mo",
            "npy",
            "npz",
            "onnx",
            "parquet",
            "pkl",
            "po",
            "pt",
            "safetensors",
            "sqlite",
            "sqlite3",
            "toml",
            "tsv",
            "xml",
            "yaml",
            "yml",
        ],
    ),
    ("other files", &[]),
];

/// The number for entries that are not files, and for aggregates.
pub(super) const NONE: u8 = u8::MAX;

/// Returns the names of the kinds, by number.
pub(super) fn names() -> Vec<&'static str> {
    KINDS.iter().map(|&(name, _)| name).collect()
}

/// A map from extensions to kinds.
pub(super) struct FileKinds(std::collections::HashMap<&'static str, u8>);

impl FileKinds {
    pub(super) fn new() -> Self {
        let with_number = (0..).zip(KINDS).flat_map(|(number, &(_, extensions))| {
            extensions.iter().map(move |&extension| (extension, number))
        });
        Self(with_number.collect())
    }

    /// Returns the number of the kind of a file.
    pub(super) fn of(&self, name: &str) -> u8 {
        let other = (KINDS.len() - 1) as u8;
        let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
        else {
            return other;
        };
        // libm.so.6: the digits are a version.
        let is_version = extension.bytes().all(|byte| byte.is_ascii_digit());
        if is_version && (stem.ends_with(".so") || stem.contains(".so.")) {
            return self.of("a.so");
        }
        let known =
            self.0.get(extension).or_else(|| self.0.get(extension.to_ascii_lowercase().as_str()));
        known.copied().unwrap_or(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_from_name() {
        let kinds = FileKinds::new();
        for (name, kind) in [
            ("film.mkv", "video"),
            ("PHOTO.JPG", "images"),
            ("lib.rs", "source code"),
            ("libm.so.6", "programs"),
            ("libstdc++.so.6.0.30", "programs"),
            ("notes.1", "other files"),
            ("a.tar.gz", "archives"),
            (".gz", "other files"),
            ("README", "other files"),
            ("", "other files"),
            (".", "other files"),
        ] {
            assert_eq!(names()[usize::from(kinds.of(name))], kind, "{name}");
        }
    }

    #[test]
    fn extensions_unique() {
        let listed: usize = KINDS.iter().map(|(_, extensions)| extensions.len()).sum();
        assert_eq!(FileKinds::new().0.len(), listed);
    }
}
