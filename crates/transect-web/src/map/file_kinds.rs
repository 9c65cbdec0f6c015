//! File kinds by name and permission bits, to choose colours. A guess: contents are not read, which
//! would take longer than everything else, and change times of access.

use std::collections::HashMap;

/// The kinds with their extensions, separated by spaces; the last one is for all other files.
const KINDS: &[(&str, &str)] = &[
    ("video", "3gp avi flv m2ts m4v mkv mov mp4 mpeg mpg ogv webm wmv"),
    ("audio", "aac aif aiff au flac m4a mid mp3 oga ogg opus wav wma"),
    (
        "images",
        "ai avif bmp cr2 cur dng eps gif heic heif icns ico jpeg jpg jxl nef png psd raw svg svgz \
         tga tif tiff webp xcf",
    ),
    (
        "documents",
        "adoc chm djvu doc docx eml epub htm html info log man mbox md odp ods odt org otf pdf \
         pfb ppt pptx ps rst rtf tex ttc ttf txt woff woff2 xls xlsx",
    ),
    (
        "archives",
        "7z aar apk br bz2 cab cpio crate deb ear flatpak gem gz iso jar jmod lz lz4 lzh lzma lzo \
         pack qcow2 rar rpm snap squashfs tar tbz2 tgz txz tzst vdi vhd vhdx vmdk war whl xpi xz \
         zip zst",
    ),
    (
        "source code",
        "ac am asm awk bash bat c cc cjs clj cmake cpp cs css cts cxx d dart def diff el erl ex f \
         f90 fish go gradle groovy h hh hpp hs hxx in inc ipynb java jl js jsx kt less lisp lua \
         m4 mjs ml mod mts nix pas patch pc ph php pl pm pod proto ps1 py pyi r rb rs rules s \
         scala scss sed sh sql sum sv svelte swift tcc tcl td ts tsx v vala vim vue zig zsh",
    ),
    (
        "programs",
        "a acm appimage bc beam class cpl debug dex dll drv ds dwo dylib efi elc exe jsa ko lib \
         msi msstyles node o obj ocx odex pdb pyc pyd pyo rlib rmeta so sys syso wasm",
    ),
    (
        "data",
        "arrow avro bin cache cfg conf crt csv dat db dbf dectest desktop dtd enc feather frm \
         gguf gmo h5 hdf5 ibd idx img ini json jsonl key list lock manifest map md5sums mgc mo \
         nls npy npz onnx pak parquet pck pem pickle pkl po pom properties pt rdb reg safetensors \
         service shlibs spl sqlite sqlite3 sug sym symbols tdb templates tfstate tlb toml \
         triggers tsv typelib vocab wal xml xsd xsl yaml yml",
    ),
    ("other files", ""),
];

/// The number for entries that are not files, and for aggregates.
pub(super) const NONE: u8 = u8::MAX;

/// Returns the names of the kinds, by number.
pub(super) fn names() -> Vec<&'static str> {
    KINDS.iter().map(|&(name, _)| name).collect()
}

/// Names without an extension, in lower case, by an extension of the same kind.
const NAMES: &[(&str, &str)] = &[
    (
        "txt",
        "authors changelog changes cmdline copying copyright install license news notice readme \
         todo",
    ),
    ("log", "btmp dmesg faillog lastlog messages syslog wtmp"),
    ("sh", "dockerfile makefile"),
    ("rb", "gemfile rakefile"),
];

/// Suffixes of copies: the kind is that of the name before them.
const COPIES: &[&str] =
    &["bak", "backup", "dpkg-dist", "dpkg-old", "old", "orig", "rpmnew", "save"];

/// The permission bits to execute a file.
const EXECUTABLE: u16 = 0o111;

/// The kinds of names and modes.
pub(super) struct FileKinds {
    extensions: HashMap<&'static str, u8>,
    names: HashMap<&'static str, u8>,
}

impl FileKinds {
    pub(super) fn new() -> Self {
        let with_number = (0..).zip(KINDS).flat_map(|(number, &(_, extensions))| {
            extensions.split_whitespace().map(move |extension| (extension, number))
        });
        let extensions: HashMap<_, _> = with_number.collect();
        let names = NAMES
            .iter()
            .flat_map(|&(like, names)| names.split(' ').map(move |name| (name, like)))
            .map(|(name, like)| (name, extensions[like]));
        Self { names: names.collect(), extensions }
    }

    /// Returns the number of the kind of a file. The permission bits in `mode` decide only where the
    /// name says nothing.
    pub(super) fn of(&self, name: &str, mode: Option<u16>) -> u8 {
        let by_mode = || {
            let is_program = mode.is_some_and(|mode| mode & EXECUTABLE != 0);
            if is_program { self.extensions["exe"] } else { (KINDS.len() - 1) as u8 }
        };
        self.by_name(name).unwrap_or_else(by_mode)
    }

