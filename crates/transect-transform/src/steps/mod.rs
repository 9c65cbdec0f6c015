//! The built-in steps, each in a file of its own.

mod case;
mod clean;
mod compression;
mod digest;
mod encoding;
mod eol;
mod eol_report;
mod escape;
mod final_newline;
mod info;
mod line_ends;
mod pending;
mod replace;
mod trim;

pub use info::StepInfo;
use info::{Make, StepResult, without_parameter};

use crate::manifest::Algorithm;
use crate::step::Shape;

/// All steps, in the order of lists.
pub const STEPS: &[StepInfo] = &[
    digest("blake3", "the BLAKE3 digest", |parameter| make_digest(parameter, Algorithm::Blake3)),
    digest("sha256", "the SHA-256 digest", |parameter| make_digest(parameter, Algorithm::Sha256)),
    digest(
        "xxh3",
        "the XXH3 checksum of 128 bits: fast, but not safe against deliberate changes",
        |parameter| make_digest(parameter, Algorithm::Xxh3),
    ),
    digest(
        "crc32c",
        "the CRC-32C checksum: fast, but not safe against deliberate changes",
        |parameter| make_digest(parameter, Algorithm::Crc32c),
    ),
    StepInfo {
        shape: Shape::SameSize,
        ..of_text("case", "=upper|lower", "ASCII letters large or small", case::case)
    },
    of_text(
        "decode",
        "=auto|utf-8|utf-16|utf-16le|utf-16be|latin1|cp1252",
        "UTF-8 of another encoding; auto: that of the byte order mark, which goes, or UTF-8",
        encoding::decode::decode,
    ),
    of_text(
        "encode",
        "=utf-8|utf-16le|utf-16be|latin1|cp1252[,bom]",
        "another encoding of UTF-8; what it cannot express is refused",
        encoding::encode::encode,
    ),
    of_text("bom", "=add|remove", "a byte order mark before UTF-8, or none", encoding::bom::bom),
    of_text(
        "eol",
        "=lf|crlf|report",
        "all lines end alike, or are counted by their ends: then nothing is changed",
        eol::eol,
    ),
    of_text("trim", "", "no spaces and tabs at the ends of lines", |parameter| {
        without_parameter(parameter, trim::Trim::default)
    }),
    of_text("final-newline", "", "the last line ends as the others do", |parameter| {
        without_parameter(parameter, final_newline::FinalNewline::default)
    }),
    of_text(
        "replace",
        "=OLD/NEW",
        "NEW for every OLD, literally: \\n, \\t, \\r, \\\\, \\/ and \\xNN are bytes",
        replace::replace,
    ),
    compression(
        "zstd",
        "[=LEVEL]",
        "compress by Zstandard, with a level from 1 to 22, or 3",
        compression::zstd::zstd,
    ),
    compression("unzstd", "", "decompress what zstd has made", compression::unzstd::unzstd),
    compression(
        "gzip",
        "[=LEVEL]",
        "compress as gzip does, with a level from 1 to 9, or 6",
        compression::gzip::gzip,
    ),
    compression("gunzip", "", "decompress what gzip has made", |parameter| {
        without_parameter(parameter, compression::gunzip::gunzip)
    }),
];

const fn digest(name: &'static str, about: &'static str, make: Make) -> StepInfo {
    StepInfo { name, parameter: "", about, shape: Shape::Reduce, text: false, make }
}

const fn of_text(
    name: &'static str,
    parameter: &'static str,
    about: &'static str,
    make: Make,
) -> StepInfo {
    StepInfo { name, parameter, about, shape: Shape::Resizing, text: true, make }
}

const fn compression(
    name: &'static str,
    parameter: &'static str,
    about: &'static str,
    make: Make,
) -> StepInfo {
    StepInfo { text: false, ..of_text(name, parameter, about, make) }
}

fn make_digest(parameter: Option<&str>, algorithm: Algorithm) -> StepResult {
    without_parameter(parameter, || digest::digest(algorithm))
}

pub(crate) fn names() -> String {
    STEPS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
}
