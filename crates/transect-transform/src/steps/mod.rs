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
use info::{StepResult, without_parameter};

use crate::manifest::Algorithm;
use crate::step::Shape;

/// All steps, in the order of lists.
pub const STEPS: &[StepInfo] = &[
    StepInfo {
        name: "blake3",
        parameter: "",
        about: "the BLAKE3 digest",
        shape: Shape::Reduce,
        text: false,
        make: |parameter| digest(parameter, Algorithm::Blake3),
    },
    StepInfo {
        name: "sha256",
        parameter: "",
        about: "the SHA-256 digest",
        shape: Shape::Reduce,
        text: false,
        make: |parameter| digest(parameter, Algorithm::Sha256),
    },
    StepInfo {
        name: "xxh3",
        parameter: "",
        about: "the XXH3 checksum of 128 bits: fast, but not safe against deliberate changes",
        shape: Shape::Reduce,
        text: false,
        make: |parameter| digest(parameter, Algorithm::Xxh3),
    },
    StepInfo {
        name: "crc32c",
        parameter: "",
        about: "the CRC-32C checksum: fast, but not safe against deliberate changes",
        shape: Shape::Reduce,
        text: false,
        make: |parameter| digest(parameter, Algorithm::Crc32c),
    },
    StepInfo {
        name: "case",
        parameter: "=upper|lower",
        about: "ASCII letters large or small",
        shape: Shape::SameSize,
        text: true,
        make: case::case,
    },
    StepInfo {
        name: "decode",
        parameter: "=auto|utf-8|utf-16|utf-16le|utf-16be|latin1|cp1252",
        about: "UTF-8 of another encoding; auto: that of the byte order mark, which goes, or UTF-8",
        shape: Shape::Resizing,
        text: true,
        make: encoding::decode::decode,
    },
    StepInfo {
        name: "encode",
        parameter: "=utf-8|utf-16le|utf-16be|latin1|cp1252[,bom]",
        about: "another encoding of UTF-8; what it cannot express is refused",
        shape: Shape::Resizing,
        text: true,
        make: encoding::encode::encode,
    },
    StepInfo {
        name: "bom",
        parameter: "=add|remove",
        about: "a byte order mark before UTF-8, or none",
        shape: Shape::Resizing,
        text: true,
        make: encoding::bom::bom,
    },
    StepInfo {
        name: "eol",
        parameter: "=lf|crlf|report",
        about: "all lines end alike, or are counted by their ends: then nothing is changed",
        shape: Shape::Resizing,
        text: true,
        make: eol::eol,
    },
    StepInfo {
        name: "trim",
        parameter: "",
        about: "no spaces and tabs at the ends of lines",
        shape: Shape::Resizing,
        text: true,
        make: |parameter| without_parameter(parameter, trim::Trim::default),
    },
    StepInfo {
        name: "final-newline",
        parameter: "",
        about: "the last line ends as the others do",
        shape: Shape::Resizing,
        text: true,
        make: |parameter| without_parameter(parameter, final_newline::FinalNewline::default),
    },
    StepInfo {
        name: "replace",
        parameter: "=OLD/NEW",
        about: "NEW for every OLD, literally: \\n, \\t, \\r, \\\\, \\/ and \\xNN are bytes",
        shape: Shape::Resizing,
        text: true,
        make: replace::replace,
    },
    StepInfo {
        name: "zstd",
        parameter: "[=LEVEL]",
        about: "compress by Zstandard, with a level from 1 to 22, or 3",
        shape: Shape::Resizing,
        text: false,
        make: compression::zstd::zstd,
    },
    StepInfo {
        name: "unzstd",
        parameter: "",
        about: "decompress what zstd has made",
        shape: Shape::Resizing,
        text: false,
        make: compression::unzstd::unzstd,
    },
    StepInfo {
        name: "gzip",
        parameter: "[=LEVEL]",
        about: "compress as gzip does, with a level from 1 to 9, or 6",
        shape: Shape::Resizing,
        text: false,
        make: compression::gzip::gzip,
    },
    StepInfo {
        name: "gunzip",
        parameter: "",
        about: "decompress what gzip has made",
        shape: Shape::Resizing,
        text: false,
        make: |parameter| without_parameter(parameter, compression::gunzip::gunzip),
    },
];

/// Returns the step that computes a digest.
fn digest(parameter: Option<&str>, algorithm: Algorithm) -> StepResult {
    without_parameter(parameter, || digest::digest(algorithm))
}

/// Returns the names of all steps, for a message.
pub(crate) fn names() -> String {
    STEPS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
}