    /// Returns the number of the kind that the name alone shows.
    pub(super) fn by_name(&self, name: &str) -> Option<u8> {
        let name = name.strip_suffix('~').unwrap_or(name);
        let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
        else {
            return known(&self.names, name).or_else(|| self.dated(name));
        };
        // libm.so.6, libLLVM.so.22.1-rust: what follows is a version.
        let has_version =
            |(_, version): (&str, &str)| version.starts_with(|c: char| c.is_ascii_digit());
        if name.split_once(".so.").is_some_and(has_version) {
            return known(&self.extensions, "so");
        }
        // kern.log.1, syslog.2: rotated logs, and other copies.
        let is_number = extension.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || COPIES.contains(&extension) {
            return self.by_name(stem);
        }
        known(&self.extensions, extension).or_else(|| self.dated(name))
    }

    /// Returns the kind of a rotated log with a date: `messages-20260131`, `cron.log-20260131`.
    fn dated(&self, name: &str) -> Option<u8> {
        let (stem, date) = name.rsplit_once('-')?;
        let is_date = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
        if is_date { self.by_name(stem) } else { None }
    }
}

fn known(kinds: &HashMap<&'static str, u8>, word: &str) -> Option<u8> {
    kinds.get(word).or_else(|| kinds.get(word.to_ascii_lowercase().as_str())).copied()
}

/// Finds out whether permission bits show programs: on file systems without such bits, all files
/// have the same.
#[derive(Debug, Default)]
pub(super) struct ModeSample {
    files: u32,
    executable: u32,
}

impl ModeSample {
    /// Enough files to decide.
    const ENOUGH: u32 = 1000;

    pub(super) fn is_enough(&self) -> bool {
        self.files >= Self::ENOUGH
    }

    /// Adds a file, if its name shows that it is neither a program nor a script.
    pub(super) fn add(&mut self, kinds: &FileKinds, name: &str, mode: Option<u16>) {
        let scripts_and_programs = ["sh", "exe"].map(|extension| kinds.extensions[extension]);
        let kind = kinds.by_name(name).filter(|kind| !scripts_and_programs.contains(kind));
        if let (Some(_), Some(mode)) = (kind, mode) {
            self.files += 1;
            self.executable += u32::from(mode & EXECUTABLE != 0);
        }
    }

    /// Returns whether the bits show programs: most other files are not executable.
    pub(super) fn shows_programs(&self) -> bool {
        self.executable <= self.files / 2
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
            ("libLLVM.so.22.1-rust-1.95.0-stable", "programs"),
            ("notes.1", "other files"),
            ("kern.log.1", "documents"),
            ("syslog.12", "documents"),
            ("messages-20260131", "documents"),
            ("cron.log-20260131", "documents"),
            ("syslog.2.gz", "archives"),
            ("main.rs.orig", "source code"),
            ("main.c~", "source code"),
            ("Makefile", "source code"),
            ("README", "documents"),
            ("plain-20260131", "other files"),
            ("a.tar.gz", "archives"),
            (".gz", "other files"),
            ("", "other files"),
            (".", "other files"),
        ] {
            assert_eq!(names()[usize::from(kinds.of(name, Some(0o644)))], kind, "{name}");
        }
    }

    #[test]
    fn kind_from_mode_where_name_shows_none() {
        let kinds = FileKinds::new();
        let kind = |name: &str, mode| names()[usize::from(kinds.of(name, mode))];
        assert_eq!(kind("ls", Some(0o755)), "programs");
        assert_eq!(kind("python3.11", Some(0o100)), "programs");
        assert_eq!(kind("ls", Some(0o644)), "other files");
        assert_eq!(kind("ls", None), "other files");
        assert_eq!(kind("photo.jpg", Some(0o777)), "images");
    }

    #[test]
    fn mode_sample_all_executable_shows_nothing() {
        let kinds = FileKinds::new();
        let sample = |mode| {
            let mut sample = ModeSample::default();
            for name in ["a.jpg", "b.txt", "c.sh", "d.so", "e"] {
                sample.add(&kinds, name, Some(mode));
            }
            (sample.files, sample.shows_programs())
        };
        assert_eq!(sample(0o644), (2, true));
        assert_eq!(sample(0o777), (2, false));
        assert!(ModeSample::default().shows_programs());
    }

    #[test]
    fn extensions_unique() {
        let listed: usize = KINDS.iter().map(|(_, all)| all.split_whitespace().count()).sum();
        assert_eq!(FileKinds::new().extensions.len(), listed);
    }
}
